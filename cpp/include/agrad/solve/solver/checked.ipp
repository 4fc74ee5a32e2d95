// Definitions of solve/solver/checked.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/checked.hpp>

namespace agrad {

AGRAD_INLINE gradient_difference difference_of(const ode_gradient& g, const ode_gradient& other, const ode_gradient* least,
                                               double rounding) {
  gradient_difference found;
  const auto compare = [&](const auto& part, const char* of) {
    const Eigen::VectorXd a = part(g), b = part(other);
    const double difference = (a - b).norm(), size = std::max(a.norm(), b.norm());
    if (difference <= rounding) return;
    const double relative = difference / (least != nullptr ? std::max(size, Eigen::VectorXd(part(*least)).norm()) : size);
    if (relative > found.relative || std::isnan(relative)) found = {relative, of};
  };
  compare([](const ode_gradient& of) { return of.initial_state; }, "the initial state");
  compare([](const ode_gradient& of) { return Eigen::VectorXd::Constant(1, of.initial_time).eval(); }, "the initial time");
  compare([](const ode_gradient& of) { return of.times; }, "the times");
  compare([](const ode_gradient& of) { return of.parameters; }, "the parameters");
  return found;
}

AGRAD_INLINE const Eigen::MatrixXd& checked_solver::integrate(const Eigen::VectorXd& y0, double t0,
                                                              const std::vector<double>& times) {
  y0_ = y0, t0_ = t0, times_ = times;
  other_is_there_ = false;
  const Eigen::MatrixXd& states = solver_->integrate(y0, t0, times);
  if (watch_ != nullptr && !watch_->fired().empty()) {
    times_.resize(static_cast<std::size_t>(states.cols()));
    times_.back() = watch_->where();
  }
  return states;
}

AGRAD_INLINE ode_gradient checked_solver::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  ode_gradient g = solver_->reverse(adjoints);
  if (!std::exchange(other_is_there_, true)) other_->integrate(y0_, t0_, times_);
  const ode_gradient other = other_->reverse(adjoints);
  if (!(difference_of(g, other).relative <= allowed_)) {
    const gradient_difference found = beside_parts(g, other, adjoints);
    if (!(found.relative <= allowed_)) return report_(found), g;
  }
  const double estimate = solver_->statistics().gradient_error;  // from the probe, if there is a probe
  if (estimate > allowed_) report_({estimate, nullptr});
  return g;
}

AGRAD_INLINE ode_gradient checked_solver::second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                                 ode_directions& gradient_tangents) {
  return solver_->second(adjoints, tangents, gradient_tangents);
}

AGRAD_INLINE gradient_difference checked_solver::beside_parts(const ode_gradient& g, const ode_gradient& other,
                                                              const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  Eigen::MatrixXd scattered = adjoints;
  for (Eigen::Index k = 0; k < scattered.cols(); ++k)
    for (Eigen::Index i = 0; i < scattered.rows(); ++i)
      if ((i + k) % 2 == 1) scattered(i, k) = -scattered(i, k);
  const ode_gradient parts = solver_->reverse(scattered);
  return difference_of(g, other, &parts, rounding * adjoints.norm());
}

}  // namespace agrad
