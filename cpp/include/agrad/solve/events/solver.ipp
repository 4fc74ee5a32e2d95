// Definitions of solve/events/solver.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/solver.hpp>

namespace agrad {

AGRAD_INLINE event_solver::event_solver(std::string function, ode_system& system, const functions& events, maker make,
                                        event_plan plan, bool differentiated)
    : way_(std::move(function), system, events, std::move(plan), differentiated),
      make_(std::move(make)),
      differentiated_(differentiated),
      watch_(way_.function, way_.events, way_.plan.events, way_.n),
      tangent_(way_) {
  detail::check_plan(way_.function, way_.plan, way_.n);
  solver(0);
}

AGRAD_INLINE const event_solution& event_solver::integrate(const event_values& values) {
  is_integrated_ = false;
  detail::check_values(way_.function, way_.plan, values, way_.n);
  way_.v = values;
  detail::make_schedule(way_.plan, way_.v, way_.schedule);
  start();
  while (!advance()) continue;
  way_.solution.end = t_, way_.solution.end_state = y_;
  for (Eigen::Index k = way_.solution.reached; k < way_.solution.states.cols(); ++k) way_.solution.states.col(k) = y_;
  is_integrated_ = true;
  return way_.solution;
}

AGRAD_INLINE event_gradient event_solver::sweep(const event_adjoints& adjoints) {
  if (!is_integrated_) throw std::logic_error(way_.function + ": sweep was called before integrate, but must come after it");
  event_gradient g = detail::event_sweep(way_, adjoints).run();
  add_up_sweeps();
  return g;
}

AGRAD_INLINE bool event_solver::has_first_tangents() const {
  return way_.solvers[0]->has_first_tangents() &&
         std::all_of(way_.events.begin(), way_.events.end(), [](const auto& event) { return event->has_tangents(); });
}

AGRAD_INLINE event_tangents event_solver::tangent(const event_directions& along, bool reads_hits) {
  if (!is_integrated_) throw std::logic_error(way_.function + ": tangent was called before integrate, but must come after it");
  return tangent_.run(along, reads_hits);
}

AGRAD_INLINE bool event_solver::has_tangents() const {
  return way_.solvers[0]->has_tangents() && has_first_tangents() && (!way_.moves() || way_.system.has_time_tangents()) &&
         std::all_of(way_.events.begin(), way_.events.end(), [](const auto& event) { return event->has_second(); });
}

AGRAD_INLINE event_gradient event_solver::second(const event_adjoints& adjoints, const event_tangents& tangents,
                                                 event_directions& back) {
  return detail::event_second_sweep(way_, tangent_, adjoints, tangents, back).run();
}

AGRAD_INLINE bool event_solver::log_steps(detail::step_log* log) {
  log_ = log;
  return std::all_of(way_.solvers.begin(), way_.solvers.end(), [&](const auto& each) { return each->log_steps(log); });
}

AGRAD_INLINE void event_solver::start() {
  t_ = way_.v.initial_time, y_ = way_.v.initial_state;
  way_.used = solved_ = place_ = 0;
  probe_.clear();
  running_.clear();
  statistics_ = {};
  counts_.assign(way_.events.size(), 0);
  last_.assign(way_.events.size(), -std::numeric_limits<double>::infinity());
  watch_.start();
  watch_.expect_change();
  way_.solution.states.resize(way_.n, static_cast<Eigen::Index>(way_.v.times.size()));
  way_.solution.reached = 0;
  way_.solution.hits.clear();
  way_.solution.is_terminated = false;
}

AGRAD_INLINE bool event_solver::advance() {
  if (way_.used == way_.segments.size()) way_.segments.emplace_back();
  detail::event_segment& s = way_.segments[way_.used++];
  const bool is_last = place_ == way_.schedule.size();
  s.begin = t_, s.at_begin = y_, s.running = running_;
  s.end = is_last ? way_.v.times.back() : way_.schedule[place_].time;
  s.is_solved = s.end > t_;
  s.hits = s.inner_outputs = 0, s.ending = detail::event_segment::finish;
  take_begin_outputs(s, is_last);
  way_.enter(s);
  if (s.is_solved) solve(s);
  t_ = s.end, s.at_end = y_;
  if (s.is_solved && !watch_.fired().empty()) return happen(s);
  s.ending = is_last ? detail::event_segment::finish : detail::event_segment::scheduled_ending;
  if (is_last) return true;
  s.happening = place_;
  happen(way_.schedule[place_++]);
  return false;
}

AGRAD_INLINE void event_solver::take_begin_outputs(detail::event_segment& s, bool is_last) {
  Eigen::Index& k = way_.solution.reached;
  s.first_output = static_cast<std::size_t>(k);
  if (s.end > s.begin || is_last) {
    const double before = is_last && !s.is_solved ? HUGE_VAL : s.end, here = s.begin + way_.same_time(s.begin);
    const auto is_here = [&](double t) { return t < before && (t <= here || !s.is_solved); };
    while (k < way_.solution.states.cols() && is_here(way_.v.times[static_cast<std::size_t>(k)]))
      way_.solution.states.col(k++) = y_;
  }
  s.begin_outputs = static_cast<std::size_t>(k) - s.first_output;
}

AGRAD_INLINE void event_solver::solve(detail::event_segment& s) {
  ends_.clear();
  for (auto k = static_cast<std::size_t>(way_.solution.reached); k < way_.v.times.size() && way_.v.times[k] < s.end; ++k)
    ends_.push_back(way_.v.times[k]);
  ends_.push_back(s.end);
  s.solver = differentiated_ ? solved_++ : 0;
  ode_solver& by = solver(s.solver);
  if (log_ != nullptr) log_->at_end = place_ == way_.schedule.size() ? detail::step_limit::end : detail::step_limit::stop;
  move_probe(by);
  const Eigen::MatrixXd& states = by.integrate(y_, s.begin, ends_);
  probe_ = by.probe(), after_probe_ = states.col(states.cols() - 1);
  statistics_ += by.statistics();
  y_ = states.col(states.cols() - 1);
  const bool has_event = !watch_.fired().empty();
  if (has_event) s.end = event_time(states.cols());
  const bool is_finish = !has_event && place_ == way_.schedule.size();
  s.inner_outputs = static_cast<std::size_t>(states.cols() - (is_finish ? 0 : 1));
  const auto count = static_cast<Eigen::Index>(s.inner_outputs);
  way_.solution.states.middleCols(way_.solution.reached, count) = states.leftCols(count);
  way_.solution.reached += count;
}

AGRAD_INLINE void event_solver::move_probe(ode_solver& by) {
  if (probe_.size() != static_cast<std::size_t>(way_.n)) return;
  for (Eigen::Index i = 0; i < way_.n; ++i)
    probe_[static_cast<std::size_t>(i)] +=
        detail::generic_factor(static_cast<std::size_t>(i)) * std::abs(y_[i] - after_probe_[i]);
  by.continue_probe(probe_);
}

AGRAD_INLINE double event_solver::event_time(Eigen::Index count) const {
  const double meant = ends_[static_cast<std::size_t>(count - 1)];
  return std::abs(watch_.where() - meant) <= way_.same_time(meant) ? meant : watch_.where();
}

AGRAD_INLINE void event_solver::happen(const detail::scheduled& what) {
  if (what.kind == detail::scheduled::infusion_end) {
    running_.erase(std::find(running_.begin(), running_.end(), what.index));
  } else if (what.kind == detail::scheduled::dose) {
    if (what.is_at_once)
      y_[way_.plan.doses[what.index].state] += way_.v.amounts[what.index];
    else
      running_.push_back(what.index);
  }
  watch_.expect_change();
}

AGRAD_INLINE bool event_solver::happen(detail::event_segment& s) {
  s.ending = detail::event_segment::event_ending;
  s.happening = way_.solution.hits.size();
  bool is_over = false;
  for (const std::size_t e : watch_.fired()) {
    way_.solution.hits.push_back({e, t_, y_, watch_.steepness(e)});
    is_over = ++counts_[e] == way_.plan.events[e].terminal || is_over;
    reset(e);
  }
  s.hits = way_.solution.hits.size() - s.happening;
  look_whether_turned(s);
  watch_.expect_change();
  if (!is_over) return false;
  way_.solution.is_terminated = true;
  Eigen::Index& k = way_.solution.reached;
  while (k < way_.solution.states.cols() && way_.v.times[static_cast<std::size_t>(k)] <= t_) way_.solution.states.col(k++) = y_;
  return true;
}

AGRAD_INLINE void event_solver::reset(std::size_t e) {
  if (static_cast<long>(way_.solution.hits.size()) > way_.plan.max_events)
    fail(e, "too_many_events", "more than max_events = " + std::to_string(way_.plan.max_events) + " events",
         "raise max_events");
  if (!way_.events[e]->resets()) return;
  if (watch_.sticks(e) ||
      t_ - last_[e] <= 4096 * std::numeric_limits<double>::epsilon() * std::abs(t_) + std::numeric_limits<double>::min())
    fail_accumulated(e);
  last_[e] = t_;
  after_reset_.resize(way_.n);
  way_.events[e]->reset(t_, y_.data(), after_reset_.data());
  y_ = after_reset_;
  if (!y_.allFinite())
    fail(e, "not_finite", "the state after its reset is not finite",
         "check the reset for divisions by zero and arguments outside of domains");
}

AGRAD_INLINE double event_solver::rate_of(std::size_t e, double t, const Eigen::VectorXd& y) {
  double rate = 0;
  const Eigen::VectorXd slope = way_.slope_at(t, y);
  Eigen::VectorXd by_y(way_.n);
  way_.events[e]->root_gradient(t, y.data(), rate, by_y.data(), nullptr);
  return rate + by_y.dot(slope);
}

AGRAD_INLINE void event_solver::look_whether_turned(const detail::event_segment& s) {
  for (const std::size_t e : watch_.fired()) {
    if (!way_.events[e]->resets() || watch_.jumps(e)) continue;
    const int from = watch_.came_from(e);
    const double before = rate_of(e, t_, s.at_end) * from;
    watch_.expect_return(e, way_.events[e]->root(t_, s.at_end.data()), -before);
    if (before > 0 && counts_[e] > 1 && rate_of(e, t_, y_) * from < 0) fail_accumulated(e);
  }
}

AGRAD_INLINE void event_solver::fail_accumulated(std::size_t e) const {
  fail(e, "events_accumulate", "the event happens again and again at the same time",
       "end the solution earlier, by a terminal event or a count of events");
}

AGRAD_INLINE void event_solver::fail(std::size_t e, const std::string& code, const std::string& what,
                                     const std::string& advice) const {
  throw SolverError(way_.function + ": stopped at t = " + detail::to_text(t_) + " after " +
                        std::to_string(statistics_.forward.steps) + " steps (" + code + "); events[" + std::to_string(e) +
                        "]: " + what + "; " + advice,
                    t_, statistics_.forward.steps, code, advice);
}

AGRAD_INLINE void event_solver::add_up_sweeps() {
  statistics_ = {};
  for (std::size_t i = 0; i < way_.used; ++i)
    if (way_.segments[i].is_solved) statistics_ += way_.solvers[way_.segments[i].solver]->statistics();
}

AGRAD_INLINE ode_solver& event_solver::solver(std::size_t i) {
  while (way_.solvers.size() <= i) {
    way_.solvers.push_back(make_(way_.function, way_.system, {differentiated_, false, false}));
    if (log_ != nullptr) way_.solvers.back()->log_steps(log_);
    if (!way_.events.empty() && !way_.solvers.back()->watch(&watch_))
      throw std::logic_error(
          way_.function +
          ": events are given, but must not be with this method; use CVODES' adjoint method or a one-step method");
  }
  return *way_.solvers[i];
}

}  // namespace agrad
