// Entry runs: products with adjoints of a sparse Jacobian whose entries lie along diagonals, as where neighbours react.
//
// In a run each column has an entry, one row below that of the column before, and the entries' places in memory are evenly spaced.
// So its product is one of three arrays, without indices. Where entries lie otherwise runs are short, and nothing is gained.
// Read next: solve/system/program/linearization.hpp, which multiplies by them.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <agrad/program/sparse/pattern.hpp>

namespace agrad::detail {

struct entry_run {
  std::uint32_t column, row, place, step, length;

  /// Whether `of_column`'s entry in `of_row`, which is at `at`, is the next one; a second entry says what the step is.
  bool takes(std::uint32_t of_column, std::uint32_t of_row, std::uint32_t at) {
    if (of_column != column + length || of_row != row + length || at < place) return false;
    if (length == 1) step = at - place;
    if (at != place + length * step) return false;
    ++length;
    return true;
  }

  /// Adds lambda' times the entries to the sums of columns.
  void add_product(const double* values, const double* lambda, double* sums) const {
    const auto n = static_cast<Eigen::Index>(length);
    const Eigen::Map<const Eigen::ArrayXd> of_rows(lambda + row, n);
    Eigen::Map<Eigen::ArrayXd> to(sums + column, n);
    if (step == 1)
      to += of_rows * Eigen::Map<const Eigen::ArrayXd>(values + place, n);
    else
      to += of_rows * Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<>>(values + place, n, Eigen::InnerStride<>(step));
  }
  /// Adds the entries times v to the sums of rows.
  void add_forward_product(const double* values, const double* v, double* sums) const {
    const auto n = static_cast<Eigen::Index>(length);
    const Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<>> entries(values + place, n, Eigen::InnerStride<>(step));
    Eigen::Map<Eigen::ArrayXd>(sums + row, n) += Eigen::Map<const Eigen::ArrayXd>(v + column, n) * entries;
  }
};

/// The runs of columns begin .. end, whose entries are in slots[e] for first[j] <= e < first[j + 1]: those of all columns' first
/// entries, then those of their second ones.
inline std::vector<entry_run> entry_runs(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& rows,
                                         const slot* slots, std::size_t begin, std::size_t end) {
  std::vector<entry_run> runs;
  // Columns that have entries left: as many visits as entries, however long a column is.
  std::vector<std::uint32_t> columns(end - begin);
  std::iota(columns.begin(), columns.end(), 0U);
  for (std::uint32_t which = 0; !columns.empty(); ++which) {
    const auto is_done = [&](std::uint32_t j) { return first[begin + j] + which == first[begin + j + 1]; };
    columns.erase(std::remove_if(columns.begin(), columns.end(), is_done), columns.end());
    for (const std::uint32_t column : columns) {
      const std::uint32_t e = first[begin + column] + which;
      if (column == columns.front() || !runs.back().takes(column, rows[e], slots[e]))
        runs.push_back({column, rows[e], slots[e], 0, 1});
    }
  }
  return runs;
}

}  // namespace agrad::detail
