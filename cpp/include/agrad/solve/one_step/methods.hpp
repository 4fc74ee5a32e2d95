// Methods: the table of one-step methods, one entry for each.
//
// An entry holds all that differs between the methods for a caller: the name in Python, a description, the order, how far the
// method is stable, and how a solver is made. The methods of `solve_ivp`, their documentation, the advice that solves give, and
// `ode_one_step_method` come from the table, so a new method is a tableau, an entry in methods.ipp, an enumerator here and two
// constants for its functions in solve/ode_one_step.hpp.
// Read next: solve/one_step/tableaus.hpp and solve/one_step/rosenbrock_tableau.hpp, the coefficients.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// Methods whose gradient is the exact one of their steps, in the order of `one_step_methods`. `automatic` starts with tsit5
/// and, where the system turns stiff, continues with rodas5p, or with rodas4 for relative tolerances from 1e-5 on.
enum class ode_one_step_method { tsit5, rk45, ckrk, dop853, rodas4, rodas5p, automatic };

struct one_step_method {
  const char* name;  // of solve_ivp's argument `method`, and in pickles
  const char* text;  // a description with the intended use
  int order;
  double real_stability;  // how far an explicit method is stable along the negative real axis, in units of the step size
  bool has_factors;       // whether the method solves linear equations with the Jacobian
  std::unique_ptr<ode_solver> (*make)(const std::string& function, ode_system& system, const step_options& options,
                                      ode_required required);
};

/// The entries, one for each method.
extern const one_step_method one_step_methods[static_cast<std::size_t>(ode_one_step_method::automatic) + 1];

/// Returns the entry of a method.
const one_step_method& entry_of(ode_one_step_method method, const std::string& function);

/// Returns the entry of a method by its name; null where no method has the name.
const one_step_method* entry_of(std::string_view name);

/// Returns a new solver by one of the methods.
std::unique_ptr<ode_solver> make_one_step_solver(ode_one_step_method method, const std::string& function, ode_system& system,
                                                 const step_options& options, ode_required required);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/methods.ipp>
#endif
