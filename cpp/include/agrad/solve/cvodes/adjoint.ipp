// Definitions of solve/cvodes/adjoint.hpp.
#pragma once

#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/solve/cvodes/adjoint.hpp>

namespace agrad {

AGRAD_INLINE ode_forward_options detail::forward_part(const ode_adjoint_options& of) {
  ode_forward_options o;
  o.states.relative = of.forward.relative;
  o.states.absolute = of.forward.absolute;
  o.max_num_steps = of.max_num_steps;
  o.method = of.solver_forward;
  o.algebra = of.algebra;
  o.first_step = of.first_step, o.max_step = of.max_step;
  return o;
}

AGRAD_INLINE cvodes_adjoint::cvodes_adjoint(const std::string& function, ode_system& system, const ode_adjoint_options& options,
                                            ode_required required)
    : cvodes_session(function, system, checked(function, system, options), required),
      adjoint_options_(options),
      reverses_(required.initial_state || required.initial_time || system.parameters() > 0),
      segment_(first_segment()) {}

AGRAD_INLINE ode_forward_options cvodes_adjoint::checked(const std::string& function, const ode_system& system,
                                                         const ode_adjoint_options& options) {
  check_solver_options(function, options, system.states(), system.parameters());
  return detail::forward_part(options);
}

AGRAD_INLINE bool cvodes_adjoint::serves(const std::string& function, ode_system& system, const ode_adjoint_options& options,
                                         ode_required required) const {
  return function == function_ && callbacks_.states() == system.states() && callbacks_.parameters() == system.parameters() &&
         required == required_ && options == adjoint_options_ && choose_algebra(function, system, options.algebra) == algebra_;
}

AGRAD_INLINE void cvodes_adjoint::use(ode_system& system) {
  callbacks_.use(system);
  callbacks_.evaluate_jacobian_as(function_, algebra_);
  watch_.set(nullptr), log_.set(nullptr);
  integrated_ = false;
}

AGRAD_INLINE const Eigen::MatrixXd& cvodes_adjoint::integrate(const Eigen::VectorXd& y0, double t0,
                                                              const std::vector<double>& times) {
  begin(y0, t0, times);
  integrate_forwards();
  while (last_segment_is_short(statistics_.forward.steps)) {
    lengthen_segments(statistics_.forward.steps);
    integrate_forwards();
  }
  CVodeGetCurrentTime(memory_.get(), &end_);
  integrated_ = true;
  return states_;
}

AGRAD_INLINE ode_gradient cvodes_adjoint::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  expect_integrated("reverse");
  check_adjoints(adjoints);
  const Eigen::MatrixXd own = adjoints;
  return reverse_rows({Eigen::Map<const Eigen::MatrixXd>(own.data(), own.rows(), own.cols())}).front();
}

AGRAD_INLINE std::vector<ode_gradient> cvodes_adjoint::reverse_rows(
    const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
  expect_integrated("reverse");
  const Eigen::Index n = states_.rows(), m = callbacks_.parameters();
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
  expect_integrated("tangent");
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const rows> initial(along.initial_state.data(), y0_.size(), along.width);
  const Eigen::Map<const rows> parameters(along.parameters.data(), callbacks_.parameters(), along.width);
  Eigen::Map<rows> to(states, y0_.size() * static_cast<Eigen::Index>(times_.size()), along.width);
  to.setZero();
  std::vector<Eigen::Index> moving;
  for (Eigen::Index k = 0; k < along.width; ++k) {
    if (!initial.col(k).allFinite() || !parameters.col(k).allFinite())
      to.col(k).setConstant(std::numeric_limits<double>::quiet_NaN());
    else if (!initial.col(k).isZero(0) || !parameters.col(k).isZero(0))
      moving.push_back(k);
  }
  if (moving.empty()) return;
  const auto count = static_cast<Eigen::Index>(moving.size());
  if (!tangents_ || tangents_->directions() != count)
    tangents_ = cvodes_forward::along(function_, callbacks_.system(), options_, count);
  Eigen::MatrixXd of_initial(initial.rows(), count), of_parameters(parameters.rows(), count);
  for (Eigen::Index c = 0; c < count; ++c) {
    of_initial.col(c) = initial.col(moving[static_cast<std::size_t>(c)]);
    of_parameters.col(c) = parameters.col(moving[static_cast<std::size_t>(c)]);
  }
  tangents_->follow(std::move(of_initial), std::move(of_parameters));
  const progress_listener::scope nobody(nullptr);
  tangents_->integrate(y0_, t0_, increasing_times());
  for (Eigen::Index c = 0; c < count; ++c) to.col(moving[static_cast<std::size_t>(c)]) = tangents_->sensitivities().col(c);
  statistics_.sensitivities += tangents_->statistics().sensitivities;
}

