// Event tangent: the derivatives of a solution with doses, stops and events along directions, from the first segment to the
// last.
//
// The forward pass is the transpose of the reverse pass in solve/events/sweep.hpp. It propagates the tangents of the state and
// of the time u at which the later segment begins; within a segment the state's tangents hold at fixed times: dy - f du after a
// jump, dy + f du before the next. At a scheduled time du is the time's tangent. At an event du follows from g(t, y, p) = 0: du
// = -(g_y dy + g_p dp) / (g_t + g_y f) for dy at the fixed time; and a jump y+ = r(t, y-, p) gives dy+ = r_t du + r_y (dy + f
// du) + r_p dp.
// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
#pragma once

#include <cstddef>
#include <vector>

#include <agrad/solve/events/trajectory.hpp>

namespace agrad::detail {

/// The tangents of entry i of a vector.
inline Eigen::RowVectorXd directions_of(const std::vector<double>& all, std::size_t i, int width) {
  return Eigen::Map<const Eigen::RowVectorXd>(all.data() + i * static_cast<std::size_t>(width), width);
}

/// Propagates tangents over a trajectory, which must outlive this object, and keeps intermediate tangents for the second order.
class event_tangent {
 public:
  /// A segment's tangents, kept for the second order.
  struct moving_segment {
    tangent_rows begin, end, moved;           // of the state: at fixed times at both ends, and at the moving end
    Eigen::RowVectorXd begin_time, end_time;  // at an event: of the instant's first event
    std::vector<tangent_rows> before;         // of the state before each hit, at the time of the first
    bool is_placed = true;                    // whether the time of the hits is used
  };

  explicit event_tangent(event_trajectory& way) : way_(way) {}

