// Latent mode: the mode of a latent vector, on numbers.
// Read next: functionals/laplace.hpp, which gives the mode derivatives.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <agrad/base/error.hpp>
#include <agrad/functionals/search/minimum_search.hpp>

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

[[noreturn]] AGRAD_COLD inline void fail_mode(std::string_view function, const minimum_search& at) {
  std::string fault, remedy = "start from another theta_0";
  if (at.end == search_end::undefined) {
    fault = "log likelihood or its derivatives are not finite, but must be finite";
  } else if (at.end == search_end::singular) {
    fault = "Hessian at the mode is singular or indefinite, but must be positive definite";
  } else if (at.end == search_end::stuck) {
    fault = "posterior density does not rise along its slope, but must, to find its mode";
    remedy = "a derivative may be wrong, or the log likelihood have a kink";
  } else {
    fault = "number of steps is " + std::to_string(at.steps) + ", but must suffice";
    remedy = "raise max_num_steps, start from another theta_0, or see that the posterior has a mode";
  }
  throw SolverError(std::string(function) + ": " + fault + "; " + remedy, std::numeric_limits<double>::quiet_NaN(), at.steps,
                    fault, remedy);
}

/// Returns the minimum to which the method leads from z; throws SolverError if there is none, or the Hessian is not positive
/// definite there.
inline minimum_search find_mode(std::string_view function, const potential& f, Eigen::VectorXd z,
                                const laplace_options& options) {
  minimum_search found = search_minimum(f, std::move(z), {0, 0, options.tolerance, options.max_num_steps});
  if (found.end != search_end::found) fail_mode(function, found);
  return found;
}

}  // namespace detail

}  // namespace agrad
