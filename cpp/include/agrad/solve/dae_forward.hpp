// DAE forward: solves differential-algebraic equations F(t, y, y', args...) = 0 of index 1 with forward sensitivities, under
// Stan's names.
//
//     auto y = agrad::dae(residual{}, y0, yp0, 0.0, {1.0, 2.0}, k);
//
// The sensitivities are integrated with the states, as by ode_bdf: for few parameters, and for Jacobians. Read next:
// solve/dae_adjoint.hpp, the same by an adjoint integration, and all options.
#pragma once

#include <string>
#include <vector>

#include <agrad/solve/dae_adjoint.hpp>

namespace agrad {

namespace detail {

template <class F, class Y0, class Yp0, class T0, class Time, class... Args>
auto solve_dae_forward(const std::string& function, const F& f, const Eigen::MatrixBase<Y0>& y0,
                       const Eigen::MatrixBase<Yp0>& yp0, const T0& t0, const std::vector<Time>& times,
                       double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) {
  dae_options options = dae_tolerance_options(function, y0.size(), relative_tolerance, absolute_tolerance, max_num_steps);
  options.forward.absolute.setConstant(absolute_tolerance);  // the division by 10 is for an adjoint integration
  options.sensitivities = dae_sensitivities::forward;
  return solve_dae(function, options, f, stored_argument(y0.derived()), stored_argument(yp0.derived()), stored_argument(t0),
                   times, stored_argument(args)...);
}

}  // namespace detail

/// Solves F(t, y, y', args...) = 0 of index 1, y(t0) = y0, by IDAS with forward sensitivities.
///
/// f, y0, yp0, t0, times, args: as for dae_solve. The differential part of y0 is given; its algebraic part and yp0 are guesses,
///   where Stan requires consistent values.
/// relative_tolerance, absolute_tolerance: of the states, positive and finite.
/// max_num_steps: most steps between two output times.
///
/// Returns one column vector for each time: of promoted_t<y0, yp0, t0, times, args...>. There are first derivatives only.
/// Raises ShapeError, DomainError and SolverError as dae_solve.
template <class F, class Y0, class Yp0, class T0, class Time = double, class... Args>
auto dae_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const Eigen::MatrixBase<Yp0>& yp0, const T0& t0,
             const std::vector<Time>& times, double relative_tolerance, double absolute_tolerance, long max_num_steps,
             const Args&... args) {
  return detail::solve_dae_forward("dae_tol", f, y0, yp0, t0, times, relative_tolerance, absolute_tolerance, max_num_steps,
                                   args...);
}

/// Does the same with tolerances of 1e-10 and at most 1e8 steps.
template <class F, class Y0, class Yp0, class T0, class Time = double, class... Args>
auto dae(const F& f, const Eigen::MatrixBase<Y0>& y0, const Eigen::MatrixBase<Yp0>& yp0, const T0& t0,
         const std::vector<Time>& times, const Args&... args) {
  return detail::solve_dae_forward("dae", f, y0, yp0, t0, times, 1e-10, 1e-10, 100000000, args...);
}

}  // namespace agrad
