// Rule: one differentiable elementwise function, stated once.
//
// A rule derives from rule<arity> and has the members
//     name        the function's name, the same in C++ and Python
//     text        one sentence of meaning, for docstrings and the docs
//     value       the function of doubles
//     derivative  the partial derivative with respect to argument I (tag wrt<I>), from the arguments and the value;
//                 templated on its scalar, so that a dual number or a tape variable can pass through it
//     domain      an interval for each argument (optional: the real line); outside the value is nan, as in IEEE 754
//     must        the condition that the function checks, as Stan's does, instead of being nan elsewhere (optional)
//     outside     the value outside of the domain where that is infinite, as functions of convex analysis are (optional)
//     reference   the same function in mpmath, unless mpmath's function of that name is the same (tests compare with this)
//     ufunc       NumPy's or SciPy's name, if different; no_ufunc if their function of that name is another function
//     stan        Stan's name, if different: the function has this name, too, in Python and by an overload in C++
//     source      the source of formula or algorithm, beyond common knowledge
//     values      the function of Eigen arrays of doubles, for large arrays (optional; for two arguments, of an array and a
//                 number too); the derivatives of such a rule are not stored, but computed when needed
//     needs_wide_packets  whether `values` and `derivatives` pay only if packets have four doubles, as with AVX (optional)
//     packets     the open interval in which `values` is as accurate as `value`, if not everywhere; for two arguments,
//                 suits_packets(x, y) says where
//     derivatives the partial derivative with respect to argument I of Eigen arrays, from the arguments and the value, where
//                 `values` is accurate (optional; pays if the formula takes more than arithmetic); then there is also
//                 second_derivatives(wrt<I>, wrt<L>, ...), the derivatives of `derivatives` with respect to argument L
//     value_and_slopes  the value of numbers and the partial derivatives, where they share work (optional): of the array to
//                 write the derivatives to, an array that tells which ones are wanted, and the arguments; duals use it
//     is_linear   whether derivatives are constant; proportional_to: bits of the arguments that the value is a multiple of
//     is_regular  whether the function is smooth at all finite arguments, so that slopes are infinite only where it overflows
//     is_quick    whether the value takes no longer to compute than to read from memory; so is what is linear
//     is_condition whether the values, 1 and 0, mean true and false
// and derives from `in_cmath`, too, if <cmath> has the function. A rule knows no tape, no program and no Python. After the
// rule comes its only overload in namespace agrad,
//     template <class X> applied<log1p_rule, X> log1p(const X& x) { return apply<log1p_rule>(x); }
// and the typelist of the family at the end of the file contains the rule. Read next: rules/apply.hpp; a family to imitate:
// rules/exponential.hpp.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include <agrad/base/typelist.hpp>

namespace agrad {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

struct condition;

/// The domain of a rule's argument. The function's values at the ends show whether the ends belong to the domain.
struct interval {
  double lower = -infinity;
  double upper = infinity;
  bool whole = false;  // whole numbers only; the rule returns 0 as the derivative with respect to such an argument
};

/// A rule's `ufunc` if NumPy's function of the rule's name is another function.
inline constexpr std::string_view no_ufunc = "none";

/// Base of rules whose function is in the standard header cmath, too. Plain calls that match the templates of cmath (integers,
/// float with double) use cmath, so that calls are unambiguous if both functions are visible.
struct in_cmath {};

namespace detail {
/// Returns the letters of a rule's name with one digit for each number that the rule's template has: "student_tail_01". Stored
/// programs find rules by their names, so that no two may have the same.
template <int... digit>
constexpr std::array<char, 48> with_digits(std::string_view name) {
  static_assert(((digit >= 0 && digit < 10) && ...), "a number of a rule's template must be one digit");
  std::array<char, 48> letters{};
  std::size_t end = 0;
  for (const char letter : name) letters[end++] = letter;
  letters[end++] = '_';
  for (const int each : {digit...}) letters[end++] = static_cast<char>('0' + each);
  return letters;
}
}  // namespace detail

/// Tag: the derivative with respect to argument I.
template <int I>
struct wrt {};

/// Base of rules of which the arguments I are data, such as counts and orders of derivatives: their derivatives are zero. The
/// rule says `using data_arguments::derivative;` beside its own derivatives.
template <int... I>
struct data_arguments {
  template <int K, class... T, class = std::enable_if_t<((K == I) || ...)>>
  static double derivative(wrt<K>, const T&...) {
    return 0.0;
  }
};

namespace detail {
/// Whether a rule has `value_and_slopes`.
template <class Rule, class = void>
inline constexpr bool has_slopes = false;
template <class Rule>
inline constexpr bool has_slopes<Rule, std::void_t<decltype(&Rule::value_and_slopes)>> = true;
}  // namespace detail

/// The defaults of optional members.
template <int Arity>
struct rule {
  static constexpr int arity = Arity;
  static constexpr interval domain[std::size_t{Arity}] = {};
  static constexpr const condition* must = nullptr;
  static constexpr double outside = quiet_nan;
  static constexpr std::string_view reference = {};
  static constexpr std::string_view ufunc = {};
  static constexpr std::string_view stan = {};
  static constexpr std::string_view source = {};
  static constexpr bool is_linear = false;
  static constexpr bool is_regular = false;
  static constexpr bool is_quick = false;
  static constexpr bool is_condition = false;
  static constexpr bool needs_wide_packets = false;
};

}  // namespace agrad
