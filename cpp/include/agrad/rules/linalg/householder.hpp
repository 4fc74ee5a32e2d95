// Householder reflections of a matrix that is scaled by a power of two, so that squares of its entries do not over- or
// underflow.
//
// The scale is undone exactly: Q does not change, and R is multiplied by the power of two.
#pragma once

#include <Eigen/QR>
#include <cmath>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

/// Returns the exponent of the largest entry, 0 if it is zero or not finite.
template <class In>
int largest_exponent(const In& a) {
  const double most = a.size() == 0 ? 0 : a.cwiseAbs().maxCoeff();
  return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
}
/// Returns a 2^exponent.
template <class In>
MatrixXd times_power(const In& a, int exponent) {
  return a.unaryExpr([exponent](double x) { return std::ldexp(x, exponent); });
}

template <class M = MatrixXd>  // a template, so that its members are compiled only where they are used
class scaled_householder {
 public:
  template <class In>
  explicit scaled_householder(const In& a) : exponent_(largest_exponent(a)), of_scaled_(times_power(a, -exponent_)) {}

  template <class Out>
  void write_q(Out& q) const {
    q.setIdentity();
    q.applyOnTheLeft(of_scaled_.householderQ());
  }
  M scaled_r() const { return of_scaled_.matrixQR().topRows(of_scaled_.cols()).template triangularView<Eigen::Upper>(); }
  M r() const { return times_power(scaled_r(), exponent_); }

 private:
  int exponent_;
  Eigen::HouseholderQR<M> of_scaled_;
};

}  // namespace agrad::linalg
