// Event sweep: the gradient of a solution with doses, stops and events, segment by segment from the last to the first.
//
// Between segments travel the adjoints l of the state and u of the time at which the later one begins. A jump y+ = r(t, y-, p) turns
// l into r_y' l and adds r_t' l to u. The earlier segment's end moves with its time by f before the jump: s = u + l' f. At a
// scheduled time s is that time's gradient. At an event the time follows from g(t, y-, p) = 0, so s is handed to what g depends on,
// -s g_y / (g_t + g_y f) to the state and -s g_p / (g_t + g_y f) to the parameters. The begin of a segment has u = -l' f after it.
// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include <agrad/solve/events/solver.hpp>

namespace agrad {

inline event_gradient event_solver::no_gradient() const {
  const auto zeros = [](std::size_t count) { return Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count)).eval(); };
  const std::size_t doses = plan_.doses.size();
  event_gradient g{zeros(0),
                   0,
                   zeros(v_.times.size()),
                   zeros(doses),
                   zeros(doses),
                   zeros(doses),
                   zeros(v_.stops.size()),
                   zeros(system_.own_parameters()),
                   {}};
  for (const auto& event : events_) g.event_parameters.push_back(Eigen::VectorXd::Zero(event->parameters()));
  return g;
}

inline event_gradient event_solver::sweep(const event_adjoints& adjoints) {
  if (!is_integrated_) throw std::logic_error(function_ + ": sweep comes after integrate has succeeded");
  event_gradient g = no_gradient();
  boundary at{adjoints.end_state, adjoints.end};
  take_end_outputs(adjoints, at, g);
  for (std::size_t i = used_; i-- > 0;) {
    const detail::event_segment& s = segments_[i];
    enter(s);
    leave(s, adjoints, at, g);
    back_through(s, adjoints, at, g);
    for (std::size_t k = s.first_output; k < s.first_output + s.begin_outputs; ++k) {
      const auto column = adjoints.states.col(static_cast<Eigen::Index>(k));
      at.state += column;
      if (!column.isZero(0)) g.times[static_cast<Eigen::Index>(k)] += column.dot(slope_at(s.begin, s.at_begin));
    }
    at.time = at.state.isZero(0) ? 0.0 : -at.state.dot(slope_at(s.begin, s.at_begin));
  }
  g.initial_state = at.state;
  g.initial_time = at.time;
  add_up_sweeps();
  return g;
}

/// Each segment has a solver of its own, whose statistics are those of its two passes.
inline void event_solver::add_up_sweeps() {
  statistics_ = {};
  for (std::size_t i = 0; i < used_; ++i)
    if (segments_[i].is_solved) statistics_ += solvers_[segments_[i].solver]->statistics();
}

/// Outputs behind the last segment's own: those at a terminal event, whose times stay where the event moves, and those after it.
inline void event_solver::take_end_outputs(const event_adjoints& adjoints, boundary& at, event_gradient& g) {
  const detail::event_segment& s = segments_[used_ - 1];
  enter(s);
  auto k = static_cast<Eigen::Index>(s.first_output + s.begin_outputs + s.inner_outputs);
  for (; k < adjoints.states.cols(); ++k) {
    const auto column = adjoints.states.col(k);
    if (column.isZero(0)) continue;
    at.state += column;
    if (k >= solution_.reached) continue;
    const double by_time = column.dot(slope_at(s.end, solution_.end_state));
    at.time -= by_time;
    g.times[k] += by_time;
  }
}

/// From after what happens at a segment's end to before it.
inline void event_solver::leave(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at,
                                event_gradient& g) {
  if (s.ending == detail::event_segment::event_ending) return leave_event(s, adjoints, at, g);
  const double by_end = at.time + (at.state.isZero(0) ? 0.0 : at.state.dot(slope_at(s.end, s.at_end)));
  if (s.ending == detail::event_segment::finish) {
    g.times[g.times.size() - 1] += by_end;
    return;
  }
  const detail::scheduled& what = schedule_[s.happening];
  const auto i = static_cast<Eigen::Index>(what.index);
  if (what.kind == detail::scheduled::stop) {
    g.stops[i] += by_end;
    return;
  }
  g.dose_times[i] += by_end;
  const dose_rule& rule = plan_.doses[what.index];
  if (what.kind == detail::scheduled::infusion_end) g.durations[i] += by_end;
  if (!what.is_at_once) return;
  g.amounts[i] += at.state[rule.state];
  if (rule.is_infusion) g.durations[i] += by_end / 2;  // the middle of an infusion that is too short to be one
}

