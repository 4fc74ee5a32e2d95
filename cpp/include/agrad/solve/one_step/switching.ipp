// Definitions of solve/one_step/switching.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/switching.hpp>

namespace agrad {

AGRAD_INLINE switching_solver::switching_solver(const std::string& function, ode_system& system, const step_options& options,
                                                ode_required required)
    : first_(function, system, options, required),
      second_(stiff_tableau(options), function, system, options, after(required, system)),
      wants_state_(required.initial_state) {
  first_.watch_stiffness();
}

AGRAD_INLINE const Eigen::MatrixXd& switching_solver::integrate(const Eigen::VectorXd& y0, double t0,
                                                                const std::vector<double>& times) {
  const std::size_t steps = log_ == nullptr ? 0 : log_->steps.size(), rejected = log_ == nullptr ? 0 : log_->rejected.size();
  if (log_ != nullptr) log_->is_stiff = false;
  states_ = first_.integrate(y0, t0, times);
  has_switched_ = first_.gave_up() && (watch_ == nullptr || watch_->fired().empty());
  has_started_again_ = has_switched_ && watch_ == nullptr && first_.gave_up_to_oscillations();
  statistics_ = first_.statistics();
  if (has_started_again_) {
    if (log_ != nullptr) log_->steps.resize(steps), log_->rejected.resize(rejected);
    return start_again(y0, t0, times);
  }
  tangent_.clear(), changed_.clear();
  if (!has_switched_) return states_;
  reached_ = states_.cols() - 1;
  const Eigen::VectorXd here = states_.col(reached_);
  const std::vector<double> later(times.begin() + reached_, times.end());
  if (log_ != nullptr) log_->is_stiff = true;
  second_.continue_probe(first_.probe(), {});
  const Eigen::MatrixXd& rest = second_.integrate(here, first_.time(), later);
  states_.conservativeResize(Eigen::NoChange, reached_ + rest.cols());
  states_.rightCols(rest.cols()) = rest;
  add_up();
  return states_;
}

AGRAD_INLINE const Eigen::MatrixXd& switching_solver::start_again(const Eigen::VectorXd& y0, double t0,
                                                                  const std::vector<double>& times) {
  if (log_ != nullptr) log_->is_stiff = true;
  reached_ = 0;
  second_.continue_probe(tangent_, changed_);
  tangent_.clear(), changed_.clear();
  started_ = t0;
  states_ = second_.integrate(y0, t0, times);
  add_up();
  return states_;
}

AGRAD_INLINE ode_gradient switching_solver::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  ode_gradient g = reverse_of_both(adjoints);
  add_up();
  return g;
}

AGRAD_INLINE void switching_solver::tangent(const ode_directions& along, double* states) {
  width_ = along.width;
  if (!has_switched_) return first_.tangent(along, states);
  if (has_started_again_) return second_.tangent(along, states);
  const std::size_t n = along.initial_state.size(), before = static_cast<std::size_t>(reached_) * n;
  std::vector<double> early(before + n);
  first_.tangent(along, early.data());
  std::copy_n(early.begin(), before, states);
  early.erase(early.begin(), early.end() - static_cast<std::ptrdiff_t>(n));
  second_.tangent({along.width, std::move(early), along.parameters}, states + before);
}

AGRAD_INLINE ode_gradient switching_solver::second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                                   ode_directions& gradient_tangents) {
  ode_gradient g = has_switched_ ? second_of_both(adjoints, tangents, gradient_tangents)
                                 : first_.second(adjoints, tangents, gradient_tangents);
  add_up();
  return g;
}

AGRAD_INLINE bool switching_solver::watch(detail::event_watch* events) {
  watch_ = events;
  return first_.watch(events) && second_.watch(events);
}

AGRAD_INLINE bool switching_solver::log_steps(detail::step_log* log) {
  log_ = log;
  return first_.log_steps(log) && second_.log_steps(log);
}

AGRAD_INLINE ode_gradient switching_solver::reverse_of_both(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!has_switched_) return first_.reverse(adjoints);
  if (has_started_again_) {
    ode_gradient g = second_.reverse(adjoints);
    if (!wants_state_) g.initial_state.setZero();
    return g;
  }
  const ode_gradient late = second_.reverse(late_part(adjoints));
  ode_gradient g = first_.reverse(early_part(adjoints, late));
  g.parameters += late.parameters;
  g.times.conservativeResize(adjoints.cols());
  g.times.tail(late.times.size()) = late.times;
  return g;
}

AGRAD_INLINE ode_gradient switching_solver::second_of_both(const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                           const double* tangents, ode_directions& gradient_tangents) {
  if (has_started_again_) return second_.second(adjoints, tangents, gradient_tangents);
  ode_directions of_late;
  const auto count = static_cast<std::size_t>(reached_ * adjoints.rows() * width_);
  const ode_gradient late = second_.second(late_part(adjoints), tangents + count, of_late);
  std::vector<double> of_early(tangents, tangents + count);
  of_early.insert(of_early.end(), of_late.initial_state.begin(), of_late.initial_state.end());
  ode_gradient g = first_.second(early_part(adjoints, late), of_early.data(), gradient_tangents);
  g.parameters += late.parameters;
  for (std::size_t i = 0; i < gradient_tangents.parameters.size(); ++i)
    gradient_tangents.parameters[i] += of_late.parameters[i];
  g.times = Eigen::VectorXd::Zero(adjoints.cols());
  return g;
}

AGRAD_INLINE Eigen::Ref<const Eigen::MatrixXd> switching_solver::late_part(
    const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const {
  return adjoints.rightCols(adjoints.cols() - reached_);
}

AGRAD_INLINE Eigen::MatrixXd switching_solver::early_part(const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                          const ode_gradient& late) const {
  Eigen::MatrixXd early(adjoints.rows(), reached_ + 1);
  early.leftCols(reached_) = adjoints.leftCols(reached_);
  early.col(reached_) = late.initial_state;
  return early;
}

AGRAD_INLINE void switching_solver::add_up() {
  statistics_ = first_.statistics();
  if (!has_switched_) return;
  if (has_started_again_) {  // the steps of the first method are no steps of the solution
    const long evaluations = statistics_.forward.rhs_evaluations;
    statistics_ = second_.statistics();
    statistics_.forward.rhs_evaluations += evaluations;
  } else {
    statistics_ += second_.statistics();
  }
  statistics_.stiff_from = has_started_again_ ? started_ : first_.time();
  statistics_.stiff_method = second_.method().name;
}

AGRAD_INLINE const rosenbrock_tableau& switching_solver::stiff_tableau(const step_options& options) {
  return options.states.relative < 1e-5 ? rodas5p_tableau : rodas4_tableau;
}

AGRAD_INLINE ode_required switching_solver::after(ode_required required, const ode_system& system) {
  return {required.initial_state || required.initial_time || system.parameters() > 0, required.initial_time, required.times,
          required.initial_state && required.state_moves};
}

}  // namespace agrad
