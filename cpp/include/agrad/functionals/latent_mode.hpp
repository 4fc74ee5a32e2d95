// Latent mode: the minimum of a smooth function of a vector, by Newton's method with damping, on numbers.
//
// Where the Hessian is indefinite, steps take its eigenvalues by their absolute values, so that they go downhill there, too. It
// is the method of python/agrad/_functionals/minimize.py. Definitions are in functionals/latent_mode.ipp.
// Read next: functionals/laplace.hpp, which gives the mode derivatives.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

namespace agrad {

/// How the mode of a latent vector is searched for: from where (zeros where theta_0 is empty), how exactly (the last step is at
/// most `tolerance` standard deviations of the posterior long, and is taken, too), and in how many steps.
struct laplace_options {
  Eigen::VectorXd theta_0;
  double tolerance = 1e-9;
  int max_num_steps = 200;

  laplace_options() = default;
  laplace_options(Eigen::VectorXd start, double relative, int steps)
      : theta_0(std::move(start)), tolerance(relative), max_num_steps(steps) {}
  /// Stan's tuple, whose last entries (solver, max_steps_line_search, allow_fallthrough) have no effect: there is one method.
  template <class... Rest>
  laplace_options(const std::tuple<Eigen::VectorXd, double, int, Rest...>& stan)  // NOLINT: Stan's tuple is options
      : laplace_options(std::get<0>(stan), std::get<1>(stan), std::get<2>(stan)) {
    static_assert(sizeof...(Rest) <= 3, "Stan's tuple of options has six entries");
  }
};

/// Returns the usual options, from a latent vector of zeros.
inline laplace_options generate_laplace_options(int theta_size) {
  laplace_options usual;
  usual.theta_0 = Eigen::VectorXd::Zero(theta_size);
  return usual;
}

namespace detail {

/// Computes the value at z, and the gradient and the Hessian where the pointers are not null.
using latent_potential = std::function<double(const Eigen::VectorXd& z, Eigen::VectorXd* gradient, Eigen::MatrixXd* hessian)>;

struct latent_mode {
  Eigen::VectorXd z;
  Eigen::MatrixXd hessian;
};

/// Returns the minimum to which the method leads from z; throws SolverError if there is none, or the Hessian is not positive
/// definite there.
latent_mode find_mode(std::string_view function, const latent_potential& f, Eigen::VectorXd z, const laplace_options& options);

}  // namespace detail

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/latent_mode.ipp>
#endif
