// CVODES log: writes an entry of a step log for each step of CVODES.
//
// CVODES gives the errors and weights of the last step and counts its failures, so the solver must take single steps. Output
// times cut no step, because CVODES interpolates. Read next: solve/solver/step_log.hpp; solve/cvodes/adjoint.hpp, which uses
// this class.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include <agrad/solve/solver/step_log.hpp>
#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

class cvodes_log {
 public:
  void set(step_log* log) { log_ = log; }
  explicit operator bool() const { return log_ != nullptr; }

  /// Begins an integration. Where an integration is repeated, only the last repetition is logged.
  void begin() {
    if (log_ != nullptr) steps_ = log_->steps.size(), rejected_ = log_->rejected.size();
  }
  /// Sets CVODES' clock to zero at t0; no step is longer than `longest`.
  void start(double t0, const sundials::vector_handle& like, double longest) {
    start_ = t0, longest_ = longest;
    log_->steps.resize(steps_), log_->rejected.resize(rejected_);
    if (!weights_) weights_ = sundials::vector_handle(N_VClone(like.get()));
    if (!errors_) errors_ = sundials::vector_handle(N_VClone(like.get()));
    error_failures_ = convergence_failures_ = 0;
    probe_ = {};
  }

  /// Logs the step just taken to (t, y); the integration stops at `end`. Both times are by CVODES' clock.
  void look(void* memory, double t, double end, const sundials::vector_handle& y, const Eigen::VectorXd& absolute,
            ode_system& system) {
    step_row row;
    int order = 0;
    CVodeGetLastStep(memory, &row.h);
    CVodeGetLastOrder(memory, &order);
    begin_ = t - row.h;
    row.t = start_ + begin_, row.order = order;
    weigh(memory, row);
    if (row.state >= 0) {
      row.size = std::abs(sundials::map(y)[row.state]);
      row.by_absolute = absolute[row.state] * sundials::map(weights_)[row.state];
    }
    row.damping = row.h * probe_.rate(system, start_ + t, sundials::map(y).data());
    const bool has_diverged = look_for_failures(memory, row.t, row.state);
    row.limit = t >= end                         ? log_->at_end
                : has_diverged                   ? step_limit::convergence
                : row.h >= longest_ * (1 - 1e-9) ? step_limit::largest
                                                 : step_log::by_error(row.error);
    log_->steps.push_back(row);
  }

  /// Shortens the last step to an event inside the step.
  void end_at_event(double t) {
    step_row& row = log_->steps.back();
    row.h = t - begin_, row.limit = step_limit::event;
  }

  /// Logs the attempts at a step that did not succeed in the end.
  void look_at_stop(void* memory) {
    step_row row;
    CVodeGetCurrentTime(memory, &row.t);
    row.t += start_;
    weigh(memory, row);
    look_for_failures(memory, row.t, row.state);
  }

 private:
  void weigh(void* memory, step_row& row) const {
    if (CVodeGetErrWeights(memory, weights_.get()) != CV_SUCCESS) return;
    if (CVodeGetEstLocalErrors(memory, errors_.get()) != CV_SUCCESS) return;
    const Eigen::ArrayXd parts = sundials::map(weights_).array() * sundials::map(errors_).array();
    Eigen::Index state = 0;
    const double most = parts.abs().maxCoeff(&state);
    row.error = std::sqrt(parts.square().mean());
    if (most > 0) row.state = static_cast<std::int32_t>(state);
  }

  bool look_for_failures(void* memory, double t, std::int32_t state) {
    long errors = 0, convergence = 0;
    CVodeGetNumErrTestFails(memory, &errors);
    CVodeGetNumStepSolveFails(memory, &convergence);
    const bool has_diverged = convergence > convergence_failures_;
    for (; error_failures_ < errors; ++error_failures_) log_->rejected.push_back({t, state, true});
    for (; convergence_failures_ < convergence; ++convergence_failures_) log_->rejected.push_back({t, -1, false});
    return has_diverged;
  }

  step_log* log_ = nullptr;
  sundials::vector_handle weights_, errors_;
  damping_probe probe_;
  double start_ = 0, begin_ = 0;  // of the last step, by CVODES' clock
  double longest_ = 0;
  std::size_t steps_ = 0, rejected_ = 0;  // entries before this integration
  long error_failures_ = 0, convergence_failures_ = 0;
};

}  // namespace agrad::detail
