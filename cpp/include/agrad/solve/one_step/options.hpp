// Options of the one-step solvers with discrete adjoints, and the checks of their arguments.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <agrad/solve/algebra/choice.hpp>
#include <agrad/solve/solver/options.hpp>
#include <agrad/solve/system/mass_matrix.hpp>

namespace agrad {

/// Which errors choose the step sizes: the errors of the states, or also the errors of derivatives (solve/one_step/probe.hpp).
/// `automatic` includes derivatives if derivatives are wanted, so a solve without derivatives takes longer steps.
enum class step_error_control { automatic, states, derivatives };

/// What a solver warns of: steps that derivatives hold far below those of the states, or a gradient whose estimated error is
/// large.
enum class step_concern { steps, gradient };

/// Options of a one-step method.
struct step_options {
  tolerances states = {1e-6};
  long max_num_steps = 100000;  // between two output times
  double first_step = 0;        // 0: the solver chooses
  double max_step = infinity_step();
  double max_memory = 1e9;  // bytes of records for the reverse pass; beyond them steps are computed twice
  ode_algebra algebra;      // of a Rosenbrock method's matrices
  step_error_control error_control = step_error_control::automatic;
  std::function<void(step_concern, const std::string&)> warn = nullptr;  // called with a sentence, if there is a function
  /// M of M y' = f(t, y), for Rosenbrock methods; none for the identity. Where M is singular, the algebraic part of an initial
  /// state is a guess.
  std::optional<mass_matrix> mass = std::nullopt;

  static constexpr double infinity_step() { return std::numeric_limits<double>::infinity(); }
};

/// Checks every option for a system of the given size; throws ShapeError or DomainError.
inline void check_solver_options(std::string_view function, const step_options& options, Eigen::Index states) {
  detail::check_tolerances(function, "", options.states, states);
  detail::check_positive_count(function, "max_num_steps", options.max_num_steps);
  detail::check_step_sizes(function, options.first_step, options.max_step);
  if (!(options.max_memory > 0))
    throw DomainError(detail::sentence(function, "max_memory", -1, options.max_memory, "positive"));
  check_algebra(function, options.algebra, states);
  if (options.mass) check_mass_matrix(function, *options.mass, states);
}

}  // namespace agrad
