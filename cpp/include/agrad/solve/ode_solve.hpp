// ODE solve: solves initial value problems by any one-step method or by CVODES, with every option.
//
//     agrad::step_options options;
//     options.states.absolute = Eigen::VectorXd::Constant(n, 1e-8);
//     options.algebra.bandwidths = agrad::half_bandwidths{1, 1};     // df/dy is tridiagonal
//     auto y = agrad::ode_solve(options, agrad::ode_one_step_method::rodas4, f, y0, 0.0, {1.0, 2.0}, k);
//
// solve/ode_one_step.hpp and solve/ode_adjoint.hpp have short functions for the same methods.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/ode_one_step.hpp>
#include <agrad/solve/one_step/methods.hpp>

namespace agrad {

namespace detail {

/// Makes solvers by a method chosen at run time.
struct one_step_method_maker {
  ode_one_step_method method;
  const step_options& options;
  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    return make_one_step_solver(method, function, system, options, required);
  }
};
}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, by a one-step method, with all of its options.
///
/// options: tolerances (an absolute one for each state), limits of steps and memory, linear algebra; only Rodas4 and Rodas5P
///   use the linear algebra.
/// f, y0, t0, times, args: as for ode_adjoint_tol.
///
/// Returns one column vector for each time, as ode_tsit5_tol does.
/// Raises ShapeError, DomainError for arguments and options, SolverError when the solver stops early, DerivativeError for duals
///   with `rodas4`, `rodas5p` or `automatic` where f is recorded but its Jacobian cannot be recorded. Exceptions of f are
///   passed on unchanged.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve(const step_options& options, ode_one_step_method method, const F& f, const Eigen::MatrixBase<Y0>& y0,
               const T0& t0, const std::vector<Time>& times, const Args&... args) {
  const detail::one_step_method_maker make{method, options};
  if constexpr (detail::hold_duals<Y0, T0, Time, Args...>)
    return detail::solve_initial_value<detail::functor_jacobians>("ode_solve", make, f, detail::stored_argument(y0.derived()),
                                                                  detail::stored_argument(t0), times,
                                                                  detail::stored_argument(args)...);
  else
    return detail::solve_initial_value<detail::functor_tangents>("ode_solve", make, f, detail::stored_argument(y0.derived()),
                                                                 detail::stored_argument(t0), times,
                                                                 detail::stored_argument(args)...);
}

/// Does the same by CVODES and its adjoint method. options: those of ode_adjoint_tol_ctl, and linear algebra for both passes.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve(const ode_adjoint_options& options, const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0,
               const std::vector<Time>& times, const Args&... args) {
  return detail::solve_adjoint("ode_solve", options, f, y0, t0, times, args...);
}

}  // namespace agrad
