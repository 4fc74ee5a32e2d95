// Definitions of solve/cvodes/adjoint.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/adjoint.hpp>

namespace agrad {

AGRAD_INLINE cvodes_adjoint::cvodes_adjoint(std::string function, ode_system& system, const ode_adjoint_options& options,
                                            ode_required required)
    : function_(checked(function, system, options)),
      options_(options),
      required_(required),
      reverses_(required.initial_state || required.initial_time || system.parameters() > 0),
      callbacks_(system),
      context_(sundials::make_context(function_)),
      state_(sundials::make_vector(context_, system.states(), function_)),
      algebra_(choose_algebra(function_, system, options.algebra)),
      newton_(context_, state_, algebra_, false, function_),
      segment_(first_segment()) {
  callbacks_.evaluate_jacobian_as(function_, algebra_);
}

AGRAD_INLINE bool cvodes_adjoint::serves(const std::string& function, ode_system& system, const ode_adjoint_options& options,
                                         ode_required required) const {
  return function == function_ && callbacks_.states() == system.states() && callbacks_.parameters() == system.parameters() &&
         required == required_ && options == options_ && choose_algebra(function, system, options.algebra) == algebra_;
}

AGRAD_INLINE void cvodes_adjoint::use(ode_system& system) {
  callbacks_.use(system);
  callbacks_.evaluate_jacobian_as(function_, algebra_);
  watch_.set(nullptr), log_.set(nullptr);
  integrated_ = false;
}

AGRAD_INLINE const Eigen::MatrixXd& cvodes_adjoint::integrate(const Eigen::VectorXd& y0, double t0,
                                                              const std::vector<double>& times) {
  check_size(function_, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(callbacks_.system().states()),
             "one for each state");
  check_initial_value_problem(function_, y0, t0, times);
  integrated_ = false;
  callbacks_.set_listener(false);
  y0_ = y0, t0_ = t0, times_ = times;
  since_start_ = callbacks_.start_clock(t0, times);
  log_.begin();
  integrate_forwards();
  while (last_segment_is_short(forward_steps())) {
    lengthen_segments(forward_steps());
    integrate_forwards();
  }
  if (reverses_) callbacks_.interpolation.watch(memory_.get(), state_, statistics_.checkpoints);
  statistics_.forward = detail::read_statistics(memory_.get());
  CVodeGetCurrentTime(memory_.get(), &end_);
  integrated_ = true;
  return states_;
}

AGRAD_INLINE ode_gradient cvodes_adjoint::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!integrated_) throw std::logic_error(function_ + ": reverse was called before integrate, but must come after it");
  check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(states_.size()),
             "one for each state at each time");
  const Eigen::MatrixXd own = adjoints;
  return reverse_rows({Eigen::Map<const Eigen::MatrixXd>(own.data(), own.rows(), own.cols())}).front();
}

AGRAD_INLINE std::vector<ode_gradient> cvodes_adjoint::reverse_rows(
    const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
  if (!integrated_) throw std::logic_error(function_ + ": reverse was called before integrate, but must come after it");
  const Eigen::Index n = states_.rows(), m = callbacks_.system().parameters();
  std::vector<ode_gradient> gradients;
  for (const auto& row : adjoints) {
    gradients.push_back({Eigen::VectorXd::Zero(n), 0.0, Eigen::VectorXd::Zero(states_.cols()), Eigen::VectorXd::Zero(m)});
    if (required_.times) gradients.back().times = times_gradient(row);
  }
  if (!reverses_ || adjoints.empty()) return gradients;
  callbacks_.set_listener(true);
  for (const std::vector<std::size_t>& group : groups_of(adjoints)) integrate_backwards(adjoints, group, gradients);
  for (ode_gradient& gradient : gradients) {
    if (required_.initial_time && !gradient.initial_state.isZero(0)) {
      Eigen::VectorXd slope(n);
      callbacks_.system().rhs(t0_, y0_.data(), slope.data());
      gradient.initial_time = -gradient.initial_state.dot(slope);
    }
    if (!required_.initial_state) gradient.initial_state.setZero();
  }
  return gradients;
}

AGRAD_INLINE void cvodes_adjoint::tangent(const ode_directions& along, double* states) {
  if (!integrated_) throw std::logic_error(function_ + ": tangent was called before integrate, but must come after it");
  if (!tangents_) tangents_ = std::make_unique<detail::cvodes_tangents>(function_, callbacks_.system(), options_);
  statistics_.sensitivities += tangents_->propagate(along, y0_, t0_, times_, states);
}

AGRAD_INLINE bool cvodes_adjoint::watch(detail::event_watch* events) {
  watch_.set(events);
  return true;
}

AGRAD_INLINE bool cvodes_adjoint::log_steps(detail::step_log* log) {
  log_.set(log);
  return true;
}

