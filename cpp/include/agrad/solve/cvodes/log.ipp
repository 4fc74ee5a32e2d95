// Definitions of solve/cvodes/log.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/log.hpp>

namespace agrad::detail {

AGRAD_INLINE void cvodes_log::begin() {
  if (log_ != nullptr) steps_ = log_->steps.size(), rejected_ = log_->rejected.size();
}

AGRAD_INLINE void cvodes_log::start(double t0, const sundials::vector_handle& like, double longest) {
  start_ = t0, longest_ = longest;
  log_->steps.resize(steps_), log_->rejected.resize(rejected_);
  if (!weights_) weights_ = sundials::vector_handle(N_VClone(like.get()));
  if (!errors_) errors_ = sundials::vector_handle(N_VClone(like.get()));
  error_failures_ = convergence_failures_ = 0;
  probe_ = {};
}

AGRAD_INLINE void cvodes_log::log_step(void* memory, double t, double end, const sundials::vector_handle& y,
                                       const Eigen::VectorXd& absolute, ode_system& system) {
  step_entry entry;
  int order = 0;
  CVodeGetLastStep(memory, &entry.h);
  CVodeGetLastOrder(memory, &order);
  begin_ = t - entry.h;
  entry.t = start_ + begin_, entry.order = order;
  weigh(memory, entry);
  if (entry.state >= 0) {
    entry.size = std::abs(sundials::map(y)[entry.state]);
    entry.by_absolute = absolute[entry.state] * sundials::map(weights_)[entry.state];
  }
  entry.damping = entry.h * probe_.rate(system, start_ + t, sundials::map(y).data());
  const bool has_diverged = log_failures(memory, entry.t, entry.state);
  entry.limit = t >= end                           ? log_->at_end
                : has_diverged                     ? step_limit::convergence
                : entry.h >= longest_ * (1 - 1e-9) ? step_limit::largest
                                                   : step_log::by_error(entry.error);
  log_->steps.push_back(entry);
}

AGRAD_INLINE void cvodes_log::end_at_event(double t) {
  step_entry& entry = log_->steps.back();
  entry.h = t - begin_, entry.limit = step_limit::event;
}

AGRAD_INLINE void cvodes_log::log_stop(void* memory) {
  step_entry entry;
  CVodeGetCurrentTime(memory, &entry.t);
  entry.t += start_;
  weigh(memory, entry);
  log_failures(memory, entry.t, entry.state);
}

AGRAD_INLINE void cvodes_log::weigh(void* memory, step_entry& entry) const {
  if (CVodeGetErrWeights(memory, weights_.get()) != CV_SUCCESS) return;
  if (CVodeGetEstLocalErrors(memory, errors_.get()) != CV_SUCCESS) return;
  const Eigen::ArrayXd parts = sundials::map(weights_).array() * sundials::map(errors_).array();
  Eigen::Index state = 0;
  const double most = parts.abs().maxCoeff(&state);
  entry.error = std::sqrt(parts.square().mean());
  if (most > 0) entry.state = static_cast<std::int32_t>(state);
}

AGRAD_INLINE bool cvodes_log::log_failures(void* memory, double t, std::int32_t state) {
  long errors = 0, convergence = 0;
  CVodeGetNumErrTestFails(memory, &errors);
  CVodeGetNumStepSolveFails(memory, &convergence);
  const bool has_diverged = convergence > convergence_failures_;
  for (; error_failures_ < errors; ++error_failures_) log_->rejected.push_back({t, state, true});
  for (; convergence_failures_ < convergence; ++convergence_failures_) log_->rejected.push_back({t, -1, false});
  return has_diverged;
}

}  // namespace agrad::detail
