// ODE statistics: what a solve cost, for those who tune tolerances and methods.
#pragma once

#include <cmath>
#include <limits>
#include <mutex>

#include <agrad/base/fork_safe_mutex.hpp>

namespace agrad {

/// Counts of one integration. `factorizations` counts Newton matrices, `convergence_failures` steps that Newton lost.
struct ode_pass_statistics {
  long steps = 0;
  long rhs_evaluations = 0;
  long jacobian_evaluations = 0;
  long factorizations = 0;
  long error_test_failures = 0;
  long convergence_failures = 0;

  ode_pass_statistics& operator+=(const ode_pass_statistics& more) {
    steps += more.steps;
    rhs_evaluations += more.rhs_evaluations;
    jacobian_evaluations += more.jacobian_evaluations;
    factorizations += more.factorizations;
    error_test_failures += more.error_test_failures;
    convergence_failures += more.convergence_failures;
    return *this;
  }
};

/// Counts of the quadrature that goes along with the backward integration and takes its steps.
struct ode_quadrature_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;

  ode_quadrature_statistics& operator+=(const ode_quadrature_statistics& more) {
    rhs_evaluations += more.rhs_evaluations;
    error_test_failures += more.error_test_failures;
    return *this;
  }
};

/// Counts of the sensitivities that go along with the forward integration; an evaluation is of all of them.
struct ode_sensitivity_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;
  long convergence_failures = 0;

  ode_sensitivity_statistics& operator+=(const ode_sensitivity_statistics& more) {
    rhs_evaluations += more.rhs_evaluations;
    error_test_failures += more.error_test_failures;
    convergence_failures += more.convergence_failures;
    return *this;
  }
};

/// The forward pass of the last `integrate`, and all sweeps since then. Steps that the backward pass takes again from a
/// checkpoint count as `recomputed_rhs_evaluations` alone.
struct ode_statistics {
  ode_pass_statistics forward, backward;
  ode_quadrature_statistics quadrature;
  ode_sensitivity_statistics sensitivities;
  long checkpoints = 0;
  long recomputed_rhs_evaluations = 0;
  long restarts = 0;  // of the backward integration, one for each output time that has an adjoint
  /// An estimate of the gradient's relative error: the local errors of a tangent in a generic direction, added up
  /// (solve/one_step/probe.hpp). Nan where steps were not controlled by derivatives.
  double gradient_error = std::numeric_limits<double>::quiet_NaN();
  long held_by_derivatives = 0;  // accepted steps that are as short as they are because of derivatives
  double stiff_from = std::numeric_limits<double>::quiet_NaN();  // where a method for stiff systems took over, if one did
  const char* stiff_method = "";                                 // its name

  /// Those of a later part of the same integration.
  ode_statistics& operator+=(const ode_statistics& more) {
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
};

/// What the last run of an operation cost, whichever thread ran it, for those who look at it from outside: a sweep comes after the
/// result was handed out, and the solver that made it belongs to a run.
class ode_ledger {
 public:
  void enter(const ode_statistics& latest) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    latest_ = latest;
  }
  ode_statistics latest() const {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    return latest_;
  }

 private:
  mutable fork_safe_mutex mutex_;
  ode_statistics latest_;
};

}  // namespace agrad
