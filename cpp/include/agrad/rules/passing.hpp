// Passing: the product of a slope with a tangent (forward pass) or an adjoint (reverse pass).
//
// The product is zero if either factor is zero, even if the other factor is infinite or nan. A zero tangent belongs to a
// constant, a zero adjoint to an unused value, and a zero slope to a choice not taken or to a value that has underflowed: none
// of them propagates anything, and sqrt(exp(-x)) has the gradient 0 where exp(-x) is 0, although the square root has an
// infinite slope there. Every engine multiplies by this rule. A rule such as log, whose value grows without bound while its
// slope falls to zero, has the slope nan at an infinite argument: the argument has overflowed, and 0 would be wrong.
#pragma once

#include <string_view>
#include <type_traits>

#include <agrad/rules/comparison.hpp>

namespace agrad {

namespace detail {

/// Returns the product of a slope with a tangent or an adjoint.
AGRAD_ALWAYS_INLINE double passed(double slope, double x) { return slope == 0 || x == 0 ? 0.0 : slope * x; }

/// Adds the product to a sum: one test for nan instead of two for zero, for products of single numbers.
AGRAD_ALWAYS_INLINE void add_passed(double& sum, double slope, double x) {
  const double result = sum + slope * x;
  sum = AGRAD_UNLIKELY(result != result) ? sum + passed(slope, x) : result;
}

/// The rule of the same product, which has derivatives.
struct passed_rule : rule<2> {
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

/// Returns the slope of a rule that grows without bound: nan if the argument has overflowed.
template <class T, class Slope>
AGRAD_ALWAYS_INLINE T slope_below_infinity(const T& x, const Slope& slope) {
  if constexpr (std::is_same_v<T, double>)
    return slope() + 0.0 * x;  // without a branch, so that loops become packets
  else
    return either<T>(
        x == infinity, [] { return T(quiet_nan); }, slope);
}

}  // namespace detail

}  // namespace agrad
