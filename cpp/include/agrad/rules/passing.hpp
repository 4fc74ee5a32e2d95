// Passing: a slope times what passes through it, a tangent on the way forwards or an adjoint on the way back.
//
// The product is zero where either of them is, also beside infinity and nan. A zero tangent is that of a constant, a zero
// adjoint that of a value that nobody used, and a zero slope is that of a choice not taken or of a value that has underflowed:
// through none of them does anything pass, and sqrt(exp(-x)) has the gradient 0 where exp(-x) is 0, though the square root has
// an infinite slope there. Every engine multiplies by this rule. A rule whose value grows without bound while its slope falls
// to zero, such as log, has the slope nan where its argument is infinite: the argument has overflowed, and 0 would be wrong.
#pragma once

#include <string_view>

#include <agrad/rules/comparison.hpp>

namespace agrad {

namespace detail {

/// A slope times a tangent or an adjoint.
AGRAD_INLINE double passed(double slope, double x) { return slope == 0 || x == 0 ? 0.0 : slope * x; }

/// The same as a rule, so that it can be differentiated.
struct sent_rule : rule<2> {
  static constexpr std::string_view name = "sent", text = "x y, and 0 where x or y is 0.",
                                    reference = "x * y if x != 0 and y != 0 else 0";
  static double value(double x, double y) { return passed(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return y;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T&) {
    return x;
  }
};

/// The slope of a rule that grows without bound: nan where its argument has overflowed.
template <class T, class Slope>
AGRAD_INLINE T slope_below_infinity(const T& x, const Slope& slope) {
  return either<T>(
      x == infinity, [] { return T(quiet_nan); }, slope);
}

}  // namespace detail

}  // namespace agrad
