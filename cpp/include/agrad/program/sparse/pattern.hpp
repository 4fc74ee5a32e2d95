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

  bool contains(std::size_t i, std::size_t j) const;
  /// Returns the largest number of entries in a row.
  std::size_t longest_row() const;

  /// A pattern with more entries than this is not sparse: with values and recovery it would take 6 GB.
  static constexpr std::size_t most_entries = std::size_t{1} << 28;
  /// Throws std::length_error if a pattern may not have so many entries.
  static void check_entries(std::size_t entries);

  /// Appends a row, given by its columns in any order, with or without repetitions; sorts the list in place.
  void append_row(std::vector<index>& places);

  friend bool operator==(const csr_pattern& a, const csr_pattern& b) {
    return a.cols == b.cols && a.begin == b.begin && a.col == b.col;
  }
  friend bool operator!=(const csr_pattern& a, const csr_pattern& b) { return !(a == b); }

 private:
  [[noreturn]] AGRAD_COLD static void fail_entries(std::size_t entries);
  [[noreturn]] AGRAD_COLD void fail_column(index found) const;
};

/// Returns the pattern of rows given by their columns, in any order.
csr_pattern pattern_of_rows(std::size_t cols, std::vector<std::vector<csr_pattern::index>> rows);

/// Returns the pattern of the transposed matrix.
csr_pattern transposed_pattern(const csr_pattern& p);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/pattern.ipp>
#endif
