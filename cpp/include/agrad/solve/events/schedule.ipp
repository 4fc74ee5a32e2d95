// Definitions of solve/events/schedule.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/schedule.hpp>

namespace agrad::detail {

AGRAD_INLINE double infusion_length(const event_values& v, std::size_t i) {
  return (v.dose_times[i] + v.durations[i]) - v.dose_times[i];
}

AGRAD_INLINE void check_dose(const std::string& function, std::size_t i, const dose_rule& rule, const event_values& v) {
  const std::string name = "doses[" + std::to_string(i) + "].";
  check(function, name + "time", v.dose_times[i], must_be::finite);
  if (v.dose_times[i] < v.initial_time)
    throw DomainError(sentence(function, name + "time", -1, v.dose_times[i], "t0 = " + to_text(v.initial_time) + " or later",
                               "add earlier doses to the initial state"));
  check(function, name + "amount", v.amounts[i], must_be::finite);
  if (rule.is_infusion) check(function, name + "duration", v.durations[i], must_be::positive_finite);
}

AGRAD_INLINE void check_plan(const std::string& function, const event_plan& plan, Eigen::Index states) {
  for (std::size_t i = 0; i < plan.doses.size(); ++i) {
    const Eigen::Index state = plan.doses[i].state;
    if (state < 0 || state >= states)
      throw DomainError(sentence(function, "doses[" + std::to_string(i) + "].state", -1, static_cast<long>(state),
                                 "one of 0 to " + std::to_string(states - 1)));
    if (plan.doses[i].is_infusion && plan.doses[i].kind != dose_kind::add)
      throw DomainError(function + ": doses[" + std::to_string(i) +
                        "] takes a while and sets or scales a state, but must add to it");
  }
  for (std::size_t e = 0; e < plan.events.size(); ++e) {
    const event_rule& rule = plan.events[e];
    const std::string name = "events[" + std::to_string(e) + "].";
    if (rule.direction < -1 || rule.direction > 1)
      throw DomainError(sentence(function, name + "direction", -1, rule.direction, "-1, 0 or 1"));
    if (rule.terminal < 0) throw DomainError(sentence(function, name + "terminal", -1, rule.terminal, "nonnegative"));
    check(function, name + "priority", rule.firing.priority, must_be::finite);
    if (rule.firing.is_condition && rule.direction != 1)
      throw DomainError(sentence(function, name + "direction", -1, rule.direction, "1 where the event is a condition"));
    if (!rule.firing.kept.empty())
      check_size(function, name + "kept", rule.firing.kept.size(), static_cast<std::size_t>(states), "one for each state");
  }
  for (std::size_t j = 1; j < plan.before.size(); ++j)
    if (plan.before[j] <= plan.before[j - 1])
      throw DomainError(sentence(function, "before[" + std::to_string(j) + "]", -1, static_cast<long>(plan.before[j]),
                                 "greater than the index before it"));
  if (plan.max_events <= 0) throw DomainError(sentence(function, "max_events", -1, plan.max_events, "positive"));
}

AGRAD_INLINE void check_values(const std::string& function, const event_plan& plan, const event_values& v,
                               Eigen::Index states) {
  check_size(function, "y0", static_cast<std::size_t>(v.initial_state.size()), static_cast<std::size_t>(states),
             "one for each state");
  const bool starts_there = !v.times.empty() && v.times[0] == v.initial_time;
  const std::vector<double> later(v.times.begin() + (starts_there ? 1 : 0), v.times.end());
  if (later.empty() && starts_there)
    check_initial_value_problem(function, v.initial_state, v.initial_time, {std::nextafter(v.initial_time, HUGE_VAL)});
  else
    check_initial_value_problem(function, v.initial_state, v.initial_time, later);
  if (!plan.before.empty() && plan.before.back() >= v.times.size())
    throw DomainError(sentence(function, "before[" + std::to_string(plan.before.size() - 1) + "]", -1,
                               static_cast<long>(plan.before.back()), "an index of an output time"));
  for (std::size_t i = 0; i < plan.doses.size(); ++i) check_dose(function, i, plan.doses[i], v);
  check_each(function, "tstops", v.stops.data(), v.stops.size(), 1, must_be::finite);
}

AGRAD_INLINE void make_schedule(const event_plan& plan, const event_values& v, std::vector<scheduled>& schedule) {
  schedule.clear();
  const double last = v.times.back();
  for (std::size_t i = 0; i < plan.doses.size(); ++i) {
    if (v.dose_times[i] > last) continue;
    const double begin = v.dose_times[i], end = begin + v.durations[i];
    const double least = too_short(begin) + std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
    const bool is_at_once = !plan.doses[i].is_infusion || (end <= last && infusion_length(v, i) <= least);
    schedule.push_back({begin, scheduled::dose, i, is_at_once});
    if (!is_at_once && end <= last) schedule.push_back({end, scheduled::infusion_end, i, false});
  }
  for (std::size_t i = 0; i < v.stops.size(); ++i)
    if (v.stops[i] > v.initial_time && v.stops[i] < last) schedule.push_back({v.stops[i], scheduled::stop, i, false});
  std::sort(schedule.begin(), schedule.end(), [](const scheduled& a, const scheduled& b) {
    return std::tie(a.time, a.kind, a.index) < std::tie(b.time, b.kind, b.index);
  });
}

}  // namespace agrad::detail
