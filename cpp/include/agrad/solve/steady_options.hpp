// Options of steady states, what a search reports, and the checks of its arguments.
#pragma once

#include <Eigen/Core>
#include <string_view>

#include <agrad/solve/ode_options.hpp>

namespace agrad {

/// How a steady state is looked for, with the codes that Python uses.
enum class steady_method : int { automatic = 0, newton = 1, integration = 2 };

/// Everything that tunes `steady_state`.
struct steady_options {
  double relative_tolerance = 1e-10;
  Eigen::VectorXd absolute_tolerance;  // one for each state
  long max_iterations = 50;            // of Newton's method, from each point that it starts from
  steady_method method = steady_method::automatic;
};

/// How a steady state was found.
struct steady_report {
  bool by_integration = false;
  long iterations = 0;         // of Newton's method, altogether
  double integrated_time = 0;  // 0 when nothing was integrated
  double residual = 0;         // the largest derivative that is left
  Eigen::Index conserved = 0;  // totals
  bool singular = false;       // beyond the conserved totals: derivatives are of minimum norm
};

/// Checks every option for a system of the given size; throws ShapeError or DomainError.
inline void check_solver_options(std::string_view function, const steady_options& options, Eigen::Index states) {
  check(function, "relative_tolerance", options.relative_tolerance, must_be::positive_finite);
  detail::check_tolerances(function, "absolute_tolerance", options.absolute_tolerance, states, "one for each state");
  detail::check_positive_count(function, "max_iterations", options.max_iterations);
}

}  // namespace agrad
