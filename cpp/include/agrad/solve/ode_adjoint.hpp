// ODE adjoint: the RFC's functions. Initial value problems whose solutions are variables on the tape.
//
//     auto f = [](double t, const auto& y, const auto& k) { return (-k * y).eval(); };
//     std::vector<Eigen::Matrix<var, -1, 1>> y = agrad::ode_adjoint_tol(f, y0, 0.0, {1.0, 2.0}, 1e-8, 1e-8, 1000, k);
//
// The solution is one closure on the tape, which owns the solver; sweeping it runs the backward pass. Without variables
// among the arguments neither checkpoints nor a quadrature are set up, and plain vectors come back.
// Source: stan-dev/design-docs, 0027-adjoint-ode.
// Read next: solve/cvodes_adjoint.hpp, the solver; solve/functor_system.hpp, how f is differentiated.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <agrad/rules/promote.hpp>
#include <agrad/solve/cvodes_adjoint.hpp>
#include <agrad/solve/functor_system.hpp>

namespace agrad {

namespace detail {

/// What the tape keeps of a solve: the system, its solver, and where the adjoints of the arguments are.
template <class System>
struct ode_node {
  System system;
  cvodes_adjoint solver;
  std::vector<tape::index_type> initial_state, initial_time, times;
  tape::index_type first = 0;  // of the states, one output time after the other

  template <class... Args>
  ode_node(const std::string& function, const ode_adjoint_options& options, ode_wanted wanted, Args&&... system_args)
      : system(function, std::forward<Args>(system_args)...), solver(function, system, options, wanted) {}

  /// Adds to the adjoints of the arguments what those of the states amount to.
  template <class Adjoint>
  void sweep(const Adjoint& adjoint, Eigen::Index count) {
    Eigen::MatrixXd states(system.states(), count);
    for (Eigen::Index i = 0; i < states.size(); ++i) states.data()[i] = adjoint.at(first + static_cast<tape::index_type>(i));
    if (states.isZero(0)) return;
    const ode_gradient g = solver.sweep(states);
    add(adjoint, initial_state, g.initial_state.data());
    add(adjoint, initial_time, &g.initial_time);
    add(adjoint, times, g.times.data());
    add(adjoint, system.parameter_indices(), g.parameters.data());
  }

 private:
  template <class Adjoint>
  static void add(const Adjoint& adjoint, const std::vector<tape::index_type>& to, const double* gradient) {
    for (std::size_t i = 0; i < to.size(); ++i) adjoint.at(to[i]) += gradient[i];
  }
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
      solution[static_cast<std::size_t>(k)][i] = var(states(i, k), index, t);
    }
  }
  t.push([owned = std::move(node), count = states.cols()](auto& adjoint) { owned->sweep(adjoint, count); });
  return solution;
}

