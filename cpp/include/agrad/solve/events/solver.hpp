// Event solver: solves an initial value problem with doses, stops and events, with a solver for each segment between them.
//
// A segment ends at a dose, a stop or an event; the next segment begins there from the state after it. A segment's solver has
// the derivatives of the segment's end with respect to its start. Between two segments the jump of the state has derivatives of
// its own, and both segments depend on the time of the jump: this time moves the end of the earlier segment by f before the
// jump, and the start of the later segment by minus f after the jump. Solvers are reused, so a second solve allocates none.
// A jump may make the conditions of events true; these happen in a segment without length after the jump, and the time of the
// jump passes through this segment.
// Read next: solve/events/conditions.hpp, the events of an instant; solve/events/trajectory.hpp, the results of a solve;
// solve/events/reverse.hpp, the reverse pass; solve/events/tangent.hpp, tangents; solve/events/second.hpp, second order;
// solve/solver/event_watch.hpp, events; solve/posed/events.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/events/conditions.hpp>
#include <agrad/solve/events/reverse.hpp>
#include <agrad/solve/events/second.hpp>
#include <agrad/solve/events/tangent.hpp>
#include <agrad/solve/events/trajectory.hpp>
#include <agrad/solve/one_step/probe.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad {

class event_solver {
 public:
  using maker = std::function<std::unique_ptr<ode_solver>(const std::string&, ode_system&, ode_required)>;
  using functions = detail::event_watch::functions;

  /// function: the name in errors. The system and the events, one for each rule of the plan, must outlive the solver, and so
  /// must the switches, whose roots are the last of the events. differentiated: whether reverse passes will follow.
  event_solver(std::string function, ode_system& system, const functions& events, maker make, event_plan plan,
               bool differentiated, held_switches* switches = nullptr);
  event_solver(const event_solver&) = delete;
  event_solver& operator=(const event_solver&) = delete;

  const event_solution& integrate(const event_values& values);

  /// Returns the gradient of a scalar from the adjoints of the solution's numbers.
  event_gradient reverse(const event_adjoints& adjoints);

  /// Returns whether `tangent` is available.
  bool has_first_tangents() const;
  /// Returns the same as `ode_solver::tangents_match`.
  bool tangents_match() const { return trajectory_.solvers[0]->tangents_match(); }
  /// Returns, after `integrate`, the tangents of the solution's numbers. reads_hits: whether times and states of events are
  /// wanted.
  event_tangents tangent(const event_directions& along, bool reads_hits);

  /// Returns whether `second` is available.
  bool has_tangents() const;
  /// Returns, after `tangent`, the gradient, and writes its tangents along the same directions, for adjoints with tangents.
  event_gradient second(const event_adjoints& adjoints, const event_tangents& tangents, event_directions& gradient_tangents);

  const ode_statistics& statistics() const { return statistics_; }
  /// Does the same as `ode_solver::log_steps`.
  bool log_steps(detail::step_log* log);
  const event_plan& plan() const { return trajectory_.plan; }

 private:
  // ---- forward pass

  void start();

  /// Integrates a segment and applies what happens at its end. Returns whether the solution ends there.
  bool advance();

  /// Enters a segment that ends at the next scheduled time or at the end of an event's delay, or at the last output time.
  void choose_end(detail::event_segment& s);

  /// Writes the outputs at a segment's start, unless more happens at the same instant.
  void write_begin_outputs(detail::event_segment& s, bool is_last);

  /// Writes the outputs at a segment's end before what is scheduled there.
  void write_before_outputs(detail::event_segment& s);

  void solve(detail::event_segment& s);
  /// Passes the probe's tangent to the segment's solver. The change by a dose or a reset moves in a generic direction, and the
  /// changed states have tangents even if the change is zero, as the amount of a dose may be.
  void move_probe(ode_solver& by);
  /// Returns the time of the last column: the event's time, or the requested time if both are equal up to rounding.
  double event_time(Eigen::Index count) const;
  void apply(const detail::scheduled& what);

  /// Applies the events at a segment's end in order. Returns whether a terminal event ends the solution.
  bool apply(detail::event_segment& s);
  /// Makes a segment without length of one at whose begin events happen because of a jump.
  void shorten(detail::event_segment& s);
  /// Lets all events happen that are due, and those whose conditions become true by that. Returns whether one is terminal.
  bool run_due();
  /// Event e, whose trigger is the last hit, waits for its delay.
  void begin_waiting(std::size_t e);
  /// Throws where a hit is one too many.
  void count(const event_hit& hit);
  /// Ends the solution at the present time.
  void terminate();
  /// Evaluates the conditions after a jump of the state.
  void see_jump();

