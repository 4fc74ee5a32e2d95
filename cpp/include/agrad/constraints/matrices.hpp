// Matrices: Cholesky factors of correlation and covariance matrices, and these matrices.
//
// Row i of the factor of a correlation matrix has i partial correlations, tanh of free numbers, each times what the entries
// before it leave of the row's norm (Lewandowski, Kurowicka and Joe 2009). The norms' rests are computed as logarithms, which
// are right where tanh rounds to 1. Free numbers are the entries below the diagonal (of covariance matrices with the diagonal)
// row by row. Log Jacobians are those of these entries.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/constraints/entries.hpp>
#include <agrad/constraints/vectors.hpp>
#include <agrad/rules/hyperbolic.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// Returns log(sqrt(1 - tanh(x)^2)), also where tanh(x) rounds to 1.
template <class T>
T log_sech(const T& x) {
  return std::log(2.0) + x - log1p_exp(2.0 * x);
}

/// Returns the factor of a correlation matrix of free numbers. Adds the log Jacobian of the factor to lp, and of the matrix,
/// whose entries below the diagonal are the factor's times diagonal entries, if `is_whole`.
template <class V, class LP>
auto correlation_factor(std::string_view function, const V& y, eigen_index n, bool is_whole, LP& lp) {
  using T = promoted_t<V>;
  require_least(function, "K", n, 1);
  require_size(function, "y", y.size(), n * (n - 1) / 2);
  const free_vector<T> free = y;
  free_matrix<T> l = free_matrix<T>::Constant(n, n, T(0.0));
  eigen_index next = 0;
  for (eigen_index i = 0; i < n; ++i) {
    T log_rest(0.0);
    for (eigen_index j = 0; j < i; ++j, ++next) {
      const T log_cosine = log_sech(free[next]);
      l(i, j) = tanh(free[next]) * exp(log_rest);
      lp += 2.0 * log_cosine + log_rest;
      log_rest += log_cosine;
    }
    l(i, i) = exp(log_rest);
    if (is_whole && i > 0) lp += static_cast<double>(n - 1 - i) * log_rest;
  }
  return l;
}

/// Throws DomainError unless the matrix is lower triangular with a positive diagonal.
template <class T>
void require_factor(std::string_view function, const free_matrix<T>& x) {
  for (eigen_index i = 0; i < x.rows(); ++i)
    for (eigen_index j = 0; j < x.cols(); ++j) {
      const double value = primal_value(x(i, j));
      require(j <= i || value == 0, function, {i, j}, value, "0, above the diagonal");
      require(j != i || value > 0, function, {i, j}, value, "positive, on the diagonal");
      require(std::isfinite(value), function, {i, j}, value, "finite");
    }
}

template <class T>
void require_square(std::string_view function, const free_matrix<T>& x) {
  require_least(function, "x", x.rows(), 1);
  require_size(function, "x", x.cols(), x.rows());
}

/// Throws DomainError unless the matrix is finite and symmetric.
template <class T>
void require_symmetric(std::string_view function, const free_matrix<T>& x) {
  require_square(function, x);
  for (eigen_index i = 0; i < x.rows(); ++i)
    for (eigen_index j = 0; j <= i; ++j) {
      const double below = primal_value(x(i, j)), above = primal_value(x(j, i));
      require(std::isfinite(below), function, {i, j}, below, "finite");
      require(std::isfinite(above), function, {j, i}, above, "finite");
      const double scale = std::sqrt(std::abs(primal_value(x(i, i)) * primal_value(x(j, j))));
      require(std::abs(below - above) <= constraint_tolerance * scale, function, {i, j}, below,
              "the entry across the diagonal,", above);
    }
}

