// ODE adjoint: the functions of Stan's design document 0027 solve initial value problems by CVODES, with solutions on the tape.
//
//     auto f = [](double t, const auto& y, const auto& k) { return (-k * y).eval(); };
//     std::vector<Eigen::Matrix<var, -1, 1>> y = agrad::ode_adjoint_tol(f, y0, 0.0, {1.0, 2.0}, 1e-8, 1e-8, 1000, k);
//
// Without variables among the arguments, there are no checkpoints and no quadrature, and the results are plain vectors.
// Source: stan-dev/design-docs, 0027-adjoint-ode.
// Read next: solve/record/initial_value.hpp, the tape's part; solve/cvodes/adjoint.hpp, the solver.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <agrad/solve/cvodes/reuse.hpp>
#include <agrad/solve/record/initial_value.hpp>
#include <agrad/solve/system/functor/lanes.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

namespace agrad {

namespace detail {

/// Returns a maker of CVODES solvers with these options.
inline auto cvodes_maker(const ode_adjoint_options& options) {
  return [options](const std::string& function, ode_system& system, ode_required required) -> std::unique_ptr<ode_solver> {
    return std::make_unique<pooled_cvodes>(function, system, options, required);
  };
}

template <class F, class Y0, class T0, class Time, class... Args>
auto solve_adjoint(const std::string& function, const ode_adjoint_options& options, const F& f, const Eigen::MatrixBase<Y0>& y0,
                   const T0& t0, const std::vector<Time>& times, const Args&... args) {
  static_assert(
      !hold_second_duals<Y0, T0, Time, Args...>,
      "ode_adjoint_tol, ode_adjoint_tol_ctl and ode_solve with ode_adjoint_options have first derivatives only: a dual of "
      "variables cannot pass through them; ode_tsit5, ode_rk45, ode_ckrk, ode_dop853, ode_rodas4 and ode_rodas5p have second "
      "ones");
  if constexpr (hold_duals<Y0, T0, Time, Args...>)
    return solve_initial_value<functor_tangents>(function, cvodes_maker(options), f, stored_argument(y0.derived()),
                                                 stored_argument(t0), times, stored_argument(args)...);
  else
    return solve_initial_value<functor_lanes>(function, cvodes_maker(options), f, stored_argument(y0.derived()),
                                              stored_argument(t0), times, stored_argument(args)...);
}

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, with CVODES; the adjoint method gives the gradient.
///
/// f: callable, templated on its scalars: f(t, y, args...) with a double t and an Eigen column vector y returns a column vector
///   of the promoted scalar (promoted_t), as long as y. The solver calls f with double, var and dual numbers for y, and for
///   args too where f is a template of the types of args.
/// y0: Eigen column vector of double or var, the state at t0. t0: double or var. times: std::vector of double or var,
///   increasing, all greater than t0. There are gradients with respect to y0, t0, each time and args.
/// relative_tolerance_*, absolute_tolerance_*: positive and finite, for the forward problem (a vector, one for each state), the
///   backward problem (a vector as well) and the quadrature of the parameters' gradient (a double, or a vector with one entry
///   for each scalar variable in args).
/// max_num_steps: most steps between two output times, in the forward pass and in the reverse pass (where CVODES also counts
///   from zero after each checkpoint).
/// num_steps_between_checkpoints: positive; the reverse pass repeats the steps between two checkpoints and stores the states,
///   so a larger number needs more memory. The solver raises the number where polynomial interpolation needs more points.
/// interpolation_polynomial: of the forward solution in the reverse pass: 1 Hermite, 2 polynomial.
/// solver_forward, solver_backward: 1 Adams, 2 BDF, both with Newton's method on dense Jacobians; ode_solve offers others.
/// args: any types; variables may be var, Eigen of var, matrix<var>, and std::vector, std::array, std::tuple and std::pair of
///   these, nested to any depth.
///
/// Returns one column vector for each time: of var when a variable is among y0, t0, times and args, else of double. Where y0 or
///   args hold dual<double, K>, of dual<double, K>: the states are integrated once more, with sensitivities along the K
///   directions under the states' tolerances.
/// Raises ShapeError, DomainError for arguments, SolverError when CVODES stops early, here or in the reverse pass of the tape.
///   Exceptions of f are passed on unchanged. The tape can be used afterwards.
/// Pitfall: the backward and quadrature tolerances determine the gradient's accuracy, not the solution's tolerances.
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
  options.forward = {relative_tolerance_forward, absolute_tolerance_forward};
  options.backward = {relative_tolerance_backward, absolute_tolerance_backward};
  const double* for_all = std::get_if<double>(&absolute_tolerance_quadrature);
  options.quadrature = {relative_tolerance_quadrature, for_all != nullptr
                                                           ? Eigen::VectorXd::Constant(1, *for_all)
                                                           : std::get<Eigen::VectorXd>(absolute_tolerance_quadrature)};
  options.max_num_steps = max_num_steps;
  options.num_steps_between_checkpoints = num_steps_between_checkpoints;
  options.interpolation_polynomial = interpolation_from_code(function, "interpolation_polynomial", interpolation_polynomial);
  options.solver_forward = method_from_code(function, "solver_forward", solver_forward);
  options.solver_backward = method_from_code(function, "solver_backward", solver_backward);
  return detail::solve_adjoint(function, options, f, y0, t0, times, args...);
}

/// Does the same with one pair of tolerances: the relative tolerance for all three problems; the absolute tolerance divided by
/// 10 forwards, by 3 backwards and unchanged for the quadrature; 250 steps between checkpoints, Hermite interpolation, BDF.
///
/// relative_tolerance, absolute_tolerance: positive and finite. See ode_adjoint_tol_ctl for the other arguments.
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
