// Definitions of solve/posed/events.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/events.hpp>

namespace agrad {

namespace detail {

/// Adds the roots of held switches to the events, and returns the plan of all.
inline event_plan with_switches(event_setup& setup, const switched_stops& switches) {
  event_plan plan = setup.plan;
  plan.times_move = plan.times_move || switches.move();
  for (std::size_t i = 0; setup.held != nullptr && i < setup.held->size(); ++i) {
    setup.events.push_back(std::make_unique<event_function>(setup.held->root(i), nullptr, setup.system->states()));
    plan.events.push_back({setup.held->direction(i), 0, {}});
  }
  return plan;
}

/// Returns the maker of the segments' solvers. Where no derivative moves the initial state, the probe of the first segment has
/// no part of it; doses and events may move the state at the initial time.
inline event_solver::maker maker_of(const event_setup& setup, const switched_stops& switches) {
  const event_plan& plan = setup.plan;
  if (plan.state_moves || plan.times_move || switches.move() || !plan.doses.empty() || !plan.events.empty()) return setup.make;
  return [make = setup.make](const std::string& function, ode_system& system, ode_required required) {
    required.state_moves = false;
    return make(function, system, required);
  };
}

}  // namespace detail

AGRAD_INLINE posed_events::posed_events(event_setup setup, bool differentiated)
    : setup_(std::move(setup)),
      own_events_(setup_.events.size()),
      switches_(std::move(setup_.switches)),
      solver_(setup_.function, *setup_.system, setup_.events, detail::maker_of(setup_, switches_),
              detail::with_switches(setup_, switches_), differentiated, setup_.held.get()),
      n_(static_cast<std::size_t>(setup_.system->states())) {
  counts_.hits.assign(own_events_, 0);
  if (setup_.counts) counts_ = *setup_.counts;
  name_arguments();
  name_results();
}

AGRAD_INLINE void posed_events::name_arguments() {
  const std::size_t doses = setup_.plan.doses.size();
  from_.state = argument_.add("initial_state", n_);
  from_.time = argument_.add("initial_time", 1);
  from_.times = argument_.add("times", setup_.times);
  from_.parameters = argument_.add("parameters", setup_.parameters);
  from_.dose_times = argument_.add("dose_times", doses);
  from_.amounts = argument_.add("amounts", doses);
  from_.durations = argument_.add("durations", doses);
  from_.stops = argument_.add("stops", setup_.plan.stops);
  for (std::size_t e = 0; e < own_events_; ++e)
    from_.events.push_back(
        argument_.add("parameters of event " + std::to_string(e), static_cast<std::size_t>(setup_.events[e]->parameters())));
  from_.events.resize(setup_.events.size(), from_.parameters);  // switches belong to the right-hand side
}

AGRAD_INLINE void posed_events::name_results() {
  const std::size_t count = std::accumulate(counts_.hits.begin(), counts_.hits.end(), std::size_t{0});
  result_ = {};
  to_.states = result_.add("states", n_ * setup_.times);
  to_.end = result_.add("end", 1);
  to_.end_state = result_.add("end_state", n_);
  to_.hit_times = result_.add("hit_times", count);
  to_.hit_states = result_.add("hit_states", n_ * count);
  to_.before = result_.add("before", n_ * setup_.plan.before.size());
}

AGRAD_INLINE void posed_events::solve(const double* x) {
  event_values v;
  v.initial_state = from_.state.of(x);
  v.initial_time = started_ = *from_.time.in(x);
  v.times = from_.times.list(x);
  v.dose_times = from_.dose_times.list(x), v.amounts = from_.amounts.list(x), v.durations = from_.durations.list(x);
  v.stops = from_.stops.list(x);
  setup_.system->set_parameters(from_.parameters.in(x));
  for (std::size_t e = 0; e < setup_.events.size(); ++e) setup_.events[e]->set_parameters(from_.events[e].in(x));
  if (!v.times.empty()) switches_.append(v.initial_time, v.times.back(), from_.parameters.list(x), v.stops);
  solution_ = &solver_.integrate(v);
  if (!setup_.counts) {
    counts_.hits.assign(own_events_, 0);
    for (const event_hit& hit : solution_->hits)
      if (is_own(hit)) ++counts_.hits[hit.event];
    name_results();
  }
  place_hits();
}

AGRAD_INLINE void posed_events::read(double* y) const {
  check_counts();
  to_.states.of(y) = Eigen::Map<const Eigen::VectorXd>(solution_->states.data(), solution_->states.size());
  y[to_.end.begin] = solution_->end;
  to_.end_state.of(y) = solution_->end_state;
  to_.before.of(y) = Eigen::Map<const Eigen::VectorXd>(solution_->before.data(), solution_->before.size());
  std::fill_n(y + to_.hit_times.begin, hits() * (1 + n_), std::numeric_limits<double>::quiet_NaN());
  each_hit([&](std::size_t j, std::size_t place) {
    y[to_.hit_times.begin + place] = solution_->hits[j].t;
    to_.hit_state(place, n_).of(y) = solution_->hits[j].state;
  });
}

AGRAD_INLINE void posed_events::place_hits() {
  const std::vector<std::size_t>& hits_of = counts_.hits;
  std::vector<std::size_t> next(hits_of.size(), 0), end(hits_of.size(), 0);
  for (std::size_t e = 0, at = 0; e < next.size(); ++e) next[e] = at, end[e] = at += hits_of[e];
  places_.clear();
  for (const event_hit& hit : solution_->hits)
    places_.push_back(is_own(hit) && next[hit.event] < end[hit.event] ? next[hit.event]++ : hits());
}

AGRAD_INLINE void posed_events::check_counts() const {
  if (!setup_.counts) return;
  if (counts_.reached >= 0 && std::min(solution_->reached, counts_.counted) != counts_.reached)
    fail("output times until the end", static_cast<std::size_t>(counts_.reached), static_cast<std::size_t>(solution_->reached),
         "end t_span before the event, or record again");
  if (!reads_hits()) return;
  std::vector<std::size_t> found(counts_.hits.size(), 0);
  for (const event_hit& hit : solution_->hits)
    if (is_own(hit)) ++found[hit.event];
  for (std::size_t e = 0; e < found.size(); ++e)
    if (found[e] != counts_.hits[e])
      fail("times of events[" + std::to_string(e) + "]", counts_.hits[e], found[e],
           "end the solution at the last event that is read (terminal), or record again");
}

AGRAD_INLINE void posed_events::fail(const std::string& what, std::size_t recorded, std::size_t found,
                                     const std::string& advice) const {
  throw SolverError(setup_.function + ": the number of " + what + " is " + std::to_string(found) + ", but must be " +
                        std::to_string(recorded) + ", as when the solve was recorded; " + advice,
                    solution_->end, 0, "event_count", advice);
}

AGRAD_INLINE void posed_events::reverse(const double* y_adjoint, double* x_adjoint) {
  event_gradient g = solver_.reverse(adjoints_of(y_adjoint));
  switches_.reverse(g.stops, g.parameters);
  add(g, x_adjoint);
}

AGRAD_INLINE tangent_kind posed_events::tangents() const {
  const bool has_second = solver_.has_tangents() && switches_.has_second();
  return {has_second ? 2 : solver_.has_first_tangents() ? 1 : 0, solver_.tangents_match()};
}

AGRAD_INLINE void posed_events::tangent(int width, const double* x_tangent, double* y_tangent) {
  event_directions along = directions(width, x_tangent);
  const event_tangents d = solver_.tangent(along, reads_hits());
  along_ = std::move(along.parameters);
  to_.states.rows(y_tangent, width) = d.states;
  to_.end.rows(y_tangent, width) = d.end;
  to_.end_state.rows(y_tangent, width) = d.end_state;
  to_.before.rows(y_tangent, width) = d.before;
  to_.hit_times.rows(y_tangent, width).setZero();
  to_.hit_states.rows(y_tangent, width).setZero();
  each_hit([&](std::size_t j, std::size_t place) {
    const auto at = static_cast<Eigen::Index>(j), n = static_cast<Eigen::Index>(n_);
    to_.hit_times.rows(y_tangent, width).row(static_cast<Eigen::Index>(place)) = d.hit_times.row(at);
    to_.hit_state(place, n_).rows(y_tangent, width) = d.hit_states.middleRows(at * n, n);
  });
}

AGRAD_INLINE void posed_events::second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                                       double* x_adjoint_tangent) {
  event_directions dg;
  event_gradient g = solver_.second(adjoints_of(y_adjoint), tangents_of(width, y_adjoint_tangent), dg);
  switches_.second(width, along_, g.stops, dg.stops, dg.parameters);
  switches_.reverse(g.stops, g.parameters);
  add(g, x_adjoint);
  const std::pair<const flat_part*, const std::vector<double>*> parts[] = {
      {&from_.state, &dg.initial_state},   {&from_.time, &dg.initial_time},
      {&from_.times, &dg.times},           {&from_.parameters, &dg.parameters},
      {&from_.dose_times, &dg.dose_times}, {&from_.amounts, &dg.amounts},
      {&from_.durations, &dg.durations},   {&from_.stops, &dg.stops}};
  for (const auto& [part, tangents] : parts) part->add(*tangents, x_adjoint_tangent, width);
  for (std::size_t e = 0; e < from_.events.size(); ++e) from_.events[e].add(dg.event_parameters[e], x_adjoint_tangent, width);
}

