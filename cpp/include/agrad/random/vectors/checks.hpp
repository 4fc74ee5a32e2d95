// Checks of vectors and matrices that are parameters of draws, and their values as Eigen's vectors and matrices.
//
// The conditions are those of the densities (families/multivariate/conditions.hpp).
#pragma once

#include <Eigen/Cholesky>
#include <string>

#include <agrad/families/multivariate/conditions.hpp>
#include <agrad/random/apply.hpp>

namespace agrad::detail {

using random_vector = Eigen::VectorXd;
using random_matrix = Eigen::MatrixXd;
using given_vector = Eigen::Ref<const Eigen::VectorXd>;
using given_matrix = Eigen::Ref<const Eigen::MatrixXd>;

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
    check(function, name, y[i], must, i);
  }
  if (AGRAD_UNLIKELY(y.size() == 0))
    throw ShapeError(std::string(function) + ": " + std::string(name) + " is empty, but must not be");
  return y;
}

/// Returns a parameter that is a vector and meets a condition of the densities, such as that on a simplex.
template <class X>
random_vector checked_vector(std::string_view function, std::string_view name, const matrix_condition& must, const X& given) {
  const random_vector x = checked_vector(function, name, must.each, given);
  must.check(function, name, {x.data(), 1, x.size(), x.size(), 1}, 0);
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

/// Returns the Cholesky factor of a parameter that is a positive definite matrix or, if `is_factor`, such a factor.
inline random_matrix checked_factor(std::string_view function, std::string_view name, const given_matrix& x, bool is_factor) {
  check_square(function, name, x, x.rows());
  const matrix_values values{x.data(), x.rows(), x.cols(), 1, x.outerStride()};
  (is_factor ? must_be::cholesky_factor : must_be::positive_definite).check(function, name, values, 0);
  if (is_factor) return x;
  return x.llt().matrixL();
}

}  // namespace agrad::detail
