// Options of the adjoint ODE solver, and checks of the options before anything is allocated.
//
// The fields have the RFC's names; methods and interpolation are enumerations with the integers of CVODES and Stan.
// Source: stan-dev/design-docs, 0027-adjoint-ode.
// Read next: solve/cvodes/adjoint.hpp, the solver.
#pragma once

#include <limits>
#include <string_view>
#include <variant>

#include <Eigen/Core>

#include <agrad/base/check.hpp>
#include <agrad/solve/algebra/choice.hpp>
#include <agrad/solve/solver/options.hpp>

namespace agrad {

/// Linear multistep method.
enum class ode_method : int { adams = 1, bdf = 2 };

/// How the reverse pass interpolates the forward solution between the stored steps.
enum class ode_interpolation : int { hermite = 1, polynomial = 2 };

/// All options of `ode_adjoint_tol_ctl`; see there. Tolerances have no defaults, because they depend on the problem.
struct ode_adjoint_options {
  double relative_tolerance_forward = 0;
  Eigen::VectorXd absolute_tolerance_forward;  // one for each state
  double relative_tolerance_backward = 0;
  Eigen::VectorXd absolute_tolerance_backward;  // one for each state
  double relative_tolerance_quadrature = 0;
  std::variant<double, Eigen::VectorXd> absolute_tolerance_quadrature = 0.0;  // for all, or one for each active parameter
  long max_num_steps = 0;                                                     // between two output times, in each pass
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
    const auto same = [](const Eigen::VectorXd& x, const Eigen::VectorXd& y) { return x.size() == y.size() && x == y; };
    const double* scalar = std::get_if<double>(&a.absolute_tolerance_quadrature);
    const bool same_quadrature = a.absolute_tolerance_quadrature.index() == b.absolute_tolerance_quadrature.index() &&
                                 (scalar != nullptr ? *scalar == std::get<double>(b.absolute_tolerance_quadrature)
                                                    : same(std::get<Eigen::VectorXd>(a.absolute_tolerance_quadrature),
                                                           std::get<Eigen::VectorXd>(b.absolute_tolerance_quadrature)));
    return a.relative_tolerance_forward == b.relative_tolerance_forward &&
           same(a.absolute_tolerance_forward, b.absolute_tolerance_forward) &&
           a.relative_tolerance_backward == b.relative_tolerance_backward &&
           same(a.absolute_tolerance_backward, b.absolute_tolerance_backward) &&
           a.relative_tolerance_quadrature == b.relative_tolerance_quadrature && same_quadrature &&
           a.max_num_steps == b.max_num_steps && a.num_steps_between_checkpoints == b.num_steps_between_checkpoints &&
           a.interpolation_polynomial == b.interpolation_polynomial && a.solver_forward == b.solver_forward &&
           a.solver_backward == b.solver_backward && a.first_step == b.first_step && a.max_step == b.max_step &&
           a.in_units_of_loss == b.in_units_of_loss;
  }
};

/// Returns the method for a code of the RFC. Throws DomainError for any other code.
ode_method method_from_code(std::string_view function, std::string_view argument, long code);

/// Returns the interpolation for a code of the RFC. Throws DomainError for any other code.
ode_interpolation interpolation_from_code(std::string_view function, std::string_view argument, long code);

/// Returns the RFC's options for one pair of tolerances: the relative tolerance for all three problems; the absolute tolerance
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
