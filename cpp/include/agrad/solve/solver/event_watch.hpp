// Event watch: detects that a function of time and state crosses zero within a step, and finds the time.
//
// The watch remembers for each event on which side of zero the solution is. This side decides whether there is a crossing, not
// the sign of a value that is zero up to rounding, so an event does not repeat where it has just happened. Within a step the
// watch examines the cubic polynomial through the function's values and slopes at both ends, so it detects two crossings in a
// step as well. It then encloses a root and computes it on the method's own solution (solve/solver/zero_search.hpp).
// Read next: solve/events/solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/solve/solver/switch_nodes.hpp>
#include <agrad/solve/solver/zero_search.hpp>
#include <agrad/solve/system/event.hpp>
#include <agrad/solve/system/held_switches.hpp>

namespace agrad::detail {

/// Returns the number of events that are no roots of switches, among events whose last ones are.
inline std::size_t own_events(std::size_t events, const held_switches* switches) {
  return switches == nullptr ? events : events - switches->size();
}
/// Returns an event in the user's words. own: the number of events that are no roots of switches.
std::string event_name(std::size_t e, std::size_t own, const held_switches* switches);

class event_watch {
 public:
  using functions = std::vector<std::unique_ptr<event_function>>;

  /// switches: those whose roots are the last of the events, or null.
  event_watch(std::string function, const functions& events, const std::vector<event_rule>& rules, Eigen::Index states,
              held_switches* switches)
      : function_(std::move(function)),
        events_(events),
        rules_(rules),
        switches_(switches),
        own_(own_events(events.size(), switches)),
        of_(events.size()),
        by_y_(states),
        nodes_(switches, states) {}

  // ---- for the driver

  /// Forgets all events.
  void start() { of_.assign(of_.size(), {}); }
  /// The state or f has changed: the watch must determine the sides again.
  void expect_change();
  /// Restores the sides at the last `expect_change`, to repeat the same steps.
  void rewind() { of_ = at_change_; }
  /// The events that ended the last step, in order; empty if no event did.
  const std::vector<std::size_t>& fired() const { return fired_; }
  /// Up to which size values of event e count as zero, because the event has just happened.
  double zero(std::size_t e) const { return of_[e].zero; }
  /// The approximate rate of change of event e around its zero.
  double steepness(std::size_t e) const { return of_[e].last.steepness; }
  /// The side of zero before event e, and whether its function jumps to the other side.
  int came_from(std::size_t e) const { return of_[e].last.from; }
  bool jumps(std::size_t e) const { return of_[e].last.jumps; }
  /// Whether event e happened again before its function had left zero.
  bool sticks(std::size_t e) const { return of_[e].last.sticks; }
  /// Stores the value of event e at its zero, and its rate towards zero. Values of this size then count as zero. If the
  /// function clearly crossed zero, rather than turned there, and its reset stops it, any further motion crosses zero again.
  void expect_return(std::size_t e, double value, double rate);
  /// Event e rests at zero: values up to a size count as zero until the function leaves zero, and up to more if it has happened
  /// there before.
  void rest(std::size_t e, double size, bool is_again) {
    of_[e].zero = std::max(is_again ? 16 * of_[e].zero : of_[e].zero, size);
  }
  /// The largest value of event e at both ends of the attempted step in which it happened.
  double height(std::size_t e) const { return std::max(std::abs(of_[e].here.value), std::abs(of_[e].next.value)); }
  /// The size of that step.
  double attempted() const { return attempted_; }
  /// The time of the events.
  double where() const { return where_; }
  /// Whether an event is the root of a switch.
  bool is_switch(std::size_t e) const { return e >= own_; }

  // ---- for the solver

  /// Starts at a step that does not follow the last one. The solver's clock is zero at `start`: late in time this clock has a
  /// finer resolution than the problem's clock, which `where` uses.
  void begin(double t, const double* y, const double* slope, double start = 0);

  /// After a step to (t, y): whether an event may lie in the step. If none does, the next step begins at the step's end.
  bool sees(double t, const double* y, const double* slope);

  /// The size of the step that ends at the first event, or h if there is none. state_at(h) is the solution after a step of size
  /// h.
  template <class StateAt>
  double locate(double h, const StateAt& state_at) {
    double first = h;
    for (candidate& each : candidates_) {
      if (!enclose(each, h, state_at)) continue;
      find(each, state_at);
      first = std::min(first, each.at);
    }
    const double size = std::max(std::abs(start_ + t_), first), as_good_as = first + 1e-13 * size;
    for (const candidate& each : candidates_)
      if (each.is_enclosed && each.at <= as_good_as) fire(each, size);
    if (fired_.empty()) go_on(t_ + h);
    if (fired_.empty()) return h;
    first = std::max(first, std::nextafter(t_, HUGE_VAL) - t_);
    where_ = start_ + (t_ + first);
    return first;
  }

