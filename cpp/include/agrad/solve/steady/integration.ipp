// Definitions of solve/steady/integration.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/steady/integration.hpp>

namespace agrad::detail {

AGRAD_INLINE void frozen_system::vjp(double, const double* y, const double* lambda, double* y_adjoint, double*) {
  of_.vjp(time_, y, lambda, y_adjoint, nullptr);
}

AGRAD_INLINE steady_integration::steady_integration(const std::string& function, ode_system& system, const Eigen::VectorXd& y0,
                                                    const steady_options& options, bool is_fine)
    : frozen_(system, options.time.value_or(0)),
      y_(y0),
      peak_(y0.cwiseAbs()),
      solver_(function, frozen_, is_fine ? fine(options) : coarse(y0, options), {}) {
  Eigen::VectorXd slope(y0.size());
  frozen_.rhs(0, y0.data(), slope.data());
  Eigen::MatrixXd J(y0.size(), y0.size());
  frozen_.jacobian(0, y0.data(), J);
  const double speed = slope.cwiseAbs().maxCoeff(), rate = J.cwiseAbs().rowwise().sum().maxCoeff();
  const double longest = std::max(speed > 0 ? peak_.maxCoeff() / speed : 0, std::isfinite(rate) && rate > 0 ? 1 / rate : 0);
  duration_ = longest > 0 ? std::clamp(longest, 1e-20, 1e20) : 1.0;
}

AGRAD_INLINE bool steady_integration::advance() {
  if (count_++ == most_durations) {
    message_ = "integration led to no steady state";
    return false;
  }
  try {
    y_ = solver_.integrate(y_, time_, {time_ + duration_});
  } catch (const SolverError& error) {
    time_ = error.t;
    message_ = "integration stopped (" + error.code + "): " + error.advice;
    return false;
  }
  statistics_ += solver_.statistics();
  time_ += duration_;
  duration_ *= 10;
  peak_ = peak_.cwiseMax(y_.cwiseAbs());
  return true;
}

AGRAD_INLINE bool steady_integration::is_near(const Eigen::VectorXd& steady) const {
  const Eigen::ArrayXd size = steady.array().abs().max(y_.array().abs());
  return ((steady - y_).array().abs() <= 0.05 * size + 1e-4 * peak_.array() + 1e-6 * peak_.maxCoeff()).all();
}

AGRAD_INLINE ode_forward_options steady_integration::coarse(const Eigen::VectorXd& y0, const steady_options& options) {
  ode_forward_options o;
  o.states.relative = std::max(1e-6, options.states.relative);
  o.states.absolute = options.states.absolute.cwiseMax(1e-9 * y0.cwiseAbs().maxCoeff());
  o.max_num_steps = 100000;
  return o;
}

// Local errors add up to a hundred times the tolerances and more, and only this integration gives the state its digits.
AGRAD_INLINE ode_forward_options steady_integration::fine(const steady_options& options) {
  ode_forward_options o;
  o.states.relative = std::max(1e-15, 0.003 * options.states.relative);
  o.states.absolute = 0.003 * options.states.absolute;
  o.max_num_steps = 1000000;
  return o;
}

}  // namespace agrad::detail
