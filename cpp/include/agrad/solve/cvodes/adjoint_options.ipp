// Definitions of solve/cvodes/adjoint_options.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/adjoint_options.hpp>

namespace agrad {

AGRAD_INLINE ode_method method_from_code(std::string_view function, std::string_view argument, long code) {
  if (code != static_cast<int>(ode_method::adams) && code != static_cast<int>(ode_method::bdf))
    throw DomainError(detail::sentence(function, argument, -1, code, "1 (Adams) or 2 (BDF)"));
  return static_cast<ode_method>(code);
}

AGRAD_INLINE ode_interpolation interpolation_from_code(std::string_view function, std::string_view argument, long code) {
  if (code != static_cast<int>(ode_interpolation::hermite) && code != static_cast<int>(ode_interpolation::polynomial))
    throw DomainError(detail::sentence(function, argument, -1, code, "1 (Hermite) or 2 (polynomial)"));
  return static_cast<ode_interpolation>(code);
}

AGRAD_INLINE ode_adjoint_options tolerance_options(std::string_view function, Eigen::Index states, double relative_tolerance,
                                                   double absolute_tolerance, long max_num_steps) {
  check(function, "relative_tolerance", relative_tolerance, must_be::positive_finite);
  check(function, "absolute_tolerance", absolute_tolerance, must_be::positive_finite);
  ode_adjoint_options options;
  options.forward = {relative_tolerance, Eigen::VectorXd::Constant(states, absolute_tolerance / 10)};
  options.backward = {relative_tolerance, Eigen::VectorXd::Constant(states, absolute_tolerance / 3)};
  options.quadrature = {relative_tolerance, Eigen::VectorXd::Constant(1, absolute_tolerance)};
  options.max_num_steps = max_num_steps;
  return options;
}

AGRAD_INLINE void check_solver_options(std::string_view function, const ode_adjoint_options& options, Eigen::Index states,
                                       Eigen::Index parameters) {
  detail::check_tolerances(function, "_forward", options.forward, states);
  detail::check_tolerances(function, "_backward", options.backward, states);
  const Eigen::Index each = options.quadrature.absolute.size();
  detail::check_tolerances(function, "_quadrature", options.quadrature, each == 1 || parameters == 0 ? each : parameters,
                           "one for each active parameter");
  check_algebra(function, options.algebra, states);
  detail::check_step_sizes(function, options.first_step, options.max_step);
  detail::check_positive_count(function, "max_num_steps", options.max_num_steps);
  detail::check_positive_count(function, "num_steps_between_checkpoints", options.num_steps_between_checkpoints);
  interpolation_from_code(function, "interpolation_polynomial", static_cast<int>(options.interpolation_polynomial));
  method_from_code(function, "solver_forward", static_cast<int>(options.solver_forward));
  method_from_code(function, "solver_backward", static_cast<int>(options.solver_backward));
}

}  // namespace agrad
