// Error functions.
#pragma once

#include <agrad/rules/error/error_arrays.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad {

namespace detail {

/// exp(-x^2), accurate also in the tails: x^2 times the relative error of the square would be the relative error of exp.
struct gaussian_rule : rule<1> {
  static constexpr std::string_view name = "gaussian";
  static constexpr bool is_regular = true;
  static double value(double x) {
    if (std::abs(x) > 28) return 0;
    const double square = x * x;
    return std::exp(-square) * (1 - std::fma(x, x, -square));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -2.0 * x * value;
  }
};

inline constexpr double two_over_sqrt_pi = 1.12837916709551257389615890312154517;

}  // namespace detail

struct erf_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "erf", text = "Error function.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::erf(x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{-26, 26};
  template <class A>
  static auto values(const A& x) {
    return detail::erf_of(x);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return typename A::PlainObject(detail::two_over_sqrt_pi * detail::exp_of_squares(x, -1));
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0> first, wrt<0>, const A& x, const V& value) {
    return typename A::PlainObject(-2.0 * x * derivatives(first, x, value));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::two_over_sqrt_pi * apply<detail::gaussian_rule>(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<erf_rule, X> erf(const X& x) {
  return apply<erf_rule>(x);
}

struct erfc_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "erfc", text = "1 - erf(x), accurate for large x.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::erfc(x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{-26, 26};
  template <class A>
  static auto values(const A& x) {
    return detail::erfc_of(x);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return typename A::PlainObject(-detail::two_over_sqrt_pi * detail::exp_of_squares(x, -1));
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0> first, wrt<0>, const A& x, const V& value) {
    return typename A::PlainObject(-2.0 * x * derivatives(first, x, value));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -detail::two_over_sqrt_pi * apply<detail::gaussian_rule>(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<erfc_rule, X> erfc(const X& x) {
  return apply<erfc_rule>(x);
}

namespace rules {
using error = typelist<erf_rule, erfc_rule>;
}

}  // namespace agrad
