// ODE node: the solution of an initial value problem on the tape, whichever solver finds it.
//
// The solution is one closure on the tape, which owns the system and its solver; sweeping it runs the solver backwards.
// Read next: solve/system/functor/lanes.hpp, how the right-hand side is differentiated; solve/solver/solver.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/rules/promote.hpp>
#include <agrad/solve/solver/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/functor/lanes.hpp>

namespace agrad {

namespace detail {

/// What the tape keeps of a solve: the system, its solver, and where the adjoints of the arguments are.
template <class System>
struct ode_node {
  System system;
  std::unique_ptr<ode_solver> solver;
  std::vector<tape::index_type> initial_state, initial_time, times;
  tape::index_type first = 0;  // of the states, one output time after the other

  template <class Make, class... Args>
  ode_node(const std::string& function, const Make& make, ode_wanted wanted, Args&&... system_args)
      : system(function, std::forward<Args>(system_args)...), solver(make(function, system, wanted)) {}

  /// Adds to the adjoints of the arguments what those of the states amount to.
  template <class Adjoint>
  void sweep(const Adjoint& adjoint, Eigen::Index count) {
    const Eigen::MatrixXd states = adjoints_from(adjoint, first, count);
    if (states.isZero(0)) return;
    const ode_gradient g = solver->sweep(states);
    add(adjoint, initial_state, g.initial_state.data());
    add(adjoint, initial_time, &g.initial_time);
    add(adjoint, times, g.times.data());
    add(adjoint, system.parameter_indices(), g.parameters.data());
  }

 protected:
  /// Those of so many states from an index on.
  template <class Adjoint>
  Eigen::MatrixXd adjoints_from(const Adjoint& adjoint, tape::index_type begin, Eigen::Index count) const {
    Eigen::MatrixXd states(system.states(), count);
    for (Eigen::Index i = 0; i < states.size(); ++i) states.data()[i] = adjoint.at(begin + static_cast<tape::index_type>(i));
    return states;
  }

  template <class Adjoint>
  static void add(const Adjoint& adjoint, const std::vector<tape::index_type>& to, const double* gradient) {
    for (std::size_t i = 0; i < to.size(); ++i) adjoint.at(to[i]) += gradient[i];
  }
};

/// What a callable becomes for the solvers of a maker; specialised where they ask for more of it.
template <class Make>
struct system_for {
  template <class F, class... Args>
  using type = system_of_t<functor_lanes, F, Args...>;
};

/// Puts the states on the tape as variables whose adjoints the node takes.
template <class Node>
std::vector<vector_of<var>> record_solution(std::unique_ptr<Node> node, const Eigen::MatrixXd& states) {
  tape& t = tape::current();
  const tape::index_type first = node->first = t.leaves(static_cast<std::size_t>(states.size()));
  std::vector<vector_of<var>> solution(static_cast<std::size_t>(states.cols()), vector_of<var>(states.rows()));
  for (Eigen::Index k = 0; k < states.cols(); ++k) {
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      const auto index = first + static_cast<tape::index_type>(k * states.rows() + i);
      solution[static_cast<std::size_t>(k)][i] = tape_access::variable(states(i, k), index, t);
    }
  }
  t.push([owned = std::move(node), count = states.cols()](auto& adjoint) { owned->sweep(adjoint, count); });
  return solution;
}

/// The solution of an initial value problem, as doubles or as variables, under a function's name. make(function, system, wanted)
/// makes the solver.
template <class Make, class F, class Y0, class T0, class Time, class... Args>
auto solve_recorded(const std::string& function, const Make& make, const F& f, const Y0& y0, const T0& t0,
                    const std::vector<Time>& times, const Args&... args) {
  constexpr bool active =
      argument<Y0>::active || argument<T0>::active || argument<Time>::active || (argument<Args>::active || ...);
  const Eigen::VectorXd initial = argument<Y0>::values(y0);
  const auto time_values = argument<std::vector<Time>>::values(times);
  const std::vector<double> outputs(time_values.begin(), time_values.end());
  const double start = static_cast<double>(argument<T0>::values(t0));
  check_initial_value_problem(function, initial, start, outputs);

  using system = typename system_for<Make>::template type<F, Args...>;
  const ode_wanted wanted{argument<Y0>::active, argument<T0>::active, argument<Time>::active};
  auto node = std::make_unique<ode_node<system>>(function, make, wanted, f, initial.size(), args...);
  const Eigen::MatrixXd states = node->solver->integrate(initial, start, outputs);
  if constexpr (active) {
    argument<Y0>::collect(y0, node->initial_state);
    argument<T0>::collect(t0, node->initial_time);
    argument<std::vector<Time>>::collect(times, node->times);
    return record_solution(std::move(node), states);
  } else {
    std::vector<Eigen::VectorXd> solution;
    for (Eigen::Index k = 0; k < states.cols(); ++k) solution.push_back(states.col(k));
    return solution;
  }
}

}  // namespace detail

}  // namespace agrad
