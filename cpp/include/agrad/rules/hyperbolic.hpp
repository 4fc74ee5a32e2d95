// Hyperbolic functions and their inverses.
#pragma once

#include <iterator>

#include <agrad/base/lanes.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

struct cosh_rule;
template <class X>
AGRAD_ALWAYS_INLINE applied<cosh_rule, X> cosh(const X& x);

struct sinh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "sinh", text = "Hyperbolic sine.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::sinh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return cosh(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<sinh_rule, X> sinh(const X& x) {
  return apply<sinh_rule>(x);
}

struct cosh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "cosh", text = "Hyperbolic cosine.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::cosh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return sinh(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<cosh_rule, X> cosh(const X& x) {
  return apply<cosh_rule>(x);
}

struct tanh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "tanh", text = "Hyperbolic tangent.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::tanh(x); }
  static constexpr interval packets{-350, 350};
  /// (tanh(x) - x) / x^3 as a polynomial of x^2 up to |x| = 0.628: a Chebyshev fit to 60-digit values with an error of 4e-18.
  static constexpr double of_squares[] = {6.430290257033816e-06,   -3.1087807973209174e-05, 9.247036477691001e-05,
                                          -0.00023754008855473161, 0.0005896449496796918,   -0.0014557722860342303,
                                          0.003592121352904903,    -0.008863235071723126,   0.021869488517559,
                                          -0.053968253967862964,   0.1333333333333301,      -0.3333333333333333};
  template <class A>
  static auto values(const A& x) {
    using array = typename A::PlainObject;
    const array square = x.square();
    array sum = array::Constant(x.rows(), x.cols(), of_squares[0]);
    for (std::size_t k = 1; k < std::size(of_squares); ++k) sum = sum * square + of_squares[k];
    const array size = x.abs(), large = 1.0 - 2.0 / (1.0 + (2.0 * size).exp());
    const array outer = detail::chosen_below<array>(x, 0.0, -large, large);
    return detail::chosen_below<array>(size, 0.625, x + x * square * sum, outer);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V& value) {
    using array = typename A::PlainObject;
    const array e = (-2.0 * x.abs()).exp();
    return detail::chosen_below<array>(x.abs(), 1.0, 1.0 - value.square(), 4.0 * e / (1.0 + e).square());
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0> first, wrt<0>, const A& x, const V& value) {
    return typename A::PlainObject(-2.0 * value * derivatives(first, x, value));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    const auto large = [&] {  // the value is close to 1, and 1 - value^2 has lost its digits
      const T e = exp(-2.0 * abs(x));
      return T(4.0 * e / ((1.0 + e) * (1.0 + e)));
    };
    return either<T>(
        abs(x) < 1, [&] { return T(1.0 - value * value); }, large);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<tanh_rule, X> tanh(const X& x) {
  return apply<tanh_rule>(x);
}

struct asinh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "asinh", text = "Inverse hyperbolic sine.", ufunc = "arcsinh";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::asinh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(T(abs(x)), [&] { return T(1.0 / hypot(1.0, x)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<asinh_rule, X> asinh(const X& x) {
  return apply<asinh_rule>(x);
}

struct acosh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "acosh", text = "Inverse hyperbolic cosine, not negative.", ufunc = "arccosh";
  static constexpr interval domain[] = {{1, infinity}};
  static double value(double x) { return std::acosh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::slope_below_infinity(  // two roots, because x^2 may overflow
        x, [&] { return T(1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0))); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<acosh_rule, X> acosh(const X& x) {
  return apply<acosh_rule>(x);
}

struct atanh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "atanh", text = "Inverse hyperbolic tangent.", ufunc = "arctanh";
  static constexpr interval domain[] = {{-1, 1}};
  static double value(double x) { return std::atanh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / ((1.0 - x) * (1.0 + x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<atanh_rule, X> atanh(const X& x) {
  return apply<atanh_rule>(x);
}

namespace rules {
using hyperbolic = typelist<sinh_rule, cosh_rule, tanh_rule, asinh_rule, acosh_rule, atanh_rule>;
}

}  // namespace agrad
