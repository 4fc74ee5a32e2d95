// Band LU: factorises a band matrix with partial pivoting and solves with the matrix and its transposed.
//
// Column j of the storage has `stride()` numbers with the diagonal at `lower + upper`: the first `lower` numbers are room for
// the fill-in of row exchanges. All inner loops run down a column, contiguously. The caller stores the factors in `size()`
// numbers: the columns, then the exchanged rows.
// Source: Golub and Van Loan (2013), Matrix Computations, section 4.3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace agrad::detail {

struct band_lu {
  std::size_t n = 0, lower = 0, upper = 0;

  std::size_t stride() const { return 2 * lower + upper + 1; }
  std::size_t size() const { return n * (stride() + 1); }
  /// Returns the index of entry (i, j); (i, j) must be within the band.
  std::size_t place(std::size_t i, std::size_t j) const { return j * stride() + lower + upper + i - j; }

  /// Replaces the matrix by its factors, with U's diagonal inverted. Returns false when the matrix is singular.
  bool factorise(double* a) const;

  void solve(const double* a, double* x) const;
  void solve_transposed(const double* a, double* x) const;

 private:
  template <std::size_t N>
  using constant = std::integral_constant<std::size_t, N>;

  /// Calls use(number of entries below U's diagonal, number above): as constants for narrow bands, so that loops are unrolled.
  template <class Use>
  void with_widths(const Use& use) const {
    if (lower == 1 && upper == 1) return use(constant<1>{}, constant<2>{});
    if (lower == 2 && upper == 2) return use(constant<2>{}, constant<4>{});
    use(lower, lower + upper);
  }
  /// Calls use(j, width) for 0 <= j < n; the width decreases at the end.
  template <class Width, class Use>
  void down(Width width, const Use& use) const {
    std::size_t j = 0;
    for (; j + width < n; ++j) use(j, width);
    for (; j < n; ++j) use(j, n - 1 - j);
  }
  template <class Width, class Use>
  void up(Width width, const Use& use) const {
    std::size_t j = n;
    for (; j > width; --j) use(j - 1, width);
    for (; j > 0; --j) use(j - 1, j - 1);
  }

  template <class Below, class Above>
  void solve_with(const double* a, double* x, Below lower_width, Above upper_width) const {
    const double* exchanges = a + n * stride();
    const double* diagonal = a + lower + upper;
    down(lower_width, [&](std::size_t j, auto below) {
      const double* column = diagonal + j * stride();
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
      const double factor = x[j];
      for (std::size_t i = 1; i <= below; ++i) x[j + i] -= factor * column[i];
    });
    up(upper_width, [&](std::size_t j, auto above) {
      const double* column = diagonal + j * stride();
      const double factor = x[j] *= *column;
      for (std::size_t i = 1; i <= above; ++i) x[j - i] -= factor * *(column - i);
    });
  }

  // Each sum subtracts the product with the newest entry last, so that the other products need not wait for that entry.
  template <class Below, class Above>
  void solve_transposed_with(const double* a, double* x, Below lower_width, Above upper_width) const {
    const double* exchanges = a + n * stride();
    const double* diagonal = a + lower + upper;
    const auto forwards = [&](std::size_t j, auto above) {
      const double* column = diagonal + j * stride();
      double sum = x[j];
      for (std::size_t i = above; i > 0; --i) sum -= *(column - i) * x[j - i];
      x[j] = sum * *column;
    };
    for (std::size_t j = 0; j < std::min<std::size_t>(n, upper_width); ++j) forwards(j, j);
    for (std::size_t j = upper_width; j < n; ++j) forwards(j, upper_width);
    const auto backwards = [&](std::size_t j, auto below) {
      const double* column = diagonal + j * stride();
      double sum = x[j];
      for (std::size_t i = below; i > 0; --i) sum -= column[i] * x[j + i];
      x[j] = sum;
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
    };
    std::size_t j = n;
    for (; j > 0 && n - j < lower_width; --j) backwards(j - 1, n - j);
    for (; j > 0; --j) backwards(j - 1, lower_width);
  }

  static std::size_t largest(const double* x, std::size_t below);
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/band_lu.ipp>
#endif
