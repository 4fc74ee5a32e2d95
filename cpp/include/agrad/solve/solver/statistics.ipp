// Definitions of solve/solver/statistics.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/statistics.hpp>

namespace agrad {

AGRAD_INLINE ode_pass_statistics& ode_pass_statistics::operator+=(const ode_pass_statistics& more) {
  steps += more.steps;
  rhs_evaluations += more.rhs_evaluations;
  jacobian_evaluations += more.jacobian_evaluations;
  factorizations += more.factorizations;
  error_test_failures += more.error_test_failures;
  convergence_failures += more.convergence_failures;
  return *this;
}

AGRAD_INLINE ode_quadrature_statistics& ode_quadrature_statistics::operator+=(const ode_quadrature_statistics& more) {
  rhs_evaluations += more.rhs_evaluations;
  error_test_failures += more.error_test_failures;
  return *this;
}

AGRAD_INLINE ode_sensitivity_statistics& ode_sensitivity_statistics::operator+=(const ode_sensitivity_statistics& more) {
  rhs_evaluations += more.rhs_evaluations;
  error_test_failures += more.error_test_failures;
  convergence_failures += more.convergence_failures;
  return *this;
}

AGRAD_INLINE ode_statistics& ode_statistics::operator+=(const ode_statistics& more) {
  if (more.forward.steps > 0) gradient_error = more.gradient_error + (forward.steps > 0 ? gradient_error : 0);
  forward += more.forward;
  backward += more.backward;
  quadrature += more.quadrature;
  sensitivities += more.sensitivities;
  checkpoints += more.checkpoints;
  recomputed_rhs_evaluations += more.recomputed_rhs_evaluations;
  restarts += more.restarts;
  held_by_derivatives += more.held_by_derivatives;
  if (!std::isnan(more.stiff_from)) stiff_from = more.stiff_from, stiff_method = more.stiff_method;
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