AGRAD_INLINE std::vector<double> cvodes_adjoint::increasing_times() const {
  std::vector<double> times = times_;
  times.back() = std::max(times.back(), std::nextafter(times.size() > 1 ? times[times.size() - 2] : t0_, HUGE_VAL));
  return times;
}

AGRAD_INLINE bool cvodes_adjoint::watch(detail::event_watch* events) {
  watch_.set(events);
  return true;
}

AGRAD_INLINE void cvodes_adjoint::attach(void* memory, bool is_new) {
  if (is_new) room_ = std::min(segment_, most_steps());
  if (!reverses_) return;
  if (is_new)
    expect(CVodeAdjInit(memory, room_, static_cast<int>(adjoint_options_.interpolation_polynomial)), "CVodeAdjInit");
  else
    expect(CVodeAdjReInit(memory), "CVodeAdjReInit");
  callbacks_.repeat(function_, memory, room_, newton_);
}

AGRAD_INLINE int cvodes_adjoint::integrate_to(double to, double& reached, int task) {
  if (!reverses_) return cvodes_session::integrate_to(to, reached, task);
  int checkpoints = 0;
  const int code = CVodeF(memory_.get(), to, state_.get(), &reached, task, &checkpoints);
  statistics_.checkpoints = checkpoints;
  return code;
}

AGRAD_INLINE void cvodes_adjoint::integrate_forwards() {
  if (memory_ && room_ < std::min(segment_, most_steps())) forget_memory();
  integrate_states();
  if (reverses_) callbacks_.interpolation.watch(memory_.get(), state_, statistics_.checkpoints);
}

AGRAD_INLINE long cvodes_adjoint::first_segment() const {
  const long steps = adjoint_options_.num_steps_between_checkpoints;
  return interpolates_polynomially() ? std::max(steps, highest_order()) : steps;
}

AGRAD_INLINE long cvodes_adjoint::most_steps() const {
  constexpr long limit = std::numeric_limits<int>::max();
  const long times = static_cast<long>(times_.size());
  return options_.max_num_steps < limit / times ? options_.max_num_steps * times : limit;
}

AGRAD_INLINE bool cvodes_adjoint::interpolates_polynomially() const {
  return reverses_ && adjoint_options_.interpolation_polynomial == ode_interpolation::polynomial;
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
  backward_->clear(tolerances_of(adjoints, group));
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

AGRAD_INLINE std::vector<detail::adjoint_tolerances> cvodes_adjoint::tolerances_of(
    const adjoint_rows& adjoints, const std::vector<std::size_t>& group) const {
  const ode_adjoint_options& o = adjoint_options_;
  const Eigen::Index n = states_.rows(), m = callbacks_.parameters();
  const Eigen::VectorXd& each = o.quadrature.absolute;
  const detail::adjoint_tolerances given{o.backward.absolute, each.size() == 1 ? Eigen::VectorXd::Constant(m, each[0]) : each};
  if (!o.in_units_of_loss) return {given};
  Eigen::MatrixXd y(n, states_.cols() + 1);
  y << y0_, states_;
  Eigen::VectorXd parameters(m);
  callbacks_.system().parameter_values(parameters.data());
  const detail::loss_units units(y, o.backward.absolute, o.backward.relative, parameters);
  std::vector<detail::adjoint_tolerances> to;
  for (const std::size_t row : group) to.push_back(units.tolerances(adjoints[row], given.adjoint, given.gradient));
  return to;
}

AGRAD_INLINE void cvodes_adjoint::make_backward(Eigen::Index rows) {
  if (backward_ && backward_->rows() < rows) {
    forget_memory();
    integrate_forwards();
  }
  if (!backward_)
    backward_ = std::make_unique<detail::cvodes_backward>(function_, adjoint_options_, callbacks_, context_, memory_, algebra_,
                                                          rows, statistics_);
}

}  // namespace agrad
