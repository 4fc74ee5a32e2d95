// Definitions of solve/record/event_operation.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/event_operation.hpp>

namespace agrad {

AGRAD_INLINE event_operation::event_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states,
                                              std::size_t times, maker make, event_plan plan,
                                              std::vector<event_programs> events, event_counts counts,
                                              std::shared_ptr<const progress_host> progress, bool same_steps)
    : function_(std::move(function)),
      f_(std::move(f)),
      n_(static_cast<std::size_t>(states)),
      times_(times),
      m_(f_->input_size() - 1 - n_),
      switches_(*f_, n_),
      make_(std::move(make)),
      plan_(with_switches(std::move(plan), switches_)),
      events_(std::move(events)),
      counts_(std::move(counts)),
      hits_(std::accumulate(counts_.hits.begin(), counts_.hits.end(), std::size_t{0})),
      progress_(std::move(progress)),
      same_steps_(same_steps),
      tangents_(kind_of(solve_state(*this, true).solver)) {}

AGRAD_INLINE std::size_t event_operation::input_size() const {
  std::size_t size = n_ + 1 + times_ + m_ + 3 * plan_.doses.size() + plan_.stops;
  for (const event_programs& each : events_) size += each.parameters(n_);
  return size;
}

AGRAD_INLINE void event_operation::write(portable_writer& to) const {
  to(stored_events{function_, f_, n_, times_, plan_, events_, counts_, active_, same_steps_, reads_hits_});
  make_.write(to);
}

AGRAD_INLINE void event_operation::forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const {
  auto& mine = static_cast<solve_states&>(s);
  const bool differentiated = with_adjoint || same_steps_;
  std::unique_ptr<solve_state>& chosen = differentiated ? mine.differentiable : mine.plain;
  if (chosen == nullptr) chosen = std::make_unique<solve_state>(*this, differentiated);
  const event_solution& solution = solve_with_progress(*chosen, x);
  check_counts(solution);
  place(solution, chosen->slots);
  y = std::copy_n(solution.states.data(), n_ * times_, y);
  *y++ = solution.end;
  y = std::copy_n(solution.end_state.data(), n_, y);
  std::fill_n(y, hits_ * (1 + n_), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t j = 0; j < solution.hits.size(); ++j) {
    if (chosen->slots[j] == hits_) continue;
    y[chosen->slots[j]] = solution.hits[j].t;
    std::copy_n(solution.hits[j].state.data(), n_, y + hits_ + chosen->slots[j] * n_);
  }
}

AGRAD_INLINE void event_operation::reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const {
  solve_state& mine = *static_cast<solve_states&>(s).differentiable;
  const event_adjoints adjoints = adjoints_of(mine, y_adjoint);
  run_pass(progress_.get(), true, [&] {
    event_gradient g = mine.solver.reverse(adjoints);
    reverse_switches(mine, g);
    add(g, x_adjoint);
    return mine.started;
  });
  ledger_.enter(mine.solver.statistics());
}

AGRAD_INLINE const external_operation* event_operation::first_without_tangents(int order) const {
  if (order > 0) return external_operation::first_without_tangents(order);
  const auto matches = [](const event_programs& each) {  // both modes use the gradient of the root function
    return each.reset == nullptr || each.reset->first_without_tangents(0) == nullptr;
  };
  const bool match = tangents_.match && f_->first_without_tangents(0) == nullptr;
  return match && std::all_of(events_.begin(), events_.end(), matches) ? nullptr : this;
}

AGRAD_INLINE void event_operation::tangent(external_operation::state& s, int width, const double* x_tangent,
                                           double* y_tangent) const {
  solve_state& mine = *static_cast<solve_states&>(s).differentiable;
  event_directions along = directions(mine, width, x_tangent);
  const event_tangents d = mine.solver.tangent(along, reads_hits_);
  mine.along = std::move(along.parameters);
  const auto w = static_cast<std::size_t>(width);
  y_tangent = std::copy_n(d.states.data(), n_ * times_ * w, y_tangent);
  y_tangent = std::copy_n(d.end.data(), w, y_tangent);
  y_tangent = std::copy_n(d.end_state.data(), n_ * w, y_tangent);
  std::fill_n(y_tangent, hits_ * (1 + n_) * w, 0.0);
  for (std::size_t j = 0; j < mine.slots.size(); ++j) {
    if (mine.slots[j] == hits_) continue;
    std::copy_n(d.hit_times.data() + j * w, w, y_tangent + mine.slots[j] * w);
    std::copy_n(d.hit_states.data() + j * n_ * w, n_ * w, y_tangent + (hits_ + mine.slots[j] * n_) * w);
  }
}

