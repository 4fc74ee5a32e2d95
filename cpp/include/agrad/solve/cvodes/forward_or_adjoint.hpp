// ODE weighing: forward sensitivities or the adjoint method, by what the gradient of a scalar is expected to cost.
//
// With N states, S sensitivities and M parameters, integrating forwards takes N (1 + S) equations, the adjoint method
// 2 N + M. Measured, a sensitivity costs 1.3 of the states alone, because it shortens steps, and an equation of the adjoint
// method 4 times a plain one, for its restart at each output time: docs/ode.md has the figures.
// Read next: solve/cvodes/forward.hpp, solve/cvodes/adjoint.hpp.
#pragma once

#include <memory>
#include <string>

#include <agrad/solve/cvodes/adjoint.hpp>
#include <agrad/solve/cvodes/forward.hpp>

namespace agrad {

/// Whether forward sensitivities are expected to give a gradient sooner than the adjoint method.
inline bool forward_is_cheaper(Eigen::Index states, Eigen::Index parameters, ode_wanted wanted) {
  const auto n = static_cast<double>(states), m = static_cast<double>(parameters);
  const double sensitivities = m + (wanted.initial_state ? n : wanted.initial_time ? 1 : 0);
  return n * (1 + 1.3 * sensitivities) <= 4 * (2 * n + m);
}

/// Makes CVODES solvers of the kind that is expected to be cheaper.
struct weighed_maker {
  ode_forward_options forward;
  ode_adjoint_options adjoint;

  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_wanted wanted) const {
    if (forward_is_cheaper(system.states(), system.parameters(), wanted))
      return std::make_unique<cvodes_forward>(function, system, forward, wanted);
    return std::make_unique<cvodes_adjoint>(function, system, adjoint, wanted);
  }
};

}  // namespace agrad
