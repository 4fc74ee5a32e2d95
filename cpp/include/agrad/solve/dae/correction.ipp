// Definitions of solve/dae/correction.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/correction.hpp>

namespace agrad::detail {

AGRAD_INLINE Eigen::VectorXd correction_of(const dae_splitting& split, const Eigen::VectorXd& before,
                                           const Eigen::VectorXd& after) {
  if (split.is_choice()) return {};
  Eigen::VectorXd correction = split.z() * (split.z().transpose() * (after - before));
  const double rounding = 64 * std::numeric_limits<double>::epsilon() * before.cwiseAbs().maxCoeff();
  if (correction.cwiseAbs().maxCoeff() <= rounding) return {};
  return correction;
}

/// Returns the factor by which a correction is as large, in the equations with derivatives, as the terms of the equations, so
/// that the difference of two dF/dp keeps its digits.
inline double correction_factor(const dae_state& s, const Eigen::VectorXd& correction, const Eigen::MatrixXd& by_state,
                                const Eigen::MatrixXd& by_slope) {
  const Eigen::VectorXd terms = by_state.cwiseAbs() * s.y.cwiseAbs() + by_slope.cwiseAbs() * s.yp.cwiseAbs(),
                        moved = by_slope.cwiseAbs() * correction.cwiseAbs();
  double factor = 0;
  for (Eigen::Index i = 0; i < terms.size(); ++i)
    if (moved[i] > 0) factor = std::max(factor, terms[i] / moved[i]);
  return factor > 0 && std::isfinite(factor) ? factor : 1;
}

AGRAD_INLINE Eigen::MatrixXd correction_by_parameters(const std::string& function, dae_system& system,
                                                      const dae_splitting& split, const dae_state& s,
                                                      const Eigen::VectorXd& correction, const Eigen::MatrixXd& lambda) {
  const Eigen::Index n = split.n(), m = system.parameters();
  Eigen::MatrixXd by_parameters = Eigen::MatrixXd::Zero(lambda.cols(), m), by_state(n, n), by_slope(n, n);
  if (m == 0 || correction.size() == 0) return by_parameters;
  system.jacobian(s.at(), 1, 0, by_state), system.jacobian(s.at(), 0, 1, by_slope);
  const double factor = correction_factor(s, correction, by_state, by_slope);
  const dae_state shifted{s.t, s.y, s.yp + factor * correction};
  system.jacobian(shifted.at(), 0, 1, by_slope);
  split.check_constant(function, s.t, by_slope);
  Eigen::VectorXd here(m), there(m);
  for (Eigen::Index k = 0; k < lambda.cols(); ++k) {
    system.vjp(s.at(), lambda.col(k).data(), {nullptr, nullptr, nullptr, here.data()});
    system.vjp(shifted.at(), lambda.col(k).data(), {nullptr, nullptr, nullptr, there.data()});
    by_parameters.row(k) = (here - there) / factor;
    ode_fault fault;
    if (fault.expect_finite("the gradient with respect to parameter ", s.t, by_parameters.row(k)) != succeeded)
      throw SolverError(function + ": " + fault.place(), s.t, 0, "IDA_FIRST_RES_FAIL", fault.place());
  }
  return by_parameters;
}

}  // namespace agrad::detail
