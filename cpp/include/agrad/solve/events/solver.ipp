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
  happened_ = waited_ = 0;
  crossed_.clear(), kinks_.clear();
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
  s.begin = t_, s.at_begin = y_, s.running = running_;
  if (trajectory_.switches != nullptr) s.held = trajectory_.switches->held();
  s.hits = s.inner_outputs = s.late_outputs = s.befores = 0;
  choose_end(s);
  settle(s);
  // Otherwise more is scheduled at the same instant.
  if (s.is_solved || s.ending != detail::event_segment::scheduled_ending || trajectory_.used == 1) see_jump();
  if (s.ending == detail::event_segment::event_ending && conditions_.next_time() != s.end) choose_end(s);  // one was withdrawn
  const bool is_last = s.ending == detail::event_segment::finish;
  if (conditions_.is_due() || (!s.is_solved && s.ending == detail::event_segment::event_ending)) {
    shorten(s);
    return apply(s);
  }
  if (!kinks_.empty()) {
    shorten(s);
    apply_kink(s);
    return false;
  }
  write_begin_outputs(s, is_last);
  if (s.is_solved) solve(s);
  t_ = s.end, s.at_end = y_;
  if (s.is_solved) conditions_.arrive(t_, y_);
  if ((s.is_solved && !watch_.fired().empty()) || s.ending == detail::event_segment::event_ending) return apply(s);
  if (is_last) return true;
  write_before_outputs(s);
  apply(trajectory_.schedule[place_++]);
  return false;
}

AGRAD_INLINE void event_solver::choose_end(detail::event_segment& s) {
  const bool is_over = place_ == trajectory_.schedule.size();
  const double last = trajectory_.v.times.back(), scheduled = is_over ? HUGE_VAL : trajectory_.schedule[place_].time;
  s.ending_index = place_;
  if (conditions_.next_time() < scheduled && conditions_.next_time() <= last)
    s.ending = detail::event_segment::event_ending, s.end = conditions_.next_time();
  else if (is_over)
    s.ending = detail::event_segment::finish, s.end = last;
  else
    s.ending = detail::event_segment::scheduled_ending, s.end = scheduled;
  s.is_solved = s.end > t_;
  trajectory_.enter(s);
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
    log_->at_end = s.ending == detail::event_segment::finish ? detail::step_limit::end : detail::step_limit::stop;
  move_probe(by);
  const Eigen::MatrixXd& states = by.integrate(y_, s.begin, ends_);
  probe_ = by.probe(), after_probe_ = states.col(states.cols() - 1);
  statistics_ += by.statistics();
  y_ = states.col(states.cols() - 1);
  const bool has_event = !watch_.fired().empty();
  if (has_event) s.end = event_time(states.cols());
  const bool is_finish = !has_event && s.ending == detail::event_segment::finish;
  const bool has_hits = has_event || s.ending == detail::event_segment::event_ending;
  s.inner_outputs = static_cast<std::size_t>(states.cols() - (is_finish ? 0 : 1));
  // An output at the time of the event up to rounding has the state after the event.
  while (has_hits && s.inner_outputs > 0 && ends_[s.inner_outputs - 1] >= s.end - trajectory_.same_time(s.end))
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
