// Solver options that all methods share: the usual tolerances, and the checks of tolerances, counts, step sizes and of the
// initial value problem itself, before anything is allocated.
// Read next: solve/one_step/options.hpp, solve/cvodes/adjoint_options.hpp.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <agrad/base/check.hpp>

namespace agrad {

/// The tolerances of errors: relative to the size of each number, and absolute, one for each number.
struct tolerances {
  double relative = 0;
  Eigen::VectorXd absolute = {};

  friend bool operator==(const tolerances& a, const tolerances& b) {
    return a.relative == b.relative && a.absolute.size() == b.absolute.size() && a.absolute == b.absolute;
  }
};

namespace detail {

/// Defaults of the functions without `_tol`.
inline constexpr double usual_tolerance = 1e-6;
inline constexpr long usual_steps = 1000000;

/// Checks tolerances, which a user gave as the arguments relative_tolerance and absolute_tolerance with a suffix.
void check_tolerances(std::string_view function, const std::string& suffix, const tolerances& given, Eigen::Index required,
                      std::string_view what = "one for each state");

void check_positive_count(std::string_view function, std::string_view argument, long count);

/// Checks that the step sizes are valid. first_step: 0 if the solver chooses. max_step: infinity for no limit.
void check_step_sizes(std::string_view function, double first_step, double max_step);

}  // namespace detail

/// Checks the initial value problem itself: y0 and t0 must be finite; there must be at least one time, and times must increase
/// from after t0.
void check_initial_value_problem(std::string_view function, const Eigen::VectorXd& y0, double t0,
                                 const std::vector<double>& times);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/options.ipp>
#endif
