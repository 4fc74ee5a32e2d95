// Band LU: factors of a band matrix with partial pivoting, and solves with the matrix and its transposed.
//
// Column j of the storage has `stride()` numbers, the diagonal at `lower + upper`: room for the `lower` diagonals that exchanges of
// rows fill in above. All inner loops run down a column, contiguously. Factors are kept by whoever asked for them: columns,
// then the rows that were exchanged, then nothing else, in `size()` numbers.
// Source: Golub and Van Loan (2013), Matrix Computations, section 4.3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace agrad::detail {

struct band_lu {
  std::size_t n = 0, lower = 0, upper = 0;

  std::size_t stride() const { return 2 * lower + upper + 1; }
  std::size_t size() const { return n * (stride() + 1); }
  /// Where entry (i, j) is; |i - j| has to be within the band.
  std::size_t place(std::size_t i, std::size_t j) const { return j * stride() + lower + upper + i - j; }

  /// The matrix becomes its factors, U's diagonal inverted; false when it is singular.
  bool factorise(double* a) const {
    double* exchanges = a + n * stride();
    const std::size_t diagonal = lower + upper, step = stride() - 1;  // from an entry to its right neighbour
    std::size_t last = 0;                                             // column that U's rows so far reach
    for (std::size_t j = 0; j < n; ++j) {
      double* pivot = a + j * stride() + diagonal;
      const std::size_t below = std::min(lower, n - 1 - j);
      const std::size_t k = largest(pivot, below);
      exchanges[j] = static_cast<double>(k);
      if (!(std::abs(pivot[k]) > 0)) return false;
      last = std::max(last, std::min(j + upper + k, n - 1));
      if (k != 0)
        for (std::size_t c = 0; c <= last - j; ++c) std::swap(pivot[c * step], pivot[c * step + k]);
      const double inverse = pivot[0] = 1 / pivot[0];
      for (std::size_t i = 1; i <= below; ++i) pivot[i] *= inverse;
      for (std::size_t c = 1; c <= last - j; ++c) {
        double* column = pivot + c * step;
        const double factor = column[0];
        if (factor == 0) continue;
        for (std::size_t i = 1; i <= below; ++i) column[i] -= factor * pivot[i];
      }
    }
    return true;
  }

  void solve(const double* a, double* x) const {
    const double* exchanges = a + n * stride();
    const std::size_t diagonal = lower + upper;
    for (std::size_t j = 0; j < n; ++j) {
      const double* column = a + j * stride() + diagonal;
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
      const std::size_t below = std::min(lower, n - 1 - j);
      const double factor = x[j];
      for (std::size_t i = 1; i <= below; ++i) x[j + i] -= factor * column[i];
    }
    for (std::size_t j = n; j-- > 0;) {
      const std::size_t above = std::min(diagonal, j);
      const double* column = a + j * stride() + diagonal - above;
      double* to = x + (j - above);
      const double factor = x[j] *= column[above];
      for (std::size_t i = 0; i < above; ++i) to[i] -= factor * column[i];
    }
  }

  void solve_transposed(const double* a, double* x) const {
    const double* exchanges = a + n * stride();
    const std::size_t diagonal = lower + upper;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t above = std::min(diagonal, j);
      const double* column = a + j * stride() + diagonal - above;
      x[j] = (x[j] - product(column, x + (j - above), above)) * column[above];
    }
    for (std::size_t j = n; j-- > 0;) {
      const double* column = a + j * stride() + diagonal;
      x[j] -= product(column + 1, x + j + 1, std::min(lower, n - 1 - j));
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
    }
  }

 private:
  static std::size_t largest(const double* x, std::size_t below) {
    std::size_t k = 0;
    double most = std::abs(x[0]);
    for (std::size_t i = 1; i <= below; ++i)
      if (std::abs(x[i]) > most) most = std::abs(x[i]), k = i;
    return k;
  }
  /// Four sums side by side, so that no addition waits for the one before.
  static double product(const double* a, const double* b, std::size_t count) {
    double s[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (std::size_t k = 0; k < 4; ++k) s[k] += a[i + k] * b[i + k];
    for (; i < count; ++i) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
  }
};

}  // namespace agrad::detail
