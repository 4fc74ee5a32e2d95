// Rule: one differentiable elementwise function, stated once.
//
// A rule derives from rule<arity> and gives
//     name        the function's name, the same in C++ and Python
//     text        one sentence of meaning, for docstrings and the docs
//     value       the function of doubles
//     derivative  the partial derivative with respect to argument I (tag wrt<I>), from the arguments and the value;
//                 templated on its scalar, so that a dual number or a tape variable can pass through it
//     domain      an interval for each argument (optional: the real line); outside of it value is nan, as IEEE has it
//     outside     the value outside of the domain where that is infinite, as functions of convex analysis are (optional)
//     reference   the same function in mpmath, where it is not mpmath's function of the same name (tests are made from it)
//     ufunc       NumPy's or SciPy's name, where it is not the same; no_ufunc where theirs of that name is something else
//     source      where formula or algorithm come from, beyond common knowledge
//     values      the function of Eigen arrays of doubles, for large arrays (optional; for two arguments, of an array and a
//                 number too); the derivatives of such a rule are computed anew when they are wanted
//     packets     the open interval in which `values` is as good as `value`, where that is not everywhere; of two arguments,
//                 suits_packets(x, y) says where
//     derivatives the partial derivative with respect to argument I of Eigen arrays, from the arguments and the value, where
//                 `values` are good (optional; worth it where the formula takes more than arithmetic); with them
//                 second_derivatives(wrt<I>, wrt<L>, ...), their derivative with respect to argument L
//     is_linear   whether derivatives are constant; proportional_to: bits of the arguments that the value is a multiple of
//     is_condition whether the values, 1 and 0, mean true and false
// and is `in_cmath` too where <cmath> has the function. It knows no tape, no program and no Python. Beside it stands its one
// overload in namespace agrad,
//     template <class X> applied<log1p_rule, X> log1p(const X& x) { return apply<log1p_rule>(x); }
// and its name goes into the family's typelist at the end of the file. Read next: rules/apply.hpp; a family to imitate:
// rules/exponential.hpp.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include <agrad/base/typelist.hpp>

namespace agrad {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Where a rule's argument may lie. Whether the ends belong to it shows in the function's value there.
struct interval {
  double lower = -infinity;
  double upper = infinity;
  bool whole = false;  // whole numbers only; there is no derivative with respect to such an argument, and the rule gives 0
};

/// A rule's `ufunc` where NumPy's function of the rule's name is another function.
inline constexpr std::string_view no_ufunc = "none";

/// Base of rules whose function `<cmath>` has as well: plain calls that its templates take (integers, float beside double) are
/// left to it, so that a call with both in view is unambiguous.
struct in_cmath {};

/// Tag: the derivative with respect to argument I.
template <int I>
struct wrt {};

/// What a rule may leave out.
template <int Arity>
struct rule {
  static constexpr int arity = Arity;
  static constexpr interval domain[std::size_t{Arity}] = {};
  static constexpr double outside = quiet_nan;
  static constexpr std::string_view reference = {};
  static constexpr std::string_view ufunc = {};
  static constexpr std::string_view source = {};
  static constexpr bool is_linear = false;
  static constexpr bool is_condition = false;
};

}  // namespace agrad
