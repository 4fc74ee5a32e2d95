// Definitions of solve/solver/options.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/options.hpp>

namespace agrad::detail {

AGRAD_INLINE void check_tolerances(std::string_view function, const std::string& suffix, const tolerances& given,
                                   Eigen::Index required, std::string_view what) {
  check(function, "relative_tolerance" + suffix, given.relative, must_be::positive_finite);
  const std::string absolute = "absolute_tolerance" + suffix;
  const auto size = static_cast<std::size_t>(given.absolute.size());
  check_size(function, absolute, size, static_cast<std::size_t>(required), what);
  check_each(function, absolute, given.absolute.data(), size, 1, must_be::positive_finite);
}

AGRAD_INLINE void check_positive_count(std::string_view function, std::string_view argument, long count) {
  if (count <= 0) throw DomainError(sentence(function, argument, -1, count, "positive"));
}

AGRAD_INLINE void check_step_sizes(std::string_view function, double first_step, double max_step) {
  if (!(first_step >= 0) || first_step == std::numeric_limits<double>::infinity())
    throw DomainError(sentence(function, "first_step", -1, first_step, "positive and finite, or 0 for an automatic choice"));
  if (!(max_step > 0)) throw DomainError(sentence(function, "max_step", -1, max_step, "positive"));
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE void check_initial_value_problem(std::string_view function, const Eigen::VectorXd& y0, double t0,
                                              const std::vector<double>& times) {
  if (y0.size() == 0) throw ShapeError(detail::sentence(function, "y0", -1, "of length 0", "of length 1 or more"));
  check_each(function, "y0", y0.data(), static_cast<std::size_t>(y0.size()), 1, must_be::finite);
  check(function, "t0", t0, must_be::finite);
  if (times.empty()) throw ShapeError(detail::sentence(function, "times", -1, "of length 0", "of length 1 or more"));
  check_each(function, "times", times.data(), times.size(), 1, must_be::finite);
  if (!(times[0] > t0)) {
    throw DomainError(detail::sentence(function, "times", 0, times[0], "greater than t0 = " + detail::to_text(t0),
                                       "the state at t0 is y0 itself"));
  }
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (!(times[k] > times[k - 1])) {
      const std::string before = "times[" + std::to_string(k - 1) + "] = " + detail::to_text(times[k - 1]);
      throw DomainError(detail::sentence(function, "times", static_cast<long>(k), times[k], "greater than " + before,
                                         "times must increase strictly"));
    }
  }
}

}  // namespace agrad
