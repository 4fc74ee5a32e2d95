// Numbers for tests with Eigen: matrices without structure, their inverses, and the adjoints of matrices of variables.
#pragma once

#include <Eigen/LU>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>

#include "finite_differences.hpp"

namespace eigen_numbers {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using MatrixXv = Eigen::Matrix<agrad::var, Eigen::Dynamic, Eigen::Dynamic>;
using VectorXv = Eigen::Matrix<agrad::var, Eigen::Dynamic, 1>;

inline MatrixXd numbers(Eigen::Index rows, Eigen::Index cols, double shift) {
  MatrixXd x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = std::sin(1.7 * static_cast<double>(i * i) + shift);
  return x;
}
inline MatrixXd positive_definite(Eigen::Index n) {
  const MatrixXd x = numbers(n, n, 0.3);
  return x * x.transpose() + static_cast<double>(n) * MatrixXd::Identity(n, n);
}
inline MatrixXd inverse(const MatrixXd& x) { return x.inverse(); }

inline MatrixXd adjoints(const MatrixXv& x) {
  MatrixXd g(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.size(); ++i) g(i) = x(i).adj();
  return g;
}
inline bool close(const MatrixXd& a, const MatrixXd& b, double tolerance = 1e-12) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a - b).cwiseAbs().maxCoeff() <= tolerance * (1 + b.cwiseAbs().maxCoeff());
}

/// The largest difference between gradients of f, a function of a matrix of any scalar, at x: by adjoints, by duals in the
/// direction of each entry, and by finite differences, relative to the gradient's size.
template <class F>
double gradient_error(const F& f, const MatrixXd& x) {
  const agrad::scope own;
  using D = agrad::dual<double>;
  using MatrixXD = Eigen::Matrix<D, Eigen::Dynamic, Eigen::Dynamic>;
  const MatrixXv v = x.cast<agrad::var>();
  const agrad::var y = f(v);
  y.grad();
  const MatrixXd by_tape = adjoints(v);
  MatrixXD d = x.cast<D>();
  MatrixXd by_dual(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    d(i).tangent[0] = 1;
    by_dual(i) = D(f(d)).tangent[0];
    d(i).tangent[0] = 0;
  }
  const auto of_entries = [&](const VectorXd& entries) {
    return f(MatrixXd(Eigen::Map<const MatrixXd>(entries.data(), x.rows(), x.cols())));
  };
  const VectorXd flat = Eigen::Map<const VectorXd>(x.data(), x.size());
  const VectorXd differences = finite_differences::gradient(of_entries, flat, 1e-3);
  const MatrixXd by_differences = Eigen::Map<const MatrixXd>(differences.data(), x.rows(), x.cols());
  const double size = 1 + by_tape.cwiseAbs().maxCoeff();
  const double value_error = std::abs(y.val() - f(x)) / (1 + std::abs(y.val()));
  const double forward_error = (by_tape - by_dual).cwiseAbs().maxCoeff() / size;
  const double difference_error = (by_tape - by_differences).cwiseAbs().maxCoeff() / size;
  if (!(value_error < 1e-13 && forward_error < 1e-11)) return 1;  // these two are exact but for rounding
  return difference_error;
}

}  // namespace eigen_numbers
