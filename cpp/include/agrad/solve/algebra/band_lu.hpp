// Band LU: factorises a band matrix with partial pivoting and solves with the matrix and its transposed.
//
// Column j of the storage has `stride()` numbers with the diagonal at `lower + upper`: the first `lower` numbers are room for
// the fill-in of row exchanges. The caller stores the factors in `size()` numbers: the columns, the exchanged rows, and
// whether there are any. The matrix is P L D U with unit triangles L and U and the diagonal D, which is stored inverted, so
// the newest entry of a sweep waits for one product alone: a sweep takes the time of these products in a row, not of memory.
// Source: Golub and Van Loan (2013), Matrix Computations, section 4.3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace agrad::detail {

struct band_lu {
  std::size_t n = 0, lower = 0, upper = 0;

  std::size_t stride() const { return 2 * lower + upper + 1; }
  std::size_t size() const { return n * (stride() + 1) + 1; }
  /// Returns the index of entry (i, j); (i, j) must be within the band.
  std::size_t place(std::size_t i, std::size_t j) const { return j * stride() + lower + upper + i - j; }

  /// Replaces the matrix by its factors. Returns false when the matrix is singular.
  bool factorise(double* a) const;

  void solve(const double* a, double* x) const;
  void solve_transposed(const double* a, double* x) const;

 private:
  template <std::size_t N>
  using constant = std::integral_constant<std::size_t, N>;

  /// Factors as the sweeps read them: entries of the triangles by their row, by the distance from the diagonal, and D inverted.
  struct view {
    const double* diagonal;  // of column 0
    std::size_t stride;
    double below(std::size_t column, std::size_t distance) const { return diagonal[column * stride + distance]; }
    double above(std::size_t column, std::size_t distance) const { return *(diagonal + column * stride - distance); }
    double inverse(std::size_t column) const { return diagonal[column * stride]; }
  };

  bool has_exchanges(const double* a) const { return a[size() - 1] != 0; }
  view view_of(const double* a) const { return {a + lower + upper, stride()}; }

  /// Calls use(entries of L in a column, of U in a row): as constants for narrow bands, so that sweeps keep entries in
  /// registers.
  template <class Use>
  void with_widths(const double* a, const Use& use) const {
    const std::size_t above = has_exchanges(a) ? lower + upper : upper;
    if (lower == 1 && above == 1) return use(constant<1>{}, constant<1>{});
    if (lower == 1 && above == 2) return use(constant<1>{}, constant<2>{});
    if (lower == 2 && above == 2) return use(constant<2>{}, constant<2>{});
    if (lower == 2 && above == 4) return use(constant<2>{}, constant<4>{});
    use(lower, above);
  }

  /// Replaces each x[at(k)], k = 0 ... n - 1, by first(at(k)) minus the sum of factor(at(k), i) x[at(k - i)], i = 1 ... width.
  template <class At, class First, class Factor>
  void sweep(double* x, std::size_t width, const At& at, const First& first, const Factor& factor) const {
    for (std::size_t k = 0; k < n; ++k) {
      double sum = first(at(k));
      for (std::size_t i = std::min(width, k); i > 0; --i) sum -= factor(at(k), i) * x[at(k - i)];
      x[at(k)] = sum;
    }
  }
  template <std::size_t Width, class At, class First, class Factor>
  void sweep(double* x, constant<Width>, const At& at, const First& first, const Factor& factor) const {
    std::array<double, Width> last{};  // the newest entry first
    const auto step = [&](std::size_t k, auto width) {
      double sum = first(at(k));
      for (std::size_t i = width; i > 0; --i) sum -= factor(at(k), i) * last[i - 1];
      for (std::size_t i = Width - 1; i > 0; --i) last[i] = last[i - 1];
      x[at(k)] = last[0] = sum;
    };
    for (std::size_t k = 0; k < std::min(n, Width); ++k) step(k, k);
    for (std::size_t k = Width; k < n; ++k) step(k, constant<Width>{});
  }

  auto downwards() const {
    return [](std::size_t k) { return k; };
  }
  auto upwards() const {
    return [last = n - 1](std::size_t k) { return last - k; };
  }

  template <class Below>
  void exchange_and_eliminate(const double* a, double* x, Below width) const {
    const double* exchanges = a + n * stride();
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
      const std::size_t below = std::min<std::size_t>(width, n - 1 - j);
      for (std::size_t i = 1; i <= below; ++i) x[j + i] -= x[j] * view_of(a).below(j, i);
    }
  }

  static std::size_t largest(const double* x, std::size_t below);
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/band_lu.ipp>
#endif
