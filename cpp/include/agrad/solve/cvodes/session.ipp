// Definitions of solve/cvodes/session.hpp.
#pragma once

#include <algorithm>
#include <stdexcept>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/session.hpp>

namespace agrad {

namespace detail {

AGRAD_INLINE ode_pass_statistics read_statistics(void* memory) {
  ode_pass_statistics s;
  CVodeGetNumSteps(memory, &s.steps);
  CVodeGetNumRhsEvals(memory, &s.rhs_evaluations);
  CVodeGetNumJacEvals(memory, &s.jacobian_evaluations);
  CVodeGetNumLinSolvSetups(memory, &s.factorizations);
  CVodeGetNumErrTestFails(memory, &s.error_test_failures);
  CVodeGetNumStepSolveFails(memory, &s.convergence_failures);
  return s;
}

AGRAD_INLINE bool arrived(void* memory, bool forwards, double to) {
  double now = 0, step = 0;
  CVodeGetCurrentTime(memory, &now);
  CVodeGetLastStep(memory, &step);
  const double rounding = 200 * std::numeric_limits<double>::epsilon() * (std::abs(now) + std::abs(step));
  return forwards ? now >= to - rounding : now <= to + rounding;
}

AGRAD_INLINE void throw_stopped_at(void* memory, ode_stop stop, const ode_fault& fault) {
  long steps = 0;
  double now = 0, h = 0;
  CVodeGetCurrentTime(memory, &now);
  CVodeGetNumSteps(memory, &steps);
  CVodeGetLastStep(memory, &h);
  stop.t += now, stop.steps += steps;
  const std::string step = stop.code == CV_TOO_MUCH_WORK ? last_step(h) : "";
  throw_stopped(stop, fault, sundials::code_name(stop.code), advice_for(stop.code) + step);
}

}  // namespace detail

AGRAD_INLINE cvodes_session::cvodes_session(std::string function, ode_system& system, ode_forward_options options,
                                            ode_required required)
    : function_(std::move(function)),
      options_(std::move(options)),
      required_(required),
      callbacks_(system),
      context_(sundials::make_context(function_)),
      state_(sundials::make_vector(context_, system.states(), function_)),
      algebra_(choose_algebra(function_, system, options_.algebra)),
      newton_(context_, state_, algebra_, false, function_) {
  callbacks_.evaluate_jacobian_as(function_, algebra_);
}

AGRAD_INLINE bool cvodes_session::log_steps(detail::step_log* log) {
  log_.set(log);
  return true;
}

AGRAD_INLINE void cvodes_session::begin(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) {
  check_size(function_, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(callbacks_.states()),
             "one for each state");
  check_initial_value_problem(function_, y0, t0, times);
  integrated_ = false;
  callbacks_.set_listener(false);
  y0_ = y0, t0_ = t0, times_ = times;
  since_start_ = callbacks_.start_clock(t0, times);
  slopes_.resize(0, 0);
  log_.begin();
}

AGRAD_INLINE void cvodes_session::integrate_states() {
  start();
  states_.resize(y0_.size(), static_cast<Eigen::Index>(times_.size()));
  if (watch_) watch_.start(callbacks_.system(), t0_, y0_.data(), state_);
  if (log_) log_.start(t0_, state_, options_.max_step);
  reached_ = 0;
  for (std::size_t k = 0; k < times_.size(); ++k) {
    if (watch_ || log_)
      advance_by_steps(k);
    else
      advance(since_start_[k], CV_NORMAL);
    states_.col(static_cast<Eigen::Index>(k)) = sundials::map(state_);
    output(k);
  }
  states_.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(times_.size()));
  statistics_.forward = detail::read_statistics(memory_.get());
}

AGRAD_INLINE void cvodes_session::start() {
  callbacks_.fault.clear();
  statistics_ = {};
  sundials::map(state_) = y0_;
  if (memory_) {
    expect(CVodeReInit(memory_.get(), 0, state_.get()), "CVodeReInit");
    attach(memory_.get(), false);
  } else {
    set_up();
  }
  // CVODES leaves the first step size of a recomputation from a checkpoint in its memory.
  expect(CVodeSetInitStep(memory_.get(), options_.first_step), "CVodeSetInitStep");
  expect(CVodeSetStopTime(memory_.get(), since_start_.back()), "CVodeSetStopTime");
}

