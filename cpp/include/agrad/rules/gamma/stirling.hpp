// Small parts of logarithms of gamma functions, as doubles: the rest after the large parts have cancelled.
//
// rules/gamma/incomplete_gamma.hpp, rules/gamma/beta.hpp and rules/gamma/entropy.hpp use these functions.
#pragma once

#include <cmath>

#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/polynomial.hpp>

namespace agrad::detail {

inline constexpr double two_pi = 6.28318530717958647692528676655900577;
inline constexpr double inv_pi = 0.318309886183790671537767526745028724;

/// Returns u - log(1 + u), also if u and log(1 + u) are nearly equal: r (u - 2 r^2 (1/3 + r^2/5 + ...)) with r = u / (2 + u).
inline double log1p_rest(double u) {
  if (!(u > -0.6 && u < 1.5)) return u - std::log1p(u);
  constexpr double inverses[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33,
                                 1.0 / 35, 1.0 / 37, 1.0 / 39, 1.0 / 41, 1.0 / 43, 1.0 / 45, 1.0 / 47, 1.0 / 49};
  const double r = u / (2 + u), square = r * r;
  const double sum = square < 0.02 ? by_halves<10>(inverses, square) : by_halves<24>(inverses, square);
  return r * (u - 2 * square * sum);
}

/// Returns log(gamma(x)) without (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1).
inline double stirling_rest(double x) {
  const double inverse_square = 1 / (x * x);
  double sum = 0;
  for (int k = bernoulli_count; k > 0; --k) sum = sum * inverse_square + stirling_coefficient(k);
  return sum / x;
}

/// The coefficients of (log(gamma(1 + x)) + log(1 + x)) / x in powers of x, for abs(x) <= 1/2.
inline constexpr double lgamma1p_series[] = {
    0.42278433509846713,     0.3224670334241132,     -0.0673523010531981,    0.020580808427784546,    -0.007385551028673986,
    0.0028905103307415234,   -0.001192753911703261,  0.0005096695247430425,  -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05,  2.050721277567069e-05,  -9.439488275268397e-06, 4.374866789907488e-06,   -2.039215753801366e-06,
    9.55141213040742e-07,    -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,  -1.1921401405860912e-09,
    5.731367241678862e-10,   -2.7595228851242334e-10};

/// Returns log(gamma(1 + x)) for |x| <= 1/2, with the digits of a small x (DLMF 5.7.3).
inline double lgamma1p(double x) { return x * horner(lgamma1p_series, x) - std::log1p(x); }

/// Returns log(x / y), near 1 from the difference of x and y, for numbers of any size.
inline double log_ratio(double x, double y) {
  const double ratio = x / y;
  if (ratio > 0.5 && ratio < 2) return std::log1p((x - y) / y);
  if (ratio > 0 && ratio < infinity) return std::log(ratio);
  return std::log(x) - std::log(y);
}

}  // namespace agrad::detail
