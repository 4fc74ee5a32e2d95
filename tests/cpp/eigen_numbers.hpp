// Numbers for tests with Eigen: matrices without structure, their inverses, and the adjoints of matrices of variables.
#pragma once

#include <Eigen/LU>
#include <agrad/tape/eigen.hpp>
#include <cmath>

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

}  // namespace eigen_numbers
