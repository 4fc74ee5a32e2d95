// Hazard octets: eight log probabilities at once of distributions of which one tail, F or 1 - F, is exp(-h).
//
// h is the cumulative hazard, or its counterpart from above. A family states h of eight terms with its partial derivatives
// once, in a class with `prepare`, `suits` and `hazard`; the logarithms of both tails follow.
// Read first: probability/octets.hpp. Read next: probability/weibull.hpp, a family.
#pragma once

#include <agrad/probability/octets.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// Formulas for -h.
template <class Family>
struct hazard_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static octet term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    const octet h = Family::hazard(prepared, x, slope);
    for (octet& each : slope) each = -each;
    return -h;
  }
};

/// Returns (1 - exp(-h)) / h by its series, for 0 < h <= 1/4.
AGRAD_ALWAYS_INLINE octet exprel_of_small(const octet& h) {
  octet sum = 1.0;
  for (int k = 13; k > 1; --k) sum = 1.0 - (h * (1.0 / k)) * sum;
  return sum;
}

/// Formulas for log(1 - exp(-h)), with the derivative 1 / (exp(h) - 1) with respect to h.
template <class Family>
struct hazard_complement_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static octet term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    const octet h = Family::hazard(prepared, x, slope), tail = exp(-h), rest = 1.0 - tail;
    const octet_condition is_small = h < 0.25;
    const octet share = chosen(is_small, h * exprel_of_small(h), rest), inverse = 1.0 / share;
    for (octet& each : slope) each = each * (tail * inverse);
    // The rest has lost digits of a small tail; its logarithm is corrected by them.
    return log(share) + chosen(is_small, 0.0, ((1.0 - rest) - tail) * inverse);
  }
};

}  // namespace agrad::detail
