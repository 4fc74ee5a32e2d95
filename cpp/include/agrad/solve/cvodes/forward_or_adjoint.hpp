// Forward or adjoint: chooses forward sensitivities or the adjoint method by the expected cost of a scalar's gradient.
//
// With N states, S sensitivities and M parameters, forward sensitivities take N (1 + S) equations and the adjoint method takes
// 2 N + M. By measurement, a sensitivity costs 1.3 times the states alone, because sensitivities shorten steps; an equation of
// the adjoint method costs 4 times a plain equation, because of the restart at each output time. docs/ode.md has the figures.
// Read next: solve/cvodes/forward.hpp, solve/cvodes/adjoint.hpp.
#pragma once

#include <memory>
#include <string>

#include <agrad/solve/cvodes/adjoint.hpp>
#include <agrad/solve/cvodes/forward.hpp>

namespace agrad {

/// Returns whether forward sensitivities are expected to give a gradient sooner than the adjoint method.
inline bool forward_is_cheaper(Eigen::Index states, Eigen::Index parameters, ode_required required) {
  const auto n = static_cast<double>(states), m = static_cast<double>(parameters);
  const double sensitivities = m + (required.initial_state ? n : required.initial_time ? 1 : 0);
  return n * (1 + 1.3 * sensitivities) <= 4 * (2 * n + m);
}

/// Makes CVODES solvers by the cheaper method.
struct weighed_maker {
  ode_forward_options forward;
  ode_adjoint_options adjoint;

  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    if (forward_is_cheaper(system.states(), system.parameters(), required))
      return std::make_unique<cvodes_forward>(function, system, forward, required);
    return std::make_unique<cvodes_adjoint>(function, system, adjoint, required);
  }
};

}  // namespace agrad
