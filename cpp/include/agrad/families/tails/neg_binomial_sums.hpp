// The tails of the negative binomial distribution of small counts as sums of masses, with their derivatives by mean and
// precision from the same sums, as templates on a number or on eight of them.
//
// Masses are divided by that at 0, and need only ratios of neighbouring masses. The derivative of the logarithm of a mass with
// respect to the precision phi starts at that of the mass at 0 and grows by (mu - k) / ((phi + mu) (phi + k)) from k to k + 1:
// nothing cancels where phi is large. Read next: families/tails/neg_binomial_tail.hpp, the tails of all counts.
#pragma once

#include <array>

#include <agrad/families/tails/count_deviance.hpp>
#include <agrad/rules/density/octet_rules.hpp>

namespace agrad::detail {

/// Returns for which counts, means and precisions the sums are short, and their terms neither overflow nor underflow.
template <class S>
AGRAD_ALWAYS_INLINE auto has_short_sums(const S& n, const S& mu, const S& phi) {
  return n >= 0.0 && n <= 64.0 && mu > 0.05 && mu < 64.0 && phi > 0.01 && phi < 1e4 && mu < 4.0 * phi;
}

/// The sums over the counts up to n and beyond n, and of the masses times the derivatives of their logarithms; `last` is the
/// mass at n.
template <class S>
struct neg_binomial_sums {
  S below, above, slope_below, slope_above, last;
};

/// What the sums have of mu and phi alone: 1 / (mu + phi), mu / (mu + phi), and the derivative of the logarithm of the mass at
/// 0.
template <class S>
std::array<S, 3> neg_binomial_start(const S& mu, const S& phi) {
  const S inverse = 1.0 / (mu + phi);
  return {inverse, mu * inverse, -apply<shaped_slope_rule>(0.0, mu, phi)};
}

template <class S>
AGRAD_ALWAYS_INLINE neg_binomial_sums<S> sum_neg_binomial(const std::array<S, 3>& start, const S& n, const S& mu,
                                                          const S& phi) {
  S mass = 1.0, log_slope = start[2];
  neg_binomial_sums<S> sums{1.0, 0.0, log_slope, 0.0, 1.0};
  for (double k = 0; k < 600; ++k) {
    const S total = phi + k;
    mass = mass * (total * start[1]) * (1.0 / (k + 1));
    log_slope = log_slope + (mu - k) * start[0] / total;
    const auto is_below = n > k;
    const S slope = mass * log_slope;
    sums.last = chosen(is_below, mass, sums.last);
    sums.below = sums.below + chosen(is_below, mass, 0.0);
    sums.slope_below = sums.slope_below + chosen(is_below, slope, 0.0);
    sums.above = sums.above + chosen(is_below, 0.0, mass);
    sums.slope_above = sums.slope_above + chosen(is_below, 0.0, slope);
    if (all_hold(n <= k && mass < 1e-18 * sums.above)) break;
  }
  return sums;
}

/// The probability of more than n, or of at most n, or its logarithm, and the derivatives with respect to mu and phi.
template <class S>
struct neg_binomial_tail {
  S value, of_mean, of_precision;
};
template <class S>
AGRAD_ALWAYS_INLINE neg_binomial_tail<S> short_neg_binomial_tail(const std::array<S, 3>& start, const S& n, const S& mu,
                                                                 const S& phi, bool is_above, bool is_log) {
  const neg_binomial_sums<S> sums = sum_neg_binomial(start, n, mu, phi);
  const S part = is_above ? sums.above : sums.below, other = is_above ? sums.below : sums.above,
          total = sums.below + sums.above;
  const S scale = (is_above ? 1.0 : -1.0) / (is_log ? part : total);
  // The sum of both slopes is 0, so that either will do; the smaller tail has the one of which less cancels.
  const S slope = chosen(sums.below < sums.above, -sums.slope_below, sums.slope_above);
  const S value = is_log ? S(-apply<log1p_rule>(other / part)) : S(part / total);
  return {value, (n + phi) * start[0] * sums.last * scale, slope * scale};
}

}  // namespace agrad::detail
