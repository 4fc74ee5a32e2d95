// The regularised incomplete gamma functions of doubles, and their derivatives of any order with respect to a.
//
// Without the factor x^a e^-x / gamma(a), the functions are sums or integrals of positive terms, and so, up to a sign, are the
// derivatives: with s = log(t / x) in gamma's integral, each derivative with respect to a is one more power of s. Below x = a
// (and for x < 1) the lower tail is computed, above the upper tail; their derivatives differ in sign only. The integrands fall
// from 1 to exp(-42) without a bump, and 32 Gauss-Legendre nodes are enough for all a and x, however large: there is no table
// of expansions, and the number of terms does not grow with a. For moderate a, values and first derivatives are those of
// rules/gamma/gamma_factors.hpp, which take less time.
#pragma once

#include <cmath>

#include <agrad/rules/gamma/gamma_factors.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// The highest order of derivatives with respect to a.
inline constexpr int highest_gamma_order = 6;

/// A function of a and its derivatives with respect to a.
struct taylor {
  double order[highest_gamma_order + 1] = {};
};

/// Returns derivative n of a product, by Leibniz' rule.
inline double product_derivative(const taylor& f, const taylor& g, int n) {
  double sum = 0, binomial = 1;
  for (int k = 0; k <= n; ++k) {
    sum += binomial * f.order[k] * g.order[n - k];
    binomial *= static_cast<double>(n - k) / (k + 1);
  }
  return sum;
}

/// Returns log(x) - digamma(1 + a).
inline double log_minus_digamma1p(double a, double x) {
  if (a < 10) return std::log(x) - digamma(1 + a);
  const double inverse_square = 1 / (a * a);
  double rest = 0;  // digamma(1 + a) - log(a) - 1 / (2 a)
  for (int k = bernoulli_count; k > 0; --k) rest = (rest - bernoulli[k - 1] / (2 * k)) * inverse_square;
  return log_ratio(x, a) - 0.5 / a - rest;
}

/// Returns x^a e^-x / gamma(1 + a).
inline double poisson_term(double a, double x) {
  if (x == 0) return a == 0 ? 1 : 0;
  if (a < 10 && x < 100) return std::pow(x, a) * std::exp(-x) / std::tgamma(1 + a);
  if (a < 10) return std::exp(a * std::log(x) - x) / std::tgamma(1 + a);
  const double ratio = x / a;
  const double exponent = ratio > 0.5 && ratio < 2 ? a * log1p_rest((x - a) / a) : (x - a) - a * log_ratio(x, a);
  return std::exp(-exponent - stirling_rest(a)) / (std::sqrt(two_pi) * std::sqrt(a));
}

/// Does the same with derivatives up to order n.
inline taylor poisson_terms(double a, double x, int n) {
  taylor f;
  f.order[0] = poisson_term(a, x);
  if (n == 0 || f.order[0] == 0) return f;
  double slopes[highest_gamma_order] = {log_minus_digamma1p(a, x)};  // derivatives of the logarithm
  for (int k = 1; k < n; ++k) slopes[k] = -polygamma(k, 1 + a);
  for (int m = 0; m < n; ++m) {
    double binomial = 1;
    for (int k = 0; k <= m; ++k) {
      f.order[m + 1] += binomial * f.order[m - k] * slopes[k];
      binomial *= static_cast<double>(m - k) / (k + 1);
    }
  }
  return f;
}

/// Returns a times f.
inline taylor times_a(const taylor& f, double a) {
  taylor g;
  for (int k = 0; k <= highest_gamma_order; ++k) g.order[k] = a * f.order[k] + (k > 0 ? k * f.order[k - 1] : 0);
  return g;
}

