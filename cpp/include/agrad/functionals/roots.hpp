// Roots: solve f(y, args...) = 0, with derivatives by the implicit function theorem.
//
//     const auto f = [](const auto& y, const auto& p) { ... };      // a template of its scalars
//     agrad::vector_of<agrad::var> y = agrad::solve_newton(f, Eigen::Vector2d(1, 1), p);
//
// The search runs on numbers. From its result y0 and inverse Jacobian, steps y = y - J^-1 f(y, args...) of the arguments'
// scalar leave y0 where it is; each makes one more order of derivatives exact, and as many are taken as the scalar has orders.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/base/check.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/functionals/search/equation_search.hpp>
#include <agrad/functionals/values.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

[[noreturn]] AGRAD_COLD inline void fail_number_of_equations(std::string_view function, Eigen::Index found,
                                                             Eigen::Index unknowns) {
  throw ShapeError(std::string(function) + ": number of equations is " + std::to_string(found) + ", but must be " +
                   std::to_string(unknowns) + ", one for each entry of the guess");
}

template <class F, class Y, class... Args>
vector_of<promoted_t<Args...>> solve_equations(std::string_view function, root_method method, const F& f,
                                               const Eigen::MatrixBase<Y>& guess, const root_options& options,
                                               const Args&... args) {
  using T = promoted_t<Args...>;
  static_assert(Y::IsVectorAtCompileTime, "the guess must be a vector");
  check(function, "step_tolerance", options.step_tolerance, must_be::positive_finite);
  check(function, "residual_tolerance", options.residual_tolerance, must_be::nonnegative);
  check(function, "max_steps", options.max_steps, must_be::positive);
  if (guess.size() == 0)
    throw ShapeError(std::string(function) + ": the guess is of length 0, but must be of length 1 or more");
  const auto plain = std::make_tuple(values_of(args)...);
  const auto of_numbers = [&](const auto& y) { return std::apply([&](const auto&... each) { return f(y, each...); }, plain); };
  const equations on_numbers = [&](const Eigen::VectorXd& y, Eigen::VectorXd& value, Eigen::MatrixXd* jacobian) {
    if (jacobian)
      agrad::jacobian(of_numbers, y, value, *jacobian);
    else
      value = as_vector<double>(function, of_numbers(y));
    if (value.size() != y.size()) fail_number_of_equations(function, value.size(), y.size());
  };
  const root_search found = find_root(function, method, on_numbers, Eigen::VectorXd(values_of(guess.derived())), options);
  const Eigen::Index n = found.x.size();
  vector_of<T> y(n);
  for (Eigen::Index i = 0; i < n; ++i) y[i] = found.x[i];
  for (int order = 0; order < order_of<T>::value; ++order) {
    const vector_of<T> value = as_vector<T>(function, f(std::as_const(y), args...));
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j) y[i] = y[i] - found.inverse(i, j) * value[j];
  }
  return y;
}

}  // namespace detail

/// Solves f(y, args...) = 0 by Newton's method with damping, to given tolerances.
///
/// f: callable as f(y, args...) with a column vector y of any scalar, returns as many equations as y has entries. guess: the y
/// to start from; its derivatives are not used. args: scalars, Eigen's objects, matrix<var>, std::vector, std::array,
/// std::tuple and std::pair of these; other objects are passed unchanged. What f captures must be numbers. Returns the root, of
/// the arguments' common scalar, with exact derivatives of every order of that scalar. Throws SolverError if there is no root,
/// or if the Jacobian is singular there, as at a double root.
template <class F, class Y, class... Args>
vector_of<promoted_t<Args...>> solve_newton_tol(const F& f, const Eigen::MatrixBase<Y>& guess, double scaling_step,
                                                double f_tol, int max_steps, const Args&... args) {
  const root_options options{scaling_step, f_tol, max_steps};
  return detail::solve_equations("solve_newton_tol", detail::root_method::newton, f, guess, options, args...);
}

/// Solves f(y, args...) = 0 by Newton's method with damping; see `solve_newton_tol`.
template <class F, class Y, class... Args>
vector_of<promoted_t<Args...>> solve_newton(const F& f, const Eigen::MatrixBase<Y>& guess, const Args&... args) {
  return detail::solve_equations("solve_newton", detail::root_method::newton, f, guess, root_options(), args...);
}

/// Solves f(y, args...) = 0 by Powell's hybrid method, to given tolerances; see `solve_newton_tol`.
template <class F, class Y, class... Args>
vector_of<promoted_t<Args...>> solve_powell_tol(const F& f, const Eigen::MatrixBase<Y>& guess, double rel_tol, double f_tol,
                                                int max_steps, const Args&... args) {
  const root_options options{rel_tol, f_tol, max_steps};
  return detail::solve_equations("solve_powell_tol", detail::root_method::powell, f, guess, options, args...);
}

/// Solves f(y, args...) = 0 by Powell's hybrid method; see `solve_newton_tol`.
template <class F, class Y, class... Args>
vector_of<promoted_t<Args...>> solve_powell(const F& f, const Eigen::MatrixBase<Y>& guess, const Args&... args) {
  return detail::solve_equations("solve_powell", detail::root_method::powell, f, guess, root_options(), args...);
}

}  // namespace agrad
