// Options of steady states, the report of a search, and checks of the options.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <agrad/solve/solver/options.hpp>

namespace agrad {

/// How a steady state is found, with Python's codes. automatic: the state that the system approaches from y0.
enum class steady_method : int { automatic = 0, newton = 1, integration = 2 };

/// All options of `steady_state`.
struct steady_options {
  tolerances states = {1e-10};
  long max_iterations = 50;  // of Newton's method, from each starting point
  steady_method method = steady_method::automatic;
  std::optional<double> time = {};  // time at which f is evaluated; without a value, f must not depend on time
};

/// How a steady state was found.
struct steady_report {
  bool by_integration = false;
  long iterations = 0;         // of Newton's method, in total
  double integrated_time = 0;  // 0 when nothing was integrated
  double residual = 0;         // largest remaining derivative
  Eigen::Index conserved = 0;  // number of conserved totals
  bool singular = false;       // singular beyond the conserved totals, within the tolerances: no derivatives
  /// The largest real part of the Jacobian's eigenvalues where totals keep their values; nan where the Jacobian is not finite.
  double growth_rate = std::numeric_limits<double>::quiet_NaN();
  bool stable = true;  // false: growth_rate is positive beyond the tolerances
};

namespace detail {

inline std::string needs_no_time(const std::string& function) {
  return sentence(function, "f", -1, "a function of t", "one of the states and parameters alone", "give t to fix the time");
}

[[noreturn]] AGRAD_COLD inline void fail_steady_derivative(const std::string& function, const std::string& what) {
  throw SolverError(function + ": the derivative of the steady state is not finite (NOT_FINITE); " + what, 0, 0, "NOT_FINITE",
                    what);
}

/// Returns "the Jacobian's entry [0, 1] is nan", or an empty string.
inline std::string place_not_finite(const Eigen::MatrixXd& J) {
  for (Eigen::Index j = 0; j < J.cols() && !J.allFinite(); ++j)
    for (Eigen::Index i = 0; i < J.rows(); ++i)
      if (!std::isfinite(J(i, j)))
        return "the Jacobian's entry [" + std::to_string(i) + ", " + std::to_string(j) + "] is " + to_text(J(i, j));
  return {};
}

}  // namespace detail

/// Checks every option for a system of the given size. Throws ShapeError or DomainError.
inline void check_solver_options(std::string_view function, const steady_options& options, Eigen::Index states) {
  detail::check_tolerances(function, "", options.states, states);
  detail::check_positive_count(function, "max_iterations", options.max_iterations);
  if (options.time) check(function, "t", *options.time, must_be::finite);
}

}  // namespace agrad
