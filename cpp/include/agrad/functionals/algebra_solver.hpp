// Roots with parameters and data as three arguments: the older form of Stan's solve_powell and solve_newton.
//
// Read next: functionals/roots.hpp, which solves.
#pragma once

#include <vector>

#include <agrad/functionals/roots.hpp>

namespace agrad {

/// Solves f(y, theta, x_r, x_i) = 0 by Powell's hybrid method; see `solve_powell_tol`, of which this is the older form.
///
/// f: callable with a column vector y of any scalar, theta, and the data x_r and x_i unchanged. guess: the y to start from;
/// theta: a vector that may have derivatives. relative_tolerance, function_tolerance, max_steps: as for `solve_powell_tol`.
template <class F, class Y, class Theta>
vector_of<promoted_t<Theta>> algebra_solver(const F& f, const Eigen::MatrixBase<Y>& guess, const Theta& theta,
                                            const std::vector<double>& x_r, const std::vector<int>& x_i,
                                            double relative_tolerance = 1e-10, double function_tolerance = 1e-6,
                                            int max_steps = 1000) {
  const root_options options{relative_tolerance, function_tolerance, max_steps};
  return detail::solve_equations("algebra_solver", detail::root_method::powell, f, guess, options, theta, x_r, x_i);
}

/// Solves f(y, theta, x_r, x_i) = 0 by Newton's method with damping; see `algebra_solver`.
template <class F, class Y, class Theta>
vector_of<promoted_t<Theta>> algebra_solver_newton(const F& f, const Eigen::MatrixBase<Y>& guess, const Theta& theta,
                                                   const std::vector<double>& x_r, const std::vector<int>& x_i,
                                                   double relative_tolerance = 1e-10, double function_tolerance = 1e-6,
                                                   int max_steps = 1000) {
  const root_options options{relative_tolerance, function_tolerance, max_steps};
  return detail::solve_equations("algebra_solver_newton", detail::root_method::newton, f, guess, options, theta, x_r, x_i);
}

}  // namespace agrad