AGRAD_INLINE event_adjoints posed_events::adjoints_of(const double* y_adjoint) const {
  event_adjoints adjoints;
  const auto n = static_cast<Eigen::Index>(n_), count = static_cast<Eigen::Index>(places_.size());
  adjoints.states = Eigen::Map<const Eigen::MatrixXd>(to_.states.in(y_adjoint), n, static_cast<Eigen::Index>(setup_.times));
  adjoints.end = y_adjoint[to_.end.begin];
  adjoints.end_state = to_.end_state.of(y_adjoint);
  adjoints.before = Eigen::Map<const Eigen::MatrixXd>(to_.before.in(y_adjoint), n, solution_->before.cols());
  each_same([&](Eigen::Index j, Eigen::Index k) {
    adjoints.states.col(k) += adjoints.before.col(j);
    adjoints.before.col(j).setZero();
  });
  adjoints.hit_times.assign(places_.size(), 0.0);
  adjoints.hit_states = Eigen::MatrixXd::Zero(n, count);
  each_hit([&](std::size_t j, std::size_t place) {
    adjoints.hit_times[j] = y_adjoint[to_.hit_times.begin + place];
    adjoints.hit_states.col(static_cast<Eigen::Index>(j)) = to_.hit_state(place, n_).of(y_adjoint);
  });
  return adjoints;
}