AGRAD_INLINE void event_operation::second(external_operation::state& s, int width, const double* y_adjoint,
                                          const double* y_adjoint_tangent, double* x_adjoint, double* x_adjoint_tangent) const {
  solve_state& mine = *static_cast<solve_states&>(s).differentiable;
  event_directions dg;
  event_gradient g = mine.solver.second(adjoints_of(mine, y_adjoint), tangents_of(mine, width, y_adjoint_tangent), dg);
  reverse_switches_second(mine, g, dg);
  add(g, x_adjoint);
  const auto add_part = [&](const std::vector<double>& part) {
    for (const double each : part) *x_adjoint_tangent++ += each;
  };
  for (const auto* part :
       {&dg.initial_state, &dg.initial_time, &dg.times, &dg.parameters, &dg.dose_times, &dg.amounts, &dg.durations, &dg.stops})
    add_part(*part);
  for (const auto& part : dg.event_parameters) add_part(part);
}

AGRAD_INLINE event_solution event_operation::solve(const double* x, bool differentiated) const {
  solve_state once(*this, differentiated || same_steps_);
  return solve_with_progress(once, x);
}

AGRAD_INLINE bool event_operation::log_steps(const double* x, detail::step_log& log, bool differentiated) const {
  solve_state once(*this, differentiated || same_steps_);
  if (!once.solver.log_steps(&log)) return false;
  solve(once, x);
  return true;
}

AGRAD_INLINE event_operation::solve_state::solve_state(const event_operation& of, bool with_adjoint)
    : system(of.f_, static_cast<Eigen::Index>(of.n_), with_adjoint, of.structure_),
      events(event_functions(of)),
      solver(of.function_, system, events, of.make_, of.plan_, with_adjoint) {
  system.set_active(of.active_);
}

AGRAD_INLINE event_solver::functions event_operation::solve_state::event_functions(const event_operation& of) {
  event_solver::functions all;
  for (const event_programs& each : of.events_)
    all.push_back(std::make_unique<program_event>(each, static_cast<Eigen::Index>(of.n_)));
  return all;
}

AGRAD_INLINE const event_solution& event_operation::solve_with_progress(solve_state& by, const double* x) const {
  const event_solution* solution = nullptr;
  run_pass(progress_.get(), false, [&] {
    solution = &solve(by, x);
    return solution->end;
  });
  ledger_.enter(by.solver.statistics());
  return *solution;
}

AGRAD_INLINE const event_solution& event_operation::solve(solve_state& by, const double* x) const {
  event_values v;
  const auto read = [&](std::size_t count) {
    std::vector<double> values(x, x + count);
    x += count;
    return values;
  };
  v.initial_state = Eigen::Map<const Eigen::VectorXd>(x, static_cast<Eigen::Index>(n_));
  v.initial_time = by.started = x[n_];
  x += n_ + 1;
  v.times = read(times_);
  by.system.set_parameters(x);
  by.parameters = read(m_);
  v.dose_times = read(plan_.doses.size()), v.amounts = read(plan_.doses.size()), v.durations = read(plan_.doses.size());
  v.stops = read(plan_.stops);
  if (switches_.size() > 0 && !v.times.empty())
    by.switches = switches_.within(v.initial_time, v.times.back(), by.parameters.data(), v.stops, by.at_switches);
  for (const auto& each : by.switches) v.stops.push_back(each.at);
  for (const auto& event : by.events) x += static_cast<program_event&>(*event).set_parameters(x);
  return by.solver.integrate(v);
}

