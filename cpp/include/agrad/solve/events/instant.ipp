// Definitions of solve/events/solver.hpp: what happens at one instant, the events, the sides of switches, and the faults there.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/solver.hpp>

namespace agrad {

AGRAD_INLINE bool event_solver::apply(detail::event_segment& s) {
  s.ending = detail::event_segment::event_ending;
  s.ending_index = trajectory_.solution.hits.size();
  take_fired();
  for (const std::size_t e : fired_)
    if (!watch_.is_switch(e)) conditions_.reach(e, s.ending_index, watch_.came_from(e));
  conditions_.end_waiting(t_ + trajectory_.same_time(t_));
  if (fired_.empty() && !conditions_.is_due() && !kinks_.empty()) {
    apply_kink(s);
    return false;
  }
  const bool is_over = run_due();
  for (const std::size_t e : fired_)
    if (watch_.is_switch(e)) trajectory_.solution.hits.push_back({e, t_, y_, watch_.steepness(e)});
  s.hits = trajectory_.solution.hits.size() - s.ending_index;
  check_progress(s);
  cross_switches(s);
  watch_.expect_change();
  if (is_over) terminate();
  return is_over;
}

AGRAD_INLINE void event_solver::take_fired() {
  fired_.clear();
  for (const std::size_t e : watch_.fired()) (is_kink(e) ? kinks_ : fired_).push_back(e);
}

AGRAD_INLINE void event_solver::apply_kink(detail::event_segment& s) {
  const std::size_t e = kinks_.front();
  kinks_.erase(kinks_.begin());
  s.ending = detail::event_segment::event_ending;
  s.ending_index = trajectory_.solution.hits.size(), s.hits = 1;
  trajectory_.solution.hits.push_back({e, t_, y_, watch_.steepness(e)});
  const bool rests = trajectory_.solution.hits.back().rests = rests_at(e);
  if (!rests) check_slopes(e);
  cross(e, s, !rests || watch_.sticks(e));
  last_[e] = t_;
  watch_.expect_change();
}

AGRAD_INLINE void event_solver::check_slopes(std::size_t e) {
  const Eigen::VectorXd slope = trajectory_.slope_at(t_, y_);
  std::size_t solved = trajectory_.used - 1;  // the last segment with a length; steps may have become short before the kink
  while (!trajectory_.segments[solved].is_solved) --solved;
  const double span = t_ - trajectory_.segments[solved].begin;
  const auto change = [&](double share) -> Eigen::VectorXd {
    const double back = share * span;
    return (trajectory_.slope_at(t_ - back, y_ - back * slope) - slope).cwiseAbs();
  };
  const Eigen::VectorXd near = change(1e-9), middle = change(std::sqrt(1e-11)), far = change(1e-2);
  for (Eigen::Index i = 0; i < slope.size(); ++i) {
    const double square = middle[i] * middle[i], product = near[i] * far[i];
    const bool is_power = product < 4 * square && square < 4 * product;
    if (is_power && near[i] > 1e-5 * far[i] && near[i] < 0.1 * far[i])
      throw DerivativeError(trajectory_.function + ": the slope of y[" + std::to_string(i) +
                            "] has no finite derivative where " + trajectory_.name_of(e) +
                            " changes, at t = " + detail::to_text(t_) + ", but must have one for second derivatives");
  }
}

AGRAD_INLINE bool event_solver::rests_at(std::size_t e) {
  const Eigen::VectorXd slope = trajectory_.slope_at(t_, y_);
  Eigen::VectorXd by_y(trajectory_.n);
  double by_t = 0;
  trajectory_.events[e]->root_gradient(t_, y_.data(), by_t, by_y.data(), nullptr);
  const double rate = by_t + by_y.dot(slope), size = std::abs(by_t * t_) + by_y.cwiseProduct(y_).cwiseAbs().sum();
  const double height = watch_.height(e), usual = std::max(watch_.steepness(e), height / watch_.attempted());
  const bool leaves = rate * watch_.came_from(e) < 0 && std::abs(rate) > 1e-6 * usual;
  const bool rests = !leaves || watch_.sticks(e) || !(height > 1e-13 * size);
  if (rests) watch_.rest(e, std::isfinite(size) ? 1e-14 * size : 0, is_again(e));
  return rests;
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
    const auto [e, trigger, follows, kind] = conditions_.next();
    std::vector<event_hit>& hits = trajectory_.solution.hits;
    const std::size_t seen = trajectory_.plan.events[e].firing.sees_trigger ? trigger : hits.size();
    const bool crosses = !follows && kind != hit_kind::delayed;
    hits.push_back({e, t_, y_, crosses ? watch_.steepness(e) : 0, follows, seen, kind, trigger});
    count(hits.back());
    if (kind == hit_kind::trigger) begin_waiting(e);
    if (kind == hit_kind::withdrawal) conditions_.withdraw(e);
    if (!hits.back().happens()) continue;
    is_over = ++counts_[e] == trajectory_.plan.events[e].terminal || is_over;
    if (conditions_.is_endless(e)) fail_endless(e);
    reset(hits.back());
    if (trajectory_.events[e]->resets()) see_jump();
  }
  return is_over;
}

