// ODE adjoint: the RFC's functions. Initial value problems whose solutions are variables on the tape, by CVODES.
//
//     auto f = [](double t, const auto& y, const auto& k) { return (-k * y).eval(); };
//     std::vector<Eigen::Matrix<var, -1, 1>> y = agrad::ode_adjoint_tol(f, y0, 0.0, {1.0, 2.0}, 1e-8, 1e-8, 1000, k);
//
// Without variables among the arguments neither checkpoints nor a quadrature are set up, and plain vectors come back.
// Source: stan-dev/design-docs, 0027-adjoint-ode.
// Read next: solve/record/tape_node.hpp, what is on the tape; solve/cvodes/adjoint.hpp, the solver.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <agrad/solve/cvodes/reuse.hpp>
#include <agrad/solve/record/dual_node.hpp>
#include <agrad/solve/record/tape_node.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

namespace agrad {

namespace detail {

/// Makes CVODES solvers with these options.
inline auto cvodes_maker(const ode_adjoint_options& options) {
  return [options](const std::string& function, ode_system& system, ode_wanted wanted) -> std::unique_ptr<ode_solver> {
    return std::make_unique<kept_cvodes>(function, system, options, wanted);
  };
}

template <class F, class Y0, class T0, class Time, class... Args>
auto solve_adjoint(const std::string& function, const ode_adjoint_options& options, const F& f, const Eigen::MatrixBase<Y0>& y0,
                   const T0& t0, const std::vector<Time>& times, const Args&... args) {
  static_assert(
      !hold_second_duals<Y0, T0, Time, Args...>,
      "ode_adjoint_tol, ode_adjoint_tol_ctl and ode_solve with ode_adjoint_options have first derivatives only: a dual of "
      "variables cannot pass through them; ode_tsit5, ode_rk45, ode_ckrk, ode_dop853 and ode_rodas4 have second ones");
  if constexpr (hold_duals<Y0, T0, Time, Args...>)
    return solve_dual<functor_tangents>(function, cvodes_maker(options), f, kept_argument(y0.derived()), kept_argument(t0),
                                        times, kept_argument(args)...);
  else
    return solve_recorded(function, cvodes_maker(options), f, kept_argument(y0.derived()), kept_argument(t0), times,
                          kept_argument(args)...);
}

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, with CVODES; the adjoint method gives the gradient.
///
/// f: callable, templated on its scalars: f(t, y, args...) with a double t and an Eigen column vector y returns a column
///   vector of the promoted scalar (promoted_t), as long as y. It is called with double, var and dual
///   numbers for y, and for args too where it is a template of them.
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
/// solver_forward, solver_backward: 1 Adams, 2 BDF, both with Newton's method on dense Jacobians; ode_solve takes others.
/// args: anything; the variables in var, Eigen of var, matrix<var>, std::vector and std::tuple of these, nested to any depth.
///
/// Returns one column vector for each of the times: of var when a variable is among y0, t0, times and args, else of double. Where
///   y0 or args hold dual<double, K>, of these: sensitivities along the K directions are integrated with the states, once more and
///   under their tolerances.
/// Raises ShapeError, DomainError for arguments, SolverError when CVODES stops early, forwards here or backwards in the
///   sweep; what f throws comes out unchanged. The tape can be used afterwards.
/// Pitfall: the gradient's accuracy is set by the backward and quadrature tolerances, not by those of the solution.
/// Source: stan-dev/design-docs, 0027-adjoint-ode.
template <class F, class Y0, class T0, class Time = double, class... Args>
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
  return detail::solve_adjoint(function, options, f, y0, t0, times, args...);
}

/// The same with one pair of tolerances: the relative tolerance for all three problems, the absolute tolerance divided by 10
/// forwards, by 3 backwards, as it is for the quadrature; 250 steps between checkpoints, Hermite interpolation, BDF.
///
/// relative_tolerance, absolute_tolerance: positive and finite. See ode_adjoint_tol_ctl for the rest.
/// Source: stan-dev/design-docs, 0027-adjoint-ode ("best guesses").
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_adjoint_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                     double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) {
  const std::string function = "ode_adjoint_tol";
  const ode_adjoint_options options =
      tolerance_options(function, y0.size(), relative_tolerance, absolute_tolerance, max_num_steps);
  return detail::solve_adjoint(function, options, f, y0, t0, times, args...);
}

}  // namespace agrad
