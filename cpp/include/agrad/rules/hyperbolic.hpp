// Hyperbolic functions and their inverses.
#pragma once

#include <agrad/rules/power.hpp>

namespace agrad {

struct cosh_rule;
template <class X>
applied<cosh_rule, X> cosh(const X& x);

struct sinh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "sinh", text = "Hyperbolic sine.";
  static double value(double x) { return std::sinh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return cosh(x);
  }
};
template <class X>
applied<sinh_rule, X> sinh(const X& x) {
  return apply<sinh_rule>(x);
}

struct cosh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "cosh", text = "Hyperbolic cosine.";
  static double value(double x) { return std::cosh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return sinh(x);
  }
};
template <class X>
applied<cosh_rule, X> cosh(const X& x) {
  return apply<cosh_rule>(x);
}

struct tanh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "tanh", text = "Hyperbolic tangent.";
  static double value(double x) { return std::tanh(x); }
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
applied<tanh_rule, X> tanh(const X& x) {
  return apply<tanh_rule>(x);
}

struct asinh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "asinh", text = "Inverse hyperbolic sine.", ufunc = "arcsinh";
  static double value(double x) { return std::asinh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / hypot(1.0, x);
  }
};
template <class X>
applied<asinh_rule, X> asinh(const X& x) {
  return apply<asinh_rule>(x);
}

struct acosh_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "acosh", text = "Inverse hyperbolic cosine, not negative.", ufunc = "arccosh";
  static constexpr interval domain[] = {{1, infinity}};
  static double value(double x) { return std::acosh(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0));  // two roots, because x^2 may overflow
  }
};
template <class X>
applied<acosh_rule, X> acosh(const X& x) {
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
applied<atanh_rule, X> atanh(const X& x) {
  return apply<atanh_rule>(x);
}

namespace rules {
using hyperbolic = typelist<sinh_rule, cosh_rule, tanh_rule, asinh_rule, acosh_rule, atanh_rule>;
}

}  // namespace agrad
