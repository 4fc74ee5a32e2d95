// Definitions of solve/solver/event_watch.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/event_watch.hpp>

namespace agrad::detail {

AGRAD_INLINE std::string event_name(std::size_t e, std::size_t own, const held_switches* switches) {
  return e < own ? "events[" + std::to_string(e) + "]" : switches->name(e - own);
}

AGRAD_INLINE void event_watch::expect_change() {
  for (event& each : of_) each.now = phase::unknown;
  at_change_ = of_;
  fired_.clear();
}

AGRAD_INLINE void event_watch::expect_return(std::size_t e, double value, double rate) {
  of_[e].zero = std::max(of_[e].zero, 2 * std::abs(value));
  of_[e].stops = rate > 1e-6 * std::min(of_[e].last.steepness, of_[e].last.approach);
}

AGRAD_INLINE void event_watch::begin(double t, const double* y, const double* slope, double start) {
  t_ = t, start_ = start;
  fired_.clear();
  nodes_.begin(start_ + t, y, slope);
  for (std::size_t e = 0; e < of_.size(); ++e) {
    event& each = of_[e];
    each.here = evaluate(e, t, y, slope);
    if (is_switch(e)) {
      begin_switch(e);
      continue;
    }
    if (each.now != phase::unknown && each.side != 0) continue;
    const bool is_clear = std::abs(each.here.value) > each.zero;
    each.side = sign_of(is_clear ? each.here.value : each.here.slope);
    if (!is_clear && each.here.slope == 0 && each.stops) each.side = each.last.from;
    each.now = each.zero > 0 && !is_clear ? phase::leaving : phase::watched;
    if (each.now == phase::watched) each.zero = 0;
    each.stops = false;
  }
}

AGRAD_INLINE void event_watch::begin_switch(std::size_t e) {
  event& each = of_[e];
  each.side = switches_->side(e - own_);
  const bool is_there = sign_of(each.here.value) == each.side && std::abs(each.here.value) > each.zero;
  each.now = is_there ? phase::watched : phase::leaving;
  each.zero = is_there ? 0 : std::max(each.zero, 2 * std::abs(each.here.value));
}

AGRAD_INLINE bool event_watch::sees(double t, const double* y, const double* slope) {
  candidates_.clear();
  const double h = attempted_ = t - t_;
  nodes_.examine(h, y, slope);
  for (std::size_t e = 0; e < of_.size(); ++e) {
    of_[e].next = evaluate(e, t, y, slope);
    scan(e, h);
  }
  if (!candidates_.empty()) return true;
  go_on(t);
  return false;
}

AGRAD_INLINE event_watch::sample event_watch::evaluate(std::size_t e, double t, const double* y, const double* slope) {
  if (is_switch(e)) {
    const sample found = of_node(e, nodes_.all().back());
    if (!std::isfinite(found.value)) fail(e, t, found.value);
    return found;
  }
  double by_t = 0;
  const double value = events_[e]->root_gradient(start_ + t, y, by_t, by_y_.data(), nullptr);
  if (!std::isfinite(value)) fail(e, t, value);
  double rate = by_t;
  for (Eigen::Index i = 0; i < by_y_.size(); ++i) rate += by_y_[i] * slope[i];
  return {value, std::isfinite(rate) ? rate : 0};  // at a cusp only the values decide
}

AGRAD_INLINE void event_watch::scan(std::size_t e, double h) {
  const event& each = of_[e];
  course so_far{each.side, sign_of(each.here.value) == each.side};
  if (!is_switch(e)) {
    if (scan(e, 0, h, each.here, each.next, so_far)) return;
  } else {
    const std::vector<switch_nodes::node>& nodes = nodes_.all();
    for (std::size_t k = 1; k < nodes.size(); ++k)
      if (scan(e, nodes[k - 1].at, nodes[k].at, of_node(e, nodes[k - 1]), of_node(e, nodes[k]), so_far)) return;
  }
  if (so_far.doubt > 0) candidates_.push_back({e, each.side, {0, h}, so_far.doubt, true});
}

AGRAD_INLINE bool event_watch::scan(std::size_t e, double from, double to, const sample& first, const sample& last,
                                    course& so_far) {
  const event& each = of_[e];
  const double h = to - from;
  const step_cubic cubic{first.value, last.value, h * first.slope, h * last.slope};
  const bool is_leaving = each.now == phase::leaving;
  std::array<double, 3> corners{};
  const int count = cubic.corners(corners);
  double low = 0;  // of the cubic; so_far.low is the time
  for (int i = 0; i < count; ++i) {
    const double x = corners[static_cast<std::size_t>(i)];
    const bool is_end = x == 1;
    const double value = is_end ? last.value : cubic(x);
    if (so_far.side == 0) so_far.side = sign_of(value);
    if (sign_of(value) == so_far.side || (value == 0 && !is_end)) {
      if (!is_end && turns_near_zero(each, first, last, value)) so_far.doubt = from + x * h;
      low = x, so_far.low = from + x * h, so_far.is_clear = true;
      continue;
    }
    if (is_leaving && std::abs(value) <= each.zero) continue;  // the function is flat, or rests, after its event
    const int counted = direction(e);
    // After its event the function may never leave zero: `enclose` decides.
    const bool sticks = is_leaving && repeats(e) && std::abs(value) > each.zero;
    if ((so_far.is_clear || sticks) && so_far.side != 0 && (counted == 0 || counted == -so_far.side)) {
      const double guess = value == 0 || !so_far.is_clear ? x : cubic.root(low, x);
      candidates_.push_back({e, so_far.side, {so_far.low, from + x * h}, from + guess * h});
      return true;
    }
    so_far.side = -so_far.side, so_far.is_clear = true;
    low = x, so_far.low = from + x * h;
  }
  return false;
}

AGRAD_INLINE bool event_watch::turns_near_zero(const event& of, const sample& first, const sample& last, double extremum) {
  if (of.now == phase::leaving || sign_of(first.value) != of.side || sign_of(last.value) != of.side) return false;
  const double height = std::min(std::abs(first.value), std::abs(last.value)) - std::abs(extremum);
  return std::abs(extremum) < 0.1 * height;
}

AGRAD_INLINE void event_watch::fire(const candidate& c, double size) {
  fired_.push_back(c.event);
  event& of = of_[c.event];
  of.last = c.found;
  of.last.approach = std::abs(c.part.low_value) / std::max(c.at - c.part.low, std::numeric_limits<double>::min());
  const double rounding = std::numeric_limits<double>::epsilon() * size;
  of.zero = std::max(1e-10 * c.part.scale(), of.last.jumps ? 0 : 64 * rounding * of.last.steepness);
}

AGRAD_INLINE void event_watch::go_on(double t) {
  t_ = t;
  nodes_.go_on(start_ + t);
  for (event& each : of_) {
    each.here = each.next;
    if (each.now == phase::leaving && std::abs(each.here.value) <= each.zero) continue;
    each.now = phase::watched, each.zero = 0;
    if (each.here.value != 0 && &each < of_.data() + own_) each.side = sign_of(each.here.value);
  }
}

AGRAD_INLINE void event_watch::fail(std::size_t e, double t, double value) const {
  const std::string place = event_name(e, own_, switches_) + " is " + to_text(value) + " at t = " + to_text(start_ + t);
  const std::string advice = "an event function must be finite along the solution";
  throw SolverError(function_ + ": stopped at t = " + to_text(start_ + t_) + " (not_finite); " + place + "; " + advice,
                    start_ + t_, 0, "not_finite", advice);
}

}  // namespace agrad::detail
