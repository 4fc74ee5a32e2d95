// Definitions of solve/events/solver.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/solver.hpp>

namespace agrad {

AGRAD_INLINE event_solver::event_solver(std::string function, ode_system& system, const functions& events, maker make,
                                        event_plan plan, bool differentiated, held_switches* switches)
    : trajectory_(std::move(function), system, events, std::move(plan), differentiated, switches),
      make_(std::move(make)),
      differentiated_(differentiated),
      watch_(trajectory_.function, trajectory_.events, trajectory_.plan.events, trajectory_.n, switches),
      tangent_(trajectory_),
      conditions_(trajectory_.events, trajectory_.plan.events, own_events()) {
  detail::check_plan(trajectory_.function, trajectory_.plan, trajectory_.n);
  if (constrained_state* of = solver(0).constrained()) trajectory_.use(*of);
}

AGRAD_INLINE const event_solution& event_solver::integrate(const event_values& values) {
  is_integrated_ = false;
  detail::check_values(trajectory_.function, trajectory_.plan, values, trajectory_.n);
  trajectory_.v = values;
  detail::make_schedule(trajectory_.plan, trajectory_.v, trajectory_.schedule);
  start();
  while (!advance()) continue;
  trajectory_.solution.end = t_, trajectory_.solution.end_state = y_;
  for (Eigen::Index k = trajectory_.solution.reached; k < trajectory_.solution.states.cols(); ++k)
    trajectory_.solution.states.col(k) = y_;
  for (std::size_t j = 0; j < trajectory_.plan.before.size(); ++j)
    if (!trajectory_.solution.differs[j])
      trajectory_.solution.before.col(static_cast<Eigen::Index>(j)) =
          trajectory_.solution.states.col(static_cast<Eigen::Index>(trajectory_.plan.before[j]));
  is_integrated_ = true;
  return trajectory_.solution;
}

AGRAD_INLINE event_gradient event_solver::reverse(const event_adjoints& adjoints) {
  if (!is_integrated_)
    throw std::logic_error(trajectory_.function + ": reverse was called before integrate, but must come after it");
  event_gradient g = detail::event_reverse_pass(trajectory_, adjoints).compute();
  add_up_statistics();
  return g;
}

AGRAD_INLINE bool event_solver::has_first_tangents() const {
  return trajectory_.solvers[0]->has_first_tangents() && std::all_of(trajectory_.events.begin(), trajectory_.events.end(),
                                                                     [](const auto& event) { return event->has_tangents(); });
}

AGRAD_INLINE event_tangents event_solver::tangent(const event_directions& along, bool reads_hits) {
  if (!is_integrated_)
    throw std::logic_error(trajectory_.function + ": tangent was called before integrate, but must come after it");
  return tangent_.compute(along, reads_hits);
}

AGRAD_INLINE bool event_solver::has_tangents() const {
  return trajectory_.solvers[0]->has_tangents() && has_first_tangents() &&
         (!trajectory_.moves() || trajectory_.system.has_time_tangents()) &&
         std::all_of(trajectory_.events.begin(), trajectory_.events.end(),
                     [](const auto& event) { return event->has_second(); });
}

AGRAD_INLINE event_gradient event_solver::second(const event_adjoints& adjoints, const event_tangents& tangents,
                                                 event_directions& gradient_tangents) {
  return detail::event_second_pass(trajectory_, tangent_, adjoints, tangents, gradient_tangents).compute();
}

AGRAD_INLINE bool event_solver::log_steps(detail::step_log* log) {
  log_ = log;
  return std::all_of(trajectory_.solvers.begin(), trajectory_.solvers.end(),
                     [&](const auto& each) { return each->log_steps(log); });
}

AGRAD_INLINE void event_solver::start() {
  t_ = trajectory_.v.initial_time, y_ = trajectory_.v.initial_state;
  trajectory_.used = solved_ = place_ = next_before_ = 0;
  probe_.clear();
  changed_.assign(static_cast<std::size_t>(trajectory_.n), false);
  running_.clear();
  has_jumped_ = true;
  statistics_ = {};
  counts_.assign(trajectory_.events.size(), 0);
  happened_ = 0;
  crossed_.clear();
  conditions_.start();
  if (trajectory_.switches != nullptr) trajectory_.switches->start(t_, y_.data());
  last_.assign(trajectory_.events.size(), -std::numeric_limits<double>::infinity());
  watch_.start();
  watch_.expect_change();
  trajectory_.solution.states.resize(trajectory_.n, static_cast<Eigen::Index>(trajectory_.v.times.size()));
  trajectory_.solution.before.resize(trajectory_.n, static_cast<Eigen::Index>(trajectory_.plan.before.size()));
  trajectory_.solution.differs.assign(trajectory_.plan.before.size(), false);
  trajectory_.solution.reached = 0;
  trajectory_.solution.hits.clear();
  trajectory_.solution.is_terminated = false;
}

AGRAD_INLINE bool event_solver::advance() {
  if (trajectory_.used == trajectory_.segments.size()) trajectory_.segments.emplace_back();
  detail::event_segment& s = trajectory_.segments[trajectory_.used++];
  const bool is_last = place_ == trajectory_.schedule.size();
  s.begin = t_, s.at_begin = y_, s.running = running_;
  if (trajectory_.switches != nullptr) s.held = trajectory_.switches->held();
  s.end = is_last ? trajectory_.v.times.back() : trajectory_.schedule[place_].time;
  s.is_solved = s.end > t_;
  s.hits = s.inner_outputs = s.late_outputs = s.befores = 0, s.ending_index = place_;
  s.ending = is_last ? detail::event_segment::finish : detail::event_segment::scheduled_ending;
  trajectory_.enter(s);
  settle(s);
  if (s.is_solved || is_last || trajectory_.used == 1) see_jump();  // else more happens at the same instant
  if (conditions_.is_due()) shorten(s);
  if (conditions_.is_due()) return apply(s);
  write_begin_outputs(s, is_last);
  if (s.is_solved) solve(s);
  t_ = s.end, s.at_end = y_;
  if (s.is_solved) conditions_.arrive(t_, y_);
  if (s.is_solved && !watch_.fired().empty()) return apply(s);
  if (is_last) return true;
  write_before_outputs(s);
  apply(trajectory_.schedule[place_++]);
  return false;
}

AGRAD_INLINE void event_solver::write_begin_outputs(detail::event_segment& s, bool is_last) {
  Eigen::Index& k = trajectory_.solution.reached;
  s.first_output = static_cast<std::size_t>(k);
  if (s.end > s.begin || is_last) {
    const double before = is_last && !s.is_solved ? HUGE_VAL : s.end, here = s.begin + trajectory_.same_time(s.begin);
    const auto is_here = [&](double t) { return t < before && (t <= here || !s.is_solved); };
    while (k < trajectory_.solution.states.cols() && is_here(trajectory_.v.times[static_cast<std::size_t>(k)]))
      trajectory_.solution.states.col(k++) = y_;
  }
  s.begin_outputs = static_cast<std::size_t>(k) - s.first_output;
}

AGRAD_INLINE void event_solver::write_before_outputs(detail::event_segment& s) {
  const std::vector<std::size_t>& all = trajectory_.plan.before;
  const auto is_before = [&](double t) { return next_before_ < all.size() && trajectory_.v.times[all[next_before_]] < t; };
  while (is_before(s.end)) ++next_before_;
  s.first_before = next_before_;
  while (is_before(std::nextafter(s.end + trajectory_.same_time(s.end), HUGE_VAL))) {
    trajectory_.solution.before.col(static_cast<Eigen::Index>(next_before_)) = y_;
    trajectory_.solution.differs[next_before_++] = true;
  }
  s.befores = next_before_ - s.first_before;
}

AGRAD_INLINE void event_solver::solve(detail::event_segment& s) {
  ends_.clear();
  for (auto k = static_cast<std::size_t>(trajectory_.solution.reached);
       k < trajectory_.v.times.size() && trajectory_.v.times[k] < s.end; ++k)
    ends_.push_back(trajectory_.v.times[k]);
  ends_.push_back(s.end);
  s.solver = differentiated_ ? solved_++ : 0;
  ode_solver& by = solver(s.solver);
  if (log_ != nullptr)
    log_->at_end = place_ == trajectory_.schedule.size() ? detail::step_limit::end : detail::step_limit::stop;
  move_probe(by);
  const Eigen::MatrixXd& states = by.integrate(y_, s.begin, ends_);
  probe_ = by.probe(), after_probe_ = states.col(states.cols() - 1);
  statistics_ += by.statistics();
  y_ = states.col(states.cols() - 1);
  const bool has_event = !watch_.fired().empty();
  if (has_event) s.end = event_time(states.cols());
  const bool is_finish = !has_event && place_ == trajectory_.schedule.size();
  s.inner_outputs = static_cast<std::size_t>(states.cols() - (is_finish ? 0 : 1));
  // An output at the time of the event up to rounding has the state after the event.
  while (has_event && s.inner_outputs > 0 && ends_[s.inner_outputs - 1] >= s.end - trajectory_.same_time(s.end))
    --s.inner_outputs, ++s.late_outputs;
  const auto count = static_cast<Eigen::Index>(s.inner_outputs);
  trajectory_.solution.states.middleCols(trajectory_.solution.reached, count) = states.leftCols(count);
  trajectory_.solution.reached += count;
}

AGRAD_INLINE void event_solver::move_probe(ode_solver& by) {
  if (probe_.size() == static_cast<std::size_t>(trajectory_.n)) {
    for (Eigen::Index i = 0; i < trajectory_.n; ++i)
      probe_[static_cast<std::size_t>(i)] +=
          detail::generic_factor(static_cast<std::size_t>(i)) * std::abs(y_[i] - after_probe_[i]);
    by.continue_probe(probe_, changed_);
  }
  changed_.assign(changed_.size(), false);
}

AGRAD_INLINE double event_solver::event_time(Eigen::Index count) const {
  const double meant = ends_[static_cast<std::size_t>(count - 1)];
  return std::abs(watch_.where() - meant) <= trajectory_.same_time(meant) ? meant : watch_.where();
}

AGRAD_INLINE void event_solver::apply(const detail::scheduled& what) {
  has_jumped_ = true;
  if (what.kind == detail::scheduled::infusion_end) {
    running_.erase(std::find(running_.begin(), running_.end(), what.index));
  } else if (what.kind == detail::scheduled::dose) {
    if (what.is_at_once) {
      const Eigen::Index state = trajectory_.plan.doses[what.index].state;
      y_[state] = trajectory_.plan.doses[what.index].after(y_[state], trajectory_.v.amounts[what.index]);
      changed_[static_cast<std::size_t>(state)] = true;
    } else {
      running_.push_back(what.index);
    }
  }
  watch_.expect_change();
}

AGRAD_INLINE bool event_solver::apply(detail::event_segment& s) {
  s.ending = detail::event_segment::event_ending;
  s.ending_index = trajectory_.solution.hits.size();
  for (const std::size_t e : watch_.fired())
    if (!watch_.is_switch(e)) conditions_.reach(e, s.ending_index);
  const bool is_over = run_due();
  for (const std::size_t e : watch_.fired())
    if (watch_.is_switch(e)) trajectory_.solution.hits.push_back({e, t_, y_, watch_.steepness(e)});
  s.hits = trajectory_.solution.hits.size() - s.ending_index;
  check_progress(s);
  cross_switches(s);
  watch_.expect_change();
  if (is_over) terminate();
  return is_over;
}

AGRAD_INLINE void event_solver::shorten(detail::event_segment& s) {
  s.end = s.begin, s.at_end = y_, s.is_solved = false;
  s.first_output = static_cast<std::size_t>(trajectory_.solution.reached), s.begin_outputs = 0;
  trajectory_.enter(s);
}

AGRAD_INLINE void event_solver::see_jump() {
  const auto value = [&](std::size_t e) {
    const double found = trajectory_.events[e]->root(t_, y_.data());
    if (!std::isfinite(found))
      fail(e, "not_finite", "the event function is " + detail::to_text(found) + " after a jump of the state",
           "an event function must be finite along the solution");
    return found;
  };
  conditions_.jump(watch_, trajectory_.solution.hits.size(), value, [&](std::size_t e) { return rate_of(e, t_, y_); });
}

AGRAD_INLINE bool event_solver::run_due() {
  bool is_over = false;
  while (conditions_.is_due()) {
    const auto [e, trigger, follows] = conditions_.next();
    std::vector<event_hit>& hits = trajectory_.solution.hits;
    const std::size_t seen = trajectory_.plan.events[e].firing.sees_trigger ? trigger : hits.size();
    hits.push_back({e, t_, y_, follows ? 0 : watch_.steepness(e), follows, seen});
    is_over = ++counts_[e] == trajectory_.plan.events[e].terminal || is_over;
    if (conditions_.is_endless(e)) fail_endless(e);
    reset(hits.back());
    if (trajectory_.events[e]->resets()) see_jump();
  }
  return is_over;
}

AGRAD_INLINE void event_solver::terminate() {
  trajectory_.solution.is_terminated = true;
  Eigen::Index& k = trajectory_.solution.reached;
  while (k < trajectory_.solution.states.cols() && trajectory_.v.times[static_cast<std::size_t>(k)] <= t_)
    trajectory_.solution.states.col(k++) = y_;
}

AGRAD_INLINE void event_solver::reset(const event_hit& hit) {
  const std::size_t e = hit.event;
  if (++happened_ > trajectory_.plan.max_events)
    fail(e, "too_many_events", "more than max_events = " + std::to_string(trajectory_.plan.max_events) + " events",
         "raise max_events");
  if (!trajectory_.events[e]->resets()) return;
  if (!hit.follows && (watch_.sticks(e) || is_again(e))) fail_accumulated(e);
  last_[e] = t_;
  after_reset_.resize(trajectory_.n);
  const std::vector<event_hit>& hits = trajectory_.solution.hits;
  trajectory_.events[e]->reset(t_, hits[hit.seen].state.data(), after_reset_.data());
  for (Eigen::Index i = 0; i < trajectory_.n; ++i)
    if (!trajectory_.keeps(hits.size() - 1, i)) y_[i] = after_reset_[i];
  has_jumped_ = true;
  changed_.assign(changed_.size(), true);
  if (!y_.allFinite())
    fail(e, "not_finite", "the state after its reset is not finite",
         "check the reset for divisions by zero and arguments outside of domains");
}

AGRAD_INLINE void event_solver::cross_switches(const detail::event_segment& s) {
  const std::vector<std::size_t>& fired = watch_.fired();
  const auto resets = [&](std::size_t e) { return trajectory_.events[e]->resets(); };
  if (std::any_of(fired.begin(), fired.end(), resets)) return;  // sides follow from the state after the reset
  for (const std::size_t e : fired) {
    if (!watch_.is_switch(e)) continue;
    if (is_again(e)) fail_switches(e, "switches again and again at the same time");
    last_[e] = t_;
    if (crossed_.empty()) slope_before_ = trajectory_.slope_at(s.end, s.at_end);
    crossed_.push_back(e);
    has_jumped_ = true;
    trajectory_.switches->cross(e - own_events());
  }
}

AGRAD_INLINE void event_solver::make_consistent(detail::event_segment& s) {
  if (!s.is_settled) return;
  trajectory_.constrained->make_consistent(s.begin, s.at_begin);
  y_ = s.at_begin;
}

AGRAD_INLINE void event_solver::settle(detail::event_segment& s) {
  s.is_settled = has_jumped_ && trajectory_.constrained != nullptr;
  has_jumped_ = false;
  make_consistent(s);
  held_switches* switches = trajectory_.switches;
  if (switches == nullptr) return;
  std::vector<std::size_t> crossed;
  for (const std::size_t e : crossed_) crossed.push_back(e - own_events());
  for (std::size_t rounds = 0;; ++rounds) {
    const Eigen::VectorXd& slope = trajectory_.slope_at(s.begin, s.at_begin);
    switches->evaluate(s.begin, s.at_begin.data(), slope.data());
    if (!switches->follow(crossed)) break;
    if (rounds > switches->size() + 1) fail_switches(own_events(), holds_state);
    s.held = switches->held();
    trajectory_.enter(s);
    make_consistent(s);
  }
  if (!crossed_.empty()) check_crossed(trajectory_.slope_at(s.begin, s.at_begin));
  crossed_.clear();
}

AGRAD_INLINE void event_solver::check_crossed(const Eigen::VectorXd& slope) {
  for (const std::size_t e : crossed_) {
    const double rate_back = trajectory_.switches->rate(e - own_events()) * watch_.came_from(e);
    if (rate_back > 1e-10 * watch_.steepness(e)) fail_switches(e, holds_state);
  }
  for (Eigen::Index i = 0; i < trajectory_.n; ++i)
    if (slope[i] != slope_before_[i]) changed_[static_cast<std::size_t>(i)] = true;
}

AGRAD_INLINE double event_solver::rate_of(std::size_t e, double t, const Eigen::VectorXd& y) {
  double rate = 0;
  const Eigen::VectorXd slope = trajectory_.slope_at(t, y);
  Eigen::VectorXd by_y(trajectory_.n);
  trajectory_.events[e]->root_gradient(t, y.data(), rate, by_y.data(), nullptr);
  return rate + by_y.dot(slope);
}

AGRAD_INLINE void event_solver::check_progress(const detail::event_segment& s) {
  for (const std::size_t e : watch_.fired()) {
    if (!trajectory_.events[e]->resets() || watch_.jumps(e)) continue;
    const int from = watch_.came_from(e);
    const double before = rate_of(e, t_, s.at_end) * from;
    watch_.expect_return(e, trajectory_.events[e]->root(t_, s.at_end.data()), -before);
    if (before > 0 && counts_[e] > 1 && rate_of(e, t_, y_) * from < 0) fail_accumulated(e);
  }
}

AGRAD_INLINE void event_solver::fail_accumulated(std::size_t e) const {
  fail(e, "events_accumulate", "the event happens again and again at the same time",
       "end the solution earlier, by a terminal event or a count of events");
}

AGRAD_INLINE void event_solver::fail_endless(std::size_t e) const {
  fail(e, "endless_cascade",
       "the resets of " + conditions_.repeated() + " make the conditions true again and again at the same time",
       "let the resets leave a condition true, or false");
}

AGRAD_INLINE void event_solver::fail_switches(std::size_t e, const std::string& what) const {
  fail(e, "switches_accumulate", what,
       "write the motion along the threshold by events, make the switch gradual (a steep tanh), or choose switches=\"ignore\"");
}

AGRAD_INLINE void event_solver::fail(std::size_t e, const std::string& code, const std::string& what,
                                     const std::string& advice) const {
  throw SolverError(trajectory_.function + ": stopped at t = " + detail::to_text(t_) + " after " +
                        std::to_string(statistics_.forward.steps) + " steps (" + code + "); " + trajectory_.name_of(e) + ": " +
                        what + "; " + advice,
                    t_, statistics_.forward.steps, code, advice);
}

AGRAD_INLINE void event_solver::add_up_statistics() {
  statistics_ = {};
  for (std::size_t i = 0; i < trajectory_.used; ++i)
    if (trajectory_.segments[i].is_solved) statistics_ += trajectory_.solvers[trajectory_.segments[i].solver]->statistics();
}

AGRAD_INLINE ode_solver& event_solver::solver(std::size_t i) {
  while (trajectory_.solvers.size() <= i) {
    trajectory_.solvers.push_back(make_(trajectory_.function, trajectory_.system, {differentiated_, false, false}));
    if (log_ != nullptr) trajectory_.solvers.back()->log_steps(log_);
    if (!trajectory_.events.empty() && !trajectory_.solvers.back()->watch(&watch_))
      throw std::logic_error(
          trajectory_.function +
          ": events are given, but must not be with this method; use CVODES' adjoint method or a one-step method");
  }
  return *trajectory_.solvers[i];
}

}  // namespace agrad
