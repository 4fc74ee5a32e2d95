// Step fault: the reasons why a one-step solver stops, as the SolverError that the user sees.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <agrad/base/error.hpp>

namespace agrad::detail {

/// "the derivative of y[2] is nan at t = 4.1", or empty.
AGRAD_COLD inline std::string not_finite_slope(const double* slope, std::size_t n, double t) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(slope[i]))
      return "the derivative of y[" + std::to_string(i) + "] is " + to_text(slope[i]) + " at t = " + to_text(t);
  return {};
}

/// "the tangent of y[2] becomes nan after t = 4.1", or empty.
AGRAD_COLD inline std::string not_finite_tangent(const double* tangent, std::size_t n, double t) {
  for (std::size_t i = 0; tangent != nullptr && i < n; ++i)
    if (!std::isfinite(tangent[i]))
      return "the tangent of y[" + std::to_string(i) + "] becomes " + to_text(tangent[i]) + " after t = " + to_text(t);
  return {};
}

/// As `not_finite_slope` for all slopes of a step's record but the first, or says which state at the step's end is not finite.
AGRAD_COLD inline std::string not_finite_in(const std::vector<double>& record, std::size_t n, double t,
                                            const std::vector<double>& end) {
  for (std::size_t at = 2 * n; at + n <= record.size(); at += n) {
    const std::string place = not_finite_slope(record.data() + at, n, t);
    if (!place.empty()) return place + ", or shortly after";
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(end[i])) return "y[" + std::to_string(i) + "] becomes " + to_text(end[i]) + " after t = " + to_text(t);
  return {};
}

/// Throws if a tangent or adjoint is not finite although the solution is. what: "the adjoint" or "the tangent". count: how many
/// numbers, `width` for each state or parameter.
[[noreturn]] AGRAD_COLD inline void throw_not_finite(std::string_view function, const std::string& what, std::string_view of,
                                                     const double* x, std::size_t count, std::size_t width, double t,
                                                     long steps) {
  std::size_t i = 0;
  while (i + 1 < count && std::isfinite(x[i])) ++i;
  const std::string advice =
      "the right-hand side has no finite derivative there; keep the solution away from it, or choose by np.where";
  std::string text(function);
  text.append(": ").append(what).append(" of ").append(of).append("[").append(std::to_string(i / width)).append("] is ");
  text.append(to_text(x[i])).append(" at t = ").append(to_text(t)).append(", but must be finite; ").append(advice);
  throw SolverError(text, t, steps, "not_finite", advice);
}

/// Sets denormal adjoints to zero: a denormal adjoint would remain denormal and slow down all later steps.
inline void drop_denormals(std::vector<double>& adjoints) {
  for (double& each : adjoints)
    if (std::abs(each) < std::numeric_limits<double>::min()) each = 0;
}

/// Whether `count` numbers are all finite.
inline bool are_finite(const double* x, std::size_t count) {
  double none = 0;
  for (std::size_t i = 0; i < count; ++i) none += 0 * x[i];
  return none == 0;
}

/// The state with the largest error relative to its tolerance, or -1 if all errors are zero.
AGRAD_COLD inline Eigen::Index largest(const std::vector<double>& error, const Eigen::VectorXd& scale) {
  Eigen::Index found = -1;
  double most = 0;
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    const double share = std::abs(error[static_cast<std::size_t>(i)] / scale[i]);
    if (share > most) most = share, found = i;
  }
  return found;
}

/// "; the last step was 1e-6", for a stop after too many steps.
AGRAD_COLD inline std::string last_step(double h) { return "; the last step was " + to_text(std::abs(h)); }

/// Throws the SolverError of a stopped integration with the time, the number of steps, the code and advice.
[[noreturn]] AGRAD_COLD inline void throw_stopped(std::string_view function, const std::string& code, double t, long steps,
                                                  std::string advice, Eigen::Index dominating) {
  if (advice.empty())
    advice = "the step became too short; look for a singularity or a jump there, or use a method for stiff systems";
  if (code != "not_finite" && dominating >= 0) advice += "; the error of y[" + std::to_string(dominating) + "] dominates";
  std::string text(function);
  text.append(": stopped at t = ").append(to_text(t)).append(" after ").append(std::to_string(steps));
  text.append(" steps (").append(code).append("); ").append(advice);
  throw SolverError(text, t, steps, code, advice);
}

}  // namespace agrad::detail
