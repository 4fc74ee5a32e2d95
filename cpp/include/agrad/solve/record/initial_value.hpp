// Initial value: solves initial value problems of C++ callables, for arguments of doubles, variables or duals.
// Read first: solve/posed/ode.hpp; solve/record/tape_node.hpp.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/promote.hpp>
#include <agrad/solve/posed/ode.hpp>
#include <agrad/solve/record/dual_node.hpp>
#include <agrad/solve/record/tape_node.hpp>
#include <agrad/solve/solver/options.hpp>
#include <agrad/solve/system/functor/ode.hpp>

namespace agrad {
class program_system;
}

namespace agrad::detail {

/// The system for a callable: System<F, Args...>, or another by specialisation of `system_of`. Args: without tangents.
template <template <class, class...> class System, class F, class... Args>
using primal_system_t = system_of_t<System, F, primal_argument_t<Args>...>;

/// Checks the initial value problem of any scalars.
template <class Y0, class T0, class Time>
void check_values(const std::string& function, const Y0& y0, const T0& t0, const std::vector<Time>& times) {
  const std::vector<double> initial = doubles_of(y0);
  const Eigen::Map<const Eigen::VectorXd> states(initial.data(), y0.size());
  check_initial_value_problem(function, states, double_of(t0), doubles_of(times));
}

/// Returns the states at the output times, a vector for each. System: the system for a callable. make(function, system,
/// required) makes the solver.
template <template <class, class...> class System, class Make, class F, class Y0, class T0, class Time, class... Args>
auto solve_initial_value(const std::string& function, const Make& make, const F& f, const Y0& y0, const T0& t0,
                         const std::vector<Time>& times, const Args&... args) {
  using scalar = promoted_t<Y0, T0, Time, Args...>;
  using system_type = primal_system_t<System, F, Args...>;
  constexpr bool is_recorded = std::is_base_of_v<program_system, system_type>;
  static_assert(is_recorded || !is_second_dual<scalar> || !(active_scalars<T0>::any || active_scalars<Time>::any),
                "where arguments hold duals of variables, t0 and times must be numbers unless f is recorded (agrad::recorded): "
                "derivatives with respect to them are of first order");
  check_values(function, y0, t0, times);
  const ode_required required{active_scalars<Y0>::any, active_scalars<T0>::any, active_scalars<Time>::any};
  auto system = std::make_unique<system_type>(function, f, y0.size(), primal_argument(args)...);
  std::unique_ptr<ode_solver> solver = make(function, *system, required);
  const auto parameters = static_cast<std::size_t>(system->parameters());
  auto solve = std::make_unique<posed_ode>(std::move(system), std::move(solver), required, parameters, times.size());
  solve_arguments<scalar> arguments(solve->argument());
  arguments.give("initial_state", y0);
  arguments.give("initial_time", t0);
  arguments.give("times", times);
  arguments.give_active("parameters", args...);
  return columns_of(recorded_result<scalar>::of(function, std::move(solve), std::move(arguments), is_recorded), y0.size());
}

}  // namespace agrad::detail
