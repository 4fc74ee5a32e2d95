// Definitions of solve/system/program/diagonals.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/diagonals.hpp>

namespace agrad::detail {

AGRAD_INLINE bool entry_range::takes(std::uint32_t of_column, std::uint32_t of_row, std::uint32_t at) {
  if (of_column != column + length || of_row != row + length || at < place) return false;
  if (length == 1) step = at - place;
  if (at != place + length * step) return false;
  ++length;
  return true;
}

AGRAD_INLINE void entry_range::add_product(const double* values, const double* lambda, double* sums) const {
  const auto n = static_cast<Eigen::Index>(length);
  const Eigen::Map<const Eigen::ArrayXd> of_rows(lambda + row, n);
  Eigen::Map<Eigen::ArrayXd> to(sums + column, n);
  if (step == 1)
    to += of_rows * Eigen::Map<const Eigen::ArrayXd>(values + place, n);
  else
    to += of_rows * Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<>>(values + place, n, Eigen::InnerStride<>(step));
}

AGRAD_INLINE void entry_range::add_forward_product(const double* values, const double* v, double* sums) const {
  const auto n = static_cast<Eigen::Index>(length);
  const Eigen::Map<const Eigen::ArrayXd> of_columns(v + column, n);
  Eigen::Map<Eigen::ArrayXd> to(sums + row, n);
  if (step == 1)
    to += of_columns * Eigen::Map<const Eigen::ArrayXd>(values + place, n);
  else
    to += of_columns * Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<>>(values + place, n, Eigen::InnerStride<>(step));
}

AGRAD_INLINE std::vector<entry_range> entry_ranges(const std::vector<std::uint32_t>& first,
                                                   const std::vector<std::uint32_t>& rows, const slot* slots, std::size_t begin,
                                                   std::size_t end) {
  std::vector<entry_range> ranges;
  // Columns with entries left: the loop visits each entry once, however long a column is.
  std::vector<std::uint32_t> columns(end - begin);
  std::iota(columns.begin(), columns.end(), 0U);
  for (std::uint32_t which = 0; !columns.empty(); ++which) {
    const auto is_done = [&](std::uint32_t j) { return first[begin + j] + which == first[begin + j + 1]; };
    columns.erase(std::remove_if(columns.begin(), columns.end(), is_done), columns.end());
    for (const std::uint32_t column : columns) {
      const std::uint32_t e = first[begin + column] + which;
      if (column == columns.front() || !ranges.back().takes(column, rows[e], slots[e]))
        ranges.push_back({column, rows[e], slots[e], 0, 1});
    }
  }
  return ranges;
}

}  // namespace agrad::detail
