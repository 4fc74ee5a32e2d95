// Event tangent: the derivatives of a solution with doses, stops and events along directions, from the first segment to the
// last.
//
// The forward pass is the transpose of the reverse pass in solve/events/reverse.hpp. It propagates the tangents of the state
// and of the time u at which the later segment begins; within a segment the state's tangents hold at fixed times: dy - f du
// after a jump, dy + f du before the next. At a scheduled time du is the time's tangent. At an event du follows from g(t, y, p)
// = 0: du = -(g_y dy + g_p dp) / (g_t + g_y f) for dy at the fixed time; and a jump y+ = r(t, y-, p) gives dy+ = r_t du + r_y
// (dy + f du) + r_p dp. The time of a delayed event moves with the time and state of its trigger, an earlier hit.
// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
#pragma once

#include <cstddef>
#include <vector>

#include <agrad/solve/events/trajectory.hpp>

namespace agrad::detail {

/// Returns the tangents of entry i of a vector.
Eigen::RowVectorXd directions_of(const std::vector<double>& all, std::size_t i, int width);

/// Propagates tangents over a trajectory, which must outlive this object, and stores intermediate tangents for the second
/// order.
class event_tangent {
 public:
  /// A segment's tangents, stored for the second order.
  struct moving_segment {
    tangent_rows begin, end, moved;           // of the state: at fixed times at both ends, and at the moving end
    Eigen::RowVectorXd begin_time, end_time;  // at an event: of the instant's first event
    std::vector<tangent_rows> before;         // of the state before each hit, at the time of the first
    bool is_placed = true;                    // whether the time of the hits is used
  };

  explicit event_tangent(event_trajectory& trajectory) : trajectory_(trajectory) {}

  event_tangents compute(const event_directions& along, bool reads_hits);

  /// Returns the tangents of the parameters, then of the rates of running infusions.
  std::vector<double> segment_parameters(const event_segment& s) const;

  // Results of the last run.
  const event_directions& along() const { return along_; }
  const std::vector<moving_segment>& moved() const { return moved_; }
  const event_tangents& numbers() const { return numbers_; }

 private:
  /// Tangents at the border of two segments.
  struct moving {
    event_tangents::rows state;
    Eigen::RowVectorXd time;
    moving_segment* stored = nullptr;
  };

  event_tangents no_tangents() const;

  /// Moves the state's tangents to a time that is later by `by`.
  void move(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, Eigen::Ref<event_tangents::rows> state);

  void write_output(Eigen::Index k, double t, const Eigen::VectorXd& y, const event_tangents::rows& fixed, event_tangents& d);

  /// Writes the tangents of outputs before what is scheduled at a segment's end.
  void write_before_outputs(const event_segment& s, const moving& at, event_tangents& d);

  /// Propagates the tangents from a segment's start to its end, at fixed times.
  void propagate_segment(const event_segment& s, event_tangents& d, moving& at);

  /// Propagates the tangents from a segment's end at a fixed time to the state after what happens there, at the moving time.
  void propagate_ending(const event_segment& s, bool reads_hits, event_tangents& d, moving& at);

  /// Returns the tangent of a scheduled time.
  Eigen::RowVectorXd ending_time(const event_segment& s) const;

  /// Returns the tangent of an event's time, or zero if the time is not used: the event may then touch zero without crossing.
  Eigen::RowVectorXd hit_time(const event_segment& s, std::size_t hit, bool is_used, const event_tangents::rows& fixed,
                              const Eigen::VectorXd& slope);

  /// Returns the tangent of a delayed event's time, by those of its trigger.
  Eigen::RowVectorXd delayed_time(const event_hit& of, const event_tangents& d) const;

  /// Propagates the tangents through the reset of a hit.
  void propagate_reset(const event_segment& s, std::size_t hit, const event_tangents& d, moving& at) const;

  /// Propagates the tangents through the events at a segment's end: later results move with the first event of the instant, a
  /// hit's time and state with that hit, as in the reverse pass.
  void propagate_hits(const event_segment& s, bool reads_hits, event_tangents& d, moving& at);

  event_trajectory& trajectory_;
  event_directions along_;
  std::vector<moving_segment> moved_;
  event_tangents numbers_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/tangent.ipp>
#endif
