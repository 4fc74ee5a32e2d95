// Cofactors: the first and second derivatives of a determinant, without a division by numbers that may be small.
//
// P A Q = L diag(d) U with complete pivoting has unit triangles whose entries are at most 1. Except for the sign of P and Q,
// the determinant of A + t E is therefore that of diag(d) + t F with F = L^-1 P E Q U^-1. The derivatives consist of products
// of all pivots but one, and of all but two, which are right for zero pivots, too. Read next: rules/linalg/determinant.hpp.
#pragma once

#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <vector>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

/// Returns x 2^exponent.
inline double of_exponent(double x, int exponent) { return std::ldexp(x, exponent); }
inline std::complex<double> of_exponent(const std::complex<double>& x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

/// A product of real or complex numbers whose exponent is apart, so that products of some factors do not over- or underflow.
template <class T = double>
class wide_product {
 public:
  T value() const { return of_exponent(mantissa_, exponent_); }
  wide_product& operator*=(const T& x) { return *this = *this * of(x); }
  friend wide_product operator*(const wide_product& x, const wide_product& y) {
    wide_product z = of(x.mantissa_ * y.mantissa_);
    z.exponent_ += x.exponent_ + y.exponent_;
    return z;
  }

 private:
  static wide_product of(const T& x) {
    wide_product y;
    static_cast<void>(std::frexp(std::abs(x), &y.exponent_));
    y.mantissa_ = of_exponent(x, -y.exponent_);
    return y;
  }
  T mantissa_ = 1;
  int exponent_ = 0;
};

template <class T = double>  // std::complex<double> for the derivatives of an analytic function
class complete_factors {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

 public:
  template <class In>
  explicit complete_factors(const In& a) : lu_(a), d_(lu_.matrixLU().diagonal()), u_(lu_.matrixLU()) {
    sign_ = static_cast<double>(lu_.permutationP().determinant() * lu_.permutationQ().determinant());
    for (Index i = 0; i < u_.rows(); ++i)
      if (d_[i] != T(0)) u_.row(i) /= d_[i];
  }

  T determinant() const { return products_after()[0].value() * sign_; }
  /// Returns whether a pivot has lost all its digits, so that an inverse would be noise.
  bool is_nearly_singular() const { return d_.size() > 0 && d_.cwiseAbs().minCoeff() <= 1e-12 * d_.cwiseAbs().maxCoeff(); }

  /// Returns the gradient of the determinant.
  matrix cofactors() const {
    const Index n = d_.size();
    matrix g = matrix::Zero(n, n);
    const std::vector<wide_product<T>> after = products_after();
    wide_product<T> before;
    for (Index i = 0; i < n; before *= d_[i++]) g(i, i) = (before * after[static_cast<std::size_t>(i) + 1]).value();
    return back(g);
  }

  /// Returns the derivative of the cofactors in the direction e, the Hessian of the determinant times e.
  template <class In>
  matrix change(const In& e) const {
    const Index n = d_.size();
    matrix f = lu_.permutationP() * e * lu_.permutationQ();
    lu_.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(f);
    u_.template triangularView<Eigen::UnitUpper>().template solveInPlace<Eigen::OnTheRight>(f);
    const std::vector<wide_product<T>> after = products_after();
    matrix g = matrix::Zero(n, n);
    wide_product<T> before;
    for (Index i = 0; i < n; before *= d_[i++]) {
      wide_product<T> others = before;  // the product of the pivots before k, without the i-th
      for (Index k = i + 1; k < n; others *= d_[k++]) {
        const T product = (others * after[static_cast<std::size_t>(k) + 1]).value();
        g(i, i) += product * f(k, k);
        g(k, k) += product * f(i, i);
        g(i, k) = -product * f(k, i);
        g(k, i) = -product * f(i, k);
      }
    }
    return back(g);
  }

 private:
  /// Returns the products of the pivots from i on.
  std::vector<wide_product<T>> products_after() const {
    std::vector<wide_product<T>> after(static_cast<std::size_t>(d_.size()) + 1);
    for (Index i = d_.size(); i-- > 0;) {
      after[static_cast<std::size_t>(i)] = after[static_cast<std::size_t>(i) + 1];
      after[static_cast<std::size_t>(i)] *= d_[i];
    }
    return after;
  }
  /// Converts the derivative with respect to diag(d) into the derivative with respect to A.
  matrix back(matrix& g) const {
    lu_.matrixLU().template triangularView<Eigen::UnitLower>().transpose().solveInPlace(g);
    u_.template triangularView<Eigen::UnitUpper>().transpose().template solveInPlace<Eigen::OnTheRight>(g);
    return sign_ * (lu_.permutationP().transpose() * g * lu_.permutationQ().transpose());
  }

  Eigen::FullPivLU<matrix> lu_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> d_;
  matrix u_;
  double sign_;
};

}  // namespace agrad::linalg
