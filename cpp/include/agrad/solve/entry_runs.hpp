// Entry runs: products with adjoints of a sparse Jacobian whose entries lie along diagonals, as where neighbours react.
//
// In a run each column has an entry, one row below that of the column before, and the entries' places in memory are evenly spaced.
// So its product is one of three arrays, without indices. Where entries lie otherwise runs are short, and nothing is gained.
// Read next: solve/linearization.hpp, which multiplies by them.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include <agrad/program/pattern.hpp>

namespace agrad::detail {

struct entry_run {
  std::uint32_t column, row, slot, step, length;

  /// Whether `of_column`'s entry in `of_row`, which is at `at`, is the next one; a second entry says what the step is.
  bool takes(std::uint32_t of_column, std::uint32_t of_row, std::uint32_t at) {
    if (of_column != column + length || of_row != row + length || at < slot) return false;
    if (length == 1) step = at - slot;
    if (at != slot + length * step) return false;
    ++length;
    return true;
  }

  /// Adds lambda' times the entries to the sums of columns.
  void add_product(const double* values, const double* lambda, double* sums) const {
    const auto n = static_cast<Eigen::Index>(length);
    const Eigen::Map<const Eigen::ArrayXd> of_rows(lambda + row, n);
    Eigen::Map<Eigen::ArrayXd> to(sums + column, n);
    if (step == 1)
      to += of_rows * Eigen::Map<const Eigen::ArrayXd>(values + slot, n);
    else
      to += of_rows * Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<>>(values + slot, n, Eigen::InnerStride<>(step));
  }
};

/// The runs of columns begin .. end, whose entries are in slots[e] for first[j] <= e < first[j + 1]: those of all columns' first
/// entries, then those of their second ones.
inline std::vector<entry_run> entry_runs(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& rows,
                                         const slot* slots, std::size_t begin, std::size_t end) {
  std::vector<entry_run> runs;
  bool has_more = true;
  for (std::uint32_t which = 0; has_more; ++which) {
    has_more = false;
    entry_run run{0, 0, 0, 0, 0};
    for (std::size_t j = begin; j < end; ++j) {
      const std::uint32_t e = first[j] + which, column = static_cast<std::uint32_t>(j - begin);
      if (e >= first[j + 1]) continue;
      has_more = true;
      if (run.length > 0 && run.takes(column, rows[e], slots[e])) continue;
      if (run.length > 0) runs.push_back(run);
      run = {column, rows[e], slots[e], 0, 1};
    }
    if (run.length > 0) runs.push_back(run);
  }
  return runs;
}

}  // namespace agrad::detail
