// Logarithms of the regularised incomplete gamma functions of doubles, and the factors that their derivatives consist of.
//
// A tail is a power of x times exp(-x) times a factor, which neither underflows nor overflows. For the smaller tail the
// logarithm is the sum of the logarithms of the parts, and derivatives are ratios of the factor's derivatives, integrals or
// sums of positive terms. The logarithm of the larger tail is a small number, for which the functions of
// rules/gamma/incomplete_gamma.hpp are enough.
#pragma once

#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/incomplete_gamma.hpp>

namespace agrad::detail {

/// Orders j of a and k of x in one number.
inline constexpr int orders_of_a = highest_gamma_order + 2;

/// Returns the sum of x^n / ((a + 1) ... (a + n)), the factor of the lower tail after x^a e^-x / gamma(1 + a), and its
/// derivatives, for 0 <= x < max(a, 1).
inline double lower_gamma_factor(double order, double a, double x) {
  const int k = static_cast<int>(order) / orders_of_a, j = static_cast<int>(order) % orders_of_a;
  if (!(a > 0 && x >= 0 && (x < a || x < 1) && a < infinity) || j > highest_gamma_order) return quiet_nan;
  if (a >= 40 && x >= 0.5 * a) return times_a(tail_integral(a - x, x, -1, j, k), a).order[j];
  if (k == 0) return lower_series(a, x, j).order[j];
  taylor term, sum;
  term.order[0] = 1;
  for (int n = 0; n < 600; ++n) {
    bool is_small = n > k;
    // The factor of term n is x / (a + n), times n / (n - k) for the derivative of order k of x^n.
    const double factor = n <= k ? n : x * n / (n - k);
    for (int m = 0; m <= j && n > 0; ++m) {
      term.order[m] = (factor * term.order[m] - (m > 0 ? m * term.order[m - 1] : 0)) / (a + n);
      is_small = is_small && std::abs(term.order[m]) < 1e-17 * std::abs(sum.order[m]);
    }
    for (int m = 0; m <= j && n >= k; ++m) sum.order[m] += term.order[m];
    if (is_small) break;
  }
  return sum.order[j];
}

/// Returns the integral over s > 0 of (1 + s / x)^(a - 1) e^-s with v^j w^k, where v = log(1 + s / x) and w = 1 - exp(-v): the
/// factor of the upper tail after x^(a - 1) e^-x / gamma(a), for x above the median. For x < 1 the integrand over v falls late,
/// and intervals double from there to 0.
inline double upper_gamma_factor(double order, double a, double x) {
  const int k = static_cast<int>(order) / orders_of_a, j = static_cast<int>(order) % orders_of_a;
  if (!(a >= 0 && x > 0 && x > a - 1 && x < infinity) || j > highest_gamma_order) return quiet_nan;
  if (x >= 1) return x * (k == 0 ? upper_integral(a, x, j) : tail_integral(x - a, x, 1, j, k)).order[j];
  taylor sum;
  double end = std::log1p(50 / x);
  for (double length = 4; end > 0; length *= 2) {
    const double begin = end > length && length < 50 ? end - length : 0;
    add_tail_integral(sum, x - a, x, 1, j, k, begin, end);
    end = begin;
  }
  return x * sum.order[j];
}

/// Returns log(x^a e^-x / gamma(1 + a)).
inline double log_poisson_term(double a, double x) {
  if (a < 0.5) return a * std::log(x) - x - lgamma1p(a);
  if (a < 10) return a * std::log(x) - x - lgamma_rule::value(1 + a);
  const double ratio = x / a;
  const double exponent = ratio > 0.5 && ratio < 2 ? a * log1p_rest((x - a) / a) : (x - a) - a * log_ratio(x, a);
  return -exponent - stirling_rest(a) - 0.5 * std::log(two_pi * a);
}

/// Returns the logarithm of gammainc (the lower tail) or gammaincc.
inline double log_gamma_tail(double a, double x, bool is_upper) {
  if (!(a > 0 && x > 0 && a < infinity && x < infinity)) return std::log(gamma_tail_derivative(0, a, x, is_upper));
  const gamma_tail tail = direct_tail(a, x, 0);
  if (tail.is_upper != is_upper) return std::log1p(-tail.value);
  if (tail.value > 1e-280) return std::log(tail.value);
  if (is_upper) return log_poisson_term(a, x) + log_ratio(a, x) + std::log(upper_gamma_factor(0, a, x));
  return log_poisson_term(a, x) + std::log(lower_gamma_factor(0, a, x));
}

/// Writes the slopes of a tail, or of its logarithm, with respect to a and log(x), and returns the value; returns nan where the
/// slopes do not follow from those of the tail that is computed directly.
inline double gamma_tail_with_slopes(double a, double x, bool is_upper, bool is_log, double& of_shape,
                                     double& of_log_argument) {
  if (!has_direct_slopes(a, x)) return quiet_nan;
  const gamma_tail_slopes direct = direct_tail_slopes(a, x);
  const double tail = direct.tail.value;
  const bool is_direct = direct.tail.is_upper == is_upper;
  if (!(tail > 1e-280)) return quiet_nan;
  const double scale = is_direct ? (is_log ? 1 : tail) : (is_log ? -tail / (1 - tail) : -tail);
  of_shape = scale * direct.of_shape, of_log_argument = scale * direct.of_log_argument;
  if (is_log) return is_direct ? std::log(tail) : std::log1p(-tail);
  return is_direct ? tail : 1 - tail;
}

}  // namespace agrad::detail
