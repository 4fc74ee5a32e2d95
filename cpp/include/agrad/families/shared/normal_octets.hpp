// Normal octets: parts of log densities and log probabilities that come from the normal distribution function, of one number or
// of eight at once.
//
// Octets have the formulas of rules/error/error_arrays.hpp, and stay in registers.
#pragma once

#include <cmath>

#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/error/scaled_error.hpp>

namespace agrad::detail {

/// Returns x -> P((x - 3.75) / (x + 3.75)) / (1 + 2 x)^Power for x >= 0, by one division.
template <int Power, std::size_t N>
AGRAD_ALWAYS_INLINE octet scaled_series_octet(const double (&series)[N], const octet& x) {
  const octet above = x + 3.75, growth = 1.0 + 2.0 * x, inverse = 1.0 / (above * growth);
  const octet by_growth = above * inverse, of = polynomial_octet(series, (x - 3.75) * (growth * inverse));
  return Power == 1 ? of * by_growth : of * by_growth * by_growth;
}
AGRAD_ALWAYS_INLINE octet size_octet(const octet& x) { return chosen(x > 0.0, x, 0.0 - x); }

/// Returns ndtr(-|x|) = scaled_ndtr(x) * normal_bell(x).
inline double scaled_ndtr(double x) { return 0.5 * erfcx(std::abs(x) * inv_sqrt_2); }
AGRAD_ALWAYS_INLINE octet scaled_ndtr(const octet& x) {
  return 0.5 * scaled_series_octet<1>(erfcx_series, size_octet(x) * inv_sqrt_2);
}
/// Returns exp(-x^2 / 2). Octets are for |x| below 2^6, and their results at least 3e-308: x is the sum of a multiple of 2^-20,
/// whose square is exact, and a small rest.
inline double normal_bell(double x) { return exp_of_square(x, -0.5); }
AGRAD_ALWAYS_INLINE octet normal_bell(const octet& x) {
  constexpr double shift = 6442450944;  // 3/2 2^32: a sum with it is a multiple of 2^-20
  const octet large = (x + shift) - shift, rest = -0.5 * ((x - large) * (x + large)), power = -0.5 * (large * large);
  return exp_inside(chosen(power < -707.9, -707.9, power)) * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6))));
}
/// Returns the integral of ndtr(-x) from |x| to infinity over normal_bell(x).
inline double normal_tail_integral(double x) { return inv_sqrt_2 * scaled_ierfc(1, inv_sqrt_2 * std::abs(x)); }
AGRAD_ALWAYS_INLINE octet normal_tail_integral(const octet& x) {
  return inv_sqrt_2 * scaled_series_octet<2>(scaled_ierfc_series, size_octet(x) * inv_sqrt_2);
}

/// Returns log_ndtr of eight numbers, and in `slope` the derivatives. Beyond 0 the logarithm of the rounded difference is
/// corrected by what the difference has lost. The function of one number is in rules/error/scaled_error.hpp.
AGRAD_ALWAYS_INLINE octet log_ndtr(const octet& z, octet& slope) {
  const octet scaled = scaled_ndtr(z), bell = normal_bell(z), tail = scaled * bell, rest = 1.0 - tail;
  const octet_condition is_below = z < 0.0;
  const octet of = chosen(is_below, scaled, rest), inverse = 1.0 / of;
  slope = inv_sqrt_two_pi * chosen(is_below, 1.0, bell) * inverse;
  return log_inside(of) - chosen(is_below, 0.5 * (z * z), ((rest - 1.0) + tail) * inverse);
}

}  // namespace agrad::detail
