// Comparisons and selection: 1 or 0 by value, and the choice between two arguments. Their results have no derivative with
// respect to what was compared; the chosen argument passes its own on.
//
// C++ code compares with the operators; these rules are what a recorded program needs for `x < y` and `where`.
#pragma once

#include <agrad/rules/arithmetic.hpp>

namespace agrad {

/// A function that is constant between jumps.
template <int Arity>
struct piecewise_constant_rule : rule<Arity> {
  template <int I, class... T>
  static double derivative(wrt<I>, const T&...) {
    return 0.0;
  }
};

struct less_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "less", text = "1 where x < y, else 0.", reference = "x < y";
  static double value(double x, double y) { return x < y ? 1.0 : 0.0; }
};
struct less_equal_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "less_equal", text = "1 where x <= y, else 0.", reference = "x <= y";
  static double value(double x, double y) { return x <= y ? 1.0 : 0.0; }
};
struct greater_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "greater", text = "1 where x > y, else 0.", reference = "x > y";
  static double value(double x, double y) { return x > y ? 1.0 : 0.0; }
};
struct greater_equal_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "greater_equal", text = "1 where x >= y, else 0.", reference = "x >= y";
  static double value(double x, double y) { return x >= y ? 1.0 : 0.0; }
};
struct equal_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "equal", text = "1 where x == y, else 0.", reference = "x == y";
  static double value(double x, double y) { return x == y ? 1.0 : 0.0; }
};
struct not_equal_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "not_equal", text = "1 where x != y, else 0.", reference = "x != y";
  static double value(double x, double y) { return x != y ? 1.0 : 0.0; }
};

struct select_rule : rule<3> {
  static constexpr std::string_view name = "select", text = "y where x is not 0, else z; both are computed.",
                                    reference = "y if x != 0 else z";
  static double value(double x, double y, double z) { return x != 0 ? y : z; }
  template <class T>
  static T derivative(wrt<0>, const T&, const T&, const T&, const T&) {
    return T(0);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T&, const T&) {
    return x != 0 ? T(1) : T(0);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T&, const T&, const T&) {
    return x != 0 ? T(0) : T(1);
  }
};
template <class X, class Y, class Z>
applied<select_rule, X, Y, Z> select(const X& x, const Y& y, const Z& z) {
  return apply<select_rule>(x, y, z);
}

namespace rules {
using comparison =
    typelist<less_rule, less_equal_rule, greater_rule, greater_equal_rule, equal_rule, not_equal_rule, select_rule>;
}

}  // namespace agrad
