// Steady state: where y' = f(t, y, args...) comes to rest, with its gradient on the tape.
//
//     auto f = [](double, const auto& y, const auto& k) { return (k - y.array().square().matrix()).eval(); };
//     Eigen::Matrix<var, -1, 1> y = agrad::steady_state(f, y0, k);
//
// The gradient is that of the implicit function; the way to the steady state is not differentiated.
// Read next: solve/steady_solver.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/functor_system.hpp>
#include <agrad/solve/steady_solver.hpp>

namespace agrad {

namespace detail {

/// What the tape keeps of a steady state.
template <class System>
struct steady_node {
  System system;
  steady_solver<> solver;
  std::vector<tape::index_type> initial_state;
  tape::index_type first = 0;

  template <class... Args>
  steady_node(const std::string& function, const steady_options& options, const Args&... args)
      : system(function, args...), solver(function, system, options) {}

  template <class Adjoint>
  void sweep(const Adjoint& adjoint) {
    Eigen::VectorXd states(system.states());
    for (Eigen::Index i = 0; i < states.size(); ++i) states[i] = adjoint.at(first + static_cast<tape::index_type>(i));
    if (states.isZero(0)) return;
    const ode_gradient g = solver.sweep(states);
    for (std::size_t i = 0; i < initial_state.size(); ++i)
      adjoint.at(initial_state[i]) += g.initial_state[static_cast<Eigen::Index>(i)];
    const auto& parameters = system.parameter_indices();
    for (std::size_t i = 0; i < parameters.size(); ++i) adjoint.at(parameters[i]) += g.parameters[static_cast<Eigen::Index>(i)];
  }
};

template <class F, class Y0, class... Args>
auto steady_recorded(const std::string& function, steady_options options, const F& f, const Y0& y0, const Args&... args) {
  static_assert(!hold_duals<Y0, Args...>,
                "steady_state and steady_state_tol have first derivatives only in C++: a dual cannot pass through them; take "
                "differences of their gradient");
  const Eigen::VectorXd initial = argument<Y0>::values(y0);
  using node_type = steady_node<system_of_t<functor_system, F, Args...>>;
  auto node = std::make_unique<node_type>(function, options, f, initial.size(), args...);
  const Eigen::VectorXd found = node->solver.solve(initial);
  if constexpr (argument<Y0>::active || (argument<Args>::active || ...)) {
    argument<Y0>::collect(y0, node->initial_state);
    tape& t = tape::current();
    const tape::index_type first = node->first = t.leaves(static_cast<std::size_t>(found.size()));
    vector_of<var> y(found.size());
    for (Eigen::Index i = 0; i < found.size(); ++i) y[i] = var(found[i], first + static_cast<tape::index_type>(i), t);
    t.push([owned = std::move(node)](auto& adjoint) { owned->sweep(adjoint); });
    return y;
  } else {
    return found;
  }
}

}  // namespace detail

/// Finds y with f(0, y, args...) = 0 by damped Newton steps from y0; where they fail, from states that integration leads to.
///
/// f: as for ode_adjoint_tol; it must not depend on t. y0: Eigen column vector of double or var, where to start.
/// Totals that the system conserves keep their values at y0, which chooses among the steady states; with respect to y0 the
///   gradient is through them alone.
/// relative_tolerance, absolute_tolerance: of the states, positive and finite. max_iterations: of Newton's method, from each
///   point that it starts from.
///
/// Returns a column vector: of var when a variable is among y0 and args, else of double. Where the Jacobian is singular
///   beyond the conserved totals, the gradient is that of the smallest change.
/// Raises ShapeError, DomainError for arguments, SolverError when no steady state is found; what f throws comes out unchanged.
/// A steady state that Newton's method finds can be unstable.
template <class F, class Y0, class... Args>
auto steady_state_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, double relative_tolerance, double absolute_tolerance,
                      long max_iterations, const Args&... args) {
  const steady_options options{relative_tolerance, Eigen::VectorXd::Constant(y0.size(), absolute_tolerance), max_iterations};
  return detail::steady_recorded("steady_state_tol", options, f, detail::kept_argument(y0.derived()),
                                 detail::kept_argument(args)...);
}
/// The same with tolerances of 1e-10 and 1e-12, and at most 50 iterations.
template <class F, class Y0, class... Args>
auto steady_state(const F& f, const Eigen::MatrixBase<Y0>& y0, const Args&... args) {
  const steady_options options{1e-10, Eigen::VectorXd::Constant(y0.size(), 1e-12), 50};
  return detail::steady_recorded("steady_state", options, f, detail::kept_argument(y0.derived()),
                                 detail::kept_argument(args)...);
}

}  // namespace agrad
