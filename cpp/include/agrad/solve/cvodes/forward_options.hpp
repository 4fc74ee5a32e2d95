// Options of forward sensitivities by CVODES, and the checks of the options.
//
// Read next: solve/cvodes/forward.hpp, the solver.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <string_view>

#include <agrad/solve/cvodes/adjoint_options.hpp>

namespace agrad {

/// How a step solves for the sensitivities, with CVODES' integers: together with the states, or after the states have passed.
enum class ode_corrector : int { simultaneous = 1, staggered = 2 };

/// All options of forward sensitivities. The tolerances of sensitivities hold for p dy/dp, which has the units of y for any p.
struct ode_forward_options {
  tolerances states;
  long max_num_steps = 0;  // between two output times
  ode_method method = ode_method::bdf;
  ode_corrector corrector = ode_corrector::staggered;
  tolerances sensitivities;  // those that are 0 or empty are those of the states
  ode_algebra algebra{};     // of the Newton matrix
  double first_step = 0;     // size tried at t0; 0: chosen by CVODES
  double max_step = std::numeric_limits<double>::infinity();

  tolerances of_sensitivities() const {
    return {sensitivities.relative != 0 ? sensitivities.relative : states.relative,
            sensitivities.absolute.size() != 0 ? sensitivities.absolute : states.absolute};
  }
};

/// Returns the corrector for a code of CVODES. Throws DomainError for any other code.
inline ode_corrector corrector_from_code(std::string_view function, std::string_view argument, long code) {
  if (code != static_cast<int>(ode_corrector::simultaneous) && code != static_cast<int>(ode_corrector::staggered))
    throw DomainError(detail::sentence(function, argument, -1, code, "1 (simultaneous) or 2 (staggered)"));
  return static_cast<ode_corrector>(code);
}

/// Checks every option for a system of the given size. Throws ShapeError or DomainError.
inline void check_solver_options(std::string_view function, const ode_forward_options& options, Eigen::Index states) {
  detail::check_tolerances(function, "", options.states, states);
  detail::check_positive_count(function, "max_num_steps", options.max_num_steps);
  detail::check_step_sizes(function, options.first_step, options.max_step);
  check_algebra(function, options.algebra, states);
  method_from_code(function, "method", static_cast<int>(options.method));
  corrector_from_code(function, "corrector", static_cast<int>(options.corrector));
  detail::check_tolerances(function, "_sensitivities", options.of_sensitivities(), states);
}

}  // namespace agrad
