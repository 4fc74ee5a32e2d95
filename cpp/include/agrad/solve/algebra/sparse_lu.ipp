// Definitions of solve/algebra/sparse_lu.hpp.
#pragma once

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/sparse_lu.hpp>

namespace agrad::detail {

/// Returns an order of columns in which few entries are filled, by a method of Eigen. gives_steps: whether this method gives
/// the step of each column instead of the column of each step.
template <class Ordering>
std::vector<csr_pattern::index> elimination_order(const csr_pattern& pattern, bool gives_steps = false) {
  const auto n = static_cast<int>(pattern.rows());
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.resizeNonZeros(static_cast<Eigen::Index>(pattern.size()));
  std::copy(pattern.begin.begin(), pattern.begin.end(), matrix.outerIndexPtr());
  std::copy(pattern.col.begin(), pattern.col.end(), matrix.innerIndexPtr());
  std::fill_n(matrix.valuePtr(), pattern.size(), 1.0);
  typename Ordering::PermutationType order;
  Ordering()(matrix, order);
  if (gives_steps) order = order.inverse().eval();
  return {order.indices().data(), order.indices().data() + n};
}

AGRAD_INLINE bool sparse_lu::factorise(const double* values) {
  if (has_pivots_ && keep_pivots(values)) return true;
  return has_pivots_ = choose_pivots(values);
}

AGRAD_INLINE void sparse_lu::forget() {
  has_pivots_ = false;
  if (!prefers_diagonal_) order_.clear(), prefers_diagonal_ = true;
}

AGRAD_INLINE bool sparse_lu::choose_pivots(const double* values) {
  if (order_.empty()) order_ = elimination_order<Eigen::AMDOrdering<int>>(*pattern_);
  if (eliminate(values)) return true;
  if (!prefers_diagonal_) return false;
  const std::vector<index> usual = std::exchange(order_, elimination_order<Eigen::COLAMDOrdering<int>>(*pattern_, true));
  prefers_diagonal_ = false;
  if (eliminate(values)) return true;
  order_ = usual, prefers_diagonal_ = true;  // the matrix is singular; the next one may have large diagonal entries
  return false;
}

AGRAD_INLINE bool sparse_lu::eliminate(const double* values) {
  const std::size_t n = pattern_->rows();
  std::size_t others = n / 16 + 4;  // pivots beside the diagonal that are allowed where the order is made for the diagonal
  lower_.clear(), upper_.clear();
  step_of_.assign(n, none);
  work_.assign(n, 0.0);
  inverse_pivot_.resize(n);
  seen_.assign(n, n);
  followed_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const index column = order_[k];
    find_rows(column, k);
    for (std::size_t e = pattern_->begin[column]; e < pattern_->begin[column + 1]; ++e) work_[pattern_->col[e]] = values[e];
    for (std::size_t r = rows_.size(); r-- > 0;) {
      const index step = step_of_[rows_[r]];
      if (step == none) continue;
      const double x = std::exchange(work_[rows_[r]], 0.0);
      upper_.add(step, x);
      lower_.each(step, [&](index row, double factor) { work_[row] -= factor * x; });
    }
    upper_.end_column();
    const index pivot = choose_row(column);
    if (pivot == none || (prefers_diagonal_ && pivot != column && others-- == 0)) return false;
    step_of_[pivot] = static_cast<index>(k);
    inverse_pivot_[k] = 1 / std::exchange(work_[pivot], 0.0);
    for (const index row : rows_)
      if (step_of_[row] == none) lower_.add(row, std::exchange(work_[row], 0.0) * inverse_pivot_[k]);
    lower_.end_column();
    followed_[k] = lower_.begin[k + 1];
    prune(k, pivot);
  }
  for (index& place : lower_.place) place = step_of_[place];
  return true;
}

AGRAD_INLINE void sparse_lu::find_rows(index column, std::size_t step) {
  rows_.clear();
  const auto enter = [&](index row) {
    if (seen_[row] == step) return;
    seen_[row] = step;
    path_.emplace_back(row, step_of_[row] == none ? 0 : lower_.begin[step_of_[row]]);
  };
  for (const index first : pattern_->row(column)) {
    enter(first);
    while (!path_.empty()) {
      const auto [row, next] = path_.back();
      if (step_of_[row] != none && next < followed_[step_of_[row]]) {
        ++path_.back().second;
        enter(lower_.place[next]);
      } else {
        path_.pop_back();
        rows_.push_back(row);
      }
    }
  }
}

