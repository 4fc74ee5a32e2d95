// Finite differences of order 6, the oracle of last resort: central, on seven points.
#pragma once

#include <Eigen/Core>

namespace finite_differences {

/// Gradient of f at x with step h; the error is of the order of h^6 and of the rounding error divided by h.
template <class F>
Eigen::VectorXd gradient(const F& f, const Eigen::VectorXd& x, double h = 1e-2) {
  Eigen::VectorXd g(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto at = [&](double steps) {
      Eigen::VectorXd shifted = x;
      shifted[i] += steps * h;
      return static_cast<double>(f(shifted));
    };
    g[i] = (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + (at(3) - at(-3))) / (60 * h);
  }
  return g;
}

/// Jacobian of a vector function, in the same way.
template <class F>
Eigen::MatrixXd jacobian(const F& f, const Eigen::VectorXd& x, double h = 1e-2) {
  const Eigen::VectorXd y = f(x);
  Eigen::MatrixXd J(y.size(), x.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const auto entry = [&](const Eigen::VectorXd& at) { return Eigen::VectorXd(f(at))[i]; };
    J.row(i) = gradient(entry, x, h);
  }
  return J;
}

}  // namespace finite_differences
