// One-step solver: the base class of the methods that advance step by step and whose steps are differentiated themselves.
//
// The gradient is the exact gradient of the computed solution for the accepted step sizes (a discrete adjoint): a reverse pass
// has neither interpolation nor tolerances. A method implements the attempt of a step and the step's reverse pass; this class
// has the control of the step size, the output times, the memory and the reverse pass over the steps. An interpolant gives the
// states at output times within steps; without an interpolant, steps end on output times.
// Read next: solve/one_step/explicit_runge_kutta.hpp, solve/one_step/rosenbrock.hpp, the methods; solve/one_step/store.hpp, the
// memory; solve/one_step/outputs.hpp, output times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/solve/algebra/constrained_state.hpp>
#include <agrad/solve/one_step/control.hpp>
#include <agrad/solve/one_step/first_step.hpp>
#include <agrad/solve/one_step/logger.hpp>
#include <agrad/solve/one_step/outputs.hpp>
#include <agrad/solve/one_step/probe.hpp>
#include <agrad/solve/one_step/reverse_estimate.hpp>
#include <agrad/solve/one_step/store.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/fault.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// Time and size of a step.
struct one_step {
  double t, h, end;  // end: t + h, or the output time that the step was made for
};

class one_step_solver : public ode_solver {
 public:
  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  /// Whether `integrate` ended early, at an event or because another method would do better. The last column is then the state
  /// at `time`, which replaces the output times that were not reached.
  bool gave_up() const { return t_ < requested_end_; }
  double time() const { return t_; }
  AGRAD_INLINE bool watch(detail::event_watch* events) override;
  AGRAD_INLINE bool log_steps(detail::step_log* log) override;

  void continue_probe(const std::vector<double>& tangent, const std::vector<bool>& changed) override {
    probe_.continue_from(tangent, changed);
  }
  const std::vector<double>& probe() const override { return probe_.tangent(); }

  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  constrained_state* constrained() override { return constrained_.get(); }

  const ode_statistics& statistics() const override { return statistics_; }

 protected:
  /// order: power of the step size in a step's error. record: size of a step's record, which begins with the step's first
  /// state. interpolated: how many vectors of n at the record's start the interpolant sums, 0 without an interpolant.
  one_step_solver(std::string function, ode_system& system, step_options options, ode_required required, int order,
                  std::size_t record, std::size_t interpolated);

  /// Prepares a step from the state at the record's start: the first step and every later step.
  virtual void begin(double t, double* record) = 0;
  /// Attempts a step from the record's state to `next`. Fills the record and returns the error in units of the allowed error.
  virtual double attempt(const one_step& at, double* record, double* next) = 0;
  /// Prepares the probe for a step: the first step and every later step.
  virtual void begin_probe(double /*t*/, const double* /*record*/) {}
  /// Propagates the probe through the step attempted last: fills `probe_.next()` and `probe_.error()`, returns its error.
  virtual double attempt_probe(const one_step& at, const double* record) = 0;
  /// Computes the record of an accepted step again: from the step's first state to `next`.
  virtual void repeat(const one_step& at, double* record, double* next) = 0;
  /// The weights of the record's vectors in the state at the fraction `part` of a step of size h, for methods with an
  /// interpolant.
  virtual detail::step_outputs::weights interpolant(double /*part*/, double /*h*/) const { return {}; }
  /// The vectors that the interpolant of an accepted step sums.
  virtual const double* vectors_within(const one_step& /*at*/, const double* record) { return record; }
  /// Turns the adjoint l of a step's end into the adjoint of the step's start; adds to the parameters' adjoint. of_record:
  /// adjoints of the vectors that the interpolant sums, or null.
  virtual void reverse_step(const one_step& at, const double* record, double* of_record, double* l, double* parameters) = 0;
  /// Writes the adjoints of the record's vectors that belong to an adjoint l of the step's error.
  virtual void reverse_error(const one_step& at, const double* l, std::vector<double>& of_record) const = 0;
  /// Linearises f at the stages of an accepted step; returns the number of points.
  virtual int linearize_step(const one_step& at, const double* record) = 0;
  /// The slope at the end of the step attempted last if the method has computed that slope; else null.
  virtual const double* end_slope(const double* /*record*/) const { return nullptr; }
  /// Whether to stop after an accepted step because another method would do better.
  virtual bool gives_up(const one_step&, const double* /*record*/, const double* /*next*/) { return false; }
  /// Says in words what became infinite or nan in a failed step; empty if unknown.
  virtual std::string place_of_fault(const one_step& at, const double* record) = 0;

  /// Throws if there is a mass matrix, for methods without.
  void refuse_mass() const;

  /// Throws if one of `count` adjoints or tangents of `of` at a step is not finite although the solution is; `width` for each.
  void check_finite(const char* what, const char* of, std::size_t step, const double* x, std::size_t count,
                    std::size_t width = 1);

  one_step place(std::size_t step) const;

  /// The record of an accepted step.
  const double* record_of(std::size_t i);