/// The solution of an initial value problem, as doubles or as variables, under a function's name.
template <class F, class Y0, class T0, class Time, class... Args>
auto solve_adjoint(const std::string& function, const ode_adjoint_options& options, const F& f, const Y0& y0, const T0& t0,
                   const std::vector<Time>& times, const Args&... args) {
  constexpr bool active =
      argument<Y0>::active || argument<T0>::active || argument<Time>::active || (argument<Args>::active || ...);
  const Eigen::VectorXd initial = argument<Y0>::values(y0);
  const auto time_values = argument<std::vector<Time>>::values(times);
  const std::vector<double> outputs(time_values.begin(), time_values.end());
  const double start = static_cast<double>(argument<T0>::values(t0));
  check_initial_value_problem(function, initial, start, outputs);

  using system = functor_system<F, Args...>;
  const ode_wanted wanted{argument<Y0>::active, argument<T0>::active, argument<Time>::active};
  auto node = std::make_unique<ode_node<system>>(function, options, wanted, f, initial.size(), args...);
  const Eigen::MatrixXd states = node->solver.integrate(initial, start, outputs);
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

/// Solves y' = f(t, y, args...), y(t0) = y0, with CVODES; the adjoint method gives the gradient.
///
/// f: callable, templated on its scalars: f(t, y, args...) with a double t and an Eigen column vector y returns a column
///   vector of the promoted scalar (promoted_t), as long as y. It is called with double, var and dual<double, 4> for y.
/// y0: Eigen column vector of double or var, the state at t0. t0: double or var. times: std::vector of double or var,
///   increasing, all greater than t0. The gradient reaches y0, t0, each of the times and args.
/// relative_tolerance_*, absolute_tolerance_*: positive and finite, for the forward problem (a vector, one for each state),
///   the backward problem (a vector as well) and the quadrature of the parameters' gradient (a double, or a vector with one
///   entry for each scalar variable in args).
/// max_num_steps: most steps between two output times, in the forward pass and in the backward pass (where CVODES counts
///   anew at checkpoints, too).
/// num_steps_between_checkpoints: positive; the backward pass takes the steps from one checkpoint to the next once more and
///   keeps their states, so more steps cost memory. For polynomial interpolation it is raised where that needs more points.
/// interpolation_polynomial: of the forward solution in the backward pass: 1 Hermite, 2 polynomial.
/// solver_forward, solver_backward: 1 Adams, 2 BDF, both with Newton's method on dense Jacobians.
/// args: anything; the variables in var, Eigen of var, matrix<var>, std::vector and std::tuple of these, nested to any depth.
///
/// Returns one column vector for each of the times: of var when a variable is among y0, t0, times and args, else of double.
/// Raises ShapeError, DomainError for arguments, SolverError when CVODES stops early, forwards here or backwards in the
///   sweep; what f throws comes out unchanged. The tape can be used afterwards.
/// Pitfall: the gradient's accuracy is set by the backward and quadrature tolerances, not by those of the solution.
/// Source: stan-dev/design-docs, 0027-adjoint-ode.
template <class F, class Y0, class T0, class Time, class... Args>
auto ode_adjoint_tol_ctl(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                         double relative_tolerance_forward, const Eigen::VectorXd& absolute_tolerance_forward,
                         double relative_tolerance_backward, const Eigen::VectorXd& absolute_tolerance_backward,
                         double relative_tolerance_quadrature,
                         const std::variant<double, Eigen::VectorXd>& absolute_tolerance_quadrature, long max_num_steps,
                         long num_steps_between_checkpoints, int interpolation_polynomial, int solver_forward,
                         int solver_backward, const Args&... args) {
  const std::string function = "ode_adjoint_tol_ctl";
  ode_adjoint_options options;
  options.relative_tolerance_forward = relative_tolerance_forward;
  options.absolute_tolerance_forward = absolute_tolerance_forward;
  options.relative_tolerance_backward = relative_tolerance_backward;
  options.absolute_tolerance_backward = absolute_tolerance_backward;
  options.relative_tolerance_quadrature = relative_tolerance_quadrature;
  options.absolute_tolerance_quadrature = absolute_tolerance_quadrature;
  options.max_num_steps = max_num_steps;
  options.num_steps_between_checkpoints = num_steps_between_checkpoints;
  options.interpolation_polynomial = interpolation_from_code(function, "interpolation_polynomial", interpolation_polynomial);
  options.solver_forward = method_from_code(function, "solver_forward", solver_forward);
  options.solver_backward = method_from_code(function, "solver_backward", solver_backward);
  return detail::solve_adjoint(function, options, f, detail::kept_argument(y0.derived()), detail::kept_argument(t0), times,
                               detail::kept_argument(args)...);
}

/// The same with one pair of tolerances: the relative tolerance for all three problems, the absolute tolerance divided by 10
/// forwards, by 3 backwards, as it is for the quadrature; 250 steps between checkpoints, Hermite interpolation, BDF.
///
/// relative_tolerance, absolute_tolerance: positive and finite. See ode_adjoint_tol_ctl for the rest.
/// Source: stan-dev/design-docs, 0027-adjoint-ode ("best guesses").
template <class F, class Y0, class T0, class Time, class... Args>
auto ode_adjoint_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                     double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) {
  const std::string function = "ode_adjoint_tol";
  return detail::solve_adjoint(
      function, tolerance_options(function, y0.size(), relative_tolerance, absolute_tolerance, max_num_steps), f,
      detail::kept_argument(y0.derived()), detail::kept_argument(t0), times, detail::kept_argument(args)...);
}

}  // namespace agrad