/// Returns the sum of x^k / ((a + 1) ... (a + k)) with derivatives (DLMF 8.11.4).
AGRAD_NEVER_INLINE inline taylor lower_series(double a, double x, int n) {
  taylor sum, term;
  if (n <= 1 && a < 1e100) {
    const gamma_factor<double> both = lower_gamma_sum(a, x);
    sum.order[0] = both.value, sum.order[1] = both.value * both.slope;
    return sum;
  }
  sum.order[0] = term.order[0] = 1;
  for (int k = 1; k < 500; ++k) {
    bool is_small = true;
    for (int m = 0; m <= n; ++m) {
      term.order[m] = (x * term.order[m] - (m > 0 ? m * term.order[m - 1] : 0)) / (a + k);
      sum.order[m] += term.order[m];
      is_small = is_small && std::abs(term.order[m]) < 1e-17 * std::abs(sum.order[m]);
    }
    if (is_small) break;
  }
  return sum;
}

/// Returns exp(u) - 1 - u.
inline double exp_rest(double u) {
  if (std::abs(u) > 0.4) return std::expm1(u) - u;
  double sum = 0;
  for (int k = 14; k >= 2; --k) sum = (1 + sum) * u / k;
  return sum * u;
}

/// Adds the integral over v from begin to end of exp(-distance v - x (exp(side v) - 1 - side v)), with derivatives with respect
/// to a: each is one more factor `side` v. `power` counts factors 1 - exp(-v), for derivatives with respect to x.
inline void add_tail_integral(taylor& sum, double distance, double x, double side, int n, int power, double begin, double end) {
  for (int i = 0; i < 32; ++i) {
    const double node = i < 16 ? -gauss_nodes[i] : gauss_nodes[31 - i], length = end - begin,
                 v = begin + length * (0.5 + 0.5 * node);
    double term = gauss_weights[i < 16 ? i : 31 - i] * 0.5 * length * std::exp(-distance * v - x * exp_rest(side * v));
    if (power > 0) term *= std::pow(-std::expm1(-v), power);
    for (int m = 0; m <= n; ++m, term *= side * v) sum.order[m] += term;
  }
}

/// Returns the integral over v > 0; distance >= 0 is x - a or a - x.
inline taylor tail_integral(double distance, double x, double side, int n, int power = 0) {
  constexpr double deepest = 42;
  double end = 2 * deepest / (distance + std::hypot(distance, std::sqrt(2 * deepest) * std::sqrt(x)));
  for (int i = 0; i < 12; ++i) {  // Newton's method until the exponent is about -42
    const double excess = distance * end + x * exp_rest(side * end) - deepest;
    if (std::abs(excess) < 1) break;
    end -= excess / (distance + x * side * std::expm1(side * end));
  }
  taylor sum;
  add_tail_integral(sum, distance, x, side, n, power, 0, end);
  return sum;
}

/// Returns the integral for the upper tail, with derivatives.
AGRAD_NEVER_INLINE inline taylor upper_integral(double a, double x, int n) {
  if (n > 1 || !(a < 64 && x >= a && x >= 1.5)) return tail_integral(x - a, x, 1, n);
  const gamma_factor<double> fraction = upper_gamma_fraction(a, x);
  taylor inverse;
  inverse.order[0] = 1 / fraction.value, inverse.order[1] = -fraction.slope / fraction.value;
  return inverse;
}

/// One of the two tails: which tail, and a derivative of that tail with respect to a.
struct gamma_tail {
  bool is_upper;
  double value;
};

/// Returns whether the upper tail is the smaller tail for x < 1, so that 1 minus the lower tail would cancel; the curve is due
/// to DiDonato & Morris (1986).
inline bool is_upper_small(double a, double x) { return x < 0.5 ? a * std::log(x) > -0.4 : a < 0.75 * x; }

/// Returns the upper tail for x < 1 and small a (Gautschi 1979): 1 - x^a / gamma(1 + a) without cancellation and an alternating
/// series.
inline double upper_of_small(double a, double x) {
  double sum = 0, power = 1;
  for (int k = 1; k < 40; ++k) {
    power *= -x / k;
    sum += power / (a + k);
    if (std::abs(power) < 1e-18 * std::abs(sum)) break;
  }
  const double log_power = a * std::log(x) - lgamma1p(a);
  return -std::expm1(log_power) - std::exp(log_power) * a * sum;
}

