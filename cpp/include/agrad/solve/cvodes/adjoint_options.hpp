// Options of the adjoint ODE solver, and checks of the options before anything is allocated.
//
// The fields have the names of the design document; methods and interpolation are enumerations with the integers of CVODES.
// Source: stan-dev/design-docs, 0027-adjoint-ode.
// Read next: solve/cvodes/adjoint.hpp, the solver.
#pragma once

#include <limits>
#include <string_view>

#include <Eigen/Core>

#include <agrad/base/check.hpp>
#include <agrad/solve/algebra/choice.hpp>
#include <agrad/solve/solver/options.hpp>

namespace agrad {

/// The linear multistep method of CVODES, with CVODES' number.
enum class ode_method : int { adams = 1, bdf = 2 };

/// How the reverse pass interpolates the forward solution between the stored steps.
enum class ode_interpolation : int { hermite = 1, polynomial = 2 };

/// All options of `ode_adjoint_tol_ctl`; see there. Tolerances have no defaults, because they depend on the problem.
struct ode_adjoint_options {
  tolerances forward, backward;
  tolerances quadrature;   // absolute: one for all parameters, or one for each active parameter
  long max_num_steps = 0;  // between two output times, in each pass
  long num_steps_between_checkpoints = 250;
  ode_interpolation interpolation_polynomial = ode_interpolation::hermite;
  ode_method solver_forward = ode_method::bdf;
  ode_method solver_backward = ode_method::bdf;
  ode_algebra algebra;    // of the Newton matrix, in both passes
  double first_step = 0;  // size tried in the forward pass at t0 and after each restart; 0: chosen by CVODES
  double max_step = std::numeric_limits<double>::infinity();  // in both passes
  /// Whether the absolute tolerances of adjoints and quadrature are upper bounds, which become smaller where the units of the
  /// loss, states and parameters demand it (solve/solver/adjoint_tolerances.hpp).
  bool in_units_of_loss = false;

  /// Compares all options except the algebra, whose meaning depends on the system.
  friend bool operator==(const ode_adjoint_options& a, const ode_adjoint_options& b) {
    return a.forward == b.forward && a.backward == b.backward && a.quadrature == b.quadrature &&
           a.max_num_steps == b.max_num_steps && a.num_steps_between_checkpoints == b.num_steps_between_checkpoints &&
           a.interpolation_polynomial == b.interpolation_polynomial && a.solver_forward == b.solver_forward &&
           a.solver_backward == b.solver_backward && a.first_step == b.first_step && a.max_step == b.max_step &&
           a.in_units_of_loss == b.in_units_of_loss;
  }
};

/// Returns the method for a code of the design document. Throws DomainError for any other code.
ode_method method_from_code(std::string_view function, std::string_view argument, long code);

/// Returns the interpolation for a code of the design document. Throws DomainError for any other code.
ode_interpolation interpolation_from_code(std::string_view function, std::string_view argument, long code);

/// Returns the options for one pair of tolerances: the relative tolerance for all three problems; the absolute tolerance
/// divided by 10 forwards, divided by 3 backwards and unchanged for the quadrature; 250 steps between checkpoints; Hermite;
/// BDF.
ode_adjoint_options tolerance_options(std::string_view function, Eigen::Index states, double relative_tolerance,
                                      double absolute_tolerance, long max_num_steps);

/// Checks every option for a system of the given size. Throws ShapeError or DomainError. The length of a vector of quadrature
/// tolerances is only checked where there is a quadrature: plain values have no active parameters.
void check_solver_options(std::string_view function, const ode_adjoint_options& options, Eigen::Index states,
                          Eigen::Index parameters);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/adjoint_options.ipp>
#endif
