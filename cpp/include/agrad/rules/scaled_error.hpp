// The error function's tails as doubles: erfcx and its iterated integrals, the normal distribution and the inverses.
//
// The factor exp(-x^2) is separated from the slowly varying factor erfcx(x) = exp(x^2) erfc(x), so that nothing underflows and
// no digit is lost at large arguments. The rules for these functions are in rules/probit.hpp.
#pragma once

#include <cmath>

#include <agrad/rules/polynomial.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

inline constexpr double inv_sqrt_pi = 0.564189583547756286948079451560772586;
inline constexpr double half_sqrt_pi = 0.886226925452758013649083741670572592;
inline constexpr double inv_sqrt_2 = 0.707106781186547524400844362104849039;

/// The sum of c[k] T_k(t), by Clenshaw's recurrence.
template <std::size_t N>
double chebyshev(const double (&c)[N], double t) {
  double here = 0, before = 0;
  for (std::size_t k = N - 1; k > 0; --k) {
    const double next = 2 * t * here - before + c[k];
    before = here;
    here = next;
  }
  return t * here - before + c[0];
}

/// exp(factor x^2) for a signed factor whose magnitude is a power of 2; x^2 times the relative error of the square would be the
/// relative error of exp.
inline double exp_of_square(double x, double factor) {
  const double square = x * x, e = std::exp(factor * square);
  if (e == 0 || !(e < infinity)) return e;
  return e * (1 + factor * std::fma(x, x, -square));
}

/// erfcx(x) (1 + 2 x) on [0, inf) in powers of (x - 15/4) / (x + 15/4): a Chebyshev series fitted to 60 digits. The
/// substitution is due to Shepherd & Laframboise (1981). The sizes of the terms add up to less than 1.8.
inline constexpr double erfcx_series[] = {
    1.2375126308378275,     -0.14024059858554702,    0.00358541548546369,    0.08227673849015102,     -0.10880393014170746,
    0.09230432116019834,    -0.05869339859054762,    0.0283622774215156,     -0.009746579547619623,   0.0017556258324217529,
    0.00029371359480570737, -0.00029015397928986765, 5.164940777546399e-05,  2.2383912036550678e-05,  -1.1445049125831309e-05,
    -9.72849582211122e-07,  1.7534434251106334e-06,  -5.826281078800777e-08, -2.6114702359900956e-07, 2.4289762925488707e-08,
    4.0971223152703005e-08, -4.389284159986328e-09,  -6.545560212480267e-09, 5.457157304704688e-10,   9.02214970034059e-10,
    -3.75315827795962e-11,  -7.33950500852954e-11};

/// exp(x^2) erfc(x).
inline double erfcx(double x) {
  if (x < 0) return 2 * exp_of_square(x, 1) - erfcx(-x);
  if (x > 1e9) return inv_sqrt_pi / x;
  return by_halves<27>(erfcx_series, (x - 3.75) / (x + 3.75)) / (1 + 2 * x);
}

/// exp(x^2) times the n-fold integral of erfc from x to infinity; n = 0 is erfcx. The function is the positive, decreasing
/// solution of 2 n w_n = w_{n-2} - 2 x w_{n-1}: computed forwards if nothing cancels, else by ratios from above (Gautschi
/// 1961).
inline double scaled_ierfc(double order, double x) {
  const int n = static_cast<int>(order);
  double w = erfcx(x);
  if (!(x > 1)) {
    double before = 2 * inv_sqrt_pi;
    for (int k = 1; k <= n; ++k) {
      const double next = (before - 2 * x * w) / (2 * k);
      before = w;
      w = next;
    }
    return w;
  }
  const int first = n + 20 + static_cast<int>(120 / (x * x));
  double ratio = 1 / (x + std::sqrt(x * x + 2 * first));  // ratio of w_k to w_{k-1}
  for (int k = first; k > 0; --k) {
    ratio = 1 / (2 * (x + (k + 1) * ratio));
    if (k <= n) w *= ratio;
  }
  return w;
}

/// The distribution function of the standard normal distribution.
inline double ndtr(double x) {
  if (x >= 0) return 0.5 * std::erfc(-x * inv_sqrt_2);
  return 0.5 * erfcx(-x * inv_sqrt_2) * exp_of_square(x, -0.5);
}

/// log(1 - q) for 0 <= q < 3/4: the logarithm of the rounded difference, and what the difference has lost.
inline double log1m_below_1(double q) {
  const double rest = 1 - q;
  return std::log(rest) - ((rest - 1) + q) / rest;
}

/// The logarithm of ndtr, and its slope, which is 0 where it underflows.
inline double log_ndtr(double x, double& slope) {
  constexpr double sqrt_two_over_pi = 0.797884560802865355879892119868763737;
  const double scaled = erfcx(std::abs(x) * inv_sqrt_2);
  if (x < 0) {
    slope = sqrt_two_over_pi / scaled;
    return std::log(0.5 * scaled) - 0.5 * x * x;
  }
  const double bell = exp_of_square(x, -0.5), beyond = 0.5 * scaled * bell;
  slope = 0.5 * sqrt_two_over_pi * bell / (1 - beyond);
  return log1m_below_1(beyond);
}

inline double log_ndtr(double x) {
  double slope;
  return log_ndtr(x, slope);
}

/// erfinv for |x| <= 1/2: the series, then Halley's method.
inline double central_erfinv(double x) {
  const double square = x * x;
  double y = half_sqrt_pi * x * (1 + square * (0.2617993877991494 + square * 0.1439317308492199));
  for (int i = 0; i < 2; ++i) {
    const double step = (std::erf(y) - x) * half_sqrt_pi * std::exp(y * y);
    y -= step / (1 + step * y);
  }
  return y;
}

/// erfcinv for 0 < q <= 1/2: Newton's method for log(erfc(y)) = log(q), which also works for subnormal q. The first value is
/// that of Abramowitz & Stegun 26.2.22, with an error of 0.003, and each step squares the error.
inline double tail_erfcinv(double q) {
  const double log_q = std::log(q), t = std::sqrt(2 * (0.693147180559945309417 - log_q));
  double y = inv_sqrt_2 * (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 3; ++i) {
    const double scaled = erfcx(y);
    y += (std::log(scaled) - y * y - log_q) * scaled * half_sqrt_pi;
  }
  return y;
}

inline double erfinv(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? x * infinity : quiet_nan;
  if (std::abs(x) <= 0.5) return central_erfinv(x);
  return std::copysign(tail_erfcinv(1 - std::abs(x)), x);
}

inline double erfcinv(double q) {
  if (!(q > 0 && q < 2)) return q == 0 ? infinity : q == 2 ? -infinity : quiet_nan;
  if (q <= 0.5) return tail_erfcinv(q);
  return q < 1.5 ? central_erfinv(1 - q) : -tail_erfcinv(2 - q);
}

inline double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -infinity : p == 1 ? infinity : quiet_nan;
  constexpr double sqrt_2 = 1.41421356237309504880168872420969808;
  if (p <= 0.25) return -sqrt_2 * tail_erfcinv(2 * p);
  return sqrt_2 * (p < 0.75 ? central_erfinv(2 * p - 1) : tail_erfcinv(2 * (1 - p)));
}

}  // namespace agrad::detail
