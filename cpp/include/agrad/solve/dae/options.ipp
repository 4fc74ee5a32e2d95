// Definitions of solve/dae/options.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/options.hpp>

namespace agrad {

AGRAD_INLINE dae_options dae_tolerance_options(std::string_view function, Eigen::Index states, double relative_tolerance,
                                               double absolute_tolerance, long max_num_steps) {
  const ode_adjoint_options like = tolerance_options(function, states, relative_tolerance, absolute_tolerance, max_num_steps);
  dae_options options;
  options.forward = like.forward, options.backward = like.backward, options.quadrature = like.quadrature;
  options.max_num_steps = max_num_steps;
  options.in_units_of_loss = true;
  return options;
}

AGRAD_INLINE void check_solver_options(std::string_view function, const dae_options& options, Eigen::Index states) {
  detail::check_tolerances(function, "_forward", options.forward, states);
  detail::check_tolerances(function, "_backward", options.backward, states);
  detail::check_tolerances(function, "_quadrature", options.quadrature, 1, "one for all parameters");
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
