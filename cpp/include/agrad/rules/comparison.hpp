// Comparisons, logic and selection: 1 or 0 by value, and the choice between two arguments. Results have no derivative with
// respect to compared values; the chosen argument has derivative 1.
//
// C++ code compares with operators; recorded programs need these rules for `x < y`, `(x < y) & (y < z)` and `where`.
#pragma once

#include <cmath>

#include <agrad/rules/arithmetic.hpp>

namespace agrad {

/// A function that is constant between jumps.
template <int Arity>
struct piecewise_constant_rule : rule<Arity> {
  static constexpr bool is_quick = true;
  template <int I, class... T>
  static double derivative(wrt<I>, const T&...) {
    return 0.0;
  }
};

/// A piecewise constant function whose values, 1 and 0, mean true and false.
template <int Arity>
struct condition_rule : piecewise_constant_rule<Arity> {
  static constexpr bool is_condition = true;
};

struct less_rule : condition_rule<2> {
  static constexpr std::string_view name = "less", stan = "logical_lt", text = "1 where x < y, else 0.", reference = "x < y";
  static double value(double x, double y) { return x < y ? 1.0 : 0.0; }
};
struct less_equal_rule : condition_rule<2> {
  static constexpr std::string_view name = "less_equal", stan = "logical_lte", text = "1 where x <= y, else 0.",
                                    reference = "x <= y";
  static double value(double x, double y) { return x <= y ? 1.0 : 0.0; }
};
struct greater_rule : condition_rule<2> {
  static constexpr std::string_view name = "greater", stan = "logical_gt", text = "1 where x > y, else 0.", reference = "x > y";
  static double value(double x, double y) { return x > y ? 1.0 : 0.0; }
};
struct greater_equal_rule : condition_rule<2> {
  static constexpr std::string_view name = "greater_equal", stan = "logical_gte", text = "1 where x >= y, else 0.",
                                    reference = "x >= y";
  static double value(double x, double y) { return x >= y ? 1.0 : 0.0; }
};
struct equal_rule : condition_rule<2> {
  static constexpr std::string_view name = "equal", stan = "logical_eq", text = "1 where x == y, else 0.", reference = "x == y";
  static double value(double x, double y) { return x == y ? 1.0 : 0.0; }
};
struct not_equal_rule : condition_rule<2> {
  static constexpr std::string_view name = "not_equal", stan = "logical_neq", text = "1 where x != y, else 0.",
                                    reference = "x != y";
  static double value(double x, double y) { return x != y ? 1.0 : 0.0; }
};

// ---- logic ---------------------------------------------------------------------------------------------------------------

struct logical_and_rule : condition_rule<2> {
  static constexpr std::string_view name = "logical_and", text = "1 where neither x nor y is 0, else 0.",
                                    reference = "x != 0 and y != 0";
  static double value(double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }
};
struct logical_or_rule : condition_rule<2> {
  static constexpr std::string_view name = "logical_or", text = "1 where x or y is not 0, else 0.",
                                    reference = "x != 0 or y != 0";
  static double value(double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }
};
struct logical_xor_rule : condition_rule<2> {
  static constexpr std::string_view name = "logical_xor", text = "1 where one of x and y is 0 and the other is not, else 0.",
                                    reference = "(x != 0) != (y != 0)";
  static double value(double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; }
};
struct logical_not_rule : condition_rule<1> {
  static constexpr std::string_view name = "logical_not", stan = "logical_negation", text = "1 where x is 0, else 0.",
                                    reference = "x == 0";
  static double value(double x) { return x == 0 ? 1.0 : 0.0; }
};
struct isnan_rule : condition_rule<1> {
  static constexpr std::string_view name = "isnan", stan = "is_nan", text = "1 where x is not a number, else 0.",
                                    reference = "isnan(x)";
  static double value(double x) { return std::isnan(x) ? 1.0 : 0.0; }
};
struct isinf_rule : condition_rule<1> {
  static constexpr std::string_view name = "isinf", stan = "is_inf", text = "1 where x is infinite, else 0.",
                                    reference = "isinf(x)";
  static double value(double x) { return std::isinf(x) ? 1.0 : 0.0; }
};
struct isfinite_rule : condition_rule<1> {
  static constexpr std::string_view name = "isfinite", text = "1 where x is neither infinite nor nan, else 0.",
                                    reference = "isfinite(x)";
  static double value(double x) { return std::isfinite(x) ? 1.0 : 0.0; }
};

// Stan's names of the operators, which compare values, as the operators of variables do.

namespace detail {
template <class... X>
using if_numbers = std::enable_if_t<((rank_of<X> >= 0 && rank_of<X> < array_rank) && ...)>;
}  // namespace detail

template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_lt(const X& x, const Y& y) {
  return detail::number_of(x) < detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_lte(const X& x, const Y& y) {
  return detail::number_of(x) <= detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_gt(const X& x, const Y& y) {
  return detail::number_of(x) > detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_gte(const X& x, const Y& y) {
  return detail::number_of(x) >= detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_eq(const X& x, const Y& y) {
  return detail::number_of(x) == detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_neq(const X& x, const Y& y) {
  return detail::number_of(x) != detail::number_of(y);
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_and(const X& x, const Y& y) {
  return detail::number_of(x) != 0 && detail::number_of(y) != 0;
}
template <class X, class Y, class = detail::if_numbers<X, Y>>
bool logical_or(const X& x, const Y& y) {
  return detail::number_of(x) != 0 || detail::number_of(y) != 0;
}
template <class X, class = detail::if_numbers<X>>
bool logical_negation(const X& x) {
  return detail::number_of(x) == 0;
}
template <class X, class = detail::if_numbers<X>>
bool is_nan(const X& x) {
  return std::isnan(detail::number_of(x));
}
template <class X, class = detail::if_numbers<X>>
bool is_inf(const X& x) {
  return std::isinf(detail::number_of(x));
}

// ---- selection -----------------------------------------------------------------------------------------------------------

struct select_rule : rule<3> {
  static constexpr std::string_view name = "select", text = "y where x is not 0, else z; both are computed.",
                                    reference = "y if x != 0 else z";
  static constexpr bool is_quick = true;
  static double value(double x, double y, double z) { return x != 0 ? y : z; }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
  template <class T>
  static auto derivative(wrt<1>, const T& x, const T&, const T&, const T&) {
    return either(x != 0, 1.0, 0.0);
  }
  template <class T>
  static auto derivative(wrt<2>, const T& x, const T&, const T&, const T&) {
    return either(x != 0, 0.0, 1.0);
  }
};
template <class X, class Y, class Z>
AGRAD_ALWAYS_INLINE applied<select_rule, X, Y, Z> select(const X& x, const Y& y, const Z& z) {
  return apply<select_rule>(x, y, z);
}

namespace rules {
using comparison =
    typelist<less_rule, less_equal_rule, greater_rule, greater_equal_rule, equal_rule, not_equal_rule, logical_and_rule,
             logical_or_rule, logical_xor_rule, logical_not_rule, isnan_rule, isinf_rule, isfinite_rule, select_rule>;
}

}  // namespace agrad