AGRAD_INLINE event_tangents posed_events::tangents_of(int width, const double* y_adjoint_tangent) const {
  const auto n = static_cast<Eigen::Index>(n_), count = static_cast<Eigen::Index>(places_.size());
  event_tangents tangents{to_.states.rows(y_adjoint_tangent, width), to_.end_state.rows(y_adjoint_tangent, width),
                          to_.end.rows(y_adjoint_tangent, width),    tangent_rows::Zero(count, width),
                          tangent_rows::Zero(n * count, width),      to_.before.rows(y_adjoint_tangent, width)};
  each_same([&](Eigen::Index j, Eigen::Index k) {
    tangents.states.middleRows(k * n, n) += tangents.before.middleRows(j * n, n);
    tangents.before.middleRows(j * n, n).setZero();
  });
  each_hit([&](std::size_t j, std::size_t place) {
    const auto at = static_cast<Eigen::Index>(j);
    tangents.hit_times.row(at) = to_.hit_times.rows(y_adjoint_tangent, width).row(static_cast<Eigen::Index>(place));
    tangents.hit_states.middleRows(at * n, n) = to_.hit_state(place, n_).rows(y_adjoint_tangent, width);
  });
  return tangents;
}

AGRAD_INLINE event_directions posed_events::directions(int width, const double* x_tangent) {
  const auto list = [&](const flat_part& part) { return part.list(x_tangent, width); };
  event_directions along;
  along.width = width;
  along.initial_state = list(from_.state), along.initial_time = list(from_.time), along.times = list(from_.times);
  along.parameters = list(from_.parameters);
  along.dose_times = list(from_.dose_times), along.amounts = list(from_.amounts), along.durations = list(from_.durations);
  along.stops = list(from_.stops);
  for (const flat_part& event : from_.events) along.event_parameters.push_back(list(event));
  switches_.append_tangents(width, along.parameters, along.stops);
  return along;
}

AGRAD_INLINE void posed_events::add(const event_gradient& g, double* x_adjoint) const {
  from_.state.add(g.initial_state, x_adjoint);
  from_.time.add(g.initial_time, x_adjoint);
  from_.times.add(g.times, x_adjoint);
  from_.parameters.add(g.parameters, x_adjoint);
  from_.dose_times.add(g.dose_times, x_adjoint);
  from_.amounts.add(g.amounts, x_adjoint);
  from_.durations.add(g.durations, x_adjoint);
  from_.stops.add(g.stops, x_adjoint);
  for (std::size_t e = 0; e < from_.events.size(); ++e) from_.events[e].add(g.event_parameters[e], x_adjoint);
}

}  // namespace agrad
