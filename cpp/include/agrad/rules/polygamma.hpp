// Digamma and polygamma functions of doubles, accurate to a few units in the last place away from their roots.
//
// Both shift a positive argument until the asymptotic series holds, and reflect a negative argument. Digamma on [1, 2] is
// (x - root) times a rational function, so that the result has all digits near the root. Negative roots have no closed form,
// and the error there is absolute. At poles the functions return the values of SciPy's functions.
#pragma once

#include <cmath>

#include <agrad/rules/rule.hpp>

namespace agrad::detail {

inline constexpr double pi = 3.14159265358979323846264338327950288;
inline constexpr double log_pi = 1.14472988584940017414342735135305871;
/// The highest order; beyond it values are nan.
inline constexpr double highest_polygamma = 100;

/// Bernoulli numbers B_2, B_4, ...
inline constexpr double bernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                       -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
inline constexpr int bernoulli_count = 10;

/// The coefficients of 1 / x^(2 k - 1) in the asymptotic series of log(gamma(x)) (DLMF 5.11.1).
constexpr double stirling_coefficient(int k) { return bernoulli[k - 1] / (2.0 * k * (2.0 * k - 1)); }

template <std::size_t N>
double horner(const double (&coefficients)[N], double x) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

/// Returns cot(pi x), computed from the distance to the nearest pole or zero, which is exact.
inline double cot_pi(double x) {
  const double r = std::remainder(x, 1.0), distance = std::abs(r);
  const double cot = distance > 0.25 ? std::tan(pi * (0.5 - distance)) : 1 / std::tan(pi * distance);
  return std::copysign(cot, r);
}

/// Digamma's positive root, and what the root's double lacks.
inline constexpr double digamma_root = 0x1.762d86356be3fp+0, digamma_root_rest = 0x1.b86a722197829p-54;

/// Returns digamma(x) for 1 <= x <= 2: (x - root) p(x - 1.5) / q(x - 1.5). The coefficients are a minimax fit to 60-digit
/// values with a relative error of 2e-18.
inline double digamma_near_root(double x) {
  constexpr double p[] = {0.9510558760318328,    1.0802548566154948,     0.4202560384340558,     0.06598635222418561,
                          0.0035801872650594924, 1.9642990509230046e-05, -2.2096666768334524e-07};
  constexpr double q[] = {
      1.0, 1.5812764694454384, 0.8933077947242034, 0.2233904315089166, 0.024201009080202167, 0.0008694943175751149};
  return ((x - digamma_root) - digamma_root_rest) * (horner(p, x - 1.5) / horner(q, x - 1.5));
}

/// Returns log(x) - digamma(x) for x >= 10.
inline double digamma_rest(double x) {
  const double inverse_square = 1 / (x * x);
  double tail = 0;
  for (int k = bernoulli_count; k > 0; --k) tail = (tail + bernoulli[k - 1] / (2 * k)) * inverse_square;
  return 0.5 / x + tail;
}

inline double digamma(double x) {
  if (x <= 0) {
    if (x == 0) return std::copysign(infinity, -x);
    if (x == std::floor(x)) return quiet_nan;
    return digamma(1 - x) - pi * cot_pi(x);
  }
  if (x < 10) {
    double shift = x < 1 ? -1 / x : 0;
    if (x < 1) x += 1;
    for (; x > 2; x -= 1) shift += 1 / (x - 1);
    return digamma_near_root(x) + shift;
  }
  return std::log(x) - digamma_rest(x);
}

/// Returns n! / x^(n + 1), which overflows only if the result does.
inline double factorial_over_power(int n, double x) {
  double product = 1 / x;
  for (int k = 1; k <= n; ++k) product *= k / x;
  return product;
}

/// Returns the absolute value of polygamma(n, x) for x > 0 and n > 0: the sum of n! / (x + k)^(n + 1) over all k >= 0.
inline double polygamma_sum(int n, double x) {
  double head = 0;
  for (; x < 10 + n; x += 1) head += factorial_over_power(n, x);
  double term = factorial_over_power(n - 1, x);
  double sum = term + term * (0.5 * n / x);
  for (int k = 1; k <= bernoulli_count; ++k) {
    term *= ((2.0 * k + n - 1) / x) * ((2.0 * k + n - 2) / x) / (2.0 * k * (2.0 * k - 1));
    sum += bernoulli[k - 1] * term;
  }
  return head + sum;
}

/// Returns polygamma(1, x) for x > 0, by the same sums with fewer divisions.
inline double trigamma_sum(double x) {
  double head = 0;
  for (; x < 10; x += 1) {
    const double inverse = 1 / x;
    head += inverse * inverse;
  }
  const double inverse = 1 / x, square = inverse * inverse;
  return head + inverse * (1 + 0.5 * inverse + square * horner(bernoulli, square));
}

/// Returns the derivative of order n of pi cot(pi x): with c = cot(pi x), pi^(n + 1) times the polynomial p_n, where p_0 = c
/// and p_{n+1} = -(1 + c^2) p_n'. All coefficients of one polynomial have the same sign, so that nothing cancels, but powers
/// multiply the error of c; so high orders are the sum of (-1)^n n! / (x - k)^(n + 1) over the nearest poles k.
inline double cot_pi_derivative(int n, double x) {
  if (n >= 16) {  // the poles beyond the fourth add less than a rounding
    const double r = std::remainder(x, 1.0);
    double sum = 0;
    for (int k = -4; k <= 4; ++k) sum += std::pow(r - k, -(n + 1));
    return (n % 2 == 0 ? 1 : -1) * std::tgamma(n + 1.0) * sum;
  }
  double p[18] = {0, 1};
  for (int k = 0; k < n; ++k) {
    double below = 0;  // old value of p[i - 1]
    for (int i = 0; i <= k + 2; ++i) {
      const double here = p[i];
      const double above = i <= k ? p[i + 1] : 0;
      p[i] = -((i + 1) * above + (i - 1) * below);
      below = here;
    }
  }
  return std::pow(pi, n + 1) * horner(p, cot_pi(x));
}

inline double polygamma(double order, double x) {
  if (!(order >= 0 && order <= highest_polygamma && order == std::floor(order)) || std::isnan(x)) return quiet_nan;
  const int n = static_cast<int>(order);
  if (n == 0) return digamma(x);
  const double sign = n % 2 == 1 ? 1 : -1;
  if (x > 0) return n == 1 ? trigamma_sum(x) : sign * polygamma_sum(n, x);
  if (std::isinf(x)) return quiet_nan;
  if (x == std::floor(x)) return sign * infinity;  // the limit from above
  return -(n == 1 ? trigamma_sum(1 - x) : polygamma_sum(n, 1 - x)) - cot_pi_derivative(n, x);
}

}  // namespace agrad::detail
