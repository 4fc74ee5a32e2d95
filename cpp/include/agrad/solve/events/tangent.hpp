// Event tangent: the derivatives of a solution with doses, stops and events along directions, from the first segment to the last.
//
// It is the sweep of solve/events/sweep.hpp transposed. Between segments travel the tangents of the state and of the time u at
// which the later one begins; within a segment the state's are those at fixed times: dy - f du behind a jump, dy + f du before
// the next. At a scheduled time du is that time's. At an event it follows from g(t, y, p) = 0: du = -(g_y dy + g_p dp) / (g_t +
// g_y f) for dy at the fixed time; and a jump y+ = r(t, y-, p) gives dy+ = r_t du + r_y (dy + f du) + r_p dp.
// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <agrad/solve/events/solver.hpp>

namespace agrad {

namespace detail {

/// The directions of a number among others.
inline Eigen::RowVectorXd directions_of(const std::vector<double>& all, std::size_t i, int width) {
  return Eigen::Map<const Eigen::RowVectorXd>(all.data() + i * static_cast<std::size_t>(width), width);
}

}  // namespace detail

inline event_tangents event_solver::no_tangents() const {
  const auto count = static_cast<Eigen::Index>(solution_.hits.size());
  const auto zeros = [&](Eigen::Index rows) { return event_tangents::rows::Zero(rows, along_.width).eval(); };
  return {zeros(n_ * solution_.states.cols()), zeros(n_), Eigen::RowVectorXd::Zero(along_.width), zeros(count),
          zeros(n_ * count)};
}

inline event_tangents event_solver::tangent(const event_directions& along, bool reads_hits) {
  if (!is_integrated_) throw std::logic_error(function_ + ": tangent comes after integrate has succeeded");
  along_ = along;
  event_tangents d = no_tangents();
  moving at{Eigen::Map<const event_tangents::rows>(along.initial_state.data(), n_, along.width),
            detail::directions_of(along.initial_time, 0, along.width)};
  moved_.assign(used_, {});
  for (std::size_t i = 0; i < used_; ++i) {
    const detail::event_segment& s = segments_[i];
    enter(s);
    move(s.begin, s.at_begin, -at.time, at.state);
    at.kept = &moved_[i];
    at.kept->begin = at.state, at.kept->begin_time = at.time;
    for (std::size_t k = s.first_output; k < s.first_output + s.begin_outputs; ++k)
      put_output(static_cast<Eigen::Index>(k), s.begin, s.at_begin, at.state, d);
    forth_through(s, d, at);
    at.kept->end = at.state;
    enter_next(s, reads_hits, d, at);
  }
  d.end = at.time, d.end_state = at.state;
  // Outputs at a terminal event, whose times stay where the event moves, and those after it.
  const detail::event_segment& last = segments_[used_ - 1];
  for (auto k = static_cast<Eigen::Index>(last.first_output + last.begin_outputs + last.inner_outputs);
       k < solution_.states.cols(); ++k) {
    d.states.middleRows(k * n_, n_) = at.state;
    if (k >= solution_.reached) continue;
    const Eigen::RowVectorXd by = detail::directions_of(along.times, static_cast<std::size_t>(k), along.width) - at.time;
    move(last.end, solution_.end_state, by, d.states.middleRows(k * n_, n_));
  }
  numbers_ = d;
  return d;
}

/// The state's tangents from one time to another that is later by so much.
inline void event_solver::move(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                               Eigen::Ref<event_tangents::rows> state) {
  moving_.forth(t, y, by, state);
}

inline void event_solver::put_output(Eigen::Index k, double t, const Eigen::VectorXd& y, const event_tangents::rows& fixed,
                                     event_tangents& d) {
  d.states.middleRows(k * n_, n_) = fixed;
  move(t, y, detail::directions_of(along_.times, static_cast<std::size_t>(k), along_.width), d.states.middleRows(k * n_, n_));
}

/// From a segment's begin to its end, at fixed times.
inline void event_solver::forth_through(const detail::event_segment& s, event_tangents& d, moving& at) {
  if (!s.is_solved) return;
  const auto count = static_cast<Eigen::Index>(s.inner_outputs),
             extra = Eigen::Index{s.ending != detail::event_segment::finish};
  event_tangents::rows states((count + extra) * n_, along_.width);
  const ode_directions part{along_.width, {at.state.data(), at.state.data() + at.state.size()}, segment_parameters(s)};
  solvers_[s.solver]->tangent(part, states.data());
  for (Eigen::Index j = 0; j < count; ++j) {
    const auto k = static_cast<Eigen::Index>(s.first_output + s.begin_outputs) + j;
    put_output(k, v_.times[static_cast<std::size_t>(k)], solution_.states.col(k), states.middleRows(j * n_, n_), d);
  }
  at.state = states.bottomRows(n_);
}

/// The directions of the parameters and, behind them, of the rates of the infusions that run.
inline std::vector<double> event_solver::segment_parameters(const detail::event_segment& s) const {
  const auto w = static_cast<std::size_t>(along_.width), m = system_.own_parameters() * w;
  std::vector<double> all = along_.parameters;
  all.resize(m + system_.rates() * w, 0.0);
  for (const std::size_t i : s.running) {
    const double duration = detail::infusion_length(v_, i), by_duration = -v_.amounts[i] / (duration * duration);
    double* rate = all.data() + m + rate_of_[i] * w;
    for (std::size_t k = 0; k < w; ++k)
      rate[k] += along_.amounts[i * w + k] / duration + by_duration * along_.durations[i * w + k];
  }
  return all;
}

/// From a segment's end at a fixed time to after what happens there, at the time where it happens.
inline void event_solver::enter_next(const detail::event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
  if (s.ending == detail::event_segment::event_ending) return take_hits(s, reads_hits, d, at);
  at.time = ending_time(s);
  move(s.end, s.at_end, at.time, at.state);
  at.kept->end_time = at.time, at.kept->moved = at.state;
  if (s.ending == detail::event_segment::finish || !schedule_[s.happening].is_at_once) return;
  const std::size_t dose = schedule_[s.happening].index;
  at.state.row(plan_.doses[dose].state) += detail::directions_of(along_.amounts, dose, along_.width);
}

/// The tangent of a time that is known.
inline Eigen::RowVectorXd event_solver::ending_time(const detail::event_segment& s) const {
  if (s.ending == detail::event_segment::finish) return detail::directions_of(along_.times, v_.times.size() - 1, along_.width);
  const detail::scheduled& what = schedule_[s.happening];
  if (what.kind == detail::scheduled::stop) return detail::directions_of(along_.stops, what.index, along_.width);
  Eigen::RowVectorXd time = detail::directions_of(along_.dose_times, what.index, along_.width);
  const Eigen::RowVectorXd duration = detail::directions_of(along_.durations, what.index, along_.width);
  if (what.kind == detail::scheduled::infusion_end) time += duration;
  if (what.is_at_once && plan_.doses[what.index].is_infusion) time += duration / 2;  // as in the sweep
  return time;
}

/// The tangent of an event's time; not of one that is not used and only touches zero.
inline Eigen::RowVectorXd event_solver::hit_time(const detail::event_segment& s, std::size_t hit, bool is_used,
                                                 const event_tangents::rows& fixed, const Eigen::VectorXd& slope) {
  const event_hit& at = solution_.hits[hit];
  double by_t = 0;
  Eigen::VectorXd by_y(n_), by_parameters = Eigen::VectorXd::Zero(events_[at.event]->parameters());
  events_[at.event]->root_gradient(s.end, s.at_end.data(), by_t, by_y.data(), by_parameters.data());
  const Eigen::Map<const event_tangents::rows> parameters(along_.event_parameters[at.event].data(), by_parameters.size(),
                                                          along_.width);
  const Eigen::RowVectorXd change = by_y.transpose() * fixed + by_parameters.transpose() * parameters;
  if (!is_used) return Eigen::RowVectorXd::Zero(along_.width);
  const double rate = by_t + by_y.dot(slope);
  check_crosses(at, rate);
  return change / -rate;
}

/// Whether what comes later depends on the time of the events at a segment's end: where one is terminal, one resets or f jumps.
inline bool event_solver::is_placed(const detail::event_segment& s) {
  const detail::event_segment* next = &s + 1;
  if (next == segments_.data() + used_) return true;
  for (std::size_t hit = s.happening; hit < s.happening + s.hits; ++hit)
    if (events_[solution_.hits[hit].event]->resets()) return true;
  if (!next->is_solved) return false;
  const Eigen::ArrayXd before = slope_at(s.end, s.at_end);
  enter(*next);
  const Eigen::ArrayXd behind = slope_at(next->begin, next->at_begin);
  enter(s);
  return ((behind - before).abs() > 1e-9 * behind.abs().max(before.abs())).any();
}

/// Events: what comes later moves with the first of the instant, each hit's own numbers with that hit, as in the sweep.
inline void event_solver::take_hits(const detail::event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
  const auto jumps = [&](std::size_t hit) { return events_[solution_.hits[hit].event]->resets(); };
  const bool moves = is_placed(s);
  at.kept->is_placed = moves || reads_hits;
  const Eigen::VectorXd slope = slope_at(s.end, s.at_end);
  const event_tangents::rows fixed = at.state;
  for (std::size_t hit = s.happening; hit < s.happening + s.hits; ++hit) {
    const bool is_first = hit == s.happening;
    const Eigen::RowVectorXd time = hit_time(s, hit, reads_hits || (is_first && moves), fixed, slope);
    if (is_first) {
      at.time = time, at.state = fixed + slope * time;
      at.kept->end_time = at.time, at.kept->moved = at.state;
    }
    at.kept->before.push_back(at.state);
    const Eigen::VectorXd& before = solution_.hits[hit].state;
    const auto row = static_cast<Eigen::Index>(hit);
    d.hit_times.row(row) = time;
    d.hit_states.middleRows(row * n_, n_) = at.state;
    move(s.end, before, time - at.time, d.hit_states.middleRows(row * n_, n_));
    if (!jumps(hit)) continue;
    const std::size_t e = solution_.hits[hit].event;
    const event_tangents::rows state = at.state;
    events_[e]->reset_tangent(
        {along_.width, s.end, before.data(), at.time.data(), state.data(), along_.event_parameters[e].data()}, at.state.data());
  }
}

}  // namespace agrad