  /// The step that `reverse_step` is called for.
  std::size_t reversed() const { return reversed_; }
  /// Takes back the linearisation that the probe used in an accepted step; returns false if it must be computed again.
  bool restore_linear(std::size_t step, int points);

  void slope_at(double t, const double* y, double* to);
  /// The derivative of the state, which is not the right-hand side if there is a mass matrix.
  void true_slope_at(double t, const double* y, double* to);
  /// The slope at the first state; throws if the first slope of a solve is not finite.
  void first_slope(double t, const double* y, double* to);

  /// The size of an error relative to the tolerances, between a step's first state and last state.
  double weighed(const double* error, const double* first, const double* last);

  const Eigen::VectorXd& scale() const { return scale_; }
  /// The slope at a state within a step; a reverse pass computes the slope a second time.
  void slope_within(double t, const double* y, double* to);

  void check_integrated(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const;

  std::string function_;
  ode_system& system_;
  step_options options_;
  ode_required required_;
  std::size_t n_, m_;
  detail::interrupt_pace pace_{n_};
  bool reverses_;
  std::unique_ptr<constrained_state> constrained_;  // made by methods that take a mass matrix
  ode_statistics statistics_;
  detail::step_store store_;
  detail::step_outputs outputs_;
  std::vector<double> error_, next_;
  detail::step_probe probe_;

 private:
  /// Attempts a step of the state and, if the state's error allows the step, of the probe. Returns the larger error.
  double attempt_both(const one_step& at);

  double chosen_first_step(double duration);

  /// Steps to the next output time or past it. Returns whether the integration has ended there.
  bool integrate_to_next();

  /// Where the next steps must end: on the next output time, or on the last while a step passes several. A step onto a single
  /// output costs as much as its interpolation, at the same error; onto several it costs more (docs/performance_ode.md).
  double end_of_next() const;

  /// Writes the states at the output times that the step has reached.
  void write_outputs(const one_step& at);
  /// Whether the last output is the solution's present state.
  bool is_at_output() const { return outputs_.ends_at_end() && times_[outputs_.size() - 1] == t_; }

  /// Ends the outputs early: the present state replaces the next output and all later outputs.
  void stop_here();

  /// Takes one step and returns whether it was the last. If the error allows a longer step, the next size is at least
  /// `proposed`.
  bool advance(const one_step& whole, double proposed);

  /// What limited a step of size h, other than the step's own error.
  detail::step_limit limit_of(double h, double end) const;
  AGRAD_COLD void log_step(const one_step& at, double error);

  // ---- events

  void begin_watch();
  bool sees_event(const one_step& at);
  /// The same step, ended at its first event.
  one_step up_to_event(const one_step& at);
  static one_step part_of(const one_step& at, double h) { return h < at.end - at.t ? one_step{at.t, h, at.t + h} : at; }
  bool has_ended_at_event() const { return watch_ != nullptr && !watch_->fired().empty(); }

  /// Returns why adjoints or tangents are not finite at a step: the derivatives of f, or their growth from step to step.
  AGRAD_COLD std::string cause_of_fault(std::size_t step);

  /// Says how many steps derivatives made shorter, if these are most steps.
  std::string held_back() const;
  /// Warns if derivatives made the steps many times as many as the states need.
  void warn_of_steps() const;
  /// Propagates adjoints through all steps, with those of an estimate, if there is one. Adds to the gradient's parameters, and
  /// notes whether an adjoint grows in a single step as no step can follow.
  void reverse_steps(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, ode_gradient& g, detail::reverse_estimate* estimate);
  /// Returns whether the states rested for more than a tenth of the time: their error allowed steps four times as long.
  bool rests() const { return rested_ > 0.1 * (t_ - t0_); }
  /// Returns the size of an adjoint of the states in units of the states; 0 where derivatives control the steps.
  double size_of(const std::vector<double>& l, const double* y) const;
  /// Enters the estimate of a gradient's error in the statistics; warns if the estimate is large.
  void judge(const detail::reverse_estimate& estimate, const ode_gradient& g);

  Eigen::VectorXd times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  [[noreturn]] AGRAD_COLD void fail(const std::string& code, const std::string& advice);

  Eigen::VectorXd scale_;
  int order_;
  detail::step_control control_;
  std::vector<double> record_;
  std::vector<double> of_record_;  // adjoints of the record's vectors that the interpolant sums
  Eigen::MatrixXd states_;
  std::vector<double> times_;
  Eigen::VectorXd y0_;
  std::string fault_place_;
  detail::event_watch* watch_ = nullptr;
  detail::step_logger logger_;
  progress_listener* listener_ = nullptr;  // listener of the pass that is running
  std::vector<double> slope_;
  double t0_ = 0, t_ = 0, h_ = 0, requested_end_ = 0;
  double of_state_ = 0;                // the state's error in the step attempted last
  double by_states_ = 0, rested_ = 0;  // how many steps the states need, about; how long they rested
  bool integrated_ = false, grows_ = false;
  std::size_t reversed_ = 0;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/solver.ipp>
#endif
