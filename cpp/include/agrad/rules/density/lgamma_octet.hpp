// The logarithm of the gamma function of eight positive numbers at once.
//
// Between 1 and 3.5, and by recurrence (DLMF 5.5.1) between 0 and 1, it is the product of the linear factors of its roots 1 and
// 2 and of a series. Beyond 3.5 it is Stirling's formula with a series in 1 / x^2. Both series are fitted to 60 digits. Factors
// are split into halves whose products are exact, and logarithms into an exact multiple of log(2) and a rest, so that the error
// is 2.0 units in the last place as measured (1.9 by the C library).
// Read next: rules/gamma/gamma.hpp, the rule that uses this function.
#pragma once

#include <agrad/rules/density/octet_rules.hpp>

namespace agrad::detail {

/// lgamma(x) / ((x - 1) (x - 2)) at x = 1.875, and its other terms in v = (x - 1.875) / (x + 1.875), with an error of 2e-17.
inline constexpr double lgamma_centre = 0.43586455222115017, lgamma_centre_rest = -1.7021606194295976e-18;
inline constexpr double lgamma_series[] = {
    -0.4094282449229091,   0.12666945329347326,  -0.14156247123107257, 0.08353142722267681,   -0.08851852724930788,
    0.0627245751013007,    -0.06492688858737314, 0.05020211831991159,  -0.05137635223100419,  0.041830416168901666,
    -0.042540795149068014, 0.03584648183948523,  -0.03631559169353974, 0.031320618082608234,  -0.031641648632160145,
    0.028296706353827576,  -0.02861024462161729, 0.02171101556777921,  -0.021523973800778248, 0.03685966122024721,
    -0.03784778927540642};

/// x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) for x > 3.5, in 1 / x^2, with an error of 6e-17 of these 0.08.
inline constexpr double lgamma_rest_series[] = {0.08333333333333333,    -0.0027777777777717367, 0.0007936507906474015,
                                                -0.0005952375053650209, 0.0008416904695205327,  -0.0019138415844335071,
                                                0.0062652124391854936,  -0.025674417522622985,  0.10604141478108953,
                                                -0.33536488817705823,   0.5464939113673214};

/// Returns a number between -2 and 2 rounded to a multiple of 2^-26, so that products of two are exact.
AGRAD_ALWAYS_INLINE octet upper_half(const octet& x) {
  constexpr double shift = 0x1.8p26;
  return (x + shift) - shift;
}

/// A sum of two octets, the second of which is small.
struct octet_pair {
  octet large, small;
};

/// Returns lgamma(x), or lgamma(1 + x) for x < 1, without rounding but for the small part; x is up to 3.5.
AGRAD_ALWAYS_INLINE octet_pair lgamma_near(const octet& x, const octet_condition& is_small) {
  const octet from_1 = chosen(is_small, x, x - 1.0), from_2 = from_1 - 1.0;
  const octet v = (from_1 - 0.875) / (from_1 + 2.875);
  const octet change = v * polynomial_octet(lgamma_series, v);
  const octet factor = lgamma_centre + change, factor_rest = (lgamma_centre - factor) + change + lgamma_centre_rest;
  const octet factor_half = upper_half(factor), half_2 = upper_half(from_2), half_1 = upper_half(from_1);
  const octet product = half_2 * factor_half;
  const octet product_rest = half_2 * ((factor - factor_half) + factor_rest) + (from_2 - half_2) * factor;
  const octet product_half = upper_half(product + product_rest);
  const octet rest = half_1 * ((product - product_half) + product_rest) + (from_1 - half_1) * (product + product_rest);
  return {half_1 * product_half, rest};
}

/// Returns log(gamma(x)).
AGRAD_ALWAYS_INLINE octet lgamma_octet(const octet& x) {
  constexpr double near_end = 3.5, constant = 0.418938533204672741780329736405617640;  // log(2 pi) / 2 - 1/2
  const octet_condition is_small = x<1.0, is_far = x> near_end;
  const reduced_logarithm log_x = logarithm_octet(x);
  const octet_pair near = lgamma_near(chosen(is_far, near_end, x), is_small);
  const octet by_recurrence = ((near.large - log_x.rest) + near.small) - log_x.head();
  const octet inverse = 1.0 / x, power = x - 0.5;
  const octet series = polynomial_octet(lgamma_rest_series, inverse * inverse) * inverse;
  const octet far = power * (log_x.head() - 1.0) + (power * log_x.rest + (series + constant));
  return chosen(is_far, far, chosen(is_small, by_recurrence, near.large + near.small));
}

}  // namespace agrad::detail