template <class T>
free_vector<T> free_of_correlation_factor(const free_matrix<T>& l) {
  const eigen_index n = l.rows();
  free_vector<T> y(n * (n - 1) / 2);
  eigen_index end = 0;
  for (eigen_index i = 1; i < n; ++i) {
    T rest = square(l(i, i));
    end += i;
    for (eigen_index j = i - 1; j >= 0; --j) {
      y[end - i + j] = asinh(l(i, j) / sqrt(rest));
      rest += square(l(i, j));
    }
  }
  return y;
}

/// Returns the lower triangle of free numbers, with exp on the diagonal; adds the log Jacobian of the factor to lp, and of the
/// matrix if `is_whole`.
template <class V, class LP>
auto covariance_factor(std::string_view function, const V& y, eigen_index m, eigen_index n, bool is_whole, LP& lp) {
  using T = promoted_t<V>;
  require_least(function, is_whole ? "K" : "N", n, 1);
  require_least(function, "M", m, n);
  require_size(function, "y", y.size(), n * (n + 1) / 2 + (m - n) * n);
  const free_vector<T> free = y;
  free_matrix<T> l = free_matrix<T>::Constant(m, n, T(0.0));
  eigen_index next = 0;
  for (eigen_index i = 0; i < m; ++i)
    for (eigen_index j = 0; j <= std::min(i, n - 1); ++j, ++next) {
      l(i, j) = i == j ? T(exp(free[next])) : free[next];
      if (i == j) lp += (is_whole ? static_cast<double>(n + 1 - j) : 1.0) * free[next];
    }
  if (is_whole) lp += static_cast<double>(n) * std::log(2.0);
  return l;
}
template <class T>
free_vector<T> free_of_covariance_factor(const free_matrix<T>& l) {
  const eigen_index m = l.rows(), n = l.cols();
  free_vector<T> y(n * (n + 1) / 2 + (m - n) * n);
  eigen_index next = 0;
  for (eigen_index i = 0; i < m; ++i)
    for (eigen_index j = 0; j <= std::min(i, n - 1); ++j) y[next++] = i == j ? T(log(l(i, j))) : l(i, j);
  return y;
}

/// Returns the Cholesky factor of x. Throws DomainError, in the name of the function, unless x is positive definite.
template <class T>
free_matrix<T> factor_of(std::string_view function, const free_matrix<T>& x) {
  try {
    return cholesky(x);
  } catch (const LinAlgError& error) {
    linalg::fail_factor(function, "x", error);
  }
}

/// Returns the product of a factor with its transpose.
template <class T>
free_matrix<T> square_of_factor(const free_matrix<T>& l) {
  const eigen_index n = l.rows();
  free_matrix<T> x(n, n);
  for (eigen_index i = 0; i < n; ++i)
    for (eigen_index j = 0; j <= i; ++j) {
      T sum(0.0);
      for (eigen_index k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
      x(i, j) = sum;
      x(j, i) = sum;
    }
  return x;
}

template <class V, class LP>
auto correlation_matrix(std::string_view function, const V& y, eigen_index n, LP& lp) {
  auto x = square_of_factor(correlation_factor(function, y, n, true, lp));
  for (eigen_index i = 0; i < n; ++i) x(i, i) = 1.0;
  return x;
}

}  // namespace detail

/// Returns the Cholesky factor of a correlation matrix of K rows, from K (K - 1) / 2 free numbers.
template <class V>
auto cholesky_factor_corr_constrain(const V& y, Eigen::Index K) {
  detail::no_sum none;
  return detail::correlation_factor("cholesky_factor_corr_constrain", y, K, false, none);
}
/// Does the same as `cholesky_factor_corr_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto cholesky_factor_corr_jacobian(const V& y, Eigen::Index K, LP& lp) {
  return detail::correlation_factor("cholesky_factor_corr_jacobian", y, K, false, lp);
}
/// Returns the free numbers. Throws DomainError unless x is lower triangular with a positive diagonal and rows of norm 1.
template <class M>
auto cholesky_factor_corr_unconstrain(const M& x) {
  constexpr std::string_view name = "cholesky_factor_corr_unconstrain";
  const detail::free_matrix<promoted_t<M>> value = x;
  detail::require_square(name, value);
  detail::require_factor(name, value);
  for (Eigen::Index i = 0; i < value.rows(); ++i) {
    double sum = 0;
    for (Eigen::Index j = 0; j <= i; ++j) sum += std::pow(detail::primal_value(value(i, j)), 2);
    if (!(std::abs(std::sqrt(sum) - 1) <= detail::constraint_tolerance))
      detail::fail_entry(name, "the norm of x", {i, -1}, std::sqrt(sum), "1", quiet_nan);
  }
  return detail::free_of_correlation_factor(value);
}

