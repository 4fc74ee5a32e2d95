// Definitions of solve/solver/event_watch.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/event_watch.hpp>

namespace agrad::detail {

AGRAD_INLINE double step_cubic::operator()(double x) const {
  const double u = 1 - x;
  return u * u * ((1 + 2 * x) * begin + x * begin_slope) + x * x * ((3 - 2 * x) * end - u * end_slope);
}

AGRAD_INLINE int step_cubic::corners(std::array<double, 3>& at) const {
  const double rise = end - begin, a = 3 * (begin_slope + end_slope - 2 * rise),
               half_b = 3 * rise - 2 * begin_slope - end_slope;
  const double c = begin_slope, inside = half_b * half_b - a * c;
  int count = 0;
  if (inside > 0) {
    const double q = -(half_b + std::copysign(std::sqrt(inside), half_b));
    double first = a != 0 ? q / a : -1, second = q != 0 ? c / q : -1;
    if (first > second) std::swap(first, second);
    for (const double x : {first, second})
      if (x > 0 && x < 1) at[static_cast<std::size_t>(count++)] = x;
  }
  at[static_cast<std::size_t>(count++)] = 1;
  return count;
}

AGRAD_INLINE double step_cubic::root(double low, double high) const {
  const bool rises = (*this)(high) > 0;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    ((*this)(middle) > 0) == rises ? high = middle : low = middle;
  }
  return (low + high) / 2;
}

AGRAD_INLINE void event_watch::expect_change() {
  for (auto& each : of_) each.is_new = true;
  at_change_ = of_;
  fired_.clear();
}

AGRAD_INLINE void event_watch::expect_return(std::size_t e, double value, double rate) {
  of_[e].zero = std::max(of_[e].zero, 2 * std::abs(value));
  of_[e].stops = rate > 1e-6 * std::min(of_[e].steepness, of_[e].approach);
}

AGRAD_INLINE void event_watch::begin(double t, const double* y, const double* slope, double start) {
  t_ = t, start_ = start;
  fired_.clear();
  for (std::size_t e = 0; e < of_.size(); ++e) {
    event& each = of_[e];
    evaluate(e, t, y, slope, each.value, each.slope);
    if (!each.is_new && each.side != 0) continue;
    const bool is_clear = std::abs(each.value) > each.zero;
    each.side = is_clear ? sign(each.value) : each.slope != 0 || !each.stops ? sign(each.slope) : each.from;
    each.returns = each.zero > 0 && !is_clear;
    if (!each.returns) each.zero = 0;
    each.is_new = each.stops = false;
  }
}

AGRAD_INLINE bool event_watch::sees(double t, const double* y, const double* slope) {
  candidates_.clear();
  const double h = t - t_;
  for (std::size_t e = 0; e < of_.size(); ++e) {
    event& each = of_[e];
    evaluate(e, t, y, slope, each.next_value, each.next_slope);
    scan(e, h);
  }
  if (!candidates_.empty()) return true;
  go_on(t);
  return false;
}

AGRAD_INLINE void event_watch::evaluate(std::size_t e, double t, const double* y, const double* slope, double& value,
                                        double& rate) {
  double by_t = 0;
  value = events_[e]->root_gradient(start_ + t, y, by_t, by_y_.data(), nullptr);
  if (!std::isfinite(value)) fail(e, t, value);
  rate = by_t;
  for (Eigen::Index i = 0; i < by_y_.size(); ++i) rate += by_y_[i] * slope[i];
  if (!std::isfinite(rate)) rate = 0;  // a cusp: only the values decide
}

AGRAD_INLINE void event_watch::scan(std::size_t e, double h) {
  const event& each = of_[e];
  const step_cubic cubic{each.value, each.next_value, h * each.slope, h * each.next_slope};
  std::array<double, 3> corners{};
  const int count = cubic.corners(corners);
  int side = each.side;
  double low = 0, doubt = 0;
  bool is_clear = sign(each.value) == side;
  for (int i = 0; i < count; ++i) {
    const double x = corners[static_cast<std::size_t>(i)];
    const bool is_end = x == 1;
    const double value = is_end ? each.next_value : cubic(x);
    if (side == 0) side = sign(value);
    if (sign(value) == side || (value == 0 && !is_end)) {
      if (!is_end && turns_near_zero(each, value)) doubt = x;
      low = x, is_clear = true;
      continue;
    }
    if (!is_end && each.returns && std::abs(value) <= each.zero) continue;  // the function is flat after its event
    const int direction = rules_[e].direction;
    // After its event the function may never leave zero: `enclose` decides.
    const bool sticks = each.returns && events_[e]->resets() && std::abs(value) > each.zero;
    if ((is_clear || sticks) && side != 0 && (direction == 0 || direction == -side)) {
      const double guess = value == 0 || !is_clear ? x : cubic.root(low, x);
      candidates_.push_back({e, side, low * h, x * h, guess * h});
      return;
    }
    side = -side, low = x, is_clear = true;
  }
  if (doubt > 0) candidates_.push_back({e, each.side, 0, h, doubt * h, true});
}

AGRAD_INLINE bool event_watch::turns_near_zero(const event& of, double extremum) {
  if (of.returns || sign(of.value) != of.side || sign(of.next_value) != of.side) return false;
  const double height = std::min(std::abs(of.value), std::abs(of.next_value)) - std::abs(extremum);
  return std::abs(extremum) < 0.1 * height;
}

AGRAD_INLINE void event_watch::go_on(double t) {
  t_ = t;
  for (event& each : of_) {
    each.value = each.next_value, each.slope = each.next_slope;
    if (each.returns && std::abs(each.value) <= each.zero) continue;
    each.returns = false, each.zero = 0;
    if (each.value != 0) each.side = sign(each.value);
  }
}

AGRAD_INLINE void event_watch::fail(std::size_t e, double t, double value) const {
  const std::string name = "events[" + std::to_string(e) + "]",
                    place = name + " is " + to_text(value) + " at t = " + to_text(start_ + t);
  const std::string advice = "an event function must be finite along the solution";
  throw SolverError(function_ + ": stopped at t = " + to_text(start_ + t_) + " (not_finite); " + place + "; " + advice,
                    start_ + t_, 0, "not_finite", advice);
}

}  // namespace agrad::detail
