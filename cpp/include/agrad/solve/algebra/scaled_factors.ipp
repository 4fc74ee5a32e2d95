// Definitions of solve/algebra/scaled_factors.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/scaled_factors.hpp>

namespace agrad::detail {

AGRAD_INLINE bool scaled_factors::compute(const Eigen::MatrixXd& a) {
  rows_ = sizes(a.cwiseAbs().rowwise().maxCoeff());
  const Eigen::MatrixXd by_rows = rows_.asDiagonal() * a;
  columns_ = sizes(by_rows.cwiseAbs().colwise().maxCoeff().transpose());
  lu_.compute(by_rows * columns_.asDiagonal());
  const double smallest = lu_.matrixLU().diagonal().cwiseAbs().minCoeff();
  rcond_ = smallest > 0 ? lu_.rcond() : 0;
  return rcond_ > 4 * static_cast<double>(a.rows()) * std::numeric_limits<double>::epsilon();
}

AGRAD_INLINE bool scaled_factors::is_nearly_singular(const Eigen::MatrixXd& other) const {
  const Eigen::MatrixXd scaled = rows_.asDiagonal() * other * columns_.asDiagonal();
  return scaled.allFinite() && !(Eigen::PartialPivLU<Eigen::MatrixXd>(scaled).rcond() > 1e-4 * rcond_);
}

AGRAD_INLINE Eigen::VectorXd scaled_factors::solve_transposed(const Eigen::VectorXd& b) const {
  const Eigen::VectorXd scaled = columns_.cwiseProduct(b), solution = lu_.transpose().solve(scaled);
  return rows_.cwiseProduct(solution);
}

AGRAD_INLINE Eigen::VectorXd scaled_factors::transposed_sizes(const Eigen::VectorXd& b) const {
  const Eigen::VectorXd scaled = columns_.cwiseProduct(b), solution = lu_.transpose().solve(scaled);
  return rows_.cwiseProduct(solution.cwiseAbs().cwiseMax(1e-3 * solution.cwiseAbs().maxCoeff()));
}

AGRAD_INLINE Eigen::VectorXd scaled_factors::sizes(const Eigen::VectorXd& largest) {
  return largest.unaryExpr([](double x) { return x > 0 ? 1 / x : 1.0; });
}

}  // namespace agrad::detail
