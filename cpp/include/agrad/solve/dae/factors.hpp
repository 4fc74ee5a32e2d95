// DAE factors: factorises a square matrix with rows and columns scaled to one size, and tells whether the matrix is regular.
//
// Equations and states may differ in size by many orders of magnitude, which must not look like a singular matrix.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <limits>

namespace agrad::detail {

class dae_factors {
 public:
  /// Factorises a matrix. Returns false for a matrix that is singular to rounding.
  bool compute(const Eigen::MatrixXd& a) {
    rows_ = sizes(a.cwiseAbs().rowwise().maxCoeff());
    const Eigen::MatrixXd by_rows = rows_.asDiagonal() * a;
    columns_ = sizes(by_rows.cwiseAbs().colwise().maxCoeff().transpose());
    lu_.compute(by_rows * columns_.asDiagonal());
    const double smallest = lu_.matrixLU().diagonal().cwiseAbs().minCoeff();
    rcond_ = smallest > 0 ? lu_.rcond() : 0;
    return rcond_ > 4 * static_cast<double>(a.rows()) * std::numeric_limits<double>::epsilon();
  }

  /// Returns whether another matrix, scaled like this matrix, is much closer to singular.
  bool is_nearly_singular(const Eigen::MatrixXd& other) const {
    const Eigen::MatrixXd scaled = rows_.asDiagonal() * other * columns_.asDiagonal();
    return scaled.allFinite() && !(Eigen::PartialPivLU<Eigen::MatrixXd>(scaled).rcond() > 1e-4 * rcond_);
  }

  Eigen::VectorXd solve(const Eigen::VectorXd& b) const { return columns_.cwiseProduct(lu_.solve(rows_.cwiseProduct(b))); }
  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const {
    const Eigen::VectorXd scaled = columns_.cwiseProduct(b), solution = lu_.transpose().solve(scaled);
    return rows_.cwiseProduct(solution);
  }

 private:
  /// Returns the factors that scale the largest entries to 1; the factor of zero is 1.
  static Eigen::VectorXd sizes(const Eigen::VectorXd& largest) {
    return largest.unaryExpr([](double x) { return x > 0 ? 1 / x : 1.0; });
  }

  Eigen::VectorXd rows_, columns_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  double rcond_ = 0;
};

}  // namespace agrad::detail
