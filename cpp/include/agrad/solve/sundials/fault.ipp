// Definitions of solve/sundials/fault.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/sundials/fault.hpp>

namespace agrad::detail {

AGRAD_INLINE void ode_fault::clear() {
  exception_ = nullptr;
  place_.clear();
}

AGRAD_INLINE int ode_fault::expect_finite(std::string_view what, double t, const Eigen::Ref<const Eigen::MatrixXd>& values) {
  if (AGRAD_UNLIKELY(!values.allFinite())) return not_finite(what, t, values);
  if (t != latest_) earlier_ = latest_, latest_ = t;
  return succeeded;
}

AGRAD_INLINE void ode_fault::rethrow() {
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

AGRAD_INLINE int ode_fault::not_finite(std::string_view what, double t, const Eigen::Ref<const Eigen::MatrixXd>& values) {
  Eigen::Index i = 0, j = 0;
  while (std::isfinite(values(i, j))) {
    if (++i == values.rows()) i = 0, ++j;
  }
  const std::string column = values.cols() > 1 ? ", " + std::to_string(j) : "";
  return not_finite(std::string(what) + "[" + std::to_string(i) + column + "]", t, values(i, j));
}

AGRAD_INLINE int ode_fault::not_finite(const std::string& entry, double t, double value) {
  place_ = entry + " is " + to_text(value) + " at t = " + to_text(start + t);
  return may_shorten(t) ? recoverable : unrecoverable;
}

AGRAD_INLINE bool ode_fault::may_shorten(double t) const {
  const double before = t == latest_ ? earlier_ : latest_;
  return !(std::abs(t - before) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t));
}

AGRAD_INLINE std::string advice_for(int code) {
  switch (code) {
    case CV_TOO_MUCH_WORK:
      return "raise max_num_steps or loosen the tolerances";
    case CV_TOO_MUCH_ACC:
      return "the tolerances are below the rounding errors of double precision; loosen them";
    case CV_ERR_FAILURE:
      return "the step became too short; look for a singularity or a jump there, or loosen the tolerances";
    case CV_CONV_FAILURE:
      return "Newton's method did not converge; look for a singularity or a jump there, or tighten the tolerances";
    case CV_LSETUP_FAIL:
    case CV_LSOLVE_FAIL:
      return "the Newton matrix is singular there";
    default:
      return "look for a singularity or a jump there";
  }
}

AGRAD_INLINE Eigen::Index dominating_state(void* memory, const sundials::vector_handle& like) {
  return dominating_state(memory, like, CVodeGetNumSteps, CVodeGetErrWeights, CVodeGetEstLocalErrors);
}

AGRAD_INLINE void throw_stopped(const ode_stop& stop, const ode_fault& fault, const std::string& code,
                                const std::string& usual_advice) {
  const bool misses_value = stop.code != CV_TOO_MUCH_WORK && !fault.place().empty();
  std::string advice = misses_value ? fault.place() : usual_advice;
  if ((stop.code == CV_TOO_MUCH_WORK || stop.code == CV_ERR_FAILURE) && stop.dominating >= 0)
    advice += "; the error of " + std::string(stop.state) + "[" + std::to_string(stop.dominating) + "] dominates";
  std::string text(stop.function);
  text.append(": ").append(stop.pass).append("stopped at t = ").append(to_text(stop.t)).append(" after ");
  text.append(std::to_string(stop.steps)).append(" steps (").append(code).append("); ").append(advice);
  throw SolverError(text, stop.t, stop.steps, code, advice);
}

}  // namespace agrad::detail
