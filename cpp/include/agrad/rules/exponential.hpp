// Exponentials, logarithms, powers and roots.
//
// The file to imitate when adding a family: each rule with its overload, the typelist at the end.
#pragma once

#include <cmath>

#include <agrad/rules/arithmetic.hpp>

namespace agrad {

struct exp_rule : rule<1> {
  static constexpr std::string_view name = "exp", text = "Exponential function.";
  static double value(double x) { return std::exp(x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return value;
  }
};
template <class X>
applied<exp_rule, X> exp(const X& x) {
  return apply<exp_rule>(x);
}

struct log_rule : rule<1> {
  static constexpr std::string_view name = "log", text = "Natural logarithm.";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return std::log(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / x;
  }
};
template <class X>
applied<log_rule, X> log(const X& x) {
  return apply<log_rule>(x);
}

struct log1p_rule : rule<1> {
  static constexpr std::string_view name = "log1p", text = "log(1 + x), accurate for small x.";
  static constexpr interval domain[] = {{-1, infinity}};
  static double value(double x) { return std::log1p(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / (1.0 + x);
  }
};
template <class X>
applied<log1p_rule, X> log1p(const X& x) {
  return apply<log1p_rule>(x);
}

struct pow_rule : rule<2> {
  static constexpr std::string_view name = "pow", text = "x raised to the power y.", reference = "x ** y", ufunc = "power";
  static double value(double x, double y) { return std::pow(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return y == 0 ? T(0) : T(y * pow(x, y - 1.0));  // x ** 0 is 1 also at x = 0
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T& value) {
    return value == 0 ? T(0) : T(value * log(x));  // 0 ** y is 0 for all y > 0
  }
};
template <class X, class Y>
applied<pow_rule, X, Y> pow(const X& x, const Y& y) {
  return apply<pow_rule>(x, y);
}

namespace rules {
using exponential = typelist<exp_rule, log_rule, log1p_rule, pow_rule>;
}

}  // namespace agrad