  event_tangents run(const event_directions& along, bool reads_hits) {
    along_ = along;
    event_tangents d = no_tangents();
    moving at{Eigen::Map<const event_tangents::rows>(along.initial_state.data(), way_.n, along.width),
              directions_of(along.initial_time, 0, along.width)};
    moved_.assign(way_.used, {});
    for (std::size_t i = 0; i < way_.used; ++i) {
      const event_segment& s = way_.segments[i];
      way_.enter(s);
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
    // Outputs at a terminal event, whose times stay when the event moves, and later outputs.
    const event_segment& last = way_.segments[way_.used - 1];
    for (auto k = static_cast<Eigen::Index>(last.first_output + last.begin_outputs + last.inner_outputs);
         k < way_.solution.states.cols(); ++k) {
      d.states.middleRows(k * way_.n, way_.n) = at.state;
      if (k >= way_.solution.reached) continue;
      const Eigen::RowVectorXd by = directions_of(along.times, static_cast<std::size_t>(k), along.width) - at.time;
      move(last.end, way_.solution.end_state, by, d.states.middleRows(k * way_.n, way_.n));
    }
    numbers_ = d;
    return d;
  }

  /// The tangents of the parameters, then of the rates of running infusions.
  std::vector<double> segment_parameters(const event_segment& s) const {
    const auto w = static_cast<std::size_t>(along_.width), m = way_.system.own_parameters() * w;
    std::vector<double> all = along_.parameters;
    all.resize(m + way_.system.rates() * w, 0.0);
    for (const std::size_t i : s.running) {
      const double duration = infusion_length(way_.v, i), by_duration = -way_.v.amounts[i] / (duration * duration);
      double* rate = all.data() + m + way_.rate_of[i] * w;
      for (std::size_t k = 0; k < w; ++k)
        rate[k] += along_.amounts[i * w + k] / duration + by_duration * along_.durations[i * w + k];
    }
    return all;
  }

  // Results of the last run.
  const event_directions& along() const { return along_; }
  const std::vector<moving_segment>& moved() const { return moved_; }
  const event_tangents& numbers() const { return numbers_; }

 private:
  /// Tangents at the border of two segments.
  struct moving {
    event_tangents::rows state;
    Eigen::RowVectorXd time;
    moving_segment* kept = nullptr;
  };

  event_tangents no_tangents() const {
    const auto count = static_cast<Eigen::Index>(way_.solution.hits.size());
    const auto zeros = [&](Eigen::Index rows) { return event_tangents::rows::Zero(rows, along_.width).eval(); };
    return {zeros(way_.n * way_.solution.states.cols()), zeros(way_.n), Eigen::RowVectorXd::Zero(along_.width), zeros(count),
            zeros(way_.n * count)};
  }

  /// Moves the state's tangents to a time that is later by `by`.
  void move(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, Eigen::Ref<event_tangents::rows> state) {
    way_.moving.forth(t, y, by, state);
  }

  void put_output(Eigen::Index k, double t, const Eigen::VectorXd& y, const event_tangents::rows& fixed, event_tangents& d) {
    d.states.middleRows(k * way_.n, way_.n) = fixed;
    move(t, y, directions_of(along_.times, static_cast<std::size_t>(k), along_.width), d.states.middleRows(k * way_.n, way_.n));
  }

  /// From a segment's begin to its end, at fixed times.
  void forth_through(const event_segment& s, event_tangents& d, moving& at) {
    if (!s.is_solved) return;
    const auto count = static_cast<Eigen::Index>(s.inner_outputs), extra = Eigen::Index{s.ending != event_segment::finish};
    event_tangents::rows states((count + extra) * way_.n, along_.width);
    const ode_directions part{along_.width, {at.state.data(), at.state.data() + at.state.size()}, segment_parameters(s)};
    way_.solvers[s.solver]->tangent(part, states.data());
    for (Eigen::Index j = 0; j < count; ++j) {
      const auto k = static_cast<Eigen::Index>(s.first_output + s.begin_outputs) + j;
      put_output(k, way_.v.times[static_cast<std::size_t>(k)], way_.solution.states.col(k),
                 states.middleRows(j * way_.n, way_.n), d);
    }
    at.state = states.bottomRows(way_.n);
  }

  /// From a segment's end at a fixed time to the state after what happens there, at the moving time.
  void enter_next(const event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
    if (s.ending == event_segment::event_ending) return take_hits(s, reads_hits, d, at);
    at.time = ending_time(s);
    move(s.end, s.at_end, at.time, at.state);
    at.kept->end_time = at.time, at.kept->moved = at.state;
    if (s.ending == event_segment::finish || !way_.schedule[s.happening].is_at_once) return;
    const std::size_t dose = way_.schedule[s.happening].index;
    at.state.row(way_.plan.doses[dose].state) += directions_of(along_.amounts, dose, along_.width);
  }

  /// The tangent of a scheduled time.
  Eigen::RowVectorXd ending_time(const event_segment& s) const {
    if (s.ending == event_segment::finish) return directions_of(along_.times, way_.v.times.size() - 1, along_.width);
    const scheduled& what = way_.schedule[s.happening];
    if (what.kind == scheduled::stop) return directions_of(along_.stops, what.index, along_.width);
    Eigen::RowVectorXd time = directions_of(along_.dose_times, what.index, along_.width);
    const Eigen::RowVectorXd duration = directions_of(along_.durations, what.index, along_.width);
    if (what.kind == scheduled::infusion_end) time += duration;
    if (what.is_at_once && way_.plan.doses[what.index].is_infusion) time += duration / 2;  // as in the reverse pass
    return time;
  }

  /// The tangent of an event's time, or zero if the time is not used: the event may then touch zero without crossing.
  Eigen::RowVectorXd hit_time(const event_segment& s, std::size_t hit, bool is_used, const event_tangents::rows& fixed,
                              const Eigen::VectorXd& slope) {
    const event_hit& at = way_.solution.hits[hit];
    double by_t = 0;
    Eigen::VectorXd by_y(way_.n), by_parameters = Eigen::VectorXd::Zero(way_.events[at.event]->parameters());
    way_.events[at.event]->root_gradient(s.end, s.at_end.data(), by_t, by_y.data(), by_parameters.data());
    const Eigen::Map<const event_tangents::rows> parameters(along_.event_parameters[at.event].data(), by_parameters.size(),
                                                            along_.width);
    const Eigen::RowVectorXd change = by_y.transpose() * fixed + by_parameters.transpose() * parameters;
    if (!is_used) return Eigen::RowVectorXd::Zero(along_.width);
    const double rate = by_t + by_y.dot(slope);
    way_.check_crosses(at, rate);
    return change / -rate;
  }

  /// Events: later results move with the first event of the instant, a hit's time and state with that hit, as in the reverse
  /// pass.
  void take_hits(const event_segment& s, bool reads_hits, event_tangents& d, moving& at) {
    const auto jumps = [&](std::size_t hit) { return way_.events[way_.solution.hits[hit].event]->resets(); };
    const bool moves = way_.is_placed(s);
    at.kept->is_placed = moves || reads_hits;
    const Eigen::VectorXd slope = way_.slope_at(s.end, s.at_end);
    const event_tangents::rows fixed = at.state;
    for (std::size_t hit = s.happening; hit < s.happening + s.hits; ++hit) {
      const bool is_first = hit == s.happening;
      const Eigen::RowVectorXd time = hit_time(s, hit, reads_hits || (is_first && moves), fixed, slope);
      if (is_first) {
        at.time = time, at.state = fixed + slope * time;
        at.kept->end_time = at.time, at.kept->moved = at.state;
      }
      at.kept->before.push_back(at.state);
      const Eigen::VectorXd& before = way_.solution.hits[hit].state;
      const auto row = static_cast<Eigen::Index>(hit);
      d.hit_times.row(row) = time;
      d.hit_states.middleRows(row * way_.n, way_.n) = at.state;
      move(s.end, before, time - at.time, d.hit_states.middleRows(row * way_.n, way_.n));
      if (!jumps(hit)) continue;
      const std::size_t e = way_.solution.hits[hit].event;
      const event_tangents::rows state = at.state;
      way_.events[e]->reset_tangent(
          {along_.width, s.end, before.data(), at.time.data(), state.data(), along_.event_parameters[e].data()},
          at.state.data());
    }
  }

  event_trajectory& way_;
  event_directions along_;
  std::vector<moving_segment> moved_;
  event_tangents numbers_;
};

}  // namespace agrad::detail
