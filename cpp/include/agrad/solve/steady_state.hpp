// Steady state: finds the state where y' = f(t, y, args...) is at rest, with its gradient on the tape.
//
//     auto f = [](double, const auto& y, const auto& k) { return (k - y.array().square().matrix()).eval(); };
//     Eigen::Matrix<var, -1, 1> y = agrad::steady_state(f, y0, k);
//
// The gradient is that of the implicit function; the iterations towards the steady state are not differentiated.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/posed/steady.hpp>
#include <agrad/solve/record/initial_value.hpp>
#include <agrad/solve/system/functor/ode.hpp>
#include <agrad/solve/system/functor/second.hpp>

namespace agrad {

namespace detail {

template <template <class, class...> class System, class F, class Y0, class... Args>
auto solve_steady(const std::string& function, const steady_options& options, const F& f, const Y0& y0, const Args&... args) {
  using scalar = promoted_t<Y0, Args...>;
  using system_type = primal_system_t<System, F, Args...>;
  auto system = std::make_unique<system_type>(function, f, y0.size(), primal_argument(args)...);
  const auto parameters = static_cast<std::size_t>(system->parameters());
  auto solve = std::make_unique<posed_steady<>>(function, std::move(system), options, parameters);
  solve_arguments<scalar> arguments(solve->argument());
  arguments.give("initial_state", y0);
  arguments.give_active("parameters", args...);
  constexpr bool side_by_side = std::is_base_of_v<program_system, system_type>;
  const auto result = recorded_result<scalar>::of(function, std::move(solve), std::move(arguments), side_by_side);
  return columns_of(result, y0.size())[0];
}

template <class F, class Y0, class... Args>
auto steady_recorded(const std::string& function, const steady_options& options, const F& f, const Y0& y0,
                     const Args&... args) {
  if constexpr (hold_duals<Y0, Args...>)
    return solve_steady<functor_second>(function, options, f, y0, args...);
  else
    return solve_steady<functor_system>(function, options, f, y0, args...);
}

}  // namespace detail

/// Finds the steady state that the system approaches from y0: y with f(0, y, args...) = 0, by damped Newton steps from states
/// along an integration. Newton's method alone is used for a linear system, and for a system at rest at y0.
///
/// f: as for ode_tsit5_tol; f must not depend on t, which is checked at three times. y0: Eigen column vector of double, var or
///   dual, the starting point.
/// Totals that the system conserves keep their values at y0, which selects one of the steady states; the gradient with respect
///   to y0 is through the totals alone.
/// relative_tolerance, absolute_tolerance: of the states, positive and finite. max_iterations: of Newton's method, from each
///   starting point.
///
/// Returns a column vector of promoted_t<y0, args...>. Derivatives raise DomainError where the Jacobian is singular beyond the
///   conserved totals, as on a line of steady states, and with respect to a parameter at whose value alone a total is
///   conserved. Second derivatives raise DerivativeError where the coefficients of a total depend on parameters.
/// Raises ShapeError, DomainError for arguments and where f depends on t, SolverError when no steady state is found. Exceptions
///   of f are passed on unchanged.
/// Pitfall: a state equal to y0, or reached from y0 exactly, can be unstable; the report of a steady_solver tells.
template <class F, class Y0, class... Args>
auto steady_state_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, double relative_tolerance, double absolute_tolerance,
                      long max_iterations, const Args&... args) {
  const steady_options options{{relative_tolerance, Eigen::VectorXd::Constant(y0.size(), absolute_tolerance)}, max_iterations};
  return detail::steady_recorded("steady_state_tol", options, f, detail::stored_argument(y0.derived()),
                                 detail::stored_argument(args)...);
}
/// Does the same with tolerances of 1e-10 and 1e-12, and at most 50 iterations.
template <class F, class Y0, class... Args>
auto steady_state(const F& f, const Eigen::MatrixBase<Y0>& y0, const Args&... args) {
  const steady_options options{{1e-10, Eigen::VectorXd::Constant(y0.size(), 1e-12)}, 50};
  return detail::steady_recorded("steady_state", options, f, detail::stored_argument(y0.derived()),
                                 detail::stored_argument(args)...);
}

}  // namespace agrad
