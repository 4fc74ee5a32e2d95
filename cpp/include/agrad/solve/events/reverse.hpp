// Event reverse: the reverse pass over a solution with doses, stops and events, from the last segment to the first.
//
// The reverse pass propagates the adjoint l of the state and the adjoint u of the time at which the later segment begins. A
// jump y+ = r(t, y-, p) turns l into r_y' l and adds r_t' l to u. The earlier segment's end moves with its time by f before the
// jump, so the time has the adjoint s = u + l' f. At a scheduled time s is the gradient of that time. At an event the time
// follows from g(t, y-, p) = 0, so the state's adjoint grows by -s g_y / (g_t + g_y f) and the parameters' by -s g_p / (g_t +
// g_y f). The start of a segment gives u = -l' f, with f after the jump. The time of a delayed event is that of its trigger and
// the delay d(t, y, p) there, so its adjoint is one of the trigger's time and state, an earlier hit.
// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/solve/events/trajectory.hpp>

namespace agrad::detail {

/// A single reverse pass. The trajectory and the adjoints must outlive it.
class event_reverse_pass {
 public:
  event_reverse_pass(event_trajectory& trajectory, const event_adjoints& adjoints)
      : trajectory_(trajectory),
        adjoints_(adjoints),
        hit_times_(adjoints.hit_times),
        hit_states_(adjoints.hit_states),
        g_(trajectory.no_gradient()),
        state_(adjoints.end_state),
        time_(adjoints.end) {}

  event_gradient compute();

 private:
  /// Adds the adjoints of outputs after the last segment's: outputs at a terminal event, whose times stay when the event moves,
  /// and later outputs.
  void add_end_outputs();

  /// Adds the adjoints of outputs before what is scheduled at a segment's end.
  void add_before_outputs(const event_segment& s);

  /// Propagates the adjoints through what happens at a segment's end.
  void reverse_ending(const event_segment& s);

  /// Propagates the adjoints through the events at a segment's end. All resets of an instant happen at the time of the first
  /// event, and all later results move with this time. A hit's own time moves with that hit; f moves the hit's state from the
  /// first event's time to the hit's time.
  void reverse_event(const event_segment& s);

  /// Propagates the adjoint of the state after the reset of a hit to that before, or adds to an earlier hit's state.
  void reverse_reset(const event_segment& s, std::size_t hit);

  /// Propagates the adjoint of a hit's time to the state and the parameters at the segment's end.
  void reverse_root(const event_segment& s, std::size_t hit, double by, const Eigen::VectorXd& slope);

  /// Propagates the adjoint of a delayed event's time to its trigger.
  void reverse_delay(const event_hit& of, double by);

  /// Propagates the adjoint of a segment's end to the adjoint of its start.
  void reverse_segment(const event_segment& s);

  /// Propagates the adjoints of a segment's rates to the adjoints of the amounts and durations of running infusions.
  void add_rates(const event_segment& s, const double* rate_gradient);

  event_trajectory& trajectory_;
  const event_adjoints& adjoints_;
  std::vector<double> hit_times_;  // adjoints of hits, from results and from later hits
  Eigen::MatrixXd hit_states_;
  event_gradient g_;
  // Adjoints of the state and of the time at the start of the later segment.
  Eigen::VectorXd state_;
  double time_;
  double carried_ = 0;                 // the part of it that belongs to the time of an earlier segment's end
  std::vector<Eigen::VectorXd> seen_;  // adjoints of the states before hits, of the resets of later ones of the instant
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/reverse.ipp>
#endif
