// Narrow product: a matrix of a few columns times a vector, and the transposed matrix times a vector.
//
// Eigen's kernels are for wide matrices: with three columns they take three times as long as these loops.
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

}  // namespace agrad::detail
