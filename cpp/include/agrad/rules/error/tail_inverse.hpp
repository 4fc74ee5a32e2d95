// Tail inverse: the point beyond which, or up to which, a distribution has a given probability, by safeguarded Newton steps.
//
// The steps solve log(tail(x) / p) = 0, which is nearly linear in a coordinate that suits the distribution (log x, log odds,
// asinh x), near and far. The ratio has all digits of the tail, at p = 1e-300 too. Read next: rules/special/quantiles.hpp.
#pragma once

#include <cmath>
#include <limits>

#include <agrad/rules/rule.hpp>

namespace agrad::detail {

/// log(tail / p) at a point, and its derivative in the coordinate.
struct tail_excess {
  double value, slope;
};

/// Returns the excess of a tail with this slope, or where the tail or the slope underflows from the logarithm of the tail and
/// the logarithm's slope.
template <class LogTail, class LogSlope>
tail_excess excess_of(double p, double tail, double slope, const LogTail& log_tail, const LogSlope& log_slope) {
  const bool is_number = tail > 4 * std::numeric_limits<double>::min() && std::isfinite(tail / p);
  return {is_number ? std::log(tail / p) : log_tail() - std::log(p), is_number && slope != 0 ? slope / tail : log_slope()};
}

/// Returns the x between `low` and `high` at which at(x).value is zero, starting from x. at(x) rises in x if `rises`, else it
/// falls; move(x, d) is x moved by d in the coordinate. A step that leaves the interval known to contain the solution is
/// replaced by one to the middle between x and the interval's end. The result is nan if the steps do not come to an end.
template <class At, class Move>
double inverse_of_tail(bool rises, double low, double x, double high, const At& at, const Move& move) {
  constexpr int most_steps = 200;
  constexpr double longest = 8, small = 1e-6;
  double last = infinity;
  for (int i = 0; i < most_steps; ++i) {
    const tail_excess here = at(x);
    if (here.value == 0) return x;
    const bool is_below = (here.value < 0) == rises;
    (is_below ? low : high) = x;
    double step = -here.value / here.slope;
    if (!((step > 0) == is_below)) step = is_below ? longest : -longest;  // where the slope is 0, infinite or nan
    step = std::abs(step) < longest ? step : std::copysign(longest, step);
    if (std::abs(step) < small && 2 * std::abs(step) > last) return x;  // rounding errors
    last = std::abs(step);
    double next = move(x, step);
    if (next == x) return x;
    if (!(next > low && next < high)) next = is_below ? x + 0.5 * (high - x) : x - 0.5 * (x - low);
    if (!std::isfinite(next)) next = move(x, is_below ? 1 : -1);
    if (next == low || next == high) return next;
    x = next;
  }
  return quiet_nan;
}

}  // namespace agrad::detail
