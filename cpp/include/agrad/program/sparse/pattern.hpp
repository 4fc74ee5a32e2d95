// Pattern: the entries of a matrix that may be other than zero, row after row (CSR, as in scipy.sparse and Eigen).
//
// A pattern belongs to a program, not to a point: entries of the pattern may be zero at some x, and entries outside of the
// pattern are zero at every x. Read next: program/sparse/sparsity.hpp, which computes a program's patterns, and
// program/sparse/colouring.hpp, which uses patterns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>

namespace agrad {

/// The places of the entries of a rows x cols matrix: row i has the columns col[begin[i]] .. col[begin[i + 1] - 1], ascending
/// and distinct.
struct csr_pattern {
  using index = std::uint32_t;

  std::size_t cols = 0;
  std::vector<std::size_t> begin{0};  // of each row, and the end
  std::vector<index> col;

  std::size_t rows() const { return begin.size() - 1; }
  std::size_t size() const { return col.size(); }
  std::size_t row_size(std::size_t i) const { return begin[i + 1] - begin[i]; }

  /// The columns of a row, for a range-based loop.
  struct row_range {
    const index *first, *last;
    const index* begin() const { return first; }
    const index* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  row_range row(std::size_t i) const { return {col.data() + begin[i], col.data() + begin[i + 1]}; }

  bool contains(std::size_t i, std::size_t j) const {
    const row_range r = row(i);
    return std::binary_search(r.begin(), r.end(), static_cast<index>(j));
  }
  /// The largest number of entries in a row.
  std::size_t longest_row() const {
    std::size_t most = 0;
    for (std::size_t i = 0; i < rows(); ++i) most = std::max(most, row_size(i));
    return most;
  }

  /// A pattern with more entries than this is not sparse: with values and recovery it would take 6 GB.
  static constexpr std::size_t most_entries = std::size_t{1} << 28;
  /// Throws std::length_error if a pattern may not have so many entries.
  static void check_entries(std::size_t entries) {
    if (AGRAD_UNLIKELY(entries > most_entries)) fail_entries(entries);
  }

  /// Appends a row, given by its columns in any order, with or without repetitions; sorts the list in place.
  void append_row(std::vector<index>& places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (AGRAD_UNLIKELY(!places.empty() && places.back() >= cols)) fail_column(places.back());
    check_entries(col.size() + places.size());
    col.insert(col.end(), places.begin(), places.end());
    begin.push_back(col.size());
  }

  friend bool operator==(const csr_pattern& a, const csr_pattern& b) {
    return a.cols == b.cols && a.begin == b.begin && a.col == b.col;
  }
  friend bool operator!=(const csr_pattern& a, const csr_pattern& b) { return !(a == b); }

 private:
  [[noreturn]] AGRAD_COLD static void fail_entries(std::size_t entries) {
    throw std::length_error(detail::sentence("sparse pattern", "number of entries", -1, "at least " + std::to_string(entries),
                                             "at most " + std::to_string(most_entries),
                                             "the matrix is not sparse, multiply with it instead of making it"));
  }
  [[noreturn]] AGRAD_COLD void fail_column(index found) const {
    throw ShapeError(detail::sentence("csr_pattern", "column", -1, static_cast<long>(found),
                                      "less than the number of columns, " + std::to_string(cols)));
  }
};

/// Returns the pattern of rows given by their columns, in any order.
inline csr_pattern pattern_of_rows(std::size_t cols, std::vector<std::vector<csr_pattern::index>> rows) {
  csr_pattern p;
  p.cols = cols;
  for (auto& row : rows) p.append_row(row);
  return p;
}

/// Returns the pattern of the transposed matrix.
inline csr_pattern transposed_pattern(const csr_pattern& p) {
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
