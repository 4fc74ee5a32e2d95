// Sparse LU: factorises matrices with the same pattern one after the other, and solves with each and its transposed.
//
// The transposed matrix is factorised, because its columns are the rows of the pattern. The first factorisation finds pivots
// and the pattern of the factors (Gilbert and Peierls 1988, with the pruning of Eisenstat and Liu 1992); later ones keep both,
// which takes a small part of the time, until a pivot is much smaller than an entry below it. Columns are ordered once, by
// approximate minimum degree for pivots on the diagonal (Davis and Palamadai Natarajan 2010, Algorithm 907: KLU), or, where too
// many diagonal entries are small, for any pivots.
// Read next: solve/algebra/newton_matrix.hpp, the user.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/sparse/pattern.hpp>

namespace agrad::detail {

class sparse_lu {
 public:
  explicit sparse_lu(std::shared_ptr<const csr_pattern> pattern) : pattern_(std::move(pattern)) {}

  /// Factorises the matrix with these values, which are finite, in the pattern's order. Returns false when it is singular.
  bool factorise(const double* values);

  /// Makes the next factorisation that of a new object: it does not depend on the matrices before.
  void forget();

  /// Replaces x by M^-1 x, where M is the matrix of the last factorisation.
  void solve(double* x);
  /// Replaces x by M'^-1 x.
  void solve_transposed(double* x);

 private:
  using index = csr_pattern::index;
  static constexpr index none = static_cast<index>(-1);
  static constexpr double preference = 0.1;    // least size of a diagonal pivot, relative to the largest entry of its column
  static constexpr double least_pivot = 0.01;  // the smallest ratio for a pivot that is used again

  /// The columns of a triangular factor without its diagonal.
  struct triangle {
    std::vector<std::size_t> begin{0};  // of each column, and the end
    std::vector<index> place;
    std::vector<double> value;

    void clear() { begin.assign(1, 0), place.clear(), value.clear(); }
    void add(index i, double x) { place.push_back(i), value.push_back(x); }
    void end_column() { begin.push_back(place.size()); }
    /// Calls use(place, value) for each entry of column k.
    template <class Use>
    void each(std::size_t k, const Use& use) {
      for (std::size_t e = begin[k]; e < begin[k + 1]; ++e) use(place[e], value[e]);
    }
  };

  bool choose_pivots(const double* values);
  /// Does so for the current order. Returns false, too, where pivots on the diagonal are preferred and too many are small.
  bool eliminate(const double* values);
  /// Factorises with the pivots of before. Returns false when one of them is too small.
  bool keep_pivots(const double* values);
  /// Finds the rows where column `column` of the factors is not zero: each before those that depend on it, from the end on.
  void find_rows(index column, std::size_t step);
  /// Returns the row of the pivot, or `none` when all candidates are zero.
  index choose_row(index column) const;
  /// Makes `find_rows` follow fewer entries of the columns that step `step` depends on: column `step` leads to the others.
  void prune(std::size_t step, index pivot);

  std::shared_ptr<const csr_pattern> pattern_;
  std::vector<index> order_;    // order_[k]: the column that is eliminated in step k
  std::vector<index> step_of_;  // of each row, the step in which it has the pivot
  triangle lower_, upper_;      // in places of steps
  std::vector<double> inverse_pivot_, work_;
  bool has_pivots_ = false, prefers_diagonal_ = true;

  std::vector<index> rows_;                          // of one column, for `find_rows`
  std::vector<std::size_t> seen_, followed_;         // the step that saw a row; the end of a column's entries to follow
  std::vector<std::pair<index, std::size_t>> path_;  // rows, and the next entry of their columns to follow
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/sparse_lu.ipp>
#endif
