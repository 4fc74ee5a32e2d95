// Event trajectory: the results of a solve with doses, stops and events, for the passes over them.
//
// The solver (solve/events/solver.hpp) writes the trajectory segment by segment; the reverse pass, the tangents and the second
// order read it. The trajectory has the segments' solvers, which do the passes within segments, and the system that all
// segments share.
// Read next: solve/events/reverse.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <agrad/solve/events/schedule.hpp>
#include <agrad/solve/events/system.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/moving_state.hpp>
#include <agrad/solve/solver/solver.hpp>

namespace agrad::detail {

/// The part of a solution between two stops or events, and what happens at its end.
struct event_segment {
  enum ending_type { finish, scheduled_ending, event_ending };
  double begin = 0, end = 0;
  Eigen::VectorXd at_begin, at_end;
  bool is_solved = false;   // else the segment has no length
  bool is_settled = false;  // whether the state at the begin was made consistent with the constraints of a mass matrix
  std::size_t solver = 0;
  std::size_t first_output = 0, begin_outputs = 0, inner_outputs = 0;
  std::size_t late_outputs = 0;      // of the segment's solver: at the time of the event at the end, so after it and not inner
  std::vector<std::size_t> running;  // infusions
  std::vector<double> held;          // sides of switches
  ending_type ending = finish;
  std::size_t ending_index = 0;  // place in the schedule, or first of the hits
  std::size_t hits = 0;
  std::size_t first_before = 0, befores = 0;  // outputs before what is scheduled at the end
};

/// The results as public members and the work space of `enter` and `slope_at`. The passes enter one segment after another.
class event_trajectory {
 public:
  event_trajectory(std::string name, ode_system& inner, const event_watch::functions& functions, event_plan of,
                   bool differentiated, held_switches* held);

  void enter(const event_segment& s);

  /// Returns whether the time of what happens at a segment's end is exact only up to rounding: that of an event, or of a stop
  /// that was found in the right-hand side.
  bool has_rounded_end(const event_segment& s) const {
    if (s.ending != event_segment::scheduled_ending) return s.ending == event_segment::event_ending;
    const scheduled& what = schedule[s.ending_index];
    return what.kind == scheduled::stop && what.index >= plan.stops;
  }

  /// Uses the slopes and consistent states of a system with a mass matrix. Throws where doses have no meaning, or slopes of a
  /// singular system need a derivative with respect to time that the system does not have.
  void use(constrained_state& of);

  const Eigen::VectorXd& slope_at(double t, const Eigen::VectorXd& y) { return moving.slope_at(t, y); }

  /// Returns the largest difference of times that are equal up to rounding.
  static double same_time(double t) { return 32 * std::numeric_limits<double>::epsilon() * std::abs(t); }

  /// Returns whether the times or states of segments' ends have derivatives.
  bool moves() const { return plan.times_move || !events.empty(); }

  /// Returns whether a jump made conditions true, so that the events at a segment's end have the time of this jump.
  bool is_cascade(const event_segment& s) const {
    return s.ending == event_segment::event_ending && solution.hits[s.ending_index].follows;
  }

  /// Returns whether the state changes at a hit.
  bool resets(const event_hit& hit) const { return hit.happens() && events[hit.event]->resets(); }

  /// Returns whether the event of a hit keeps a state, because the reset of an earlier state does not change it.
  bool keeps(std::size_t hit, Eigen::Index state) const {
    const std::vector<bool>& kept = plan.events[solution.hits[hit].event].firing.kept;
    return solution.hits[hit].seen != hit && !kept.empty() && kept[static_cast<std::size_t>(state)];
  }

  /// Returns whether a hit is a kink of the right-hand side.
  bool is_kink(const event_hit& hit) const {
    const std::size_t own = own_events(events.size(), switches);
    return hit.event >= own && switches->is_kink(hit.event - own);
  }

  /// Returns whether later results depend on the time of the events at a segment's end: if an event is terminal or resets, or f
  /// jumps.
  bool is_placed(const event_segment& s);
  /// Returns whether second derivatives of later results depend on it: also where the derivatives of f jump.
  bool is_placed_in_second(const event_segment& s) {
    const event_hit& first = solution.hits[s.ending_index];
    return (is_kink(first) && !first.rests) || is_placed(s);
  }

  void check_crosses(const event_hit& hit, double rate) const;

  /// Returns an event in the user's words.
  std::string name_of(std::size_t e) const { return event_name(e, own_events(events.size(), switches), switches); }

  event_gradient no_gradient() const;

  std::string function;
  event_plan plan;
  const event_watch::functions& events;
  held_switches* switches;  // whose roots are the last of the events, or null
  Eigen::Index n;
  std::vector<std::size_t> rate_of;  // of an infusion: index of the system's rate
  event_system system;
  moving_state moving;
  constrained_state* constrained = nullptr;  // null without a mass matrix
  std::vector<std::unique_ptr<ode_solver>> solvers;

  event_values v;
  std::vector<scheduled> schedule;
  std::vector<event_segment> segments;  // the first `used` are in use
  std::size_t used = 0;
  event_solution solution;

 private:
  std::vector<Eigen::Index> infused_states();

  std::vector<event_system::infusion> into_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/trajectory.ipp>
#endif