AGRAD_INLINE sparse_lu::index sparse_lu::choose_row(index column) const {
  double largest = 0;
  index found = none;
  for (const index row : rows_) {
    const double size = std::abs(work_[row]);
    if (step_of_[row] == none && size > largest) largest = size, found = row;
  }
  if (!std::isfinite(largest)) return none;
  const bool is_free = found != none && prefers_diagonal_ && step_of_[column] == none;
  return is_free && std::abs(work_[column]) >= preference * largest ? column : found;
}

AGRAD_INLINE void sparse_lu::prune(std::size_t step, index pivot) {
  upper_.each(step, [&](index k, double) {
    const std::size_t begin = lower_.begin[k], end = lower_.begin[k + 1];
    if (followed_[k] != end ||
        std::find(lower_.place.data() + begin, lower_.place.data() + end, pivot) == lower_.place.data() + end)
      return;
    std::size_t next = begin;
    for (std::size_t e = begin; e < end; ++e) {
      if (step_of_[lower_.place[e]] == none) continue;
      std::swap(lower_.place[e], lower_.place[next]);
      std::swap(lower_.value[e], lower_.value[next++]);
    }
    followed_[k] = next;
  });
}

AGRAD_INLINE bool sparse_lu::keep_pivots(const double* values) {
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const index column = order_[k];
    for (std::size_t e = pattern_->begin[column]; e < pattern_->begin[column + 1]; ++e)
      work_[step_of_[pattern_->col[e]]] = values[e];
    for (std::size_t e = upper_.begin[k]; e < upper_.begin[k + 1]; ++e) {
      const double x = upper_.value[e] = std::exchange(work_[upper_.place[e]], 0.0);
      lower_.each(upper_.place[e], [&](index place, double factor) { work_[place] -= factor * x; });
    }
    const double pivot = std::exchange(work_[k], 0.0);
    double largest = 0;
    lower_.each(k, [&](index place, double) { largest = std::max(largest, std::abs(work_[place])); });
    if (!(std::abs(pivot) > 0 && std::abs(pivot) >= least_pivot * largest && std::isfinite(pivot))) return false;
    inverse_pivot_[k] = 1 / pivot;
    for (std::size_t e = lower_.begin[k]; e < lower_.begin[k + 1]; ++e)
      lower_.value[e] = std::exchange(work_[lower_.place[e]], 0.0) * inverse_pivot_[k];
  }
  return true;
}

AGRAD_INLINE void sparse_lu::solve(double* x) {
  const std::size_t n = order_.size();
  for (std::size_t k = 0; k < n; ++k) {
    double sum = x[order_[k]];
    upper_.each(k, [&](index place, double factor) { sum -= factor * work_[place]; });
    work_[k] = sum * inverse_pivot_[k];
  }
  for (std::size_t k = n; k-- > 0;) lower_.each(k, [&](index place, double factor) { work_[k] -= factor * work_[place]; });
  for (std::size_t i = 0; i < n; ++i) x[i] = work_[step_of_[i]];
  std::fill(work_.begin(), work_.end(), 0.0);
}

AGRAD_INLINE void sparse_lu::solve_transposed(double* x) {
  const std::size_t n = order_.size();
  for (std::size_t i = 0; i < n; ++i) work_[step_of_[i]] = x[i];
  for (std::size_t k = 0; k < n; ++k) lower_.each(k, [&](index place, double factor) { work_[place] -= factor * work_[k]; });
  for (std::size_t k = n; k-- > 0;) {
    work_[k] *= inverse_pivot_[k];
    upper_.each(k, [&](index place, double factor) { work_[place] -= factor * work_[k]; });
  }
  for (std::size_t k = 0; k < n; ++k) x[order_[k]] = work_[k];
  std::fill(work_.begin(), work_.end(), 0.0);
}

}  // namespace agrad::detail
