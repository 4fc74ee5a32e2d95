// Definitions of solve/events/reverse.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/reverse.hpp>

namespace agrad::detail {

AGRAD_INLINE event_gradient event_reverse_pass::compute() {
  add_end_outputs();
  for (std::size_t i = trajectory_.used; i-- > 0;) {
    const event_segment& s = trajectory_.segments[i];
    trajectory_.enter(s);
    reverse_ending(s);
    add_before_outputs(s);
    reverse_segment(s);
    for (std::size_t k = s.first_output; k < s.first_output + s.begin_outputs; ++k) {
      const auto column = adjoints_.states.col(static_cast<Eigen::Index>(k));
      state_ += column;
      if (!column.isZero(0)) g_.times[static_cast<Eigen::Index>(k)] += column.dot(trajectory_.slope_at(s.begin, s.at_begin));
    }
    time_ = carried_ - (state_.isZero(0) ? 0.0 : state_.dot(trajectory_.slope_at(s.begin, s.at_begin)));
    carried_ = 0;
    if (s.is_settled) trajectory_.constrained->adjoint(s.begin, s.at_begin, state_, time_, g_.parameters);
  }
  g_.initial_state = state_;
  g_.initial_time = time_;
  return std::move(g_);
}

AGRAD_INLINE void event_reverse_pass::add_end_outputs() {
  const event_segment& s = trajectory_.segments[trajectory_.used - 1];
  trajectory_.enter(s);
  auto k = static_cast<Eigen::Index>(s.first_output + s.begin_outputs + s.inner_outputs);
  for (; k < adjoints_.states.cols(); ++k) {
    const auto column = adjoints_.states.col(k);
    if (column.isZero(0)) continue;
    state_ += column;
    if (k >= trajectory_.solution.reached) continue;
    const double by_time = column.dot(trajectory_.slope_at(s.end, trajectory_.solution.end_state));
    time_ -= by_time;
    g_.times[k] += by_time;
  }
}

AGRAD_INLINE void event_reverse_pass::add_before_outputs(const event_segment& s) {
  for (std::size_t j = s.first_before; j < s.first_before + s.befores; ++j) {
    const auto column = adjoints_.before.col(static_cast<Eigen::Index>(j));
    if (column.isZero(0)) continue;
    state_ += column;
    g_.times[static_cast<Eigen::Index>(trajectory_.plan.before[j])] += column.dot(trajectory_.slope_at(s.end, s.at_end));
  }
}

AGRAD_INLINE void event_reverse_pass::reverse_ending(const event_segment& s) {
  if (s.ending == event_segment::event_ending) return reverse_event(s);
  const scheduled* at = s.ending == event_segment::finish ? nullptr : &trajectory_.schedule[s.ending_index];
  if (at != nullptr && at->is_at_once) {
    const dose_rule& rule = trajectory_.plan.doses[at->index];
    double& adjoint = state_[rule.state];
    g_.amounts[static_cast<Eigen::Index>(at->index)] += adjoint * rule.by_amount(s.at_end[rule.state]);
    adjoint *= rule.by_state(trajectory_.v.amounts[at->index]);
  }
  const double by_end = time_ + (state_.isZero(0) ? 0.0 : state_.dot(trajectory_.slope_at(s.end, s.at_end)));
  if (at == nullptr) {
    g_.times[g_.times.size() - 1] += by_end;
    return;
  }
  const scheduled& what = *at;
  const auto i = static_cast<Eigen::Index>(what.index);
  if (what.kind == scheduled::stop) {
    g_.stops[i] += by_end;
    return;
  }
  g_.dose_times[i] += by_end;
  const dose_rule& rule = trajectory_.plan.doses[what.index];
  if (what.kind == scheduled::infusion_end) g_.durations[i] += by_end;
  if (what.is_at_once && rule.is_infusion)
    g_.durations[i] += by_end / 2;  // the middle of an infusion that became a dose at once
}

AGRAD_INLINE void event_reverse_pass::reverse_event(const event_segment& s) {
  std::vector<double> by_hits(s.hits);
  seen_.assign(s.hits, Eigen::VectorXd::Zero(trajectory_.n));
  for (std::size_t j = s.hits; j-- > 0;) {
    const std::size_t hit = s.ending_index + j;
    const Eigen::VectorXd& before = trajectory_.solution.hits[hit].state;
    if (trajectory_.resets(trajectory_.solution.hits[hit]) && !state_.isZero(0)) reverse_reset(s, hit);
    state_ += seen_[j];
    if (trajectory_.solution.hits[hit].follows) {
      time_ += hit_times_[hit];
      state_ += hit_states_.col(static_cast<Eigen::Index>(hit));
      continue;
    }
    by_hits[j] = hit_times_[hit];
    const auto of_state = hit_states_.col(static_cast<Eigen::Index>(hit));
    if (of_state.isZero(0)) continue;
    const double by_delay = of_state.dot(trajectory_.slope_at(s.end, before));
    by_hits[j] += by_delay, time_ -= by_delay;
    state_ += of_state;
  }
  const Eigen::VectorXd slope = trajectory_.slope_at(s.end, s.at_end);
  if (trajectory_.is_placed(s)) (trajectory_.is_cascade(s) ? carried_ : by_hits[0]) += time_ + state_.dot(slope);
  for (std::size_t j = 0; j < s.hits; ++j) {
    if (by_hits[j] == 0) continue;
    const event_hit& of = trajectory_.solution.hits[s.ending_index + j];
    if (of.kind == hit_kind::delayed)
      reverse_delay(of, by_hits[j]);
    else
      reverse_root(s, s.ending_index + j, by_hits[j], slope);
  }
}

AGRAD_INLINE void event_reverse_pass::reverse_root(const event_segment& s, std::size_t hit, double by,
                                                   const Eigen::VectorXd& slope) {
  const event_hit& of = trajectory_.solution.hits[hit];
  double by_t = 0;
  Eigen::VectorXd by_y(trajectory_.n), by_parameters = Eigen::VectorXd::Zero(trajectory_.events[of.event]->parameters());
  trajectory_.events[of.event]->root_gradient(s.end, s.at_end.data(), by_t, by_y.data(), by_parameters.data());
  const double rate = by_t + by_y.dot(slope);
  trajectory_.check_crosses(of, rate);
  state_ -= by / rate * by_y;
  g_.event_parameters[of.event] -= by / rate * by_parameters;
}

AGRAD_INLINE void event_reverse_pass::reverse_delay(const event_hit& of, double by) {
  const event_hit& trigger = trajectory_.solution.hits[of.trigger];
  double by_t = 0;
  Eigen::VectorXd by_y(trajectory_.n), by_parameters = Eigen::VectorXd::Zero(trajectory_.events[of.event]->parameters());
  trajectory_.events[of.event]->delay_gradient(trigger.t, trigger.state.data(), by_t, by_y.data(), by_parameters.data());
  hit_times_[of.trigger] += by * (1 + by_t);
  hit_states_.col(static_cast<Eigen::Index>(of.trigger)) += by * by_y;
  g_.event_parameters[of.event] += by * by_parameters;
}

AGRAD_INLINE void event_reverse_pass::reverse_reset(const event_segment& s, std::size_t hit) {
  const event_hit& of = trajectory_.solution.hits[hit];
  Eigen::VectorXd after = state_, y_adjoint(trajectory_.n),
                  part = Eigen::VectorXd::Zero(trajectory_.events[of.event]->parameters());
  for (Eigen::Index i = 0; i < trajectory_.n; ++i) (trajectory_.keeps(hit, i) ? after : state_)[i] = 0;
  double by_time = 0;
  const Eigen::VectorXd& seen = trajectory_.solution.hits[of.seen].state;
  trajectory_.events[of.event]->reset_vjp(s.end, seen.data(), after.data(), by_time, y_adjoint.data(), part.data());
  if (of.seen < s.ending_index)
    hit_states_.col(static_cast<Eigen::Index>(of.seen)) += y_adjoint;
  else
    seen_[of.seen - s.ending_index] += y_adjoint;
  time_ += by_time;
  g_.event_parameters[of.event] += part;
}

AGRAD_INLINE void event_reverse_pass::reverse_segment(const event_segment& s) {
  const auto m = static_cast<Eigen::Index>(trajectory_.system.own_parameters());
  if (!s.is_solved) return;
  const auto first = static_cast<Eigen::Index>(s.first_output + s.begin_outputs),
             count = static_cast<Eigen::Index>(s.inner_outputs);
  const bool is_finish = s.ending == event_segment::finish;
  const auto late = static_cast<Eigen::Index>(s.late_outputs);
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(trajectory_.n, count + late + (is_finish ? 0 : 1));
  all.leftCols(count) = adjoints_.states.middleCols(first, count);
  for (Eigen::Index k = first; k < first + count; ++k) {
    if (adjoints_.states.col(k).isZero(0)) continue;
    const double time = trajectory_.v.times[static_cast<std::size_t>(k)];
    g_.times[k] += adjoints_.states.col(k).dot(trajectory_.slope_at(time, trajectory_.solution.states.col(k)));
  }
  all.rightCols(1) += state_;
  if (all.isZero(0)) {
    state_.setZero();
    return;
  }
  const ode_gradient through = trajectory_.solvers[s.solver]->reverse(all);
  state_ = through.initial_state;
  g_.parameters += through.parameters.head(m);
  add_rates(s, through.parameters.data() + m);
}

AGRAD_INLINE void event_reverse_pass::add_rates(const event_segment& s, const double* rate_gradient) {
  for (const std::size_t i : s.running) {
    const auto to = static_cast<Eigen::Index>(i);
    const double by_rate = rate_gradient[trajectory_.rate_of[i]], duration = infusion_length(trajectory_.v, i);
    g_.amounts[to] += by_rate / duration;
    g_.durations[to] -= by_rate * trajectory_.v.amounts[i] / (duration * duration);
  }
}

}  // namespace agrad::detail
