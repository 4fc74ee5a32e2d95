// Definitions of solve/steady/linear_path.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/steady/linear_path.hpp>
#include <agrad/solve/steady/stability.hpp>

namespace agrad::detail {

AGRAD_INLINE bool is_linear_along(ode_system& system, double time, const Eigen::MatrixXd& J, const Eigen::VectorXd& y0,
                                  const Eigen::VectorXd& rest, double rate) {
  const Eigen::Index n = y0.size();
  const Eigen::VectorXd factors = balancing(J);
  const Eigen::MatrixXd scaled = factors.cwiseInverse().asDiagonal() * J * factors.asDiagonal();
  const double size = scaled.cwiseAbs().rowwise().sum().maxCoeff();
  double step = size > 0 ? 0.125 / size : 1;
  Eigen::MatrixXd term = Eigen::MatrixXd::Identity(n, n), forward = term, squared;
  for (int order = 1; order <= 10; ++order) {
    term = (step / order) * (scaled * term).eval();
    forward += term;
  }
  const Eigen::MatrixXd sizes = J.cwiseAbs();
  const Eigen::VectorXd terms_at_rest = sizes * rest.cwiseAbs();
  Eigen::VectorXd away = (y0 - rest).cwiseQuotient(factors), y = y0, f(n), f_at_rest(n);
  system.rhs(time, rest.data(), f_at_rest.data());
  for (double at = 0; at * rate < 40; step *= 2) {
    for (int k = 0; k < 4; ++k, at += step) {
      system.rhs(time, y.data(), f.data());
      const Eigen::VectorXd expected = f_at_rest + J * (y - rest), terms = terms_at_rest + sizes * y.cwiseAbs();
      if (!((f - expected).array().abs() <= 1e-9 * terms.array()).all()) return false;
      away = (forward * away).eval();
      y = rest + factors.cwiseProduct(away);
    }
    squared.noalias() = forward * forward;
    forward.swap(squared);
  }
  return true;
}

}  // namespace agrad::detail