 private:
  /// What is known about the side of an event's function.
  enum class phase {
    unknown,  // the next step determines the side
    leaving,  // the event has just happened, and the function must leave zero
    watched
  };
  struct sample {
    double value = 0, slope = 0;
  };
  /// How an event happened: the side before, and the rates of change in the step and from the step's start to the event.
  struct occurrence {
    int from = 0;
    double steepness = 0, approach = 0;
    bool jumps = false, sticks = false;
  };
  struct event {
    sample here, next;  // at both ends of the step
    phase now = phase::unknown;
    int side = 0;        // of zero; 0 if unknown
    double zero = 0;     // values of this size count as zero from an event until the function leaves zero
    bool stops = false;  // the reset stops the function, until the side is determined again
    occurrence last;
  };
  /// A part of a step that contains a crossing.
  struct candidate {
    std::size_t event;
    int side;
    bracket part;
    double guess;
    bool is_doubtful = false;  // the cubic turns at `guess` before zero, but the solution may cross zero twice
    bool is_enclosed = false;
    double at = 0;
    occurrence found = {};
  };

  /// Returns the sample of a switch at a node.
  sample of_node(std::size_t e, const switch_nodes::node& at) const { return {at.values[e - own_], at.rates[e - own_]}; }
  sample evaluate(std::size_t e, double t, const double* y, const double* slope);

  /// Starts with the side that is held, on which a value that is zero up to rounding may not lie yet.
  void begin_switch(std::size_t e);
  /// Whether the event counts again where it has left zero on neither side.
  bool repeats(std::size_t e) const { return is_switch(e) || events_[e]->resets_there(); }
  int direction(std::size_t e) const { return watched_direction(rules_[e], *events_[e]); }

  /// Adds the step's first crossing in the event's direction to the candidates.
  void scan(std::size_t e, double h);
  /// The course of a scan: the side so far, whether the function has been there, and the last time on it; `doubt` is a time at
  /// which the cubic turns near zero.
  struct course {
    int side;
    bool is_clear;
    double low = 0, doubt = 0;
  };
  /// Scans a part of the step between two samples. Returns whether there is a crossing.
  bool scan(std::size_t e, double from, double to, const sample& first, const sample& last, course& so_far);
  /// Whether a cubic that turns within a step does so nearer to zero than a long step's cubic is accurate.
  static bool turns_near_zero(const event& of, const sample& first, const sample& last, double extremum);
  /// Records that an event happened; size: of the times, whose rounding errors count.
  void fire(const candidate& c, double size);

  void go_on(double t);

  template <class StateAt>
  double value_at(const candidate& c, double h, const StateAt& state_at) {
    const double value = events_[c.event]->root(start_ + (t_ + h), state_at(h));
    if (!std::isfinite(value)) fail(c.event, t_ + h, value);
    return value;
  }

  /// Returns whether the solution crosses zero where the cubic only turns, with the part of the step that contains the crossing
  /// in the event's direction.
  template <class StateAt>
  bool narrow(candidate& c, double h, const StateAt& state_at) {
    const event& of = of_[c.event];
    const auto value = [&](double at) { return value_at(c, at, state_at); };
    if (!finds_turn(c.side, of.here.value, of.next.value, h, c.guess, value)) return false;
    const int counted = direction(c.event);
    if (counted == 0 || counted == -c.side)
      c.part.high = c.guess;
    else
      c.part.low = c.guess, c.side = -c.side;
    c.guess = (c.part.low + c.part.high) / 2;
    return true;
  }

  /// Whether the solution itself, not only the cubic, has different sides at both ends.
  template <class StateAt>
  bool enclose(candidate& c, double h, const StateAt& state_at) {
    if (c.is_doubtful && !narrow(c, h, state_at)) return false;
    const event& of = of_[c.event];
    const bracket whole{0, h, of.here.value, of.next.value};
    bracket& part = c.part;
    part.low_value = part.low == 0 ? of.here.value : value_at(c, part.low, state_at);
    part.high_value = part.high == h ? of.next.value : value_at(c, part.high, state_at);
    if (part.low > 0 && sign_of(part.low_value) != c.side && sign_of(of.here.value) == c.side) {  // before the cubic's crossing
      part = {0, part.low, of.here.value, part.low_value};
      c.guess = part.high / 2;
    }
    if (!part.leaves(c.side) && whole.leaves(c.side)) part = whole, c.guess = h / 2;  // the cubic misplaces the crossing
    c.found = {c.side, part.scale() / (part.high - part.low)};
    c.is_enclosed = part.leaves(c.side);
    if (!c.is_enclosed && of.now == phase::leaving && repeats(c.event)) {
      // The reset's effect is below what the method resolves: the event repeats at once.
      c.is_enclosed = c.found.sticks = true, part.high = 0;
    }
    return c.is_enclosed;
  }

  /// Computes the time of an enclosed event.
  template <class StateAt>
  void find(candidate& c, const StateAt& state_at) {
    if (!(c.part.high > 0)) return;  // at the step's start
    const auto value = [&](double at) { return value_at(c, at, state_at); };
    const found_zero zero = zero_in(c.part, c.side, c.guess, t_, start_ + t_, value);
    c.at = zero.at, c.found.jumps = zero.jumps;
  }

  [[noreturn]] AGRAD_COLD void fail(std::size_t e, double t, double value) const;

  std::string function_;
  const functions& events_;
  const std::vector<event_rule>& rules_;
  held_switches* switches_;
  std::size_t own_;  // events that are no switches
  std::vector<event> of_, at_change_;
  Eigen::VectorXd by_y_;
  switch_nodes nodes_;
  std::vector<candidate> candidates_;
  std::vector<std::size_t> fired_;
  double start_ = 0;  // the problem's time at t_ = 0
  double t_ = 0, where_ = 0, attempted_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/event_watch.ipp>
#endif
