// ODE forward: solves initial value problems by CVODES with forward sensitivities.
//
//     auto f = [](double t, const auto& y, const auto& k) { return (-k * y).eval(); };
//     std::vector<Eigen::Matrix<var, -1, 1>> y = agrad::ode_bdf(f, y0, 0.0, {1.0, 2.0}, k);
//
// The sensitivities are integrated with the states; a reverse pass is then one product, so a Jacobian costs one integration.
// With many parameters and few outputs, the adjoint method (solve/ode_adjoint.hpp) is cheaper.
// Read next: solve/cvodes/forward.hpp, the solver; solve/system/functor/tangents.hpp, the derivatives of f.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/record/initial_value.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

namespace agrad {

namespace detail {

/// Makes CVODES solvers with these options.
struct forward_maker {
  ode_forward_options options;
  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    return std::make_unique<cvodes_forward>(function, system, options, required);
  }
};

template <class F, class Y0, class T0, class Time = double, class... Args>
auto solve_forward(const std::string& function, ode_method method, const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0,
                   const std::vector<Time>& times, double relative_tolerance, double absolute_tolerance, long max_num_steps,
                   const Args&... args) {
  static_assert(!hold_second_duals<Y0, T0, Time, Args...>,
                "ode_bdf and ode_adams have first derivatives only: a dual of variables cannot pass through them; ode_tsit5, "
                "ode_rk45, ode_ckrk, ode_dop853, ode_rodas4 and ode_rodas5p have second ones");
  ode_forward_options options;
  options.states = {relative_tolerance, Eigen::VectorXd::Constant(y0.size(), absolute_tolerance)};
  options.max_num_steps = max_num_steps;
  options.method = method;
  return solve_initial_value<functor_tangents>(function, forward_maker{options}, f, stored_argument(y0.derived()),
                                               stored_argument(t0), times, stored_argument(args)...);
}

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, by BDF with forward sensitivities: for stiff systems of few parameters, and for
/// Jacobians.
///
/// f, y0, t0, times, args: as for ode_adjoint_tol. For derivatives, the solver calls f with dual<double, 4> in place of the
///   variables of y and args at once or, where f takes no duals, with double and var.
/// relative_tolerance, absolute_tolerance: of the states, and of each sensitivity dy/dx times x; positive and finite.
/// max_num_steps: most steps between two output times.
///
/// Returns one column vector for each time: of var when a variable is among y0, t0, times and args, else of double, or of
///   dual<double, K> where y0 or args hold duals. As sensitivities take part in the error control, plain values can differ from
///   these within the tolerances.
/// Raises ShapeError, DomainError for arguments, SolverError when CVODES stops early. Exceptions of f are passed on unchanged.
/// Source: Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_bdf_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                 double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) {
  return detail::solve_forward("ode_bdf_tol", ode_method::bdf, f, y0, t0, times, relative_tolerance, absolute_tolerance,
                               max_num_steps, args...);
}
/// Does the same with tolerances of 1e-6 and at most 1e6 steps.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_bdf(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  return detail::solve_forward("ode_bdf", ode_method::bdf, f, y0, t0, times, detail::usual_tolerance, detail::usual_tolerance,
                               detail::usual_steps, args...);
}

/// Does the same as ode_bdf_tol by Adams' methods, for systems that are not stiff.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_adams_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                   double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) {
  return detail::solve_forward("ode_adams_tol", ode_method::adams, f, y0, t0, times, relative_tolerance, absolute_tolerance,
                               max_num_steps, args...);
}
/// Does the same with tolerances of 1e-6 and at most 1e6 steps.
template <class F, class Y0, class T0, class Time = double, class... Args>
auto ode_adams(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  return detail::solve_forward("ode_adams", ode_method::adams, f, y0, t0, times, detail::usual_tolerance,
                               detail::usual_tolerance, detail::usual_steps, args...);
}

}  // namespace agrad
