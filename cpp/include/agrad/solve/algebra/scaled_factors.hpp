// Scaled factors: factorises a square matrix with rows and columns scaled to one size, and tells whether the matrix is regular.
//
// Equations and states may differ in size by many orders of magnitude, which must not look like a singular matrix.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <limits>

namespace agrad::detail {

class scaled_factors {
 public:
  /// Factorises a matrix. Returns false for a matrix that is singular to rounding.
  bool compute(const Eigen::MatrixXd& a);

  /// Returns whether another matrix, scaled like this matrix, is much closer to singular.
  bool is_nearly_singular(const Eigen::MatrixXd& other) const;

  Eigen::VectorXd solve(const Eigen::VectorXd& b) const { return columns_.cwiseProduct(lu_.solve(rows_.cwiseProduct(b))); }
  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const;
  /// Returns the sizes of the entries of a solution with the transposed matrix; small entries, which may be rounding errors,
  /// count as a thousandth of the largest, in units of rows and columns of one size.
  Eigen::VectorXd transposed_sizes(const Eigen::VectorXd& b) const;

 private:
  /// Returns the factors that scale the largest entries to 1; the factor of zero is 1.
  static Eigen::VectorXd sizes(const Eigen::VectorXd& largest);

  Eigen::VectorXd rows_, columns_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  double rcond_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/scaled_factors.ipp>
#endif
