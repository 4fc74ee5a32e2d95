// Stochastic: matrices whose columns or rows are simplexes; see constraints/vectors.hpp.
#pragma once

#include <agrad/constraints/vectors.hpp>

namespace agrad {

namespace detail {

template <class Y, class LP>
auto simplex_columns(std::string_view function, const Y& y, LP& lp) {
  using T = promoted_t<Y>;
  require_least(function, "y", y.cols(), 1);
  free_matrix<T> x(y.rows() + 1, y.cols());
  for (eigen_index j = 0; j < y.cols(); ++j) x.col(j) = simplex_of(free_vector<T>(y.col(j)), lp);
  return x;
}
template <class X, class Place>
auto free_of_simplex_columns(std::string_view function, const X& x, const Place& place) {
  using T = promoted_t<X>;
  require_least(function, "x", x.rows(), 1);
  free_matrix<T> y(x.rows() - 1, x.cols());
  for (eigen_index j = 0; j < x.cols(); ++j)
    y.col(j) = free_of_simplex(function, free_vector<T>(x.col(j)), [&](eigen_index i) { return place(i, j); });
  return y;
}
template <class T>
free_matrix<T> transposed(const free_matrix<T>& x) {
  return x.transpose();
}

}  // namespace detail

/// Matrices whose columns are simplexes, from free numbers with one row less.
template <class M>
auto stochastic_column_constrain(const M& y) {
  detail::no_sum none;
  return detail::simplex_columns("stochastic_column_constrain", y, none);
}
/// Does the same as `stochastic_column_constrain`, and adds the log Jacobian to lp.
template <class M, class LP>
auto stochastic_column_jacobian(const M& y, LP& lp) {
  return detail::simplex_columns("stochastic_column_jacobian", y, lp);
}
/// Returns the free numbers. Throws DomainError unless the columns are simplexes.
template <class M>
auto stochastic_column_unconstrain(const M& x) {
  const auto place = [](Eigen::Index i, Eigen::Index j) { return detail::entry_place{i, j}; };
  return detail::free_of_simplex_columns("stochastic_column_unconstrain", x, place);
}

/// Matrices whose rows are simplexes, from free numbers with one column less.
template <class M>
auto stochastic_row_constrain(const M& y) {
  detail::no_sum none;
  return detail::transposed(detail::simplex_columns("stochastic_row_constrain", y.transpose(), none));
}
/// Does the same as `stochastic_row_constrain`, and adds the log Jacobian to lp.
template <class M, class LP>
auto stochastic_row_jacobian(const M& y, LP& lp) {
  return detail::transposed(detail::simplex_columns("stochastic_row_jacobian", y.transpose(), lp));
}
/// Returns the free numbers. Throws DomainError unless the rows are simplexes.
template <class M>
auto stochastic_row_unconstrain(const M& x) {
  const auto place = [](Eigen::Index i, Eigen::Index j) { return detail::entry_place{j, i}; };
  return detail::transposed(detail::free_of_simplex_columns("stochastic_row_unconstrain", x.transpose(), place));
}

}  // namespace agrad