AGRAD_INLINE void event_solver::begin_waiting(std::size_t e) {
  const double delay = trajectory_.events[e]->delay(t_, y_.data());
  if (!(delay >= 0 && std::isfinite(delay)))
    fail(e, "bad_delay", "the delay is " + detail::to_text(delay), "a delay must be nonnegative and finite");
  conditions_.wait(e, trajectory_.solution.hits.size() - 1, t_ + delay);
}

AGRAD_INLINE void event_solver::count(const event_hit& hit) {
  if (++(hit.happens() ? happened_ : waited_) > trajectory_.plan.max_events)
    fail(hit.event, "too_many_events", "more than max_events = " + std::to_string(trajectory_.plan.max_events) + " events",
         "raise max_events");
}

AGRAD_INLINE void event_solver::terminate() {
  trajectory_.solution.is_terminated = true;
  Eigen::Index& k = trajectory_.solution.reached;
  while (k < trajectory_.solution.states.cols() && trajectory_.v.times[static_cast<std::size_t>(k)] <= t_)
    trajectory_.solution.states.col(k++) = y_;
}

AGRAD_INLINE void event_solver::reset(const event_hit& hit) {
  const std::size_t e = hit.event;
  if (!trajectory_.events[e]->resets()) return;
  if (!hit.follows && hit.kind == hit_kind::event && (watch_.sticks(e) || is_again(e))) fail_accumulated(e);
  last_[e] = t_;
  after_reset_.resize(trajectory_.n);
  const std::vector<event_hit>& hits = trajectory_.solution.hits;
  trajectory_.events[e]->reset(t_, hits[hit.seen].state.data(), after_reset_.data());
  for (Eigen::Index i = 0; i < trajectory_.n; ++i)
    if (!trajectory_.keeps(hits.size() - 1, i)) y_[i] = after_reset_[i];
  has_jumped_ = true;
  kinks_.clear();  // their sides follow from the state after the reset
  changed_.assign(changed_.size(), true);
  if (!y_.allFinite())
    fail(e, "not_finite", "the state after its reset is not finite",
         "check the reset for divisions by zero and arguments outside of domains");
}

AGRAD_INLINE void event_solver::cross_switches(const detail::event_segment& s) {
  const auto first = trajectory_.solution.hits.begin() + static_cast<std::ptrdiff_t>(s.ending_index);
  const auto resets = [&](const event_hit& hit) { return trajectory_.resets(hit); };
  if (std::any_of(first, trajectory_.solution.hits.end(), resets)) return;  // sides follow from the state after the reset
  for (const std::size_t e : fired_) {
    if (!watch_.is_switch(e)) continue;
    if (is_again(e)) fail_switches(e, "switches again and again at the same time");
    last_[e] = t_;
    cross(e, s, true);
  }
}

AGRAD_INLINE void event_solver::cross(std::size_t e, const detail::event_segment& s, bool changes) {
  if (crossed_.empty()) slope_before_ = trajectory_.slope_at(s.end, s.at_end);
  crossed_.push_back(e);
  has_jumped_ = true;
  if (changes) trajectory_.switches->cross(e - own_events());
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
  for (const std::size_t e : kinks_) crossed.push_back(e - own_events());
  for (std::size_t rounds = 0;; ++rounds) {
    const Eigen::VectorXd& slope = trajectory_.slope_at(s.begin, s.at_begin);
    switches->evaluate(s.begin, s.at_begin.data(), slope.data());
    if (!switches->follow(crossed)) break;
    if (rounds > switches->size() + 1) {
      for (std::size_t i = 0; i < switches->size(); ++i)
        if (!switches->is_kink(i)) fail_switches(own_events() + i, holds_state);
      break;
    }
    s.held = switches->held();
    trajectory_.enter(s);
    make_consistent(s);
  }
  if (!crossed_.empty()) check_crossed(trajectory_.slope_at(s.begin, s.at_begin));
  if (kinks_.empty()) crossed_.clear();  // else their sides stay where they are for the rest of the instant
}

AGRAD_INLINE void event_solver::check_crossed(const Eigen::VectorXd& slope) {
  for (const std::size_t e : crossed_) {
    const double rate_back = trajectory_.switches->rate(e - own_events()) * watch_.came_from(e);
    if (!is_kink(e) && rate_back > 1e-10 * watch_.steepness(e)) fail_switches(e, holds_state);
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
  for (const std::size_t e : fired_) {
    if (!trajectory_.events[e]->resets_there() || watch_.jumps(e)) continue;
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

}  // namespace agrad