AGRAD_INLINE std::string cvodes_adjoint::checked(const std::string& function, const ode_system& system,
                                                 const ode_adjoint_options& options) {
  check_solver_options(function, options, system.states(), system.parameters());
  return function;
}

AGRAD_INLINE void cvodes_adjoint::integrate_forwards() {
  start_forward();
  states_.resize(y0_.size(), static_cast<Eigen::Index>(times_.size()));
  if (watch_) watch_.start(callbacks_.system(), t0_, y0_.data(), state_);
  if (log_) log_.start(t0_, state_, options_.max_step);
  reached_ = 0;
  for (std::size_t k = 0; k < times_.size(); ++k) {
    if (watch_ || log_)
      advance_by_steps(k);
    else
      advance_forward(since_start_[k], CV_NORMAL);
    states_.col(static_cast<Eigen::Index>(k)) = sundials::map(state_);
  }
  states_.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(times_.size()));
}

AGRAD_INLINE void cvodes_adjoint::advance_by_steps(std::size_t k) {
  for (long steps = 0; reached_ < std::min(since_start_[k], event()); ++steps) {
    if (steps == options_.max_num_steps) stop_forward(CV_TOO_MUCH_WORK);
    const double ahead = watch_ ? since_start_.back() : since_start_.front();  // determines the size of the first step
    reached_ = advance_forward(ahead, CV_ONE_STEP);
    if (log_)
      log_.log_step(memory_.get(), reached_, since_start_.back(), state_, options_.absolute_tolerance_forward,
                    callbacks_.system());
    if (watch_) watch_.find_event(memory_.get(), reached_, state_);
  }
  if (event() <= since_start_[k]) {
    times_.resize(k + 1), since_start_.resize(k + 1);
    times_[k] = callbacks_.time(event()), since_start_[k] = event();
    if (log_) log_.end_at_event(event());
  }
  expect(CVodeGetDky(memory_.get(), since_start_[k], 0, state_.get()), "CVodeGetDky");
}

AGRAD_INLINE void cvodes_adjoint::start_forward() {
  callbacks_.fault.clear();
  statistics_ = {};
  sundials::map(state_) = y0_;
  if (memory_ && room_ < std::min(segment_, most_steps())) forget_memory();
  if (memory_) {
    expect(CVodeReInit(memory_.get(), 0, state_.get()), "CVodeReInit");
    if (reverses_) expect(CVodeAdjReInit(memory_.get()), "CVodeAdjReInit");
  } else {
    set_up_forward();
  }
  // CVODES leaves the first step size of a recomputation from a checkpoint in its memory.
  expect(CVodeSetInitStep(memory_.get(), options_.first_step), "CVodeSetInitStep");
  expect(CVodeSetStopTime(memory_.get(), since_start_.back()), "CVodeSetStopTime");
}

AGRAD_INLINE void cvodes_adjoint::set_up_forward() {
  const int method = static_cast<int>(options_.solver_forward);
  auto handle = sundials::expect_object<sundials::cvodes_handle>(CVodeCreate(method, context_.get()), function_, "CVodeCreate");
  void* memory = handle.get();
  const sundials::vector_handle tolerances = sundials::make_vector(context_, y0_.size(), function_);
  sundials::map(tolerances) = options_.absolute_tolerance_forward;
  expect(CVodeInit(memory, detail::cvodes_callbacks::rhs, 0, state_.get()), "CVodeInit");
  expect(CVodeSVtolerances(memory, options_.relative_tolerance_forward, tolerances.get()), "CVodeSVtolerances");
  expect(CVodeSetUserData(memory, &callbacks_), "CVodeSetUserData");
  expect(CVodeSetMaxNumSteps(memory, options_.max_num_steps), "CVodeSetMaxNumSteps");
  expect(CVodeSetMaxStep(memory, options_.max_step), "CVodeSetMaxStep");
  detail::set_newton(memory, newton_, function_);
  room_ = std::min(segment_, most_steps());
  if (reverses_) expect(CVodeAdjInit(memory, room_, static_cast<int>(options_.interpolation_polynomial)), "CVodeAdjInit");
  memory_ = std::move(handle);
}

AGRAD_INLINE long cvodes_adjoint::first_segment() const {
  const long steps = options_.num_steps_between_checkpoints;
  return interpolates_polynomially() ? std::max(steps, highest_order()) : steps;
}

AGRAD_INLINE long cvodes_adjoint::most_steps() const {
  constexpr long limit = std::numeric_limits<int>::max();
  const long times = static_cast<long>(times_.size());
  return options_.max_num_steps < limit / times ? options_.max_num_steps * times : limit;
}

AGRAD_INLINE bool cvodes_adjoint::interpolates_polynomially() const {
  return reverses_ && options_.interpolation_polynomial == ode_interpolation::polynomial;
}

AGRAD_INLINE long cvodes_adjoint::forward_steps() const {
  long steps = 0;
  CVodeGetNumSteps(memory_.get(), &steps);
  return steps;
}

