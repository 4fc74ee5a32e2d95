// Options of differential-algebraic systems, the wanted derivatives and the gradient, and checks of the arguments.
//
// Read next: solve/dae/solver.hpp, the solver.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/solver/options.hpp>

namespace agrad {

/// Which initial values are given; the others follow from F(t0, y, y') = 0.
enum class dae_initial : int {
  differential = 0,  // the differential part of y0; y0's algebraic part and y'0 are guesses
  derivatives = 1,   // y'0; y0 is a guess
  consistent = 2     // y0 and y'0, which are checked
};

/// How derivatives are computed: by one adjoint problem, or by sensitivities that are integrated with the states.
enum class dae_sensitivities : int { adjoint = 0, forward = 1 };

/// All options of a solve. Tolerances have no defaults, because they depend on the problem.
struct dae_options {
  tolerances forward, backward;
  tolerances quadrature;   // absolute: one for all parameters
  long max_num_steps = 0;  // between two output times, in each pass
  double first_step = 0;   // size tried in the forward pass at t0 and after each stop; 0: chosen by IDAS
  double max_step = std::numeric_limits<double>::infinity();  // in each pass
  bool in_units_of_loss = false;                              // as of ode_adjoint_options
  std::vector<bool> differential;                             // whether each state is differential; empty: the solver finds out
  dae_initial initial = dae_initial::differential;
  dae_sensitivities sensitivities = dae_sensitivities::adjoint;
  std::vector<double>
      tstops;  // times at which the residual may jump, for dae_solve only: solvers and operations take stops as arguments
};

/// Which derivatives will be wanted. Derivatives with respect to active parameters are wanted whenever there are any.
struct dae_required {
  bool initial_state = false;  // y0
  bool initial_slope = false;  // y'0
  bool initial_time = false;
  bool times = false;
  bool stops = false;
};

/// Gradient of a scalar through a solution; derivatives that are not wanted are zero.
struct dae_gradient {
  Eigen::VectorXd initial_state, initial_slope;
  double initial_time = 0;
  Eigen::VectorXd times, stops, parameters;
};

/// Returns the options for one pair of tolerances: the absolute tolerance divided by 10 forwards and, in units of the loss,
/// divided by 3 backwards and unchanged for the quadrature, as in `tolerance_options` for ordinary equations.
dae_options dae_tolerance_options(std::string_view function, Eigen::Index states, double relative_tolerance,
                                  double absolute_tolerance, long max_num_steps);

/// Checks every option for a system of the given size. Throws ShapeError or DomainError.
void check_solver_options(std::string_view function, const dae_options& options, Eigen::Index states);

/// Checks that y0, y'0 and t0 are finite, and that there is at least one time, increasing, none before t0; the first may be t0.
void check_dae_problem(std::string_view function, const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                       std::vector<double> times);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/options.ipp>
#endif
