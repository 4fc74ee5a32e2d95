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
  double relative_tolerance = 1e-10;
  Eigen::VectorXd absolute_tolerance;  // one for each state
  long max_iterations = 50;            // of Newton's method, from each starting point
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
  bool singular = false;       // singular beyond the conserved totals: derivatives have minimum norm
  /// The largest real part of the Jacobian's eigenvalues where totals keep their values; nan where the Jacobian is not finite.
  double growth_rate = std::numeric_limits<double>::quiet_NaN();
  bool stable = true;  // false: growth_rate is positive beyond the tolerances
};

namespace detail {

inline std::string needs_no_time(const std::string& function) {
  return sentence(function, "f", -1, "a function of t", "one of the states and parameters alone", "give t to fix the time");
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
  check(function, "relative_tolerance", options.relative_tolerance, must_be::positive_finite);
  detail::check_tolerances(function, "absolute_tolerance", options.absolute_tolerance, states, "one for each state");
  detail::check_positive_count(function, "max_iterations", options.max_iterations);
  if (options.time) check(function, "t", *options.time, must_be::finite);
}

}  // namespace agrad
