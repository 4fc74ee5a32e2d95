// ODE node: puts the solution of an initial value problem on the tape, for any solver.
//
// One closure on the tape owns the system and the solver; the tape's reverse pass runs the solver's reverse pass.
// Read next: solve/system/functor/lanes.hpp, the derivatives of the right-hand side; solve/solver/solver.hpp.
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

/// Members of a solve on the tape: the system, the solver, and the indices of the arguments' adjoints.
template <class System>
struct ode_node {
  System system;
  std::unique_ptr<ode_solver> solver;
  std::vector<tape::index_type> initial_state, initial_time, times;
  tape::index_type first = 0;  // index of the first state; the states follow each other, output time by output time

  template <class Make, class... Args>
  ode_node(const std::string& function, const Make& make, ode_required required, Args&&... system_args)
      : system(function, std::forward<Args>(system_args)...), solver(make(function, system, required)) {}

  /// Propagates the adjoints of the states to the arguments.
  template <class Adjoint>
  void reverse(const Adjoint& adjoint, Eigen::Index count) {
    const Eigen::MatrixXd states = adjoints_from(adjoint, first, count);
    if (states.isZero(0)) return;
    const ode_gradient g = solver->reverse(states);
    add(adjoint, initial_state, g.initial_state.data());
    add(adjoint, initial_time, &g.initial_time);
    add(adjoint, times, g.times.data());
    add(adjoint, system.parameter_indices(), g.parameters.data());
  }

 protected:
  /// Returns the adjoints of `count` state vectors from index `begin`.
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

/// Chooses the system for a callable with the solvers of a maker; specialised where solvers need further derivatives.
template <class Make>
struct system_for {
  template <class F, class... Args>
  using type = system_of_t<functor_lanes, F, Args...>;
};

/// Puts the states on the tape as variables; the tape then owns the node.
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
  t.push([owned = std::move(node), count = states.cols()](auto& adjoint) { owned->reverse(adjoint, count); });
  return solution;
}

/// Returns the solution of an initial value problem, as doubles or as variables. make(function, system, wanted) makes the
/// solver.
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
  const ode_required required{argument<Y0>::active, argument<T0>::active, argument<Time>::active};
  auto node = std::make_unique<ode_node<system>>(function, make, required, f, initial.size(), args...);
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
