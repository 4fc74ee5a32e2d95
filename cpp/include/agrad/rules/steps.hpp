// Steps and signs of NumPy, SciPy and Stan: constant between jumps.
#pragma once

#include <agrad/rules/piecewise.hpp>

namespace agrad {

struct heaviside_rule : rule<2> {
  static constexpr std::string_view name = "heaviside", text = "0 where x < 0, 1 where x > 0, and y where x is 0.",
                                    reference = "1 if x > 0 else 0 if x < 0 else y";
  static double value(double x, double y) { return x > 0 ? 1 : x < 0 ? 0 : x == 0 ? y : x; }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&) {
    return 0.0;
  }
  template <class T>
  static auto derivative(wrt<1>, const T& x, const T&, const T&) {
    return either(x == 0, 1.0, 0.0);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<heaviside_rule, X, Y> heaviside(const X& x, const Y& y) {
  return apply<heaviside_rule>(x, y);
}

struct step_rule : piecewise_constant_rule<1> {
  static constexpr std::string_view name = "step", text = "0 where x < 0, else 1.",
                                    reference = "1 if x >= 0 else 0 if x < 0 else nan";
  static double value(double x) { return x >= 0 ? 1 : x < 0 ? 0 : x; }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<step_rule, X> step(const X& x) {
  return apply<step_rule>(x);
}

struct int_step_rule : condition_rule<1> {
  static constexpr std::string_view name = "int_step", text = "1 where x > 0, else 0.", reference = "x > 0";
  static double value(double x) { return x > 0 ? 1.0 : 0.0; }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<int_step_rule, X> int_step(const X& x) {
  return apply<int_step_rule>(x);
}

struct signbit_rule : condition_rule<1> {
  static constexpr std::string_view name = "signbit", text = "1 where x has a minus sign, also of a zero, else 0.",
                                    reference = "x < 0";
  static double value(double x) { return std::signbit(x) ? 1.0 : 0.0; }
};

struct gammasgn_rule : piecewise_constant_rule<1> {
  static constexpr std::string_view name = "gammasgn", text = "Sign of the gamma function, whose absolute value lgamma is of.",
                                    reference = "1 if x > 0 else (1 - 2 * (int(floor(x)) % 2)) / (x != floor(x))";
  static double value(double x) {
    if (x > 0 || std::isnan(x)) return x > 0 ? 1 : x;
    if (x == 0) return std::copysign(1.0, x);
    if (x == std::floor(x)) return quiet_nan;
    return std::fmod(std::floor(x), 2.0) == 0 ? 1 : -1;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<gammasgn_rule, X> gammasgn(const X& x) {
  return apply<gammasgn_rule>(x);
}

namespace rules {
using steps = typelist<heaviside_rule, step_rule, int_step_rule, signbit_rule, gammasgn_rule>;
}

}  // namespace agrad