  void reset(const event_hit& hit);

  /// Returns whether an event that happens now happened last at the same time.
  bool is_again(std::size_t e) const {
    return t_ - last_[e] <= 4096 * std::numeric_limits<double>::epsilon() * std::abs(t_) + std::numeric_limits<double>::min();
  }

  /// Tells the events that happen at a segment's end from the kinks that share the instant.
  void take_fired();
  /// Applies the first of the kinks at the present time, at the end of a segment. Kinks of one instant are crossed one after
  /// the other, because each moves with a time of its own, and all of them count in second derivatives.
  void apply_kink(detail::event_segment& s);
  /// Returns whether the solution touches the threshold of a kink, or rests there, instead of crossing it. Nothing of it then
  /// moves, and values as small as those are no crossings either.
  bool rests_at(std::size_t e);
  /// Throws if a slope changes before a kink like a power below 1 of the distance, as a square root does: its derivative is
  /// infinite there.
  void check_slopes(std::size_t e);
  bool is_kink(std::size_t e) const { return watch_.is_switch(e) && trajectory_.switches->is_kink(e - own_events()); }

  /// Changes the sides of the switches at a segment's end.
  void cross_switches(const detail::event_segment& s);
  /// Keeps the side of a switch at the start of the next segment, after a change or without one.
  void cross(std::size_t e, const detail::event_segment& s, bool changes);
  /// After a jump of a system with a mass matrix: changes the state at a segment's start to a consistent one.
  void make_consistent(detail::event_segment& s);
  /// Makes the state at a segment's start consistent, and holds the sides that the state there has or moves to.
  void settle(detail::event_segment& s);
  /// Raises an error where a switch that was just crossed is crossed back at once, and tells the probe which slopes jump.
  void check_crossed(const Eigen::VectorXd& slope);

  /// Returns the rate of change of an event function along the solution.
  double rate_of(std::size_t e, double t, const Eigen::VectorXd& y);
  /// Finds a solution that crosses zero downwards while its rate there is upwards: since the last event the solution has risen
  /// by less than the method resolves. A reset that mistakes the rate for downwards, and reverses it, lets the solution
  /// through.
  void check_progress(const detail::event_segment& s);

  [[noreturn]] AGRAD_COLD void fail_accumulated(std::size_t e) const;
  [[noreturn]] AGRAD_COLD void fail_endless(std::size_t e) const;
  [[noreturn]] AGRAD_COLD void fail_switches(std::size_t e, const std::string& what) const;
  static constexpr const char* holds_state = "the slopes on both sides point to the threshold, where the state would slide";
  [[noreturn]] AGRAD_COLD void fail(std::size_t e, const std::string& code, const std::string& what,
                                    const std::string& advice) const;

  // ---- parts

  /// Returns the number of events that are no switches.
  std::size_t own_events() const { return detail::own_events(trajectory_.events.size(), trajectory_.switches); }

  /// Sums the statistics of the segments' solvers, which cover the forward and the reverse pass.
  void add_up_statistics();

  ode_solver& solver(std::size_t i);

  detail::event_trajectory trajectory_;
  maker make_;
  bool differentiated_;
  detail::event_watch watch_;
  detail::event_tangent tangent_;
  detail::event_conditions conditions_;

  std::size_t solved_ = 0, place_ = 0, next_before_ = 0;
  double t_ = 0;
  Eigen::VectorXd y_, after_reset_, after_probe_;  // after_probe_: the state in which the probe ended
  std::vector<std::size_t> running_;
  bool has_jumped_ = false;    // whether the state or the right-hand side jumped since the last segment
  std::vector<bool> changed_;  // the states that doses and resets have changed since the last segment
  std::vector<long> counts_;
  long happened_ = 0, waited_ = 0;    // events that are no switches; triggers and withdrawals of delayed ones
  std::vector<std::size_t> fired_;    // events at the end of the present segment, without kinks
  std::vector<std::size_t> kinks_;    // kinks at the present time that are still to be crossed
  std::vector<std::size_t> crossed_;  // switches at the end of the last segment
  Eigen::VectorXd slope_before_;      // there
  std::vector<double> last_, ends_, probe_;
  ode_statistics statistics_;
  detail::step_log* log_ = nullptr;
  bool is_integrated_ = false;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/instant.ipp>
#include <agrad/solve/events/solver.ipp>
#endif
