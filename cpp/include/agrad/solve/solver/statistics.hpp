// ODE statistics: the costs of a solve, which help to choose tolerances and methods.
#pragma once

#include <cmath>
#include <limits>
#include <mutex>

#include <agrad/base/fork_safe_mutex.hpp>

namespace agrad {

/// Counts of a single pass. `factorizations` counts Newton matrices, `convergence_failures` steps in which Newton's method
/// failed.
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

/// Counts of the quadrature in the backward integration, which shares its steps.
struct ode_quadrature_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;

  ode_quadrature_statistics& operator+=(const ode_quadrature_statistics& more) {
    rhs_evaluations += more.rhs_evaluations;
    error_test_failures += more.error_test_failures;
    return *this;
  }
};

/// Counts of the sensitivities in the forward integration; an evaluation covers all sensitivities.
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

/// Counts of the last `integrate` and of all later reverse passes. Steps that a reverse pass computes again from a checkpoint
/// count only as `recomputed_rhs_evaluations`.
struct ode_statistics {
  ode_pass_statistics forward, backward;
  ode_quadrature_statistics quadrature;
  ode_sensitivity_statistics sensitivities;
  long checkpoints = 0;
  long recomputed_rhs_evaluations = 0;
  long restarts = 0;  // of the backward integration, one for each output time that has an adjoint
  /// An estimate of the gradient's relative error: the sum of the local errors of a tangent in a generic direction
  /// (solve/one_step/probe.hpp). Nan if derivatives did not control the steps.
  double gradient_error = std::numeric_limits<double>::quiet_NaN();
  long held_by_derivatives = 0;                                  // accepted steps that derivatives made shorter
  double stiff_from = std::numeric_limits<double>::quiet_NaN();  // where a stiff method took over, else nan
  const char* stiff_method = "";                                 // name of that method

  /// Adds the statistics of a later part of the same integration.
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

/// The statistics of an operation's last run, in whichever thread, for readers outside of the run: the reverse pass comes after
/// the result was returned, and the solver belongs to a run.
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