AGRAD_INLINE void cvodes_session::set_up() {
  auto handle = sundials::expect_object<sundials::cvodes_handle>(CVodeCreate(static_cast<int>(options_.method), context_.get()),
                                                                 function_, "CVodeCreate");
  void* memory = handle.get();
  const sundials::vector_handle tolerances = sundials::make_vector(context_, y0_.size(), function_);
  sundials::map(tolerances) = options_.states.absolute;
  expect(CVodeInit(memory, detail::cvodes_callbacks::rhs, 0, state_.get()), "CVodeInit");
  expect(CVodeSVtolerances(memory, options_.states.relative, tolerances.get()), "CVodeSVtolerances");
  expect(CVodeSetUserData(memory, &callbacks_), "CVodeSetUserData");
  expect(CVodeSetMaxNumSteps(memory, options_.max_num_steps), "CVodeSetMaxNumSteps");
  expect(CVodeSetMaxStep(memory, options_.max_step), "CVodeSetMaxStep");
  detail::set_newton(memory, newton_, function_);
  attach(memory, true);
  memory_ = std::move(handle);
}

AGRAD_INLINE void cvodes_session::advance_by_steps(std::size_t k) {
  for (long steps = 0; reached_ < std::min(since_start_[k], event()); ++steps) {
    if (steps == options_.max_num_steps) stop(CV_TOO_MUCH_WORK);
    const double ahead = watch_ ? since_start_.back() : since_start_.front();  // determines the size of the first step
    reached_ = advance(ahead, CV_ONE_STEP);
    if (log_)
      log_.log_step(memory_.get(), reached_, since_start_.back(), state_, options_.states.absolute, callbacks_.system());
    if (watch_) watch_.find_event(memory_.get(), reached_, state_);
  }
  if (event() <= since_start_[k]) {
    times_.resize(k + 1), since_start_.resize(k + 1);
    times_[k] = callbacks_.time(event()), since_start_[k] = event();
    if (log_) log_.end_at_event(event());
  }
  expect(CVodeGetDky(memory_.get(), since_start_[k], 0, state_.get()), "CVodeGetDky");
}

AGRAD_INLINE double cvodes_session::advance(double to, int task) {
  double reached = 0;
  const int code = integrate_to(to, reached, task);
  callbacks_.fault.rethrow();
  if (code < 0 || (task == CV_NORMAL && !detail::arrived(memory_.get(), true, to))) stop(code);
  callbacks_.fault.clear();
  return reached;
}

AGRAD_INLINE int cvodes_session::integrate_to(double to, double& reached, int task) {
  return CVode(memory_.get(), to, state_.get(), &reached, task);
}

AGRAD_INLINE void cvodes_session::stop(int code) {
  if (log_) log_.log_stop(memory_.get());
  const bool of_sensitivities = code <= CV_SRHSFUNC_FAIL && code >= CV_UNREC_SRHSFUNC_ERR;
  const detail::ode_stop at{function_, of_sensitivities ? "the sensitivities " : "",   "y", code, t0_,
                            0,         detail::dominating_state(memory_.get(), state_)};
  detail::throw_stopped_at(memory_.get(), at, callbacks_.fault);
}

AGRAD_INLINE void cvodes_session::expect_integrated(const char* member) const {
  if (!integrated_) throw std::logic_error(function_ + ": " + member + " was called before integrate, but must come after it");
}

AGRAD_INLINE void cvodes_session::check_adjoints(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const {
  check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(states_.size()),
             "one for each state at each time");
}

AGRAD_INLINE Eigen::VectorXd cvodes_session::times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (slopes_.size() == 0) {
    Eigen::MatrixXd found(states_.rows(), states_.cols());
    for (Eigen::Index k = 0; k < found.cols(); ++k)
      callbacks_.system().rhs(times_[static_cast<std::size_t>(k)], states_.col(k).data(), found.col(k).data());
    slopes_ = std::move(found);
  }
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(adjoints.cols());
  for (Eigen::Index k = 0; k < adjoints.cols(); ++k)
    if (!adjoints.col(k).isZero(0)) gradient[k] = adjoints.col(k).dot(slopes_.col(k));
  return gradient;
}

}  // namespace agrad
