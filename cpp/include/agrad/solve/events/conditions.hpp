// Event conditions: which conditions hold, which events wait, and in which order the events of one instant happen.
//
// A condition holds where its event function is positive. Within a segment the event watch finds the times at which conditions
// become true; a jump of the state may make them true as well. A value that the jump does not change, or that is zero up to
// rounding because the event has just happened, changes no condition; a value of exactly zero that rises holds. An event with a
// delay waits from its trigger on; one that is not persistent does so as long as its condition holds.
// Read next: solve/events/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad::detail {

/// What is to happen to an event, because its event function is zero, because, where it follows, a jump made it positive, or
/// because its delay is over.
struct due_event {
  std::size_t event;
  std::size_t trigger;  // the hit whose state is the state at the trigger
  bool follows = false;
  hit_kind kind = hit_kind::event;
};

class event_conditions {
 public:
  /// own: the number of the first events that are no switches.
  event_conditions(const event_watch::functions& events, const std::vector<event_rule>& rules, std::size_t own);

  bool any() const { return any_; }

  /// Begins a solution, with the conditions before t0.
  void start();
  /// The solution has come to a state without jumps.
  void arrive(double t, const Eigen::VectorXd& y);
  /// Event e, whose function is zero, is to happen; from: the side of zero before.
  void reach(std::size_t e, std::size_t hit, int from);
  /// Event e waits from its trigger, a hit, until a time.
  void wait(std::size_t e, std::size_t trigger, double until);
  /// When the next event that waits is to happen, or infinity.
  double next_time() const { return waiting_.empty() ? HUGE_VAL : waiting_.front().until; }
  /// The events that wait until at most t are to happen.
  void end_waiting(double t);
  /// Event e, if it waits, or is to happen, does not happen.
  void withdraw(std::size_t e);
  /// The state has changed by a jump: adds the events whose conditions became true, and leaves out due events that are not
  /// persistent whose conditions no longer hold. hit: the next one. value_of(e), rate_of(e): event e's function in the state,
  /// and its rate of change.
  template <class Value, class Rate>
  void jump(const event_watch& watch, std::size_t hit, const Value& value_of, const Rate& rate_of) {
    if (!any_) return;
    for (std::size_t e = 0; e < own_; ++e) {
      if (!rules_[e].firing.is_condition) continue;
      const double value = value_of(e), zero = watch.zero(e);
      const bool is_same = (known_ && value == values_[e]) || (zero > 0 && std::abs(value) <= zero);
      values_[e] = value;
      if (is_same) continue;
      const bool holds = value > 0 || (value == 0 && rate_of(e) > 0);
      if (holds && !holds_[e]) add({e, hit, true, kind_at_trigger(e)});
      if (!holds && !rules_[e].firing.is_persistent) withdraw(e);
      holds_[e] = holds;
    }
    known_ = true;
  }

  /// Whether an event is to happen, and the next one, which is due no longer.
  bool is_due() const { return !due_.empty(); }
  due_event next();

  /// Counts the events of the instant. Returns whether event e happens too often for a cascade that ends.
  bool is_endless(std::size_t e) { return ++here_[e] > most_; }
  /// Returns the names of the events that repeat in a cascade without end.
  std::string repeated() const;

 private:
  static constexpr std::size_t most_ = 100;

  /// An event from its trigger on, until it happens.
  struct waiting_event {
    double until;
    due_event event;
  };

  hit_kind kind_at_trigger(std::size_t e) const { return events_[e]->delays() ? hit_kind::trigger : hit_kind::event; }
  void add(const due_event& event);

  const event_watch::functions& events_;
  const std::vector<event_rule>& rules_;
  std::size_t own_;
  bool any_ = false, known_ = false;  // known_: whether the values are those of the present instant
  std::vector<bool> holds_;
  std::vector<double> values_;
  std::vector<std::size_t> here_;  // how often each event has happened at the present instant
  std::vector<due_event> due_;
  std::vector<waiting_event> waiting_;  // by increasing times
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/conditions.ipp>
#endif
