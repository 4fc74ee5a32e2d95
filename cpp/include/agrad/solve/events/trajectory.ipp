// Definitions of solve/events/trajectory.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/trajectory.hpp>

namespace agrad::detail {

AGRAD_INLINE event_trajectory::event_trajectory(std::string name, ode_system& inner, const event_watch::functions& functions,
                                                event_plan of, bool differentiated, held_switches* held)
    : function(std::move(name)),
      plan(std::move(of)),
      events(functions),
      switches(held),
      n(inner.states()),
      rate_of(plan.doses.size(), 0),
      system(inner, infused_states(), differentiated),
      moving(system) {}

AGRAD_INLINE void event_trajectory::enter(const event_segment& s) {
  if (switches != nullptr) switches->hold(s.held);
  into_.assign(system.rates(), {});
  for (const std::size_t i : s.running) {
    const double length = infusion_length(v, i);
    into_[rate_of[i]].rate += v.amounts[i] / length, into_[rate_of[i]].per_duration += 1 / length;
  }
  const bool is_begin_rounded = &s != segments.data() && has_rounded_end(*(&s - 1));
  system.enter(s.begin, s.end, v.initial_time,
               {is_begin_rounded ? same_time(s.begin) : 0, has_rounded_end(s) ? same_time(s.end) : 0}, into_);
}

AGRAD_INLINE void event_trajectory::use(constrained_state& of) {
  constrained = &of;
  moving.use(constrained);
  system.use(of.mass());
  std::vector<bool> occurs(static_cast<std::size_t>(n), false);
  of.mass().each([&](std::size_t, std::size_t j, double value) { occurs[j] = occurs[j] || value != 0; });
  for (std::size_t i = 0; i < plan.doses.size(); ++i) {
    const Eigen::Index state = plan.doses[i].state;
    if (!occurs[static_cast<std::size_t>(state)])
      throw DomainError(sentence(function, "doses[" + std::to_string(i) + "].state", -1, std::to_string(state),
                                 "a state whose derivative occurs", "its column of mass_matrix is zero"));
  }
  if (of.has_constraints() && !system.is_autonomous() && !system.has_time_tangents())
    throw DomainError(sentence(function, "f", -1, "without a derivative with respect to t",
                               "with one where the mass matrix is singular", "pass agrad::recorded(f)"));
}

AGRAD_INLINE bool event_trajectory::is_placed(const event_segment& s) {
  const event_segment* next = &s + 1;
  if (next == segments.data() + used || is_cascade(s) || is_cascade(*next)) return true;
  if (solution.hits[s.ending_index].rests) return false;
  for (std::size_t hit = s.ending_index; hit < s.ending_index + s.hits; ++hit)
    if (resets(solution.hits[hit])) return true;
  if (!next->is_solved) return false;
  const Eigen::ArrayXd before = slope_at(s.end, s.at_end);
  enter(*next);
  const Eigen::ArrayXd behind = slope_at(next->begin, next->at_begin);
  enter(s);
  return ((behind - before).abs() > 1e-9 * behind.abs().max(before.abs())).any();
}

AGRAD_INLINE void event_trajectory::check_crosses(const event_hit& hit, double rate) const {
  if (!(std::abs(rate) > 1e-10 * hit.steepness))
    throw DerivativeError(function + ": " + name_of(hit.event) + " touches zero at t = " + to_text(hit.t) +
                          " without crossing it, so its time has no derivative");
}

AGRAD_INLINE event_gradient event_trajectory::no_gradient() const {
  const auto zeros = [](std::size_t count) { return Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count)).eval(); };
  const std::size_t doses = plan.doses.size();
  event_gradient g{zeros(0),
                   0,
                   zeros(v.times.size()),
                   zeros(doses),
                   zeros(doses),
                   zeros(doses),
                   zeros(v.stops.size()),
                   zeros(system.own_parameters()),
                   {}};
  for (const auto& event : events) g.event_parameters.push_back(Eigen::VectorXd::Zero(event->parameters()));
  return g;
}

AGRAD_INLINE std::vector<Eigen::Index> event_trajectory::infused_states() {
  std::vector<Eigen::Index> states;
  for (std::size_t i = 0; i < plan.doses.size(); ++i) {
    if (!plan.doses[i].is_infusion) continue;
    const auto found = std::find(states.begin(), states.end(), plan.doses[i].state);
    rate_of[i] = static_cast<std::size_t>(found - states.begin());
    if (found == states.end()) states.push_back(plan.doses[i].state);
  }
  return states;
}

}  // namespace agrad::detail
