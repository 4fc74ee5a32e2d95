// Steady factors: solves with a square matrix or its transposed, with minimum norm where the matrix is singular.
//
// Rows and columns are scaled to one size before the rank is determined, because rates of one system differ by orders of
// magnitude. A singular matrix is then factorised without scaling, so that "minimum" means the Euclidean norm.
#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <cmath>

namespace agrad::detail {

template <class Real>
class steady_factors {
 public:
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  void compute(const Eigen::MatrixXd& A) {
    rows_ = sizes(A.cwiseAbs().rowwise().maxCoeff());
    const Eigen::MatrixXd by_rows = rows_.asDiagonal() * A;
    columns_ = sizes(by_rows.cwiseAbs().colwise().maxCoeff().transpose());
    factors_.compute(by_rows * columns_.asDiagonal());
    singular_ = factors_.rank() < A.rows();
    if (!singular_) return;
    rows_.setOnes(), columns_.setOnes();
    factors_.compute(A);
  }

  bool singular() const { return singular_; }

  /// Returns whether the matrix could be singular if its entries changed by a few times `change`: whether the spectral radius
  /// of |A^-1| `change`, which scaling does not alter, is above 0.1.
  bool is_singular_within(const Eigen::MatrixXd& change) const {
    if (singular_) return true;
    Eigen::MatrixXd response(change.rows(), change.cols());
    for (Eigen::Index j = 0; j < response.cols(); ++j) response.col(j) = solve(Eigen::VectorXd::Unit(response.cols(), j));
    response = response.cwiseAbs() * change;
    Eigen::VectorXd x = Eigen::VectorXd::Ones(response.cols());
    double radius = 0;
    for (int iteration = 0; iteration < 30; ++iteration) {
      x = response * x;
      radius = x.maxCoeff();
      if (!(radius > 0)) return std::isnan(radius);
      x /= radius;
    }
    return !(radius < 0.1);
  }

  Eigen::VectorXd solve(const Eigen::VectorXd& b) const { return columns_.cwiseProduct(factors_.solve(rows_.cwiseProduct(b))); }
  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const {
    const Eigen::VectorXd scaled = columns_.cwiseProduct(b), solution = factors_.transpose().solve(scaled);
    return rows_.cwiseProduct(solution);
  }

 private:
  /// Returns the factors that scale the largest entries to 1; the factor of zero is 1.
  static Eigen::VectorXd sizes(const Eigen::VectorXd& largest) {
    return largest.unaryExpr([](double x) { return x > 0 ? 1 / x : 1.0; });
  }

  Eigen::VectorXd rows_, columns_;
  Eigen::CompleteOrthogonalDecomposition<matrix> factors_;
  bool singular_ = false;
};

}  // namespace agrad::detail
