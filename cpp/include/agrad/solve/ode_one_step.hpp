// ODE one-step: solves initial value problems by one-step methods with discrete adjoints.
//
//     auto f = [](double t, const auto& y, const auto& k) { return (-k * y).eval(); };
//     std::vector<Eigen::Matrix<var, -1, 1>> y = agrad::ode_tsit5(f, y0, 0.0, {1.0, 2.0}, k);
//
// The gradient is exact for the computed solution (solve/one_step/solver.hpp), so there are no tolerances for the gradient.
// Arguments are those of ode_adjoint_tol: the solver calls f with double and var for y. Arguments may be duals, so there are
// Hessians (solve/record/dual_node.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <agrad/solve/one_step/explicit_runge_kutta.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>
#include <agrad/solve/record/initial_value.hpp>
#include <agrad/solve/system/functor/jacobians.hpp>
#include <agrad/solve/system/functor/second.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

namespace agrad {

namespace detail {

/// A method with second derivatives, and the system for a callable with this method.
template <class Solver>
struct with_second_order;
template <class Tableau>
struct with_second_order<explicit_runge_kutta<Tableau>> {
  using solver = explicit_runge_kutta_second<Tableau>;
  template <class F, class... Args>
  using system = functor_second<F, Args...>;
};
template <const rosenbrock_tableau& Tableau>
struct with_second_order<rosenbrock_by<rosenbrock, Tableau>> {
  using solver = rosenbrock_by<rosenbrock_second, Tableau>;
  template <class F, class... Args>
  using system = functor_jacobians<F, Args...>;
};

using rodas4 = rosenbrock_by<rosenbrock, rodas4_tableau>;
using rodas5p = rosenbrock_by<rosenbrock, rodas5p_tableau>;

/// Makes solvers with these options.
template <class Solver>
struct one_step_maker {
  step_options options;
  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    return std::make_unique<Solver>(function, system, options, required);
  }
};

template <class Solver, class F, class Y0, class T0, class Time = double, class... Args>
auto solve_one_step(const std::string& function, const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0,
                    const std::vector<Time>& times, double relative_tolerance, double absolute_tolerance, long max_num_steps,
                    const Args&... args) {
  step_options options;
  options.states = {relative_tolerance, Eigen::VectorXd::Constant(y0.size(), absolute_tolerance)};
  options.max_num_steps = max_num_steps;
  if constexpr (hold_duals<Y0, T0, Time, Args...>) {
    using second = with_second_order<Solver>;
    return solve_initial_value<second::template system>(function, one_step_maker<typename second::solver>{options}, f,
                                                        stored_argument(y0.derived()), stored_argument(t0), times,
                                                        stored_argument(args)...);
  } else {  // the error control uses tangents of the callable
    return solve_initial_value<functor_tangents>(function, one_step_maker<Solver>{options}, f, stored_argument(y0.derived()),
                                                 stored_argument(t0), times, stored_argument(args)...);
  }
}

/// A function that solves by one method, with tolerances of 1e-6 and at most 1e6 steps.
template <class Solver>
struct one_step_function {
  const char* name;

  template <class F, class Y0, class T0, class Time = double, class... Args>
  auto operator()(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                  const Args&... args) const {
    return solve_one_step<Solver>(name, f, y0, t0, times, usual_tolerance, usual_tolerance, usual_steps, args...);
  }
};

/// A function that solves by one method, with tolerances and a number of steps that are arguments.
template <class Solver>
struct one_step_function_tol {
  const char* name;

  template <class F, class Y0, class T0, class Time = double, class... Args>
  auto operator()(const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times,
                  double relative_tolerance, double absolute_tolerance, long max_num_steps, const Args&... args) const {
    return solve_one_step<Solver>(name, f, y0, t0, times, relative_tolerance, absolute_tolerance, max_num_steps, args...);
  }
};

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, by Tsitouras' method of order 5: the first choice for systems that are not stiff.
///
///     ode_tsit5(f, y0, t0, times, args...)                                                           with tolerances of 1e-6
///     ode_tsit5_tol(f, y0, t0, times, relative_tolerance, absolute_tolerance, max_num_steps, args...)
///
/// f, y0, t0, times, args: as for ode_adjoint_tol; all but f may hold dual<double, K> as well, and y0 and args (with a recorded
///   f, t0 and times, too) dual<var, K>, for second derivatives; f is called with duals then. relative_tolerance,
///   absolute_tolerance: of each step's error, positive and finite. max_num_steps: most steps between two output times, 1e6
///   where it is no argument.
///
/// Returns one column vector for each time: of promoted_t<y0, t0, times, args...>.
/// Raises ShapeError, DomainError for arguments, SolverError when the solver stops early. Exceptions of f are passed on
/// unchanged.
/// Source: Tsitouras (2011), Computers and Mathematics with Applications 62:770.
inline constexpr detail::one_step_function<explicit_runge_kutta<tsitouras_tableau>> ode_tsit5{"ode_tsit5"};
inline constexpr detail::one_step_function_tol<explicit_runge_kutta<tsitouras_tableau>> ode_tsit5_tol{"ode_tsit5_tol"};

/// As ode_tsit5, by Dormand and Prince's method of order 5.
/// Source: Dormand and Prince (1980), Journal of Computational and Applied Mathematics 6:19.
inline constexpr detail::one_step_function<explicit_runge_kutta<dormand_prince_tableau>> ode_rk45{"ode_rk45"};
inline constexpr detail::one_step_function_tol<explicit_runge_kutta<dormand_prince_tableau>> ode_rk45_tol{"ode_rk45_tol"};

/// As ode_tsit5, by Cash and Karp's method of order 5, for solutions that change abruptly.
/// Source: Cash and Karp (1990), ACM Transactions on Mathematical Software 16:201.
inline constexpr detail::one_step_function<explicit_runge_kutta<cash_karp_tableau>> ode_ckrk{"ode_ckrk"};
inline constexpr detail::one_step_function_tol<explicit_runge_kutta<cash_karp_tableau>> ode_ckrk_tol{"ode_ckrk_tol"};

/// As ode_tsit5, by Dormand and Prince's method of order 8, for tight tolerances.
/// Source: Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.10.
inline constexpr detail::one_step_function<explicit_runge_kutta<dormand_prince_8_tableau>> ode_dop853{"ode_dop853"};
inline constexpr detail::one_step_function_tol<explicit_runge_kutta<dormand_prince_8_tableau>> ode_dop853_tol{"ode_dop853_tol"};

/// As ode_tsit5, by the Rosenbrock method Rodas4 of order 4, for stiff systems; f is called with duals for y too, and with
/// duals of duals where there are duals among the arguments. A recorded f whose Jacobian cannot be recorded then raises
/// DerivativeError. Source: Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.7.
inline constexpr detail::one_step_function<detail::rodas4> ode_rodas4{"ode_rodas4"};
inline constexpr detail::one_step_function_tol<detail::rodas4> ode_rodas4_tol{"ode_rodas4_tol"};

/// As ode_rodas4, by the Rosenbrock method Rodas5P of order 5, for tighter tolerances.
/// Source: Steinebach (2023), BIT Numerical Mathematics 63:27.
inline constexpr detail::one_step_function<detail::rodas5p> ode_rodas5p{"ode_rodas5p"};
inline constexpr detail::one_step_function_tol<detail::rodas5p> ode_rodas5p_tol{"ode_rodas5p_tol"};

}  // namespace agrad
