// Definitions of solve/solver/statistics.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/statistics.hpp>

namespace agrad {

AGRAD_INLINE ode_pass_statistics& ode_pass_statistics::operator+=(const ode_pass_statistics& other) {
  steps += other.steps;
  rhs_evaluations += other.rhs_evaluations;
  jacobian_evaluations += other.jacobian_evaluations;
  factorizations += other.factorizations;
  error_test_failures += other.error_test_failures;
  convergence_failures += other.convergence_failures;
  return *this;
}

AGRAD_INLINE ode_quadrature_statistics& ode_quadrature_statistics::operator+=(const ode_quadrature_statistics& other) {
  rhs_evaluations += other.rhs_evaluations;
  error_test_failures += other.error_test_failures;
  return *this;
}

AGRAD_INLINE ode_sensitivity_statistics& ode_sensitivity_statistics::operator+=(const ode_sensitivity_statistics& other) {
  rhs_evaluations += other.rhs_evaluations;
  error_test_failures += other.error_test_failures;
  convergence_failures += other.convergence_failures;
  return *this;
}

AGRAD_INLINE ode_statistics& ode_statistics::operator+=(const ode_statistics& other) {
  if (other.forward.steps > 0) gradient_error = other.gradient_error + (forward.steps > 0 ? gradient_error : 0);
  forward += other.forward;
  backward += other.backward;
  quadrature += other.quadrature;
  sensitivities += other.sensitivities;
  checkpoints += other.checkpoints;
  recomputed_rhs_evaluations += other.recomputed_rhs_evaluations;
  restarts += other.restarts;
  held_by_derivatives += other.held_by_derivatives;
  if (!std::isnan(other.stiff_from)) stiff_from = other.stiff_from, stiff_method = other.stiff_method;
  return *this;
}

AGRAD_INLINE void ode_ledger::enter(const ode_statistics& latest) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  latest_ = latest;
}

AGRAD_INLINE ode_statistics ode_ledger::latest() const {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  return latest_;
}

}  // namespace agrad
