// Definitions of program/sparse/pattern.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

AGRAD_INLINE bool csr_pattern::contains(std::size_t i, std::size_t j) const {
  const row_range r = row(i);
  return std::binary_search(r.begin(), r.end(), static_cast<index>(j));
}

AGRAD_INLINE std::size_t csr_pattern::longest_row() const {
  std::size_t most = 0;
  for (std::size_t i = 0; i < rows(); ++i) most = std::max(most, row_size(i));
  return most;
}

AGRAD_INLINE void csr_pattern::check_entries(std::size_t entries) {
  if (AGRAD_UNLIKELY(entries > most_entries)) fail_entries(entries);
}

AGRAD_INLINE void csr_pattern::append_row(std::vector<index>& places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (AGRAD_UNLIKELY(!places.empty() && places.back() >= cols)) fail_column(places.back());
  check_entries(col.size() + places.size());
  col.insert(col.end(), places.begin(), places.end());
  begin.push_back(col.size());
}

AGRAD_INLINE void csr_pattern::fail_entries(std::size_t entries) {
  throw std::length_error(detail::sentence("sparse pattern", "number of entries", -1, "at least " + std::to_string(entries),
                                           "at most " + std::to_string(most_entries),
                                           "the matrix is not sparse, use jvp or vjp to multiply by it without computing it"));
}

AGRAD_INLINE void csr_pattern::fail_column(index found) const {
  throw ShapeError(detail::sentence("csr_pattern", "column", -1, static_cast<long>(found),
                                    "less than the number of columns, " + std::to_string(cols)));
}

AGRAD_INLINE csr_pattern pattern_of_rows(std::size_t cols, std::vector<std::vector<csr_pattern::index>> rows) {
  csr_pattern p;
  p.cols = cols;
  for (auto& row : rows) p.append_row(row);
  return p;
}

AGRAD_INLINE csr_pattern transposed_pattern(const csr_pattern& p) {
  csr_pattern t;
  t.cols = p.rows();
  t.begin.assign(p.cols + 1, 0);
  for (const csr_pattern::index j : p.col) ++t.begin[j + 1];
  for (std::size_t j = 0; j < p.cols; ++j) t.begin[j + 1] += t.begin[j];
  t.col.resize(p.size());
  std::vector<std::size_t> next(t.begin.begin(), t.begin.end() - 1);
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (const csr_pattern::index j : p.row(i)) t.col[next[j]++] = static_cast<csr_pattern::index>(i);
  return t;
}

}  // namespace agrad
