// Definitions of solve/events/second.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/second.hpp>

namespace agrad::detail {

AGRAD_INLINE event_second_pass::event_second_pass(event_trajectory& of, const event_tangent& moved,
                                                  const event_adjoints& adjoints, const event_tangents& tangents,
                                                  event_directions& gradient_tangents)
    : of_(of),
      moved_(moved),
      along_(moved.along()),
      width_(along_.width),
      adjoints_(adjoints),
      tangents_(tangents),
      gradient_tangents_(gradient_tangents),
      moves_(of.moves()),
      g_(of.no_gradient()),
      state_{adjoints.end_state, tangents.end_state},
      time_{adjoints.end, tangents.end},
      carried_(still()) {
  const auto zeros = [&](std::size_t count) { return std::vector<double>(count * static_cast<std::size_t>(width_), 0.0); };
  const std::size_t doses = of_.plan.doses.size();
  gradient_tangents_ = {width_,
                        zeros(static_cast<std::size_t>(of_.n)),
                        zeros(of_.system.own_parameters()),
                        zeros(doses),
                        zeros(1),
                        zeros(of_.v.times.size()),
                        zeros(doses),
                        zeros(doses),
                        zeros(of_.v.stops.size()),
                        {}};
  for (std::size_t hit = 0; hit < of_.solution.hits.size(); ++hit) {
    const auto at = static_cast<Eigen::Index>(hit);
    hit_times_.push_back({adjoints.hit_times[hit], tangents.hit_times.row(at)});
    hit_states_.push_back({adjoints.hit_states.col(at), rows_of(tangents.hit_states, hit)});
  }
  for (const auto& event : of_.events)
    gradient_tangents_.event_parameters.push_back(zeros(static_cast<std::size_t>(event->parameters())));
}

AGRAD_INLINE event_gradient event_second_pass::compute() {
  for (std::size_t i = of_.used; i-- > 0;) {
    const event_segment& s = of_.segments[i];
    const moving_segment& m = moved_.moved()[i];
    enter(s);
    if (i + 1 == of_.used) add_end_outputs(s);
    reverse_ending(s, m);
    add_before_outputs(s);
    if (s.is_solved) reverse_segment(s);
    for (std::size_t k = s.first_output; k < s.first_output + s.begin_outputs; ++k) {
      moving_vector output = output_adjoint(k);
      move_output(k, s.begin, s.at_begin, output);
      state_ += output;
    }
    time_ = std::exchange(carried_, still());
    if (moves_) move({-1, s.begin, s.at_begin, m.begin, m.begin_time}, state_, time_);
    if (s.is_settled) reverse_start(s, m);
    reverse_parameters(s);
  }
  g_.initial_state = state_.value, g_.initial_time = time_.value;
  tangent_rows::Map(gradient_tangents_.initial_state.data(), of_.n, width_) = state_.tangents;
  Eigen::RowVectorXd::Map(gradient_tangents_.initial_time.data(), width_) = time_.tangents;
  return std::move(g_);
}

AGRAD_INLINE void event_second_pass::reverse_start(const event_segment& s, const moving_segment& m) {
  tangent_rows moved = m.begin;
  of_.moving.propagate_tangent(s.begin, s.at_begin, m.begin_time, moved);
  of_.constrained->second({1, s.begin, s.at_begin, moved, m.begin_time}, parameter_tangents_, state_, time_, parameters_);
}

AGRAD_INLINE Eigen::RowVectorXd event_second_pass::directions(const std::vector<double>& all, std::size_t i) const {
  return Eigen::RowVectorXd::Map(all.data() + i * static_cast<std::size_t>(width_), width_);
}

AGRAD_INLINE void event_second_pass::add(Eigen::VectorXd& values, std::vector<double>& tangents, std::size_t i,
                                         const moving_number& by, double factor) {
  values[static_cast<Eigen::Index>(i)] += factor * by.value;
  Eigen::RowVectorXd::Map(tangents.data() + i * static_cast<std::size_t>(width_), width_) += factor * by.tangents;
}

AGRAD_INLINE void event_second_pass::add_all(Eigen::VectorXd& values, std::vector<double>& tangents, const moving_vector& by) {
  values += by.value;
  tangent_rows::Map(tangents.data(), by.value.size(), width_) += by.tangents;
}

AGRAD_INLINE void event_second_pass::enter(const event_segment& s) {
  of_.enter(s);
  parameter_tangents_ = moved_.segment_parameters(s);
  parameters_ = moving_vector::zero(of_.system.parameters(), width_);
}

AGRAD_INLINE void event_second_pass::move(const moving_place& at, moving_vector& state, moving_number& time) {
  of_.moving.propagate_adjoint(at, parameter_tangents_, state, time, parameters_.tangents);
}

AGRAD_INLINE tangent_rows event_second_pass::fixed(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                                                   tangent_rows tangents) {
  of_.moving.propagate_tangent(t, y, -by, tangents);
  return tangents;
}

AGRAD_INLINE tangent_rows event_second_pass::rows_of(const tangent_rows& all, std::size_t k) const {
  return all.middleRows(static_cast<Eigen::Index>(k) * of_.n, of_.n);
}

AGRAD_INLINE moving_vector event_second_pass::output_adjoint(std::size_t k) const {
  return {adjoints_.states.col(static_cast<Eigen::Index>(k)), rows_of(tangents_.states, k)};
}

AGRAD_INLINE void event_second_pass::move_output(std::size_t k, double t, const Eigen::VectorXd& y, const tangent_rows& moved,
                                                 moving_vector& output) {
  if (!moves_ || output.is_zero()) return;
  moving_number by_time = still();
  const Eigen::RowVectorXd by = directions(along_.times, k);
  move({1, t, y, moved, by}, output, by_time);
  add(g_.times, gradient_tangents_.times, k, by_time);
}

AGRAD_INLINE void event_second_pass::add_end_outputs(const event_segment& s) {
  const Eigen::VectorXd& y = of_.solution.end_state;
  const Eigen::RowVectorXd& by = moved_.numbers().end;
  for (std::size_t k = s.first_output + s.begin_outputs + s.inner_outputs; k < of_.v.times.size(); ++k) {
    moving_vector output = output_adjoint(k);
    if (moves_ && static_cast<Eigen::Index>(k) < of_.solution.reached && !output.is_zero()) {
      move_output(k, s.end, y, output);
      const tangent_rows before = fixed(s.end, y, by, moved_.numbers().end_state);
      move({-1, s.end, y, before, by}, output, time_);
    }
    state_ += output;
  }
}

AGRAD_INLINE void event_second_pass::add_before_outputs(const event_segment& s) {
  for (std::size_t j = s.first_before; j < s.first_before + s.befores; ++j) {
    moving_vector output{adjoints_.before.col(static_cast<Eigen::Index>(j)), rows_of(tangents_.before, j)};
    move_output(of_.plan.before[j], s.end, s.at_end, rows_of(moved_.numbers().before, j), output);
    state_ += output;
  }
}

AGRAD_INLINE void event_second_pass::reverse_ending(const event_segment& s, const moving_segment& m) {
  if (s.ending == event_segment::event_ending) return reverse_event(s, m);
  const bool is_finish = s.ending == event_segment::finish;
  const scheduled* what = is_finish ? nullptr : &of_.schedule[s.ending_index];
  if (what != nullptr && what->is_at_once) reverse_dose(s, m, what->index);
  if (!moves_) return;
  move({1, s.end, s.at_end, m.moved, m.end_time}, state_, time_);
  if (is_finish) return add(g_.times, gradient_tangents_.times, of_.v.times.size() - 1, time_);
  if (what->kind == scheduled::stop) return add(g_.stops, gradient_tangents_.stops, what->index, time_);
  add(g_.dose_times, gradient_tangents_.dose_times, what->index, time_);
  if (what->kind == scheduled::infusion_end) add(g_.durations, gradient_tangents_.durations, what->index, time_);
  if (what->is_at_once && of_.plan.doses[what->index].is_infusion) {
    add(g_.durations, gradient_tangents_.durations, what->index, time_, 0.5);  // as at first order
    check_stays_short(what->index);
  }
}

AGRAD_INLINE void event_second_pass::reverse_dose(const event_segment& s, const moving_segment& m, std::size_t dose) {
  const dose_rule& rule = of_.plan.doses[dose];
  const Eigen::Index i = rule.state;
  const moving_number after{state_.value[i], state_.tangents.row(i)};
  const double by_amount = rule.by_amount(s.at_end[i]), by_state = rule.by_state(of_.v.amounts[dose]);
  moving_number of_amount{after.value * by_amount, after.tangents * by_amount};
  state_.value[i] = after.value * by_state, state_.tangents.row(i) = after.tangents * by_state;
  if (rule.kind == dose_kind::scale) {  // the product of amount and state
    of_amount.tangents += after.value * m.moved.row(i);
    state_.tangents.row(i) += after.value * directions(along_.amounts, dose);
  }
  add(g_.amounts, gradient_tangents_.amounts, dose, of_amount);
}

AGRAD_INLINE void event_second_pass::check_stays_short(std::size_t dose) const {
  if (!directions(along_.durations, dose).isZero(0))
    throw DerivativeError(
        of_.function + ": doses[" + std::to_string(dose) +
        "].duration is too short relative to the time of the dose for second derivatives, but must be longer or absent");
}

AGRAD_INLINE void event_second_pass::reverse_event(const event_segment& s, const moving_segment& m) {
  std::vector<moving_number> by_hits(s.hits, still());
  seen_.assign(s.hits, moving_vector::zero(of_.n, width_));
  for (std::size_t j = s.hits; j-- > 0;) {
    const std::size_t hit = s.ending_index + j;
    if (of_.resets(of_.solution.hits[hit]) && !state_.is_zero()) reverse_reset(s, m, j);
    state_ += seen_[j];
    const bool follows = of_.solution.hits[hit].follows;
    (follows ? time_ : by_hits[j]) += hit_times_[hit];
    moving_vector of_state = hit_states_[hit];
    if (j > 0 && !follows && !of_state.is_zero()) reverse_late_hit(s, m, j, of_state, by_hits[j]);
    state_ += of_state;
  }
  if (m.is_placed) {
    move({1, s.end, s.at_end, m.moved, m.end_time}, state_, time_);
    (of_.is_cascade(s) ? carried_ : by_hits[0]) += time_;
  }
  for (std::size_t j = 0; j < s.hits; ++j) {
    if (by_hits[j].value == 0 && by_hits[j].tangents.isZero(0)) continue;
    const event_hit& of = of_.solution.hits[s.ending_index + j];
    if (of.kind == hit_kind::delayed)
      reverse_delay(of, by_hits[j]);
    else
      reverse_root(s, m, s.ending_index + j, by_hits[j]);
  }
}

AGRAD_INLINE void event_second_pass::reverse_delay(const event_hit& of, const moving_number& by) {
  const event_hit& trigger = of_.solution.hits[of.trigger];
  moving_gradient delay;
  const Eigen::RowVectorXd time = hit_time_tangent(of.trigger);
  const tangent_rows state = hit_state_tangents(of.trigger);
  of_.events[of.event]->delay_second(point(trigger.t, trigger.state, time, state, of.event), delay);
  delay.time.value += 1;
  hit_times_[of.trigger] += by * delay.time;
  hit_states_[of.trigger] += by * delay.state;
  add_all(g_.event_parameters[of.event], gradient_tangents_.event_parameters[of.event], by * delay.parameters);
}

AGRAD_INLINE ode_point event_second_pass::point(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& time,
                                                const tangent_rows& state, std::size_t e) const {
  return {width_, t, y.data(), state.data(), along_.event_parameters[e].data(), time.data()};
}

AGRAD_INLINE void event_second_pass::reverse_reset(const event_segment& s, const moving_segment& m, std::size_t j) {
  const event_hit& hit = of_.solution.hits[s.ending_index + j];
  moving_gradient by;
  moving_vector after = state_;
  for (Eigen::Index i = 0; i < of_.n; ++i) {
    moving_vector& other = of_.keeps(s.ending_index + j, i) ? after : state_;
    other.value[i] = 0, other.tangents.row(i).setZero();
  }
  const Eigen::VectorXd& state = of_.solution.hits[hit.seen].state;
  const bool is_earlier = hit.seen < s.ending_index;
  const tangent_rows moved = is_earlier ? hit_state_tangents(hit.seen) : m.before[hit.seen - s.ending_index];
  of_.events[hit.event]->reset_second(point(s.end, state, m.end_time, moved, hit.event), after, by);
  (is_earlier ? hit_states_[hit.seen] : seen_[hit.seen - s.ending_index]) += by.state;
  time_ += by.time;
  add_all(g_.event_parameters[hit.event], gradient_tangents_.event_parameters[hit.event], by.parameters);
}

AGRAD_INLINE void event_second_pass::reverse_late_hit(const event_segment& s, const moving_segment& m, std::size_t j,
                                                      moving_vector& of_state, moving_number& by_hit) {
  const std::size_t hit = s.ending_index + j;
  const Eigen::VectorXd& y = of_.solution.hits[hit].state;
  const Eigen::RowVectorXd by = hit_time_tangent(hit);
  const tangent_rows moved = hit_state_tangents(hit), at_fixed_time = fixed(s.end, y, m.end_time, m.before[j]);
  move({1, s.end, y, moved, by}, of_state, by_hit);
  move({-1, s.end, y, at_fixed_time, m.end_time}, of_state, time_);
}

AGRAD_INLINE void event_second_pass::reverse_root(const event_segment& s, const moving_segment& m, std::size_t hit,
                                                  const moving_number& by) {
  const std::size_t e = of_.solution.hits[hit].event;
  const Eigen::RowVectorXd time = hit_time_tangent(hit);
  const tangent_rows moved = fixed(s.end, s.at_end, -time, m.end);
  moving_gradient root;
  of_.events[e]->root_second(point(s.end, s.at_end, time, moved, e), root);
  tangent_rows by_parameters = tangent_rows::Zero(parameters_.tangents.rows(), width_);
  of_.moving.propagate_adjoint({1, s.end, s.at_end, moved, time}, parameter_tangents_, root.state, root.time, by_parameters);
  const double rate = root.time.value;
  of_.check_crosses(of_.solution.hits[hit], rate);
  moving_number factor{-by.value / rate, {}};
  factor.tangents = -(by.tangents + factor.value * root.time.tangents) / rate;
  state_ += factor * root.state;
  add_all(g_.event_parameters[e], gradient_tangents_.event_parameters[e], factor * root.parameters);
  parameters_.tangents += factor.value * by_parameters;
}

AGRAD_INLINE void event_second_pass::reverse_segment(const event_segment& s) {
  const std::size_t first = s.first_output + s.begin_outputs;
  const Eigen::Index n = of_.n, count = static_cast<Eigen::Index>(s.inner_outputs),
                     extra = static_cast<Eigen::Index>(s.late_outputs) + Eigen::Index{s.ending != event_segment::finish};
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n, count + extra);
  tangent_rows all_tangents = tangent_rows::Zero((count + extra) * n, width_);
  for (Eigen::Index j = 0; j < count; ++j) {
    const std::size_t k = first + static_cast<std::size_t>(j);
    moving_vector output = output_adjoint(k);
    move_output(k, of_.v.times[k], of_.solution.states.col(static_cast<Eigen::Index>(k)), output);
    all.col(j) = output.value, all_tangents.middleRows(j * n, n) = output.tangents;
  }
  all.rightCols(1) += state_.value, all_tangents.bottomRows(n) += state_.tangents;
  if (all.isZero(0) && all_tangents.isZero(0)) {
    state_ = moving_vector::zero(n, width_);
    return;
  }
  ode_directions through;
  const ode_gradient part = of_.solvers[s.solver]->second(all, all_tangents.data(), through);
  state_ = {part.initial_state, tangent_rows::Map(through.initial_state.data(), n, width_)};
  parameters_ += {part.parameters, tangent_rows::Map(through.parameters.data(), part.parameters.size(), width_)};
}

AGRAD_INLINE void event_second_pass::reverse_parameters(const event_segment& s) {
  const auto own = static_cast<Eigen::Index>(of_.system.own_parameters());
  add_all(g_.parameters, gradient_tangents_.parameters, {parameters_.value.head(own), parameters_.tangents.topRows(own)});
  for (const std::size_t i : s.running) {
    const auto at = own + static_cast<Eigen::Index>(of_.rate_of[i]);
    const double by_rate = parameters_.value[at], amount = of_.v.amounts[i], length = infusion_length(of_.v, i);
    const Eigen::RowVectorXd tangents = parameters_.tangents.row(at), of_amount = directions(along_.amounts, i),
                             of_length = directions(along_.durations, i) / length;
    add(g_.amounts, gradient_tangents_.amounts, i, {by_rate / length, (tangents - by_rate * of_length) / length});
    const Eigen::RowVectorXd change = amount * tangents + by_rate * (of_amount - 2 * amount * of_length);
    add(g_.durations, gradient_tangents_.durations, i, {by_rate * amount, change}, -1 / (length * length));
  }
}

}  // namespace agrad::detail
