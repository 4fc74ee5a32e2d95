// The error function's tails as doubles: erfcx and its iterated integrals, the normal distribution and the inverses.
//
// The factor exp(-x^2) is separated from the slowly varying factor erfcx(x) = exp(x^2) erfc(x), so that nothing underflows and
// no digit is lost at large arguments. The rules for these functions are in rules/error/probit.hpp.
#pragma once

#include <cmath>

#include <agrad/rules/polynomial.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

inline constexpr double inv_sqrt_pi = 0.564189583547756286948079451560772586;
inline constexpr double half_sqrt_pi = 0.886226925452758013649083741670572592;
inline constexpr double inv_sqrt_two_pi = 0.398942280401432677939946059934381868;
inline constexpr double inv_sqrt_2 = 0.707106781186547524400844362104849039;
inline constexpr double sqrt_two_pi = 2.50662827463100050241576528481104525;
inline constexpr double sqrt_two_over_pi = 0.797884560802865355879892119868763737;

/// Returns the sum of c[k] T_k(t), by Clenshaw's recurrence.
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

/// Returns exp(factor x^2) for a signed factor whose magnitude is a power of 2; x^2 times the relative error of the square
/// would be the relative error of exp.
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

/// Returns exp(x^2) erfc(x).
inline double erfcx(double x) {
  if (x < 0) return 2 * exp_of_square(x, 1) - erfcx(-x);
  if (x > 1e9) return inv_sqrt_pi / x;
  return by_halves<27>(erfcx_series, (x - 3.75) / (x + 3.75)) / (1 + 2 * x);
}

/// The first and second integral of erfc from x >= 0 to infinity, times exp(x^2) and (1 + 2 x)^2 or (1 + 2 x)^3: Chebyshev
/// series as that of erfcx.
inline constexpr double scaled_ierfc_series[] = {
    1.3169823033696375,     -0.16300281594714544,    -0.1960998552054064,    0.36491703562814715,     -0.32140184280065265,
    0.16480461156267753,    -0.018159122054510347,   -0.05358460603985266,   0.05693561870075424,     -0.031590142619364686,
    0.009340898944226449,   0.0002058296793539925,   -0.0014136736870401817, 0.0004205574381473576,   0.0001015562058458131,
    -8.825091432721223e-05, -2.6832451736024463e-07, 1.4632807162188978e-05, -1.5783406549248226e-06, -2.4183743310083257e-06,
    4.0216572777144983e-07, 4.2259877448321524e-07,  -7.262185794224117e-08, -7.395173500927106e-08,  9.693691530594704e-09,
    1.0809736062250406e-08, -7.236091208693339e-10,  -9.033646230448132e-10};
inline constexpr double scaled_second_series[] = {
    1.3631664345546621,      -0.06274641906055804,  -0.5677432596385994,     0.717179260672155,      -0.40338612743639524,
    -0.02793827418358445,    0.2593916936307879,    -0.23125168326499868,    0.08658615983556076,    0.02167829736419512,
    -0.0466741155041067,     0.0254018753563502,    -0.0036031061587733777,  -0.0032933461362022066, 0.0017559821323803674,
    0.00013275427496782963,  -0.000357860304334186, 3.83673338393665e-05,    6.345957690466604e-05,  -1.3965737084384302e-05,
    -1.1550579588357354e-05, 3.265362161229921e-06, 2.241365097315797e-06,   -6.427831612377273e-07, -4.2849671621016714e-07,
    1.0678115727250507e-07,  6.625280597447206e-08, -1.3350300529332645e-08, -5.681929287370492e-09, 9.188198489716592e-10};
inline double scaled_ierfc_by_series(int n, double x) {
  const double u = (x - 3.75) / (x + 3.75), divisor = 1 + 2 * x;
  if (n == 1) return by_halves<28>(scaled_ierfc_series, u) / divisor / divisor;
  return by_halves<30>(scaled_second_series, u) / divisor / divisor / divisor;
}

/// Returns exp(x^2) times the n-fold integral of erfc from x to infinity; n = 0 is erfcx. The function is the positive,
/// decreasing solution of 2 n w_n = w_{n-2} - 2 x w_{n-1}: computed forwards if nothing cancels, else by ratios from above
/// (Gautschi 1961).
inline double scaled_ierfc(double order, double x) {
  const int n = static_cast<int>(order);
  if ((n == 1 || n == 2) && x > 0.5) return x < infinity ? scaled_ierfc_by_series(n, x) : 0;
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

/// Returns the distribution function of the standard normal distribution.
inline double ndtr(double x) {
  if (x >= 0) return 0.5 * std::erfc(-x * inv_sqrt_2);
  return 0.5 * erfcx(-x * inv_sqrt_2) * exp_of_square(x, -0.5);
}

/// Returns log(1 - q) for 0 <= q < 3/4: the logarithm of the rounded difference, and what the difference has lost.
inline double log1m_below_1(double q) {
  const double rest = 1 - q;
  return std::log(rest) - ((rest - 1) + q) / rest;
}

/// Returns the logarithm of ndtr, and its slope, which is 0 where it underflows.
inline double log_ndtr(double x, double& slope) {
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

/// Returns erfinv for |x| <= 1/2: the series, then Halley's method.
inline double central_erfinv(double x) {
  const double square = x * x;
  double y = half_sqrt_pi * x * (1 + square * (0.2617993877991494 + square * 0.1439317308492199));
  for (int i = 0; i < 2; ++i) {
    const double step = (std::erf(y) - x) * half_sqrt_pi * std::exp(y * y);
    y -= step / (1 + step * y);
  }
  return y;
}

/// Returns erfcinv for 0 < q <= 1/2: Newton's method for log(erfc(y)) = log(q), which also works for subnormal q. The first
/// value is that of Abramowitz & Stegun 26.2.22, with an error of 0.003, and each step squares the error.
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
