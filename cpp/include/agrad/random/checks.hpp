// Checks of vectors and matrices that are parameters of draws, and their values as Eigen's vectors and matrices.
//
// A matrix is factorised as it is checked, by the textbook's algorithm, so that a message has the parameter's name and the
// pivot.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <string>

#include <agrad/random/apply.hpp>

namespace agrad::detail {

using random_vector = Eigen::VectorXd;
using random_matrix = Eigen::MatrixXd;
using given_vector = Eigen::Ref<const Eigen::VectorXd>;
using given_matrix = Eigen::Ref<const Eigen::MatrixXd>;

/// What rounding may do to the sum of a simplex and to the symmetry of a matrix.
inline constexpr double allowed_error = 1e-8;

/// Returns a parameter that is a vector, all entries of which meet a condition.
template <class X>
random_vector checked_vector(std::string_view function, std::string_view name, const condition& must, const X& given) {
  static_assert(
      std::is_same_v<scalar_of_t<X>, double> && !sequence<std::decay_t<decltype(evaluated_argument(given))>>::is_scalar,
      "the parameter must be a vector of numbers");
  const auto& x = evaluated_argument(given);
  using Sequence = sequence<std::decay_t<decltype(x)>>;
  random_vector y(static_cast<Eigen::Index>(Sequence::size(x)));
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    y[i] = static_cast<double>(Sequence::at(x, static_cast<std::size_t>(i)));
    check(function, name, y[i], must, static_cast<long>(i));
  }
  if (AGRAD_UNLIKELY(y.size() == 0))
    throw ShapeError(std::string(function) + ": " + std::string(name) + " is empty, but must not be");
  return y;
}

template <class X>
random_vector checked_simplex(std::string_view function, std::string_view name, const X& given) {
  const random_vector x = checked_vector(function, name, must_be::nonnegative, given);
  if (AGRAD_UNLIKELY(!(std::abs(x.sum() - 1) <= allowed_error)))
    throw DomainError(sentence(function, name, -1, "of sum " + to_text(x.sum()), "of sum 1"));
  return x;
}

template <class X>
random_vector checked_ordered(std::string_view function, std::string_view name, const X& given) {
  const random_vector x = checked_vector(function, name, must_be::finite, given);
  for (Eigen::Index i = 1; i < x.size(); ++i)
    if (AGRAD_UNLIKELY(!(x[i] > x[i - 1])))
      throw DomainError(sentence(function, name, static_cast<long>(i), x[i], "larger than the entry before"));
  return x;
}

/// Throws ShapeError unless the matrix has n rows and columns.
inline void check_square(std::string_view function, std::string_view name, const given_matrix& x, Eigen::Index n) {
  if (AGRAD_UNLIKELY(x.rows() != n || x.cols() != n)) {
    const auto shape = [](Eigen::Index rows, Eigen::Index cols) {
      return "of shape (" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
    };
    throw ShapeError(sentence(function, name, -1, shape(x.rows(), x.cols()), shape(n, n)));
  }
}

/// Throws DomainError with the place of an entry of a matrix.
[[noreturn]] AGRAD_COLD inline void fail_matrix(std::string_view function, std::string_view name, const given_matrix& x,
                                                Eigen::Index i, Eigen::Index j, std::string_view must) {
  const std::string entry = std::string(name) + "[" + std::to_string(i) + ", " + std::to_string(j) + "]";
  throw DomainError(sentence(function, entry, -1, x(i, j), must));
}

/// Throws DomainError unless the matrix is lower triangular with a positive diagonal.
inline void check_factor(std::string_view function, std::string_view name, const given_matrix& x) {
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (AGRAD_UNLIKELY(!std::isfinite(x(i, j)))) fail_matrix(function, name, x, i, j, "finite");
      if (AGRAD_UNLIKELY(i < j && x(i, j) != 0)) fail_matrix(function, name, x, i, j, "0, above the diagonal");
      if (AGRAD_UNLIKELY(i == j && !(x(i, j) > 0))) fail_matrix(function, name, x, i, j, "positive, on the diagonal");
    }
}

/// Returns the Cholesky factor of a matrix; throws DomainError unless the matrix is symmetric and positive definite.
inline random_matrix checked_factor(std::string_view function, std::string_view name, const given_matrix& x) {
  const Eigen::Index n = x.rows();
  random_matrix l = random_matrix::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) {
      if (AGRAD_UNLIKELY(!std::isfinite(x(i, j)))) fail_matrix(function, name, x, i, j, "finite");
      if (AGRAD_UNLIKELY(!(std::abs(x(i, j) - x(j, i)) <= allowed_error * std::sqrt(std::abs(x(i, i) * x(j, j))))))
        fail_matrix(function, name, x, i, j, "that of the transposed place");
      double rest = x(i, j);
      for (Eigen::Index k = 0; k < j; ++k) rest -= l(i, k) * l(j, k);
      if (i > j) {
        l(i, j) = rest / l(j, j);
      } else if (rest > 0) {
        l(j, j) = std::sqrt(rest);
      } else {
        const std::string pivot = "of pivot " + to_text(rest) + " in row " + std::to_string(j);
        throw DomainError(sentence(function, name, -1, pivot, "positive definite"));
      }
    }
  }
  return l;
}

}  // namespace agrad::detail
