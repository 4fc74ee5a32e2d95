// Definitions of solve/solver/fault.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/fault.hpp>

namespace agrad::detail {

AGRAD_INLINE std::string not_finite_slope(const double* slope, std::size_t n, double t) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(slope[i]))
      return "the derivative of y[" + std::to_string(i) + "] is " + to_text(slope[i]) + " at t = " + to_text(t);
  return {};
}

AGRAD_INLINE std::string not_finite_tangent(const double* tangent, std::size_t n, double t) {
  for (std::size_t i = 0; tangent != nullptr && i < n; ++i)
    if (!std::isfinite(tangent[i]))
      return "the tangent of y[" + std::to_string(i) + "] becomes " + to_text(tangent[i]) + " after t = " + to_text(t);
  return {};
}

AGRAD_INLINE std::string not_finite_in(const std::vector<double>& record, std::size_t n, double t,
                                       const std::vector<double>& end) {
  for (std::size_t at = 2 * n; at + n <= record.size(); at += n) {
    const std::string place = not_finite_slope(record.data() + at, n, t);
    if (!place.empty()) return place + ", or shortly after";
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(end[i])) return "y[" + std::to_string(i) + "] becomes " + to_text(end[i]) + " after t = " + to_text(t);
  return {};
}

AGRAD_INLINE void throw_not_finite(std::string_view function, const std::string& what, std::string_view of, const double* x,
                                   std::size_t count, std::size_t width, double t, long steps, const std::string& advice) {
  std::size_t i = 0;
  while (i + 1 < count && std::isfinite(x[i])) ++i;
  std::string text(function);
  text.append(": ").append(what).append(" of ").append(of).append("[").append(std::to_string(i / width)).append("] is ");
  text.append(to_text(x[i])).append(" at t = ").append(to_text(t)).append(", but must be finite; ").append(advice);
  throw SolverError(text, t, steps, "not_finite", advice);
}

AGRAD_INLINE void drop_denormals(std::vector<double>& adjoints) {
  for (double& each : adjoints)
    if (std::abs(each) < std::numeric_limits<double>::min()) each = 0;
}

AGRAD_INLINE Eigen::Index largest(const std::vector<double>& error, const Eigen::VectorXd& scale) {
  Eigen::Index found = -1;
  double most = 0;
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    const double share = std::abs(error[static_cast<std::size_t>(i)] / scale[i]);
    if (share > most) most = share, found = i;
  }
  return found;
}

AGRAD_INLINE void throw_stopped(std::string_view function, const std::string& code, double t, long steps, std::string advice,
                                Eigen::Index dominating) {
  if (advice.empty())
    advice = "the step became too short; look for a singularity or a jump there, or use a method for stiff systems";
  if (code != "not_finite" && dominating >= 0) advice += "; the error of y[" + std::to_string(dominating) + "] dominates";
  std::string text(function);
  text.append(": stopped at t = ").append(to_text(t)).append(" after ").append(std::to_string(steps));
  text.append(" steps (").append(code).append("); ").append(advice);
  throw SolverError(text, t, steps, code, advice);
}

}  // namespace agrad::detail
