// Small product: plain loops for products of a few numbers, for which Eigen's kernels take longer to start than to multiply.
#pragma once

#include <algorithm>
#include <cstddef>

namespace agrad::detail {

/// The shape of row-major matrices of n x k and k x m.
struct small_product {
  std::size_t n, k, m;

  bool is_small() const { return n * k * m <= 64; }

  /// Computes y = a b.
  void multiply(const double* a, const double* b, double* y) const {
    for (std::size_t i = 0; i < n; ++i, a += k, y += m) {
      for (std::size_t j = 0; j < m; ++j) y[j] = a[0] * b[j];
      for (std::size_t l = 1; l < k; ++l)
        for (std::size_t j = 0; j < m; ++j) y[j] += a[l] * b[l * m + j];
    }
  }
  /// Adds y b' to a.
  void add_to_left(const double* y, const double* b, double* a) const {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < k; ++l) {
        double sum = y[i * m] * b[l * m];
        for (std::size_t j = 1; j < m; ++j) sum += y[i * m + j] * b[l * m + j];
        a[i * k + l] += sum;
      }
  }
  /// Adds a' y to b.
  void add_to_right(const double* y, const double* a, double* b) const {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < k; ++l)
        for (std::size_t j = 0; j < m; ++j) b[l * m + j] += a[i * k + l] * y[i * m + j];
  }
};

}  // namespace agrad::detail