/// Returns whether the lower tail is computed by its series.
inline bool has_lower_series(double a, double x) { return x < 1 || (a >= x && (a < 40 || x < 0.5 * a)); }

/// Returns derivative n with respect to a of the tail that is computed directly, for positive, finite a and x.
inline gamma_tail direct_tail(double a, double x, int n) {
  if (n == 0 && x < 1 && a < 0.5 && is_upper_small(a, x)) return {true, upper_of_small(a, x)};
  const taylor term = poisson_terms(a, x, n);
  if (has_lower_series(a, x)) return {false, product_derivative(term, lower_series(a, x, n), n)};
  const bool is_upper = x > a;
  const taylor integral = is_upper ? upper_integral(a, x, n) : tail_integral(a - x, x, -1, n);
  return {is_upper, product_derivative(times_a(term, a), integral, n)};
}

/// The tail that is computed directly, and derivatives of its logarithm with respect to a and log(x).
struct gamma_tail_slopes {
  gamma_tail tail;
  double of_shape, of_log_argument;
};

/// Returns whether direct_tail_slopes has these for both tails: where no tail is nearly 1 whose difference from 1 counts.
inline bool has_direct_slopes(double a, double x) { return a > 1e-3 && a < 64 && x > 1e-10 && x < 1e4 && (a > 0.5 || x >= 1); }

/// Returns the tail that direct_tail returns, with both derivatives from the same sum, where has_direct_slopes.
inline gamma_tail_slopes direct_tail_slopes(double a, double x) {
  const double of_power = log_minus_digamma1p(a, x);
  const taylor term = poisson_terms(a, x, 0);
  if (has_lower_series(a, x)) {
    const taylor sum = lower_series(a, x, 1);
    return {{false, product_derivative(term, sum, 0)}, of_power + sum.order[1] / sum.order[0], a / sum.order[0]};
  }
  const bool is_upper = x > a;
  const taylor integral = is_upper ? upper_integral(a, x, 1) : tail_integral(a - x, x, -1, 1);
  const double of_log_argument = (is_upper ? -1 : 1) / integral.order[0];
  return {{is_upper, product_derivative(times_a(term, a), integral, 0)},
          of_power + 1 / a + integral.order[1] / integral.order[0],
          of_log_argument};
}

/// Returns derivative n with respect to a of gammainc (the lower tail) or gammaincc.
inline double gamma_tail_derivative(double order, double a, double x, bool is_upper) {
  const int n = static_cast<int>(order);
  if (!(a >= 0 && x >= 0) || n > highest_gamma_order) return quiet_nan;
  if (a == 0 || x == 0 || a == infinity || x == infinity) {
    if (a == x) return quiet_nan;
    const bool is_below = x == 0 || a == infinity;  // the upper tail is 1
    if (n == 0) return is_below == is_upper ? 1 : 0;
    if (is_below || x == infinity) return 0;
  }
  const gamma_tail tail = direct_tail(a, x, n);
  if (tail.is_upper == is_upper) return tail.value;
  return n == 0 ? 1 - tail.value : -tail.value;
}

/// Returns derivative n with respect to a of x^(a - 1) e^-x / gamma(a).
inline double gamma_density_derivative(double order, double a, double x) {
  const int n = static_cast<int>(order);
  if (!(a >= 0 && x >= 0) || n > highest_gamma_order) return quiet_nan;
  if (a == infinity || x == infinity) return a == x ? quiet_nan : 0;
  if (x == 0) return a < 1 ? (a == 0 ? 0 : infinity) : a > 1 ? 0 : n == 0 ? 1 : n % 2 == 1 ? -infinity : infinity;
  const double density = times_a(poisson_terms(a, x, n), a).order[n];
  return density / x;
}

}  // namespace agrad::detail
