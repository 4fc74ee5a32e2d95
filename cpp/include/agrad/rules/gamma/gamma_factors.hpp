// Gamma factors: the factors of the two tails of the gamma distribution with their derivatives by the shape, for moderate
// shapes, as templates on a number or on eight of them.
//
// The lower tail is x^a e^-x / gamma(1 + a) times a series of positive terms, whose derivatives have one sign. The upper tail
// is x^a e^-x / gamma(a) divided by a continued fraction, which takes the fewer steps the larger x is. One loop has both the
// value and the derivative. Read next: families/shared/gamma_tail_octets.hpp, which composes tails of these.
#pragma once

#include <agrad/rules/density/octet_rules.hpp>

namespace agrad::detail {

/// A factor and the derivative of its logarithm with respect to the shape.
template <class S>
struct gamma_factor {
  S value, slope;
};

/// Returns the sum of x^k / ((a + 1) ... (a + k)) over k >= 0 (DLMF 8.11.4). Two terms share a division.
template <class S>
AGRAD_ALWAYS_INLINE gamma_factor<S> lower_gamma_sum(const S& a, const S& x) {
  S sum = 1.0, slope = 0.0, term = 1.0, inverses = 0.0;
  for (double k = 1; k < 600; k += 2) {
    const S next = a + k, second = a + (k + 1), inverse = 1.0 / (next * second);
    for (const S& of : {inverse * second, inverse * next}) {
      term = term * (x * of);
      inverses = inverses + of;
      sum = sum + term;
      slope = slope - term * inverses;
    }
    if (all_hold(term < 1e-17 * sum)) break;
  }
  return {sum, slope / sum};
}

/// Returns x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)) (DLMF 8.9.2), for a < 64, x >= a and x >= 1. The
/// number of steps is such that a further step changes no digit of either number.
template <class S>
AGRAD_ALWAYS_INLINE gamma_factor<S> upper_gamma_fraction(const S& a, const S& x) {
  const S needed = 100.0 + a * (8.0 + 0.5 * a), rest = x - a;
  double n = 4;
  while (n < 200 && !all_hold(n * x > needed)) n += 4;
  S value = rest + (2 * n + 9), slope = -1.0;
  for (n += 4; n > 0; n -= 1) {
    const S inverse = 1.0 / value, quotient = (n - a) * inverse;
    slope = n * inverse * (1.0 + quotient * slope) - 1.0;
    value = rest + (2 * n - 1) - n * quotient;
  }
  return {value, slope / value};
}

}  // namespace agrad::detail
