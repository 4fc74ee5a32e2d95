// Hazard octets: formulas for probabilities, and their logarithms, of distributions of which one tail, F or 1 - F, is exp(-h).
//
// h is the cumulative hazard, or its counterpart from above. A family states h of eight terms with its partial derivatives
// once, in a class with `prepare`, `suits` and `hazard`; both tails and their logarithms follow. A hazard that suits is above
// 1e-300.
// Read first: probability/octets.hpp. Read next: families/positive/weibull.hpp, a family.
#pragma once

#include <agrad/probability/octets.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// Formulas for -h.
template <class Family>
struct hazard_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static auto term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    using S = typename X::value_type;
    const S h = Family::hazard(prepared, x, slope);
    for (S& each : slope) each = -each;
    return S(-h);
  }
};

/// Returns exp(-h), and in `share` 1 - exp(-h), for h > 0. Of an octet, 0 where half of h has a power that is no normal number.
AGRAD_ALWAYS_INLINE double decayed(double h, double& share) {
  share = -std::expm1(-h);
  return std::exp(-h);
}
AGRAD_ALWAYS_INLINE octet decayed(const octet& h, octet& share) {
  const octet_condition is_moderate = h < 700.0;
  const reduced_power power = power_octet(-chosen(is_moderate, h, 700.0));
  share = -power.less_one();
  if (all_hold(is_moderate)) return power.value();
  const octet root = exp_inside(-0.5 * chosen(h < 1400.0, h, 1400.0));
  return chosen(is_moderate, power.value(), root * root);
}

/// Formulas for log(1 - exp(-h)), with the derivative 1 / (exp(h) - 1) with respect to h.
template <class Family>
struct hazard_complement_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static auto term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    using S = typename X::value_type;
    const S h = Family::hazard(prepared, x, slope);
    S share;
    const S tail = decayed(h, share), inverse = 1.0 / share;
    for (S& each : slope) each = each * (tail * inverse);
    // The share has lost digits of a small tail; its logarithm is corrected by them.
    return S(log_inside(share) + chosen(h < 0.25, 0.0, ((1.0 - share) - tail) * inverse));
  }
};

/// Formulas for exp(-h).
template <class Family>
struct hazard_tail_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static auto term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    using S = typename X::value_type;
    const S tail = exp(-Family::hazard(prepared, x, slope));
    for (S& each : slope) each = -each * tail;
    return tail;
  }
};

/// Formulas for 1 - exp(-h).
template <class Family>
struct hazard_rest_octets : Family {
  template <class Prepared, class X, class Parts>
  AGRAD_ALWAYS_INLINE static auto term(const Prepared& prepared, const X& x, const Parts&, X& slope) {
    using S = typename X::value_type;
    S rest;
    const S tail = decayed(Family::hazard(prepared, x, slope), rest);
    for (S& each : slope) each = each * tail;
    return rest;
  }
};

}  // namespace agrad::detail
