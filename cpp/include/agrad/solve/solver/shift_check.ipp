// Definitions of solve/solver/shift_check.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/solve/solver/shift_check.hpp>

namespace agrad {

AGRAD_INLINE shift_checked_solver::shift_checked_solver(std::string function, ode_system& system, ode_required required,
                                                        shift_check check)
    : function_(std::move(function)), system_(system), required_(required), wanted_(required), check_(std::move(check)) {
  required_.initial_state = true;  // the adjoint problem has this adjoint anyway
  solver_ = check_.make(function_, system_, required_, false);
}

AGRAD_INLINE const Eigen::MatrixXd& shift_checked_solver::integrate(const Eigen::VectorXd& y0, double t0,
                                                                    const std::vector<double>& times) {
  y0_ = y0, t0_ = t0, times_ = times;
  states_ = &solver_->integrate(y0, t0, times);
  if (watch_ != nullptr && !watch_->fired().empty()) {
    times_.resize(static_cast<std::size_t>(states_->cols()));
    times_.back() = watch_->where();
  }
  return *states_;
}

AGRAD_INLINE ode_gradient shift_checked_solver::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  ode_gradient g = solver_->reverse(adjoints);
  finish(g, adjoints);
  return g;
}

AGRAD_INLINE std::vector<ode_gradient> shift_checked_solver::reverse_rows(
    const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
  std::vector<ode_gradient> gradients = solver_->reverse_rows(adjoints);
  for (std::size_t row = 0; row < gradients.size(); ++row) finish(gradients[row], adjoints[row]);
  return gradients;
}

AGRAD_INLINE void shift_checked_solver::finish(ode_gradient& g, const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!*check_.is_done) {
    const double found = lost(g, adjoints);
    if (found > 0 && found > allowed() && !check_.is_done->exchange(true)) compare(adjoints, found);
  }
  if (!wanted_.initial_state) g.initial_state.setZero();
}

AGRAD_INLINE double shift_checked_solver::allowed() const {
  const double size = std::max(y0_.cwiseAbs().maxCoeff(), states_->cwiseAbs().maxCoeff());
  return std::clamp(1000 * (check_.relative_tolerance + check_.absolute_tolerance.maxCoeff() / size), 1e-3, 0.1);
}

AGRAD_INLINE double shift_checked_solver::lost(const ode_gradient& g, const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!adjoints.allFinite() || !g.initial_state.allFinite() || !system_.is_autonomous() || !moves()) return 0;
  slope_.resize(y0_.size());
  double difference = 0, outputs = 0, at_mean_speed = 0;
  for (Eigen::Index k = 0; k < adjoints.cols(); ++k) {
    if (adjoints.col(k).isZero(0)) continue;
    system_.rhs(t0_, states_->col(k).data(), slope_.data());
    difference -= adjoints.col(k).dot(slope_);
    outputs += adjoints.col(k).cwiseProduct(slope_).norm();
    const double duration = times_[static_cast<std::size_t>(k)] - t0_;
    if (duration > 0) at_mean_speed += adjoints.col(k).cwiseProduct(states_->col(k) - y0_).norm() / duration;
  }
  system_.rhs(t0_, y0_.data(), slope_.data());
  difference += g.initial_state.dot(slope_);
  const double parts = std::max({outputs, at_mean_speed, g.initial_state.cwiseProduct(slope_).norm()});
  return parts > 0 && std::isfinite(parts) ? std::abs(difference) / parts : 0;
}

AGRAD_INLINE bool shift_checked_solver::moves() const {
  const double least = 100 * check_.relative_tolerance;
  for (Eigen::Index k = 0; k < states_->cols(); ++k)
    for (Eigen::Index i = 0; i < y0_.size(); ++i)
      if (std::abs((*states_)(i, k) - y0_[i]) > least * std::max(std::abs((*states_)(i, k)), std::abs(y0_[i]))) return true;
  return false;
}

AGRAD_INLINE void shift_checked_solver::compare(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, double found) {
  const auto report = [&](const gradient_difference& difference) { check_.report(function_, difference, allowed()); };
  const progress_listener::scope nobody(nullptr);
  try {
    checked_solver both(check_.make(function_, system_, wanted_, false), check_.make(function_, system_, wanted_, true),
                        allowed(), report);
    both.integrate(y0_, t0_, times_);
    both.reverse(adjoints);
  } catch (const SolverError&) {  // tighter tolerances may take too many steps
    report({found, nullptr});
  }
}

}  // namespace agrad