AGRAD_INLINE bool cvodes_adjoint::last_segment_is_short(long steps) const {
  return interpolates_polynomially() && detail::cvodes_interpolation::is_short(steps, segment_, highest_order());
}

AGRAD_INLINE void cvodes_adjoint::lengthen_segments(long steps) {
  do {
    ++segment_;
  } while (last_segment_is_short(steps));
  forget_memory();
}

AGRAD_INLINE void cvodes_adjoint::forget_memory() {
  memory_.reset();
  backward_.reset();
}

AGRAD_INLINE double cvodes_adjoint::advance_forward(double to, int task) {
  double reached = 0;
  int checkpoints = 0;
  const int code = reverses_ ? CVodeF(memory_.get(), to, state_.get(), &reached, task, &checkpoints)
                             : CVode(memory_.get(), to, state_.get(), &reached, task);
  statistics_.checkpoints = checkpoints;
  callbacks_.fault.rethrow();
  if (code < 0 || (task == CV_NORMAL && !detail::arrived(memory_.get(), true, to))) stop_forward(code);
  callbacks_.fault.clear();
  return reached;
}

AGRAD_INLINE void cvodes_adjoint::stop_forward(int code) {
  if (log_) log_.log_stop(memory_.get());
  const detail::ode_stop at{function_, "", "y", code, t0_, 0, detail::dominating_state(memory_.get(), state_)};
  detail::throw_stopped_at(memory_.get(), at, callbacks_.fault);
}

AGRAD_INLINE Eigen::VectorXd cvodes_adjoint::times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(adjoints.cols()), slope(states_.rows());
  for (Eigen::Index k = 0; k < adjoints.cols(); ++k) {
    if (adjoints.col(k).isZero(0)) continue;
    callbacks_.system().rhs(times_[static_cast<std::size_t>(k)], states_.col(k).data(), slope.data());
    gradient[k] = adjoints.col(k).dot(slope);
  }
  return gradient;
}

AGRAD_INLINE std::vector<std::vector<std::size_t>> cvodes_adjoint::groups_of(const adjoint_rows& adjoints) {
  std::map<std::vector<bool>, std::vector<std::size_t>> by_times;
  for (std::size_t row = 0; row < adjoints.size(); ++row) {
    std::vector<bool> jumps;
    for (Eigen::Index k = 0; k < adjoints[row].cols(); ++k) jumps.push_back(!adjoints[row].col(k).isZero(0));
    by_times[jumps].push_back(row);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [times, rows] : by_times) groups.push_back(std::move(rows));
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return groups;
}

AGRAD_INLINE void cvodes_adjoint::integrate_backwards(const adjoint_rows& adjoints, const std::vector<std::size_t>& group,
                                                      std::vector<ode_gradient>& gradients) {
  make_backward(static_cast<Eigen::Index>(group.size()));
  backward_->clear();
  std::vector<bool> is_finite;
  for (const std::size_t row : group) is_finite.push_back(adjoints[row].allFinite());
  Eigen::MatrixXd jumps = Eigen::MatrixXd::Zero(states_.rows(), backward_->rows());
  for (Eigen::Index k = states_.cols() - 1; k >= 0; --k) {
    // The time that CVODES reached may lie some rounding errors before the last output time.
    const double from = std::min(since_start_[static_cast<std::size_t>(k)], end_);
    for (std::size_t i = 0; i < group.size(); ++i)
      if (is_finite[i]) jumps.col(static_cast<Eigen::Index>(i)) = adjoints[group[i]].col(k);
    if (!jumps.isZero(0)) backward_->jump(from, jumps);
    backward_->advance(from, k > 0 ? since_start_[static_cast<std::size_t>(k - 1)] : 0);
  }
  backward_->collect();
  for (std::size_t i = 0; i < group.size(); ++i) {
    ode_gradient& gradient = gradients[group[i]];
    gradient.initial_state = backward_->adjoint(static_cast<Eigen::Index>(i));
    gradient.parameters = backward_->parameters(static_cast<Eigen::Index>(i));
    if (is_finite[i]) continue;
    gradient.initial_state.setConstant(std::numeric_limits<double>::quiet_NaN());
    gradient.parameters.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
}

AGRAD_INLINE void cvodes_adjoint::make_backward(Eigen::Index rows) {
  if (backward_ && backward_->rows() < rows) {
    forget_memory();
    integrate_forwards();
    callbacks_.interpolation.watch(memory_.get(), state_, statistics_.checkpoints);
    statistics_.forward = detail::read_statistics(memory_.get());
    callbacks_.set_listener(true);
  }
  if (!backward_)
    backward_ = std::make_unique<detail::cvodes_backward>(function_, options_, callbacks_, context_, memory_, algebra_, rows,
                                                          statistics_);
}

}  // namespace agrad
