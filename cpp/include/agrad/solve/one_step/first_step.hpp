// First step: the size of a one-step method's first step.
//
// The size depends on the sizes of the slope and of its change over a short Euler step.
// Source: Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace agrad::detail {

/// Returns the size of the first step. slope(t, y, to) is the right-hand side, weigh(x) the size of a vector relative to the
/// tolerances. duration: the longest step. A state below the tolerance may move by a part of the tolerance; a part of the
/// state, which may be a rounding error, would give a step below the rounding of t.
template <class Slope, class Weigh>
double first_step(double t, const double* y, std::size_t n, double duration, int order, const Slope& slope,
                  const Weigh& weigh) {
  std::vector<double> here(n), ahead(n), change(n);
  slope(t, y, here.data());
  const double d0 = weigh(y), d1 = weigh(here.data());
  const double guess = std::min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * std::max(d0, 1.0) / d1, duration);
  for (std::size_t i = 0; i < n; ++i) ahead[i] = y[i] + guess * here[i];
  slope(t + guess, ahead.data(), change.data());
  for (std::size_t i = 0; i < n; ++i) change[i] -= here[i];
  const double d2 = weigh(change.data()) / guess, most = std::max(d1, d2);
  if (!std::isfinite(most)) return guess;
  const double least = std::min(10 * std::numeric_limits<double>::epsilon() * std::abs(t), duration);
  const double chosen = most <= 1e-15 ? std::max(1e-6, guess * 1e-3) : std::pow(0.01 / most, 1.0 / order);
  return std::max(least, std::min(100 * guess, chosen));
}

}  // namespace agrad::detail
