// Small products: loops for a matrix of a few columns times a vector, and for products of a few numbers.
//
// Eigen's kernels are for wide matrices: with three columns they take more time than these loops, and for a few numbers they
// take longer to start than to multiply.
#pragma once

#include <cstddef>
#include <utility>

#include <agrad/base/error.hpp>

namespace agrad::detail {

template <std::size_t columns>
struct narrow_product {
  /// Adds a b to y; a has n rows, one after the other.
  static void add(std::size_t n, const double* a, const double* b, double* y) {
    for (std::size_t i = 0; i < n; ++i, a += columns) {
      double sum = a[0] * b[0];
      for (std::size_t l = 1; l < columns; ++l) sum += a[l] * b[l];
      y[i] += sum;
    }
  }
  /// Adds a' y to b. Four rows have sums of their own, so that additions need not wait for each other.
  static void add_transposed(std::size_t n, const double* a, const double* y, double* b) {
    double sums[4][columns] = {};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4, a += 4 * columns)
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t l = 0; l < columns; ++l) sums[row][l] += a[row * columns + l] * y[i + row];
    for (; i < n; ++i, a += columns)
      for (std::size_t l = 0; l < columns; ++l) sums[0][l] += a[l] * y[i];
    for (std::size_t l = 0; l < columns; ++l) b[l] += (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
  }
};

inline constexpr std::size_t most_narrow_columns = 7;

/// Calls use(narrow_product<columns>()) where a matrix is narrow. Returns whether it is.
template <class Use, std::size_t... before>
bool use_narrow(std::size_t columns, const Use& use, std::index_sequence<before...>) {
  return ((columns == before + 1 && (use(narrow_product<before + 1>()), true)) || ...);
}
template <class Use>
bool use_narrow(std::size_t columns, const Use& use) {
  return use_narrow(columns, use, std::make_index_sequence<most_narrow_columns>());
}

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
