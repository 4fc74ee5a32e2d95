// Passing: the product of a slope with a tangent (forward pass) or an adjoint (reverse pass).
//
// The product is zero if either factor is zero, even if the other factor is infinite or nan. A zero tangent belongs to a
// constant, a zero adjoint to an unused value, and a zero slope to a choice not taken or to a value that has underflowed: none
// of them propagates anything, and sqrt(exp(-x)) has the gradient 0 where exp(-x) is 0, although the square root has an
// infinite slope there. Every engine multiplies by this rule; where a zero was computed and not structural, a careful pass of
// a program or a tape makes the product nan (program/machine/careful.hpp, tape/careful.hpp). A rule such as log, whose value
// grows without bound while its slope falls to zero, has the slope nan at an infinite argument: the argument has overflowed,
// and 0 would be wrong.
#pragma once

#include <cstdint>
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

/// The derivatives of products of a slope with a tangent or an adjoint.
struct product_of_links : rule<2> {
  static constexpr bool is_quick = true;
  static constexpr std::uint8_t proportional_to = 0b11;
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return y;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T&) {
    return x;
  }
};

/// The rule of the product that `passed` returns.
struct passed_rule : product_of_links {
  static constexpr std::string_view name = "sent", text = "x y, and 0 where x or y is 0.",
                                    reference = "x * y if x != 0 and y != 0 else 0";
  static double value(double x, double y) { return passed(x, y); }
};

/// The product of two links of the chain rule, of which the first is further in: a tangent and the slope after it, or a slope
/// and the adjoint before it. It is 0 where the first link is zero, and nan where an infinite first link meets a zero that was
/// computed (docs/functions.md, "Zero times infinity").
struct linked_rule : product_of_links {
  static constexpr std::string_view name = "linked", text = "x y, and 0 where x is 0.", reference = "x * y if x != 0 else 0";
  static double value(double x, double y) { return x == 0 ? 0.0 : x * y; }
};

/// The same product where the zero of the second link was computed only if a flag is not zero, and is structural otherwise.
struct linked_where_rule : rule<3> {
  static constexpr std::string_view name = "linked where", text = "y z, and 0 where y is 0, or where x and z are 0.",
                                    reference = "y * z if y != 0 and (x != 0 or z != 0) else 0";
  static constexpr bool is_quick = true;
  static constexpr std::uint8_t proportional_to = 0b110;
  static double value(double x, double y, double z) { return y == 0 || (x == 0 && z == 0) ? 0.0 : y * z; }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T& z, const T&) {
    return z;
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T& y, const T&, const T&) {
    return y;
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
