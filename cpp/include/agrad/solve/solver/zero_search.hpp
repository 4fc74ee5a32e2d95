// Zero search: the zeros of a function of time within a step, from its cubic polynomial and from its own values.
//
// Source: Chandrupatla (1997), Advances in Engineering Software 28:145, for the iteration.
// Read next: solve/solver/event_watch.hpp, the user.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace agrad::detail {

/// Returns the sign of a number: -1, 0 or 1.
inline int sign_of(double x) { return (x > 0) - (x < 0); }

/// The cubic polynomial on [0, 1] through two values and slopes.
struct step_cubic {
  double begin, end, begin_slope, end_slope;

  double operator()(double x) const;
  /// Writes the extrema within (0, 1) in order, and then 1. Returns how many numbers that are.
  int corners(std::array<double, 3>& at) const;
  /// Returns the zero between two places with different signs.
  double root(double low, double high) const;
};

/// A part of a step, between times since the step's start, with the function's values at both ends.
struct bracket {
  double low, high;
  double low_value = 0, high_value = 0;

  /// Returns whether the function goes from this side of zero to zero or beyond.
  bool leaves(int side) const { return sign_of(low_value) == side && sign_of(high_value) != side; }
  double scale() const { return std::max(std::abs(low_value), std::abs(high_value)); }
};

/// A zero, or the time after a jump across zero.
struct found_zero {
  double at;
  bool jumps;
};

/// Finds the zero in a bracket that leaves `side`, by Chandrupatla's method.
///
/// guess: where the first value is computed. start: the time at the step's start on the step's clock; late: the same on the
/// problem's clock, whose rounding decides which changes are jumps. value_at(h): the function's value at a time h since the
/// step's start.
template <class ValueAt>
found_zero zero_in(const bracket& part, int side, double guess, double start, double late, const ValueAt& value_at) {
  constexpr double rounding = std::numeric_limits<double>::epsilon();
  double b = part.low, fb = part.low_value, a = part.high, fa = part.high_value, x = guess;
  if (fa == 0) return {a, false};
  for (int i = 0; i < 100; ++i) {
    const double tolerance = 2 * rounding * std::max(std::abs(start), std::max(a, b)) + std::numeric_limits<double>::min();
    if (std::abs(b - a) <= 2 * tolerance) break;
    x = std::clamp(x, std::min(a, b) + tolerance, std::max(a, b) - tolerance);
    const double fx = value_at(x);
    if (fx == 0) return {x, false};
    double d, fd;
    if (sign_of(fx) == sign_of(fa))
      d = a, fd = fa;
    else
      d = b, fd = fb, b = a, fb = fa;
    a = x, fa = fx;
    const double ratio = (a - b) / (d - b), phi = (fa - fb) / (fd - fb);
    double share = 0.5;
    if (phi * phi < ratio && (1 - phi) * (1 - phi) < 1 - ratio)
      share = fa / (fb - fa) * (fd / (fb - fd)) + (d - a) / (b - a) * (fa / (fd - fa)) * (fb / (fd - fb));
    x = a + share * (b - a);
  }
  const bool is_large = std::min(std::abs(fa), std::abs(fb)) > 1e-3 * part.scale();
  // Within a shorter time a steep function looks like a jump.
  const bool jumps = is_large && part.high - part.low > 1e7 * rounding * std::max(std::abs(late), part.high);
  if (is_large) return {sign_of(fa) != side ? a : b, jumps};  // after the jump, else the jump would be found again
  return {std::abs(fa) <= std::abs(fb) ? a : b, jumps};
}

/// Looks for the extremum of a function that is on `side` at the start, at `guess` and at h, by parabolas through three points,
/// and ends where the function is beyond zero. Returns whether such a point was found, with its time in `guess`.
template <class ValueAt>
bool finds_turn(int side, double begin_value, double end_value, double h, double& guess, const ValueAt& value_at) {
  double a = 0, fa = begin_value * side, b = guess, fb = value_at(b) * side, d = h, fd = end_value * side;
  for (int i = 0; i < 8 && fb > 0; ++i) {
    const double left = (b - a) * (fb - fd), right = (d - b) * (fb - fa);
    const double x = b + 0.5 * ((d - b) * right - (b - a) * left) / (left + right);
    if (!(x > a && x < d) || std::abs(x - b) < 1e-3 * (d - a)) break;
    const double fx = value_at(x) * side;
    const bool is_lower = fx < fb;
    ((x > b) == is_lower ? a : d) = is_lower ? b : x;
    ((x > b) == is_lower ? fa : fd) = is_lower ? fb : fx;
    if (is_lower) b = x, fb = fx;
  }
  guess = b;
  return !(fb > 0);
}

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/zero_search.ipp>
#endif
