// Cofactors: the first and second derivatives of a determinant, without a division by numbers that may be small.
//
// P A Q = L diag(d) U with complete pivoting has unit triangles whose entries are at most 1. Except for the sign of P and Q,
// the determinant of A + t E is therefore that of diag(d) + t F with F = L^-1 P E Q U^-1. The derivatives consist of products
// of all pivots but one, and of all but two, which are right for zero pivots, too. Read next: rules/linalg/determinant.hpp.
#pragma once

#include <Eigen/LU>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

template <int = 0>  // instantiated only by users
class complete_factors {
 public:
  template <class In>
  explicit complete_factors(const In& a) : lu_(a), d_(lu_.matrixLU().diagonal()), u_(lu_.matrixLU()) {
    sign_ = static_cast<double>(lu_.permutationP().determinant() * lu_.permutationQ().determinant());
    for (Index i = 0; i < u_.rows(); ++i)
      if (d_[i] != 0) u_.row(i) /= d_[i];
  }

  /// The gradient of the determinant.
  MatrixXd cofactors() const {
    const Index n = d_.size();
    MatrixXd g = MatrixXd::Zero(n, n);
    double before = 1, after = 1;
    g.diagonal().setOnes();
    for (Index i = 0; i < n; ++i) {
      g(i, i) *= before;
      g(n - 1 - i, n - 1 - i) *= after;
      before *= d_[i];
      after *= d_[n - 1 - i];
    }
    return back(g);
  }

  /// The derivative of the cofactors in the direction e, the Hessian of the determinant times e.
  template <class In>
  MatrixXd change(const In& e) const {
    const Index n = d_.size();
    MatrixXd f = lu_.permutationP() * e * lu_.permutationQ();
    lu_.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(f);
    u_.template triangularView<Eigen::UnitUpper>().template solveInPlace<Eigen::OnTheRight>(f);
    Eigen::VectorXd after = Eigen::VectorXd::Ones(n + 1);
    for (Index i = n; i-- > 0;) after[i] = after[i + 1] * d_[i];
    MatrixXd g = MatrixXd::Zero(n, n);
    double before = 1;
    for (Index i = 0; i < n; before *= d_[i++]) {
      double others = before;  // the product of the pivots before k, without the i-th
      for (Index k = i + 1; k < n; others *= d_[k++]) {
        const double product = others * after[k + 1];
        g(i, i) += product * f(k, k);
        g(k, k) += product * f(i, i);
        g(i, k) = -product * f(k, i);
        g(k, i) = -product * f(i, k);
      }
    }
    return back(g);
  }

 private:
  /// Converts the derivative with respect to diag(d) into the derivative with respect to A.
  MatrixXd back(MatrixXd& g) const {
    lu_.matrixLU().template triangularView<Eigen::UnitLower>().transpose().solveInPlace(g);
    u_.template triangularView<Eigen::UnitUpper>().transpose().template solveInPlace<Eigen::OnTheRight>(g);
    return sign_ * (lu_.permutationP().transpose() * g * lu_.permutationQ().transpose());
  }

  Eigen::FullPivLU<MatrixXd> lu_;
  Eigen::VectorXd d_;
  MatrixXd u_;
  double sign_;
};

}  // namespace agrad::linalg
