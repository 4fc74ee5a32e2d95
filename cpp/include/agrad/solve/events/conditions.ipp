// Definitions of solve/events/conditions.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/conditions.hpp>

namespace agrad::detail {

AGRAD_INLINE event_conditions::event_conditions(const event_watch::functions& events, const std::vector<event_rule>& rules,
                                                std::size_t own)
    : events_(events), rules_(rules), own_(own), holds_(own), values_(own), here_(own) {
  for (std::size_t e = 0; e < own_; ++e) any_ = any_ || rules_[e].firing.is_condition;
}

AGRAD_INLINE void event_conditions::start() {
  known_ = false;
  due_.clear(), waiting_.clear();
  here_.assign(own_, 0);
  for (std::size_t e = 0; e < own_; ++e) holds_[e] = rules_[e].firing.initially;
}

AGRAD_INLINE void event_conditions::arrive(double t, const Eigen::VectorXd& y) {
  known_ = true;
  here_.assign(own_, 0);
  for (std::size_t e = 0; e < own_ && any_; ++e) {
    if (!rules_[e].firing.is_condition) continue;
    values_[e] = events_[e]->root(t, y.data());
    holds_[e] = values_[e] > 0;
  }
}

AGRAD_INLINE void event_conditions::reach(std::size_t e, std::size_t hit, int from) {
  const bool ends = rules_[e].firing.is_condition && from > 0;
  holds_[e] = !ends;
  add({e, hit, false, ends ? hit_kind::withdrawal : kind_at_trigger(e)});
}

AGRAD_INLINE void event_conditions::wait(std::size_t e, std::size_t trigger, double until) {
  const auto is_earlier = [](double t, const waiting_event& each) { return t < each.until; };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), until, is_earlier),
                  {until, {e, trigger, false, hit_kind::delayed}});
}

AGRAD_INLINE void event_conditions::end_waiting(double t) {
  while (next_time() <= t) {
    add(waiting_.front().event);
    waiting_.erase(waiting_.begin());
  }
}

AGRAD_INLINE due_event event_conditions::next() {
  const due_event first = due_.front();
  due_.erase(due_.begin());
  return first;
}

AGRAD_INLINE void event_conditions::add(const due_event& event) {
  // Triggers and withdrawals change no state; those of a jump come before any other event changes it.
  const auto priority = [&](const due_event& of) {
    const bool changes = of.kind == hit_kind::event || of.kind == hit_kind::delayed;
    return changes ? rules_[of.event].firing.priority : HUGE_VAL;
  };
  const auto comes_first = [&](const due_event& a, const due_event& b) {
    const double x = priority(a), y = priority(b);
    return x > y || (x == y && a.event < b.event);
  };
  due_.insert(std::upper_bound(due_.begin(), due_.end(), event, comes_first), event);
}

AGRAD_INLINE void event_conditions::withdraw(std::size_t e) {
  due_.erase(std::remove_if(due_.begin(), due_.end(), [&](const due_event& each) { return each.event == e; }), due_.end());
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), [&](const auto& each) { return each.event.event == e; }),
                 waiting_.end());
}

AGRAD_INLINE std::string event_conditions::repeated() const {
  std::string names;
  for (std::size_t e = 0; e < own_; ++e)
    if (2 * here_[e] > most_) names += (names.empty() ? "" : ", ") + event_name(e, own_, nullptr);
  return names;
}

}  // namespace agrad::detail
