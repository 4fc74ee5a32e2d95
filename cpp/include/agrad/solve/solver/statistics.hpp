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

  ode_pass_statistics& operator+=(const ode_pass_statistics& other);
};

/// Counts of the quadrature in the backward integration, which shares its steps.
struct ode_quadrature_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;

  ode_quadrature_statistics& operator+=(const ode_quadrature_statistics& other);
};

/// Counts of the sensitivities in the forward integration; an evaluation covers all sensitivities.
struct ode_sensitivity_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;
  long convergence_failures = 0;

  ode_sensitivity_statistics& operator+=(const ode_sensitivity_statistics& other);
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
  ode_statistics& operator+=(const ode_statistics& other);
};

/// The statistics of an operation's last run, in whichever thread, for readers outside of the run: the reverse pass comes after
/// the result was returned, and the solver belongs to a run.
class ode_ledger {
 public:
  void enter(const ode_statistics& latest);
  ode_statistics latest() const;

 private:
  mutable fork_safe_mutex mutex_;
  ode_statistics latest_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/statistics.ipp>
#endif