/// Returns a correlation matrix of K rows, from K (K - 1) / 2 free numbers.
template <class V>
auto corr_matrix_constrain(const V& y, Eigen::Index K) {
  detail::no_sum none;
  return detail::correlation_matrix("corr_matrix_constrain", y, K, none);
}
/// Does the same as `corr_matrix_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto corr_matrix_jacobian(const V& y, Eigen::Index K, LP& lp) {
  return detail::correlation_matrix("corr_matrix_jacobian", y, K, lp);
}
/// Returns the free numbers. Throws DomainError unless x is symmetric and positive definite with ones on the diagonal.
template <class M>
auto corr_matrix_unconstrain(const M& x) {
  constexpr std::string_view name = "corr_matrix_unconstrain";
  const detail::free_matrix<promoted_t<M>> value = x;
  detail::require_symmetric(name, value);
  for (Eigen::Index i = 0; i < value.rows(); ++i) {
    const double at = detail::primal_value(value(i, i));
    detail::require(std::abs(at - 1) <= detail::constraint_tolerance, name, {i, i}, at, "1");
  }
  return detail::free_of_correlation_factor(detail::factor_of(name, value));
}

/// Returns a lower triangular matrix of M rows and N columns, M >= N, with a positive diagonal.
template <class V>
auto cholesky_factor_cov_constrain(const V& y, Eigen::Index M, Eigen::Index N) {
  detail::no_sum none;
  return detail::covariance_factor("cholesky_factor_cov_constrain", y, M, N, false, none);
}
/// Does the same as `cholesky_factor_cov_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto cholesky_factor_cov_jacobian(const V& y, Eigen::Index M, Eigen::Index N, LP& lp) {
  return detail::covariance_factor("cholesky_factor_cov_jacobian", y, M, N, false, lp);
}
/// Returns the free numbers. Throws DomainError unless x is lower triangular with a positive diagonal.
template <class M>
auto cholesky_factor_cov_unconstrain(const M& x) {
  constexpr std::string_view name = "cholesky_factor_cov_unconstrain";
  const detail::free_matrix<promoted_t<M>> value = x;
  detail::require_least(name, "x", value.rows(), std::max<Eigen::Index>(value.cols(), 1));
  detail::require_factor(name, value);
  return detail::free_of_covariance_factor(value);
}

/// Returns a covariance matrix of K rows, from K (K + 1) / 2 free numbers.
template <class V>
auto cov_matrix_constrain(const V& y, Eigen::Index K) {
  detail::no_sum none;
  return detail::square_of_factor(detail::covariance_factor("cov_matrix_constrain", y, K, K, true, none));
}
/// Does the same as `cov_matrix_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto cov_matrix_jacobian(const V& y, Eigen::Index K, LP& lp) {
  return detail::square_of_factor(detail::covariance_factor("cov_matrix_jacobian", y, K, K, true, lp));
}
/// Returns the free numbers. Throws DomainError unless x is symmetric and positive definite.
template <class M>
auto cov_matrix_unconstrain(const M& x) {
  constexpr std::string_view name = "cov_matrix_unconstrain";
  const detail::free_matrix<promoted_t<M>> value = x;
  detail::require_symmetric(name, value);
  return detail::free_of_covariance_factor(detail::factor_of(name, value));
}

}  // namespace agrad
