// CVODES session: integrates an `ode_system` by CVODES, for solvers that add derivatives of one kind or another.
//
// A session is one CVODES problem: its vectors, its Newton matrix and its memory, which later integrations use again, the watch
// for events and the step log. A solver of derivatives is a session whose members `attach` and `integrate_to` add what the
// solver needs to CVODES' problem: sensitivities (solve/cvodes/forward.hpp) or checkpoints (solve/cvodes/adjoint.hpp).
// Source: Hindmarsh and Serban, User Documentation for CVODES, section 2.
// Read next: solve/cvodes/callbacks.hpp.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/callbacks.hpp>
#include <agrad/solve/cvodes/forward_options.hpp>
#include <agrad/solve/cvodes/log.hpp>
#include <agrad/solve/cvodes/watch.hpp>
#include <agrad/solve/solver/solver.hpp>

namespace agrad {

namespace detail {

ode_pass_statistics read_statistics(void* memory);

/// Returns whether an integration has arrived at time `to`. CVODES also reports success when the step size has underflowed to
/// zero (LLNL/sundials, issue 82), so this function reads the time that CVODES reached.
bool arrived(void* memory, bool forwards, double to);

/// Throws the SolverError for `stop`, after adding CVODES' time and number of steps. stop.t: the time at which CVODES' clock is
/// zero.
[[noreturn]] void throw_stopped_at(void* memory, ode_stop stop, const ode_fault& fault);

}  // namespace detail

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class cvodes_session : public ode_solver {
 public:
  cvodes_session(const cvodes_session&) = delete;
  cvodes_session& operator=(const cvodes_session&) = delete;

  const ode_statistics& statistics() const final { return statistics_; }
  bool has_first_tangents() const final { return true; }
  AGRAD_INLINE bool log_steps(detail::step_log* log) final;

 protected:
  /// `function` is the name that messages begin with. options: of the states; the caller has checked them.
  cvodes_session(std::string function, ode_system& system, ode_forward_options options, ode_required required);

  /// Checks and sets the arguments of the next integrations.
  void begin(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times);

  /// Integrates from the initial state to the output times, or to the first event, whose time then ends the output times. The
  /// right-hand side is never evaluated outside of [t0, times.back()]. Throws SolverError, or what the system throws.
  void integrate_states();

  /// Adds the solver's own part to CVODES' problem at the start of an integration; is_new: the memory is new.
  virtual void attach(void* /*memory*/, bool /*is_new*/) {}
  /// Lets CVODES advance; returns CVODES' code. By default: by `CVode`.
  AGRAD_INLINE virtual int integrate_to(double to, double& reached, int task);
  /// Is called when CVODES has reached output time k.
  virtual void output(std::size_t /*k*/) {}

  /// Throws logic_error where no integration has succeeded since the last `begin`.
  void expect_integrated(const char* member) const;
  /// Throws ShapeError unless there is an adjoint for each state at each time.
  void check_adjoints(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const;

  /// Returns the gradient with respect to the output times.
  Eigen::VectorXd times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  void expect(int code, const char* call) const { sundials::expect_success(code, function_, call); }

  std::string function_;
  ode_forward_options options_;
  ode_required required_;
  detail::cvodes_callbacks callbacks_;
  sundials::context_handle context_;
  sundials::vector_handle state_;
  chosen_algebra algebra_;
  sundials::newton newton_;
  detail::cvodes_watch watch_;
  detail::cvodes_log log_;
  sundials::cvodes_handle memory_;

  bool integrated_ = false;
  Eigen::VectorXd y0_;
  double t0_ = 0;
  std::vector<double> times_, since_start_;  // since_start_: the times by CVODES' clock
  Eigen::MatrixXd states_;
  ode_statistics statistics_;

 private:
  void start();
  void set_up();
  void advance_by_steps(std::size_t k);
  double advance(double to, int task);
  [[noreturn]] void stop(int code);

  double event() const { return watch_ ? watch_.event() : std::numeric_limits<double>::infinity(); }

  double reached_ = 0;      // time reached by single steps, by CVODES' clock
  Eigen::MatrixXd slopes_;  // values of f at the output times, once they are wanted
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/session.ipp>
#endif