/// Resets follow each other at the time of the instant's first event, which all that comes later moves with. A hit's own time moves
/// with that hit, and its state by f from the first's time to its own.
inline void event_solver::leave_event(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at,
                                      event_gradient& g) {
  Eigen::VectorXd back(n_), part;
  std::vector<double> by_hits(s.hits);
  for (std::size_t j = s.hits; j-- > 0;) {
    const std::size_t hit = s.happening + j, e = solution_.hits[hit].event;
    const Eigen::VectorXd& before = solution_.hits[hit].state;
    if (events_[e]->resets() && !at.state.isZero(0)) {
      double by_time = 0;
      part.setZero(events_[e]->parameters());
      events_[e]->reset_vjp(s.end, before.data(), at.state.data(), by_time, back.data(), part.data());
      at.state = back;
      at.time += by_time;
      g.event_parameters[e] += part;
    }
    by_hits[j] = adjoints.hit_times[hit];
    const auto of_state = adjoints.hit_states.col(static_cast<Eigen::Index>(hit));
    if (of_state.isZero(0)) continue;
    const double by_delay = of_state.dot(slope_at(s.end, before));
    by_hits[j] += by_delay, at.time -= by_delay;
    at.state += of_state;
  }
  const Eigen::VectorXd slope = slope_at(s.end, s.at_end);
  if (is_placed(s)) by_hits[0] += at.time + at.state.dot(slope);
  for (std::size_t j = 0; j < s.hits; ++j) {
    if (by_hits[j] == 0) continue;
    const std::size_t hit = s.happening + j, e = solution_.hits[hit].event;
    double by_t = 0;
    part.setZero(events_[e]->parameters());
    events_[e]->root_gradient(s.end, s.at_end.data(), by_t, back.data(), part.data());
    const double rate = by_t + back.dot(slope);
    check_crosses(solution_.hits[hit], rate);
    at.state -= by_hits[j] / rate * back;
    g.event_parameters[e] -= by_hits[j] / rate * part;
  }
}

inline void event_solver::check_crosses(const event_hit& hit, double rate) const {
  if (!(std::abs(rate) > 1e-10 * hit.steepness))
    throw DerivativeError(function_ + ": events[" + std::to_string(hit.event) + "] touches zero at t = " +
                          detail::to_text(hit.t) + " without crossing it, so its time has no derivative");
}

/// From a segment's end to its begin.
inline void event_solver::back_through(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at,
                                       event_gradient& g) {
  const auto m = static_cast<Eigen::Index>(system_.own_parameters());
  if (!s.is_solved) return;
  const auto first = static_cast<Eigen::Index>(s.first_output + s.begin_outputs),
             count = static_cast<Eigen::Index>(s.inner_outputs);
  const bool is_finish = s.ending == detail::event_segment::finish;
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n_, count + (is_finish ? 0 : 1));
  all.leftCols(count) = adjoints.states.middleCols(first, count);
  for (Eigen::Index k = first; k < first + count; ++k) {
    if (adjoints.states.col(k).isZero(0)) continue;
    const double time = v_.times[static_cast<std::size_t>(k)];
    g.times[k] += adjoints.states.col(k).dot(slope_at(time, solution_.states.col(k)));
  }
  all.rightCols(1) += at.state;
  if (all.isZero(0)) {
    at.state.setZero();
    return;
  }
  const ode_gradient through = solvers_[s.solver]->sweep(all);
  at.state = through.initial_state;
  g.parameters += through.parameters.head(m);
  add_rates(s, through.parameters.data() + m, g);
}

/// From the rates of a segment to the amounts and durations of the infusions that ran.
inline void event_solver::add_rates(const detail::event_segment& s, const double* rate_gradient, event_gradient& g) const {
  for (const std::size_t i : s.running) {
    const auto to = static_cast<Eigen::Index>(i);
    const double by_rate = rate_gradient[rate_of_[i]], duration = detail::infusion_length(v_, i);
    g.amounts[to] += by_rate / duration;
    g.durations[to] -= by_rate * v_.amounts[i] / (duration * duration);
  }
}

}  // namespace agrad
