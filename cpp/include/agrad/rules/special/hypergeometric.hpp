// Hypergeometric series with closed forms.
#pragma once

#include <agrad/rules/links.hpp>

namespace agrad {

struct hyp1f0_rule : rule<2> {
  static constexpr std::string_view name = "hyp1f0", text = "Hypergeometric function of one upper parameter, (1 - y)^-x.",
                                    reference = "(1 - y) ** -x", stan = "hypergeometric_1F0";
  static constexpr interval domain[] = {{}, {-infinity, 1}};
  static double value(double x, double y) {
    if (!(y <= 1)) return quiet_nan;
    const double base = 1 - y, back = base - 1, rest = (1 - (base - back)) - (y + back);  // rest is what 1 - y has lost
    const double power = std::pow(base, -x);
    return rest == 0 || power == 0 || std::isinf(power) || std::isinf(y) ? power : power * std::exp(-x * rest / base);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T& value) {
    return -value * log1m(y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return x * apply<hyp1f0_rule>(x + 1.0, y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<hyp1f0_rule, X, Y> hyp1f0(const X& x, const Y& y) {
  return apply<hyp1f0_rule>(x, y);
}
/// Does the same as `hyp1f0`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<hyp1f0_rule, X, Y> hypergeometric_1F0(const X& x, const Y& y) {
  return apply<hyp1f0_rule>(x, y);
}

namespace rules {
using hypergeometric = typelist<hyp1f0_rule>;
}

}  // namespace agrad
