// Diagonals: adjoint products of a sparse Jacobian whose entries lie along diagonals, as where neighbours react.
//
// In a range of entries each column has an entry, one row below the entry of the column before, and the entries are evenly
// spaced in memory. The product of a range is then a product of arrays without indices. Entries that do not lie along diagonals
// form short ranges, which gain nothing.
// Read next: solve/system/program/linearization.hpp, which multiplies with these ranges.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <agrad/program/sparse/pattern.hpp>

namespace agrad::detail {

struct entry_range {
  std::uint32_t column, row, place, step, length;

  /// Returns whether the entry in `of_column` and `of_row`, stored at `at`, extends the range; the second entry sets the step.
  bool takes(std::uint32_t of_column, std::uint32_t of_row, std::uint32_t at);

  /// Adds lambda' times the entries to the sums of columns.
  void add_product(const double* values, const double* lambda, double* sums) const;
  /// Adds the entries times v to the sums of rows.
  void add_forward_product(const double* values, const double* v, double* sums) const;
};

/// Returns the ranges of columns begin .. end, whose entries are in slots[e] for first[j] <= e < first[j + 1]: first ranges of
/// all columns' first entries, then of their second entries, and so on.
std::vector<entry_range> entry_ranges(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& rows,
                                      const slot* slots, std::size_t begin, std::size_t end);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/diagonals.ipp>
#endif
