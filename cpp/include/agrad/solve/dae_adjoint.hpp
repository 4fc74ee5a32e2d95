// DAE adjoint: solves differential-algebraic equations F(t, y, y', args...) = 0 of index 1, with gradients on the tape.
//
//     struct residual {                                          // y0' = -k y0, 0 = y1 - y0^2
//       template <class Y, class K>
//       auto operator()(double, const agrad::vector_of<Y>& y, const agrad::vector_of<Y>& yp, const K& k) const {
//         agrad::vector_of<agrad::promoted_t<Y, K>> r(2);
//         r << yp[0] + k * y[0], y[1] - y[0] * y[0];
//         return r;
//       }
//     };
//     auto y = agrad::dae_adjoint_tol(residual{}, y0, yp0, 0.0, {1.0, 2.0}, 1e-8, 1e-8, 100000, k);
//
// Read next: solve/dae/solver.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/posed/dae.hpp>
#include <agrad/solve/record/dual_node.hpp>
#include <agrad/solve/system/functor/dae.hpp>

namespace agrad {

namespace detail {

template <class F, class Y0, class Yp0, class T0, class Time, class... Args>
auto solve_dae(const std::string& function, const dae_options& options, const F& f, const Y0& y0, const Yp0& yp0, const T0& t0,
               const std::vector<Time>& times, const Args&... args) {
  static_assert(!hold_second_duals<Y0, Yp0, T0, Time, Args...>,
                "dae_solve has first derivatives only: a dual of variables cannot pass through it; take differences of its "
                "gradient");
  using scalar = promoted_t<Y0, Yp0, T0, Time, Args...>;
  const std::vector<double> outputs = doubles_of(times), initial = doubles_of(y0), slope = doubles_of(yp0);
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  };
  check_dae_problem(function, vector(initial), vector(slope), double_of(t0), outputs);
  const dae_required required{active_scalars<Y0>::any, active_scalars<Yp0>::any, active_scalars<T0>::any,
                              active_scalars<Time>::any, false};
  auto system = std::make_unique<functor_dae<F, primal_argument_t<Args>...>>(function, f, y0.size(), primal_argument(args)...);
  const auto parameters = static_cast<std::size_t>(system->parameters());
  auto solve = std::make_unique<posed_dae>(function, std::move(system), options, required, parameters, times.size(),
                                           options.tstops.size());
  solve_arguments<scalar> arguments(solve->argument());
  arguments.give("initial_state", y0);
  arguments.give("initial_slope", yp0);
  arguments.give("initial_time", t0);
  arguments.give("times", times);
  arguments.give("stops", options.tstops);
  arguments.give_active("parameters", args...);
  const auto result = recorded_result<scalar>::of(function, std::move(solve), std::move(arguments), false);
  std::vector<vector_of<scalar>> solution;
  for (const vector_of<scalar>& both : columns_of(result, 2 * y0.size())) solution.push_back(both.head(y0.size()));
  return solution;
}

}  // namespace detail

/// Solves F(t, y, y', args...) = 0 of index 1 by IDAS. The gradient takes one adjoint integration back in time.
///
/// options: see dae_options: which initial values are given, which states are differential, tolerances, adjoint or forward
///   sensitivities, and the times at which f may jump. There the differential part of y is continuous and the rest is solved
///   for again; an output at such a time is the state after the jump.
/// f: callable as f(double, y, yp, args...) with Eigen column vectors of double, var or dual; returns one residual for each
/// state.
/// y0, yp0: Eigen column vectors of double, var or dual<double, K>; the initial values that are not given are solved for from
///   here.
/// t0, times: of the same scalars; times increase; the first may be t0, with the consistent initial values as its output.
/// args: as for ode_adjoint_tol_ctl.
///
/// Returns one column vector for each time: of promoted_t<y0, yp0, t0, times, args...>. Duals need forward
///   sensitivities, for which adjoint options integrate once more.
/// Raises ShapeError, DomainError for arguments, SolverError where IDAS stops early, no consistent values are found or the
///   system is of index 2 or more. Exceptions of f are passed on unchanged.
/// Pitfall: the gradient with respect to y0 is that of the differential part; the algebraic entries are a guess.
/// Source: Cao, Li, Petzold and Serban (2003), SIAM J. Sci. Comput. 24, 1076; Hindmarsh and Serban, User Documentation for
///   IDAS.
template <class F, class Y0, class Yp0, class T0, class Time = double, class... Args>
auto dae_solve(const dae_options& options, const F& f, const Eigen::MatrixBase<Y0>& y0, const Eigen::MatrixBase<Yp0>& yp0,
               const T0& t0, const std::vector<Time>& times, const Args&... args) {
  return detail::solve_dae("dae_solve", options, f, detail::stored_argument(y0.derived()),
                           detail::stored_argument(yp0.derived()), detail::stored_argument(t0), times,
                           detail::stored_argument(args)...);
}

/// Does the same with one pair of tolerances, divided as in ode_adjoint_tol.
///
/// relative_tolerance, absolute_tolerance: positive and finite. max_num_steps: between two output times, in each pass.
template <class F, class Y0, class Yp0, class T0, class Time = double, class... Args>
auto dae_adjoint_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, const Eigen::MatrixBase<Yp0>& yp0, const T0& t0,
                     const std::vector<Time>& times, double relative_tolerance, double absolute_tolerance, long max_num_steps,
                     const Args&... args) {
  const std::string function = "dae_adjoint_tol";
  const dae_options options = dae_tolerance_options(function, y0.size(), relative_tolerance, absolute_tolerance, max_num_steps);
  return detail::solve_dae(function, options, f, detail::stored_argument(y0.derived()), detail::stored_argument(yp0.derived()),
                           detail::stored_argument(t0), times, detail::stored_argument(args)...);
}

}  // namespace agrad
