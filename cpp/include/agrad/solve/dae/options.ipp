// Definitions of solve/dae/options.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/options.hpp>

namespace agrad {

AGRAD_INLINE dae_options dae_tolerance_options(std::string_view function, Eigen::Index states, double relative_tolerance,
                                               double absolute_tolerance, long max_num_steps) {
  const ode_adjoint_options like = tolerance_options(function, states, relative_tolerance, absolute_tolerance, max_num_steps);
  dae_options options;
  options.relative_tolerance_forward = like.relative_tolerance_forward;
  options.absolute_tolerance_forward = like.absolute_tolerance_forward;
  options.relative_tolerance_backward = like.relative_tolerance_backward;
  options.absolute_tolerance_backward = like.absolute_tolerance_backward;
  options.relative_tolerance_quadrature = like.relative_tolerance_quadrature;
  options.absolute_tolerance_quadrature = absolute_tolerance;
  options.max_num_steps = max_num_steps;
  options.in_units_of_loss = true;
  return options;
}

AGRAD_INLINE void check_solver_options(std::string_view function, const dae_options& options, Eigen::Index states) {
  check(function, "relative_tolerance_forward", options.relative_tolerance_forward, must_be::positive_finite);
  detail::check_tolerances(function, "absolute_tolerance_forward", options.absolute_tolerance_forward, states,
                           "one for each state");
  check(function, "relative_tolerance_backward", options.relative_tolerance_backward, must_be::positive_finite);
  detail::check_tolerances(function, "absolute_tolerance_backward", options.absolute_tolerance_backward, states,
                           "one for each state");
  check(function, "relative_tolerance_quadrature", options.relative_tolerance_quadrature, must_be::positive_finite);
  check(function, "absolute_tolerance_quadrature", options.absolute_tolerance_quadrature, must_be::positive_finite);
  detail::check_positive_count(function, "max_num_steps", options.max_num_steps);
  detail::check_step_sizes(function, options.first_step, options.max_step);
  if (!options.differential.empty())
    check_size(function, "differential", options.differential.size(), static_cast<std::size_t>(states), "one for each state");
}

AGRAD_INLINE void check_dae_problem(std::string_view function, const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                    std::vector<double> times) {
  if (!times.empty() && times[0] == t0) times[0] = std::nextafter(t0, std::numeric_limits<double>::infinity());
  check_initial_value_problem(function, y0, t0, times);
  check_size(function, "yp0", static_cast<std::size_t>(yp0.size()), static_cast<std::size_t>(y0.size()), "one for each state");
  check_each(function, "yp0", yp0.data(), static_cast<std::size_t>(yp0.size()), 1, must_be::finite);
}

}  // namespace agrad
