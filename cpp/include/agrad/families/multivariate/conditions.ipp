// Definitions of families/multivariate/conditions.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/families/multivariate/conditions.hpp>
#include <agrad/rules/linalg/spd_kernels.hpp>

namespace agrad {

namespace detail {

AGRAD_COLD AGRAD_INLINE std::string entry_name(std::string_view argument, const matrix_values& x, std::ptrdiff_t i,
                                               std::ptrdiff_t j) {
  std::string text(argument);
  if ((x.rows == 1 && x.cols == 1 && x.given == shorthand::none) || x.given == shorthand::number) return text;
  if (x.rows == 1) return text + "[" + std::to_string(j) + "]";
  if (x.cols == 1 || x.given == shorthand::diagonal) return text + "[" + std::to_string(i) + "]";
  return text + "[" + std::to_string(i) + ", " + std::to_string(j) + "]";
}
AGRAD_COLD inline std::string row_name(std::string_view argument, const matrix_values& x, std::ptrdiff_t i) {
  return std::string(argument) + (x.rows == 1 ? "" : "[" + std::to_string(i) + "]");
}
[[noreturn]] AGRAD_COLD inline void fail_entry(std::string_view function, std::string_view argument, const matrix_values& x,
                                               std::ptrdiff_t i, std::ptrdiff_t j, std::string_view must,
                                               std::string_view hint = {}) {
  throw DomainError(sentence(function, entry_name(argument, x, i, j), -1, x(i, j), must, hint));
}

AGRAD_INLINE void check_symmetric(std::string_view function, std::string_view argument, const matrix_values& x, double) {
  double largest = 0;
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) largest = std::max(largest, std::abs(x(i, i)));
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    for (std::ptrdiff_t j = 0; j < i; ++j)
      if (AGRAD_UNLIKELY(!(std::abs(x(i, j) - x(j, i)) <= allowed_rounding * largest)))
        fail_entry(function, argument, x, i, j, "equal to " + entry_name(argument, x, j, i) + ", which is " + to_text(x(j, i)),
                   "the matrix must be symmetric");
}
AGRAD_INLINE void check_variances(std::string_view function, std::string_view argument, const matrix_values& x, double limit) {
  check_symmetric(function, argument, x, limit);
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    if (AGRAD_UNLIKELY(x(i, i) < 0))
      fail_entry(function, argument, x, i, i, "nonnegative", "the diagonal of a covariance matrix");
}
AGRAD_INLINE void check_positive_definite(std::string_view function, std::string_view argument, const matrix_values& x,
                                          double limit) {
  check_symmetric(function, argument, x, limit);
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> a(
      x.data, x.rows, x.cols, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(x.col_stride, x.row_stride));
  if (x.rows == 0) return;
  Eigen::MatrixXd l = a;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(l);
  if (AGRAD_UNLIKELY(factor.info() != Eigen::Success)) linalg::fail_indefinite(function, a, argument);
}
AGRAD_INLINE void check_unit_diagonal(std::string_view function, std::string_view argument, const matrix_values& x,
                                      double limit) {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    if (AGRAD_UNLIKELY(!(std::abs(x(i, i) - 1) <= allowed_rounding)))
      fail_entry(function, argument, x, i, i, "1", "the diagonal of a correlation matrix");
  check_positive_definite(function, argument, x, limit);
}
AGRAD_INLINE void check_cholesky_factor(std::string_view function, std::string_view argument, const matrix_values& x, double) {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    if (AGRAD_UNLIKELY(!(x(i, i) > 0)))
      fail_entry(function, argument, x, i, i, "positive", "the diagonal of a Cholesky factor");
    for (std::ptrdiff_t j = i + 1; j < x.cols; ++j)
      if (AGRAD_UNLIKELY(x(i, j) != 0)) fail_entry(function, argument, x, i, j, "0", "a Cholesky factor is lower triangular");
  }
}
AGRAD_INLINE void check_correlation_factor(std::string_view function, std::string_view argument, const matrix_values& x,
                                           double limit) {
  check_cholesky_factor(function, argument, x, limit);
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    double norm = 0;
    for (std::ptrdiff_t j = 0; j <= i; ++j) norm += x(i, j) * x(i, j);
    if (AGRAD_UNLIKELY(!(std::abs(norm - 1) <= allowed_rounding))) {
      throw DomainError(sentence(function, row_name(argument, x, i), -1, "of norm " + to_text(std::sqrt(norm)), "of norm 1",
                                 "a row of the Cholesky factor of a correlation matrix"));
    }
  }
}
AGRAD_INLINE void check_simplex(std::string_view function, std::string_view argument, const matrix_values& x, double) {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    double sum = 0;
    for (std::ptrdiff_t j = 0; j < x.cols; ++j) sum += x(i, j);
    if (AGRAD_UNLIKELY(!(std::abs(sum - 1) <= allowed_rounding)))
      throw DomainError(sentence(function, row_name(argument, x, i), -1, "of sum " + to_text(sum), "a simplex",
                                 "its entries are nonnegative and sum to 1"));
  }
}
AGRAD_INLINE void check_ordered(std::string_view function, std::string_view argument, const matrix_values& x, double) {
  if (AGRAD_UNLIKELY(x.cols == 0)) throw DomainError(sentence(function, argument, -1, "empty", "one cutpoint or more"));
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    for (std::ptrdiff_t j = 1; j < x.cols; ++j)
      if (AGRAD_UNLIKELY(!(x(i, j) > x(i, j - 1))))
        fail_entry(function, argument, x, i, j,
                   "greater than " + entry_name(argument, x, i, j - 1) + ", which is " + to_text(x(i, j - 1)));
}
/// The numbers of categories count from 0, as all indices do.
AGRAD_INLINE void check_below(std::string_view function, std::string_view argument, const matrix_values& x, double limit) {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    for (std::ptrdiff_t j = 0; j < x.cols; ++j)
      if (AGRAD_UNLIKELY(!(x(i, j) < limit)))
        fail_entry(function, argument, x, i, j, "a whole number from 0 to " + to_text(limit - 1),
                   "categories count from 0, not from 1");
}
AGRAD_INLINE void check_up_to(std::string_view function, std::string_view argument, const matrix_values& x, double limit) {
  check_below(function, argument, x, limit + 1);
}
AGRAD_INLINE void check_degrees(std::string_view function, std::string_view argument, const matrix_values& x, double limit) {
  if (AGRAD_UNLIKELY(!(x(0, 0) > limit - 1)))
    fail_entry(function, argument, x, 0, 0, "greater than " + to_text(limit - 1), "the number of rows of the matrices less 1");
}
AGRAD_INLINE void check_possible(std::string_view function, std::string_view argument, const matrix_values& x, double) {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    std::ptrdiff_t j = 0;
    while (j < x.cols && x(i, j) == -infinity) ++j;
    if (AGRAD_UNLIKELY(x.cols > 0 && j == x.cols))
      throw DomainError(sentence(function, row_name(argument, x, i), -1, "-inf in each entry", "finite in one or more",
                                 "one of the categories must be possible"));
  }
}

}  // namespace detail

AGRAD_INLINE void matrix_condition::check(std::string_view function, std::string_view argument, const matrix_values& x,
                                          double limit) const {
  for (std::ptrdiff_t i = 0; i < x.rows; ++i)
    for (std::ptrdiff_t j = 0; j < x.cols; ++j)
      if (AGRAD_UNLIKELY(!each.holds(x(i, j)))) detail::fail_entry(function, argument, x, i, j, each.name);
  if (whole != nullptr) whole(function, argument, x, limit);
}

}  // namespace agrad
