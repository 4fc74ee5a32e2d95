// Modified Bessel functions of orders 0 and 1 as doubles, and the moments that are their derivatives.
//
// The derivatives of exp(-x) I0(x) and exp(x) K0(x) are, up to sign, moments: integrals of (1 - cos t)^n or (cosh t - 1)^n
// times the function's own integrand. Moments are positive and are therefore computed directly, not as differences of Bessel
// functions, which agree in all digits for large x. The rules are in rules/bessel/bessel.hpp.
#pragma once

#include <cmath>

#include <agrad/rules/error/scaled_error.hpp>

namespace agrad::detail {

/// Returns I_n(x) / x^n by its power series (DLMF 10.25.2), for moderate x.
inline double bessel_i_series(int n, double x) {
  const double square = 0.25 * x * x;
  double term = 1;
  for (int k = 1; k <= n; ++k) term /= 2 * k;
  double sum = term;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= square / (static_cast<double>(k) * (k + n));
    sum += term;
  }
  return sum;
}

/// Returns exp(-x) I0(x) for x >= 0; from 8 on a Chebyshev series in 16 / x - 1 divided by sqrt(x), fitted to 40 digits.
inline double i0e(double x) {
  constexpr double c[] = {
      0.4022452055070544,      0.0033691164782556943,   6.889758346916825e-05, 2.8913705208347567e-06,  2.0489185894690638e-07,
      2.266668990498178e-08,   3.3962320257083865e-09,  4.94060238822497e-10,  1.1889147107846439e-11,  -3.1499165279632416e-11,
      -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13,  1.54008621752141e-14,
      -4.150569347287222e-14,  -9.554846698828307e-15,  3.811680669352621e-15, 1.7725601330565245e-15,  -3.425485619677142e-16,
      -2.827623980516646e-16,  3.461222867695658e-17,   4.465621420302078e-17, -4.8305044859640105e-18, -7.233180488043844e-18};
  if (x < 8) return std::exp(-x) * bessel_i_series(0, x);
  return chebyshev(c, 16 / x - 1) / std::sqrt(x);
}

/// Returns exp(-x) I1(x) for x >= 0, computed in the same way.
inline double i1e(double x) {
  constexpr double c[] = {0.38928811750914005,     -0.009761097491361469,   -0.00011058893876262371, -3.882564808877691e-06,
                          -2.512236237870209e-07,  -2.6314688468895196e-08, -3.835380385964237e-09,  -5.589743462196584e-10,
                          -1.8974958123505413e-11, 3.2526035830154884e-11,  1.4125807436613782e-11,  2.0356285441470896e-12,
                          -7.198551776245908e-13,  -4.0835511110921974e-13, -2.1015418427726643e-14, 4.2724400167119517e-14,
                          1.0420276984128802e-14,  -3.814403072437007e-15,  -1.8803547755107805e-15, 3.30820231092085e-16,
                          2.9626289976460157e-16,  -3.209525921991637e-17,  -4.6503053684947827e-17, 4.414348323093937e-18,
                          7.517296311011398e-18};
  if (x < 8) return std::exp(-x) * (x * bessel_i_series(1, x));
  return chebyshev(c, 16 / x - 1) / std::sqrt(x);
}

/// Returns I_n(x) / x^n for any x: the series, or the recurrence in n upwards, which is stable while n is below x.
inline double bessel_i_over_power(double order, double x) {
  const int n = static_cast<int>(order);
  x = std::abs(x);
  if (std::isinf(x)) return x;
  if (!(x >= 12 + 2 * n)) return bessel_i_series(n, x);
  const double half = std::exp(0.5 * x);  // exp(x) overflows before the functions do
  double here = i0e(x) * half * half, next = i1e(x) * half * half;
  if (n == 0) return here;
  next /= x;
  for (int k = 1; k < n; ++k) {
    const double after = (here - 2 * k * next) / (x * x);
    here = next;
    next = after;
  }
  return next;
}

