// ODE statistics: what a solve cost, for those who tune tolerances and methods.
#pragma once

#include <limits>

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
};

/// Counts of the sensitivities that go along with the forward integration; an evaluation is of all of them.
struct ode_sensitivity_statistics {
  long rhs_evaluations = 0;
  long error_test_failures = 0;
  long convergence_failures = 0;
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
  double stiff_from = std::numeric_limits<double>::quiet_NaN();  // where a method for stiff systems took over, if one did
};

}  // namespace agrad
