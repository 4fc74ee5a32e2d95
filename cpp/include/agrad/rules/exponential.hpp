// Exponentials and logarithms.
//
// The model for a new family: each rule with its overload, the typelist at the end.
// Read next: rules/power.hpp (powers and roots), rules/lists/elementwise.hpp (all families).
#pragma once

#include <cmath>

#include <agrad/rules/passing.hpp>

namespace agrad {

namespace detail {
inline constexpr double log_2 = 0.693147180559945309417232121458176568;
inline constexpr double log_10 = 2.30258509299404568401799145468436421;
}  // namespace detail

struct exp_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "exp", text = "Exponential function.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::exp(x); }
  static constexpr interval packets{-708, 709};
  template <class A>
  static auto values(const A& x) {
    return x.exp();
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return value;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<exp_rule, X> exp(const X& x) {
  return apply<exp_rule>(x);
}

struct exp2_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "exp2", text = "2 raised to the power x.", reference = "2 ** x";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::exp2(x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return detail::log_2 * value;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<exp2_rule, X> exp2(const X& x) {
  return apply<exp2_rule>(x);
}

struct exp10_rule : rule<1> {
  static constexpr std::string_view name = "exp10", text = "10 raised to the power x.", reference = "10 ** x";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::pow(10, x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return detail::log_10 * value;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<exp10_rule, X> exp10(const X& x) {
  return apply<exp10_rule>(x);
}

struct expm1_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "expm1", text = "exp(x) - 1, accurate for small x.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::expm1(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return either<T>(
        x > -1, [&] { return T(value + 1.0); },
        [&] { return T(exp(x)); });  // the value is close to -1, and 1 + value has lost its digits
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<expm1_rule, X> expm1(const X& x) {
  return apply<expm1_rule>(x);
}

struct log_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "log", text = "Natural logarithm.";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return std::log(x); }
  static constexpr interval packets{1e-307, infinity};
  template <class A>
  static auto values(const A& x) {
    return x.log();
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(  // -0 + 0 is +0, so that the derivative at -0 is +inf, too
        x, [&] { return T(1.0 / (x + 0.0)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log_rule, X> log(const X& x) {
  return apply<log_rule>(x);
}

struct log2_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "log2", text = "Logarithm to base 2.", reference = "log(x) / log(2)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return std::log2(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(x, [&] { return T(1.0 / (detail::log_2 * x + 0.0)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log2_rule, X> log2(const X& x) {
  return apply<log2_rule>(x);
}

struct log10_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "log10", text = "Logarithm to base 10.";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return std::log10(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(x, [&] { return T(1.0 / (detail::log_10 * x + 0.0)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log10_rule, X> log10(const X& x) {
  return apply<log10_rule>(x);
}

struct log1p_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "log1p", text = "log(1 + x), accurate for small x.";
  static constexpr interval domain[] = {{-1, infinity}};
  static double value(double x) { return std::log1p(x); }
  static constexpr interval packets{-1, 1e300};
  // The logarithm of the rounded sum, corrected by the rounding error.
  template <class A>
  static auto values(const A& x) {
    return (1.0 + x).log() + (x - ((1.0 + x) - 1.0)) / (1.0 + x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(x, [&] { return T(1.0 / (1.0 + x)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log1p_rule, X> log1p(const X& x) {
  return apply<log1p_rule>(x);
}

namespace rules {
using exponential = typelist<exp_rule, exp2_rule, exp10_rule, expm1_rule, log_rule, log2_rule, log10_rule, log1p_rule>;
}

}  // namespace agrad
