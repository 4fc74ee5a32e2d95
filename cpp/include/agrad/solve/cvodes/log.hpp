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
  void begin();
  /// Sets CVODES' clock to zero at t0; no step is longer than `longest`.
  void start(double t0, const sundials::vector_handle& like, double longest);

  /// Logs the step just taken to (t, y); the integration stops at `end`. Both times are by CVODES' clock.
  void log_step(void* memory, double t, double end, const sundials::vector_handle& y, const Eigen::VectorXd& absolute,
                ode_system& system);

  /// Shortens the last step to an event inside the step.
  void end_at_event(double t);

  /// Logs the attempts at a step that did not succeed in the end.
  void log_stop(void* memory);

 private:
  void weigh(void* memory, step_entry& entry) const;

  bool log_failures(void* memory, double t, std::int32_t state);

  step_log* log_ = nullptr;
  sundials::vector_handle weights_, errors_;
  damping_probe probe_;
  double start_ = 0, begin_ = 0;  // of the last step, by CVODES' clock
  double longest_ = 0;
  std::size_t steps_ = 0, rejected_ = 0;  // entries before this integration
  long error_failures_ = 0, convergence_failures_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/log.ipp>
#endif