AGRAD_INLINE event_adjoints event_operation::adjoints_of(const solve_state& mine, const double* y_adjoint) const {
  event_adjoints adjoints;
  const auto n = static_cast<Eigen::Index>(n_);
  adjoints.states = Eigen::Map<const Eigen::MatrixXd>(y_adjoint, n, static_cast<Eigen::Index>(times_));
  y_adjoint += n_ * times_;
  adjoints.end = *y_adjoint++;
  adjoints.end_state = Eigen::Map<const Eigen::VectorXd>(y_adjoint, n);
  y_adjoint += n_;
  adjoints.hit_times.assign(mine.slots.size(), 0.0);
  adjoints.hit_states = Eigen::MatrixXd::Zero(n, static_cast<Eigen::Index>(mine.slots.size()));
  for (std::size_t j = 0; j < mine.slots.size(); ++j) {
    if (mine.slots[j] == hits_) continue;
    adjoints.hit_times[j] = y_adjoint[mine.slots[j]];
    adjoints.hit_states.col(static_cast<Eigen::Index>(j)) =
        Eigen::Map<const Eigen::VectorXd>(y_adjoint + hits_ + mine.slots[j] * n_, n);
  }
  return adjoints;
}

AGRAD_INLINE event_tangents event_operation::tangents_of(const solve_state& mine, int width,
                                                         const double* y_adjoint_tangent) const {
  const auto read = [&](std::size_t first, std::size_t count) {
    return Eigen::Map<const tangent_rows>(y_adjoint_tangent + first * static_cast<std::size_t>(width),
                                          static_cast<Eigen::Index>(count), width);
  };
  const std::size_t end = n_ * times_, hits = end + 1 + n_;
  const auto n = static_cast<Eigen::Index>(n_), count = static_cast<Eigen::Index>(mine.slots.size());
  event_tangents tangents{read(0, end), read(end + 1, n_), read(end, 1), tangent_rows::Zero(count, width),
                          tangent_rows::Zero(n * count, width)};
  for (std::size_t j = 0; j < mine.slots.size(); ++j) {
    if (mine.slots[j] == hits_) continue;
    tangents.hit_times.row(static_cast<Eigen::Index>(j)) = read(hits + mine.slots[j], 1);
    tangents.hit_states.middleRows(static_cast<Eigen::Index>(j) * n, n) = read(hits + hits_ + mine.slots[j] * n_, n_);
  }
  return tangents;
}

AGRAD_INLINE event_plan event_operation::with_switches(event_plan plan, const time_switches& switches) {
  plan.times_move = plan.times_move || switches.move();
  return plan;
}

AGRAD_INLINE void event_operation::reverse_switches(solve_state& mine, event_gradient& g) const {
  for (std::size_t k = 0; k < mine.switches.size(); ++k) {
    const double by_time = g.stops[static_cast<Eigen::Index>(plan_.stops + k)];
    if (by_time == 0) continue;
    const std::vector<double> by_parameters = switches_.gradient(mine.switches[k], mine.parameters.data(), mine.at_switches);
    g.parameters += by_time * Eigen::Map<const Eigen::VectorXd>(by_parameters.data(), g.parameters.size());
  }
  g.stops.conservativeResize(static_cast<Eigen::Index>(plan_.stops));
}

AGRAD_INLINE void event_operation::reverse_switches_second(solve_state& mine, event_gradient& g, event_directions& dg) const {
  for (std::size_t k = 0; k < mine.switches.size(); ++k) {
    const double by_time = g.stops[static_cast<Eigen::Index>(plan_.stops + k)];
    const Eigen::Map<const Eigen::RowVectorXd> tangents(
        dg.stops.data() + (plan_.stops + k) * static_cast<std::size_t>(dg.width), dg.width);
    if (by_time == 0 && tangents.isZero(0)) continue;
    const moving_vector by =
        switches_.gradient_along(mine.switches[k], mine.parameters.data(), dg.width, mine.along.data(), mine.at_switches);
    Eigen::Map<tangent_rows>(dg.parameters.data(), by.value.size(), dg.width) += by.value * tangents + by_time * by.tangents;
  }
  dg.stops.resize(plan_.stops * static_cast<std::size_t>(dg.width));
  reverse_switches(mine, g);
}

