// Definitions of solve/events/tangent.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/tangent.hpp>

namespace agrad::detail {

AGRAD_INLINE Eigen::RowVectorXd directions_of(const std::vector<double>& all, std::size_t i, int width) {
  return Eigen::Map<const Eigen::RowVectorXd>(all.data() + i * static_cast<std::size_t>(width), width);
}

AGRAD_INLINE event_tangents event_tangent::compute(const event_directions& along, bool reads_hits) {
  along_ = along;
  event_tangents d = no_tangents();
  moving at{Eigen::Map<const event_tangents::rows>(along.initial_state.data(), trajectory_.n, along.width),
            directions_of(along.initial_time, 0, along.width)};
  moved_.assign(trajectory_.used, {});
  for (std::size_t i = 0; i < trajectory_.used; ++i) {
    const event_segment& s = trajectory_.segments[i];
    trajectory_.enter(s);
    if (s.is_settled) trajectory_.constrained->tangent(s.begin, s.at_begin, at.time, segment_parameters(s), at.state);
    move(s.begin, s.at_begin, -at.time, at.state);
    at.stored = &moved_[i];
    at.stored->begin = at.state, at.stored->begin_time = at.time;
    for (std::size_t k = s.first_output; k < s.first_output + s.begin_outputs; ++k)
      write_output(static_cast<Eigen::Index>(k), s.begin, s.at_begin, at.state, d);
    propagate_segment(s, d, at);
    at.stored->end = at.state;
    write_before_outputs(s, at, d);
    propagate_ending(s, reads_hits, d, at);
  }
  d.end = at.time, d.end_state = at.state;
  // Outputs at a terminal event, whose times stay when the event moves, and later outputs.
  const event_segment& last = trajectory_.segments[trajectory_.used - 1];
  for (auto k = static_cast<Eigen::Index>(last.first_output + last.begin_outputs + last.inner_outputs);
       k < trajectory_.solution.states.cols(); ++k) {
    d.states.middleRows(k * trajectory_.n, trajectory_.n) = at.state;
    if (k >= trajectory_.solution.reached) continue;
    const Eigen::RowVectorXd by = directions_of(along.times, static_cast<std::size_t>(k), along.width) - at.time;
    move(last.end, trajectory_.solution.end_state, by, d.states.middleRows(k * trajectory_.n, trajectory_.n));
  }
  for (std::size_t j = 0; j < trajectory_.plan.before.size(); ++j)
    if (!trajectory_.solution.differs[j])
      d.before.middleRows(static_cast<Eigen::Index>(j) * trajectory_.n, trajectory_.n) =
          d.states.middleRows(static_cast<Eigen::Index>(trajectory_.plan.before[j]) * trajectory_.n, trajectory_.n);
  numbers_ = d;
  return d;
}

AGRAD_INLINE std::vector<double> event_tangent::segment_parameters(const event_segment& s) const {
  const auto w = static_cast<std::size_t>(along_.width), m = trajectory_.system.own_parameters() * w;
  std::vector<double> all = along_.parameters;
  all.resize(m + trajectory_.system.rates() * w, 0.0);
  for (const std::size_t i : s.running) {
    const double duration = infusion_length(trajectory_.v, i), by_duration = -trajectory_.v.amounts[i] / (duration * duration);
    double* rate = all.data() + m + trajectory_.rate_of[i] * w;
    for (std::size_t k = 0; k < w; ++k)
      rate[k] += along_.amounts[i * w + k] / duration + by_duration * along_.durations[i * w + k];
  }
  return all;
}

AGRAD_INLINE event_tangents event_tangent::no_tangents() const {
  const auto count = static_cast<Eigen::Index>(trajectory_.solution.hits.size());
  const auto zeros = [&](Eigen::Index rows) { return event_tangents::rows::Zero(rows, along_.width).eval(); };
  return {zeros(trajectory_.n * trajectory_.solution.states.cols()),
          zeros(trajectory_.n),
          Eigen::RowVectorXd::Zero(along_.width),
          zeros(count),
          zeros(trajectory_.n * count),
          zeros(trajectory_.n * trajectory_.solution.before.cols())};
}

AGRAD_INLINE void event_tangent::move(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                                      Eigen::Ref<event_tangents::rows> state) {
  trajectory_.moving.propagate_tangent(t, y, by, state);
}

AGRAD_INLINE void event_tangent::write_output(Eigen::Index k, double t, const Eigen::VectorXd& y,
                                              const event_tangents::rows& fixed, event_tangents& d) {
  d.states.middleRows(k * trajectory_.n, trajectory_.n) = fixed;
  move(t, y, directions_of(along_.times, static_cast<std::size_t>(k), along_.width),
       d.states.middleRows(k * trajectory_.n, trajectory_.n));
}

AGRAD_INLINE void event_tangent::write_before_outputs(const event_segment& s, const moving& at, event_tangents& d) {
  for (std::size_t j = s.first_before; j < s.first_before + s.befores; ++j) {
    auto rows = d.before.middleRows(static_cast<Eigen::Index>(j) * trajectory_.n, trajectory_.n);
    rows = at.state;
    move(s.end, s.at_end, directions_of(along_.times, trajectory_.plan.before[j], along_.width), rows);
  }
}

AGRAD_INLINE void event_tangent::propagate_segment(const event_segment& s, event_tangents& d, moving& at) {
  if (!s.is_solved) return;
  const auto count = static_cast<Eigen::Index>(s.inner_outputs), late = static_cast<Eigen::Index>(s.late_outputs),
             extra = Eigen::Index{s.ending != event_segment::finish};
  event_tangents::rows states((count + late + extra) * trajectory_.n, along_.width);
  const ode_directions part{along_.width, {at.state.data(), at.state.data() + at.state.size()}, segment_parameters(s)};
  trajectory_.solvers[s.solver]->tangent(part, states.data());
  for (Eigen::Index j = 0; j < count; ++j) {
    const auto k = static_cast<Eigen::Index>(s.first_output + s.begin_outputs) + j;
    write_output(k, trajectory_.v.times[static_cast<std::size_t>(k)], trajectory_.solution.states.col(k),
                 states.middleRows(j * trajectory_.n, trajectory_.n), d);
  }
  at.state = states.bottomRows(trajectory_.n);
}

AGRAD_INLINE void event_tangent::propagate_ending(const event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
  if (s.ending == event_segment::event_ending) return propagate_hits(s, reads_hits, d, at);
  at.time = ending_time(s);
  move(s.end, s.at_end, at.time, at.state);
  at.stored->end_time = at.time, at.stored->moved = at.state;
  if (s.ending == event_segment::finish || !trajectory_.schedule[s.ending_index].is_at_once) return;
  const std::size_t dose = trajectory_.schedule[s.ending_index].index;
  const dose_rule& rule = trajectory_.plan.doses[dose];
  at.state.row(rule.state) = rule.by_state(trajectory_.v.amounts[dose]) * at.state.row(rule.state) +
                             rule.by_amount(s.at_end[rule.state]) * directions_of(along_.amounts, dose, along_.width);
}

AGRAD_INLINE Eigen::RowVectorXd event_tangent::ending_time(const event_segment& s) const {
  if (s.ending == event_segment::finish) return directions_of(along_.times, trajectory_.v.times.size() - 1, along_.width);
  const scheduled& what = trajectory_.schedule[s.ending_index];
  if (what.kind == scheduled::stop) return directions_of(along_.stops, what.index, along_.width);
  Eigen::RowVectorXd time = directions_of(along_.dose_times, what.index, along_.width);
  const Eigen::RowVectorXd duration = directions_of(along_.durations, what.index, along_.width);
  if (what.kind == scheduled::infusion_end) time += duration;
  if (what.is_at_once && trajectory_.plan.doses[what.index].is_infusion) time += duration / 2;  // as in the reverse pass
  return time;
}

AGRAD_INLINE Eigen::RowVectorXd event_tangent::hit_time(const event_segment& s, std::size_t hit, bool is_used,
                                                        const event_tangents::rows& fixed, const Eigen::VectorXd& slope) {
  const event_hit& at = trajectory_.solution.hits[hit];
  double by_t = 0;
  Eigen::VectorXd by_y(trajectory_.n), by_parameters = Eigen::VectorXd::Zero(trajectory_.events[at.event]->parameters());
  trajectory_.events[at.event]->root_gradient(s.end, s.at_end.data(), by_t, by_y.data(), by_parameters.data());
  const Eigen::Map<const event_tangents::rows> parameters(along_.event_parameters[at.event].data(), by_parameters.size(),
                                                          along_.width);
  const Eigen::RowVectorXd change = by_y.transpose() * fixed + by_parameters.transpose() * parameters;
  if (!is_used) return Eigen::RowVectorXd::Zero(along_.width);
  const double rate = by_t + by_y.dot(slope);
  trajectory_.check_crosses(at, rate);
  return change / -rate;
}

AGRAD_INLINE void event_tangent::propagate_hits(const event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
  const std::vector<event_hit>& hits = trajectory_.solution.hits;
  const bool moves = trajectory_.is_placed_in_second(s);
  const auto is_trigger = [&](std::size_t hit) { return hits[hit].kind == hit_kind::trigger; };
  const bool rests = hits[s.ending_index].rests;
  at.stored->is_placed = moves || (reads_hits && !rests);
  for (std::size_t hit = s.ending_index; hit < s.ending_index + s.hits; ++hit)
    at.stored->is_placed = at.stored->is_placed || is_trigger(hit);
  const Eigen::VectorXd slope = trajectory_.slope_at(s.end, s.at_end);
  const event_tangents::rows fixed = at.state;
  for (std::size_t hit = s.ending_index; hit < s.ending_index + s.hits; ++hit) {
    const bool is_first = hit == s.ending_index;
    const bool is_used = (reads_hits && !rests) || (is_first && moves) || is_trigger(hit);
    const Eigen::RowVectorXd time = hits[hit].follows                     ? at.time
                                    : hits[hit].kind == hit_kind::delayed ? delayed_time(hits[hit], d)
                                                                          : hit_time(s, hit, is_used, fixed, slope);
    if (is_first) {
      at.time = time, at.state = fixed + slope * time;
      at.stored->end_time = at.time, at.stored->moved = at.state;
    }
    at.stored->before.push_back(at.state);
    const Eigen::VectorXd& before = hits[hit].state;
    const auto row = static_cast<Eigen::Index>(hit);
    d.hit_times.row(row) = time;
    d.hit_states.middleRows(row * trajectory_.n, trajectory_.n) = at.state;
    move(s.end, before, time - at.time, d.hit_states.middleRows(row * trajectory_.n, trajectory_.n));
    if (trajectory_.resets(hits[hit])) propagate_reset(s, hit, d, at);
  }
}

AGRAD_INLINE Eigen::RowVectorXd event_tangent::delayed_time(const event_hit& of, const event_tangents& d) const {
  const event_hit& trigger = trajectory_.solution.hits[of.trigger];
  double by_t = 0;
  Eigen::VectorXd by_y(trajectory_.n), by_parameters = Eigen::VectorXd::Zero(trajectory_.events[of.event]->parameters());
  trajectory_.events[of.event]->delay_gradient(trigger.t, trigger.state.data(), by_t, by_y.data(), by_parameters.data());
  const Eigen::Map<const event_tangents::rows> parameters(along_.event_parameters[of.event].data(), by_parameters.size(),
                                                          along_.width);
  const auto at = static_cast<Eigen::Index>(of.trigger);
  return (1 + by_t) * d.hit_times.row(at) + by_y.transpose() * d.hit_states.middleRows(at * trajectory_.n, trajectory_.n) +
         by_parameters.transpose() * parameters;
}

AGRAD_INLINE void event_tangent::propagate_reset(const event_segment& s, std::size_t hit, const event_tangents& d,
                                                 moving& at) const {
  const event_hit& of = trajectory_.solution.hits[hit];
  const Eigen::VectorXd& seen = trajectory_.solution.hits[of.seen].state;
  const tangent_rows tangents =
      of.seen < s.ending_index
          ? tangent_rows(d.hit_states.middleRows(static_cast<Eigen::Index>(of.seen) * trajectory_.n, trajectory_.n))
          : at.stored->before[of.seen - s.ending_index];
  event_tangents::rows after(trajectory_.n, along_.width);
  trajectory_.events[of.event]->reset_tangent(
      {along_.width, s.end, seen.data(), tangents.data(), along_.event_parameters[of.event].data(), at.time.data()},
      after.data());
  for (Eigen::Index i = 0; i < trajectory_.n; ++i)
    if (!trajectory_.keeps(hit, i)) at.state.row(i) = after.row(i);
}

}  // namespace agrad::detail