/// Returns how many ratios above the n-th one `bessel_i_moment` begins with, so that the error of the first one is below
/// rounding: a bound of what computations with 40 digits need for n <= 5.
inline int bessel_ratios(int n, double x) {
  if (n > 5) return 64;
  return static_cast<int>(x < 30 ? std::fmin(64, 7 + 17 * std::sqrt(x)) : 9 + (600 + 200 * n) / x);
}

/// Returns the mean of (1 - cos t)^n exp(-x (1 - cos t)) over t, for x >= 0; for n = 0 this is exp(-x) I0(x). The mean is the
/// solution of x m_{n+2} - (n + 1 + 2 x) m_{n+1} + (2 n + 1) m_n = 0 that grows least, and is therefore computed by ratios from
/// above.
inline double bessel_i_moment(double order, double x) {
  const int n = static_cast<int>(order);
  double moment = i0e(x), ratio = 2;  // of m_{k+1} to m_k
  if (n == 0 || !(x < infinity)) return x < infinity ? moment : x > 0 ? 0 : x;
  int k = n + bessel_ratios(n, x);
  if (x < 30) {  // the ratio as a quotient that is divided at the end, which does not overflow
    double above = ratio, below = 1;
    for (; k >= n; --k) {
      const double before = below;
      below = (k + 1 + 2 * x) * below - x * above;
      above = (2 * k + 1) * before;
    }
    ratio = above / below;
  }
  for (; k >= 0; --k) {
    ratio = (2 * k + 1) / (k + 1 + x * (2 - ratio));
    if (k < n) moment *= ratio;
  }
  return moment;
}

/// exp(x) K0(x) and exp(x) K1(x) for 0 < x <= 1 (DLMF 10.31).
struct bessel_k_pair {
  double k0, k1;
};
inline bessel_k_pair small_bessel_k(double x) {
  const double square = 0.25 * x * x, minus_log = -(std::log(0.5 * x) + 0.577215664901532860606512090082402431);
  double term = 1, harmonic = 0, sum0 = 0, sum1 = 0;
  for (int k = 0; k < 12; ++k) {
    sum0 += term * (minus_log + harmonic);
    sum1 += term / (k + 1) * (minus_log + harmonic + 0.5 / (k + 1));
    term *= square / ((k + 1.0) * (k + 1));
    harmonic += 1.0 / (k + 1);
  }
  const double scale = std::exp(x);
  return {scale * sum0, scale * (1 / x - 0.5 * x * sum1)};
}

/// Returns the integral over t > 0 of (cosh t - 1)^n exp(-x (cosh t - 1)): exp(x) K0(x) for n = 0, exp(x) (K1(x) - K0(x)) for n
/// = 1. With cosh t - 1 = v^2 / x the integral is Gaussian, and the trapezoidal rule is practically exact; below x = 1 the
/// integral follows from K0 and K1, upwards.
inline double bessel_k_moment(double order, double x) {
  const int n = static_cast<int>(order);
  if (!(x > 0)) return x == 0 ? infinity : quiet_nan;
  if (x <= 1) {
    const bessel_k_pair k = small_bessel_k(x);
    if (n == 0) return k.k0;
    double before = k.k0, here = k.k1 - k.k0;
    for (int i = 0; i + 2 <= n; ++i) {
      const double next = ((i + 1 - 2 * x) * here + (2 * i + 1) * before) / x;
      before = here;
      here = next;
    }
    return here;
  }
  constexpr double step = 0.2;
  double sum = n == 0 ? 0.5 : 0;
  for (int i = 1; i < 34 + 2 * n; ++i) {
    const double square = step * step * i * i;
    double term = std::exp(-square) / std::sqrt(1 + 0.5 * square / x);
    for (int k = 0; k < n; ++k) term *= square / x;
    sum += term;
  }
  return step * std::sqrt(2 / x) * sum;
}

inline double k1e(double x) {
  if (!(x > 0)) return x == 0 ? infinity : quiet_nan;
  if (x <= 1) return small_bessel_k(x).k1;
  return bessel_k_moment(0, x) + bessel_k_moment(1, x);
}

}  // namespace agrad::detail