AGRAD_INLINE void event_operation::propagate_switches(solve_state& mine, event_directions& along) const {
  const auto w = static_cast<std::size_t>(along.width);
  for (const auto& each : mine.switches) {
    const std::vector<double> by_parameters = switches_.gradient(each, mine.parameters.data(), mine.at_switches);
    for (std::size_t k = 0; k < w; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < m_; ++i) sum += by_parameters[i] * along.parameters[i * w + k];
      along.stops.push_back(sum);
    }
  }
}

AGRAD_INLINE event_operation::tangent_kind event_operation::kind_of(const event_solver& by) const {
  const bool has_second = by.has_tangents() && switches_.has_second();
  return {has_second ? 2 : by.has_first_tangents() ? 1 : 0, by.tangents_match()};
}

AGRAD_INLINE event_directions event_operation::directions(solve_state& of, int width, const double* x_tangent) const {
  const auto read = [&](std::size_t count) {
    const double* from = x_tangent;
    x_tangent += count * static_cast<std::size_t>(width);
    return std::vector<double>(from, x_tangent);
  };
  event_directions along;
  along.width = width;
  along.initial_state = read(n_), along.initial_time = read(1), along.times = read(times_), along.parameters = read(m_);
  for (auto* part : {&along.dose_times, &along.amounts, &along.durations}) *part = read(plan_.doses.size());
  along.stops = read(plan_.stops);
  for (const auto& event : of.events) along.event_parameters.push_back(read(static_cast<std::size_t>(event->parameters())));
  propagate_switches(of, along);
  return along;
}

AGRAD_INLINE void event_operation::place(const event_solution& solution, std::vector<std::size_t>& slots) const {
  std::vector<std::size_t> next(counts_.hits.size(), 0), end(counts_.hits.size(), 0);
  for (std::size_t e = 0, at = 0; e < next.size(); ++e) next[e] = at, end[e] = at += counts_.hits[e];
  slots.clear();
  for (const event_hit& hit : solution.hits) slots.push_back(next[hit.event] < end[hit.event] ? next[hit.event]++ : hits_);
}

AGRAD_INLINE void event_operation::check_counts(const event_solution& solution) const {
  if (counts_.reached >= 0 && std::min(solution.reached, counts_.counted) != counts_.reached)
    fail(solution, "output times until the end", static_cast<std::size_t>(counts_.reached),
         static_cast<std::size_t>(solution.reached), "end t_span before the event, or record again");
  if (!reads_hits_) return;
  std::vector<std::size_t> found(counts_.hits.size(), 0);
  for (const event_hit& hit : solution.hits) ++found[hit.event];
  for (std::size_t e = 0; e < found.size(); ++e)
    if (found[e] != counts_.hits[e])
      fail(solution, "times of events[" + std::to_string(e) + "]", counts_.hits[e], found[e],
           "end the solution at the last event that is read (terminal), or record again");
}

AGRAD_INLINE void event_operation::fail(const event_solution& solution, const std::string& what, std::size_t recorded,
                                        std::size_t found, const std::string& advice) const {
  throw SolverError(function_ + ": the number of " + what + " is " + std::to_string(found) + ", but must be " +
                        std::to_string(recorded) + ", as when the solve was recorded; " + advice,
                    solution.end, 0, "event_count", advice);
}

AGRAD_INLINE void event_operation::add(const event_gradient& g, double* to) const {
  const auto add_part = [&](const Eigen::VectorXd& part) {
    for (Eigen::Index i = 0; i < part.size(); ++i) *to++ += part[i];
  };
  add_part(g.initial_state);
  *to++ += g.initial_time;
  for (const Eigen::VectorXd* part : {&g.times, &g.parameters, &g.dose_times, &g.amounts, &g.durations, &g.stops})
    add_part(*part);
  for (const Eigen::VectorXd& part : g.event_parameters) add_part(part);
}

}  // namespace agrad
