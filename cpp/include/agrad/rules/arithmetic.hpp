// Arithmetic: + - * / and sign as rules, which every engine uses like all other functions.
//
// Operators are found by argument-dependent lookup. They apply if at least one operand is an agrad scalar (with an engine rank
// between those of plain numbers and of arrays, whose operators are Eigen's).
#pragma once

#include <cstdint>

#include <agrad/rules/apply.hpp>
#include <agrad/rules/either.hpp>

namespace agrad {

struct add_rule : rule<2> {
  static constexpr std::string_view name = "add", text = "Sum x + y.", reference = "x + y";
  static constexpr bool is_linear = true;
  static double value(double x, double y) { return x + y; }
  template <class A, class B>
  static auto values(const A& x, const B& y) {
    return x + y;
  }
  template <int I, class T>
  static double derivative(wrt<I>, const T&, const T&, const T&) {
    return 1.0;
  }
};

struct subtract_rule : rule<2> {
  static constexpr std::string_view name = "subtract", text = "Difference x - y.", reference = "x - y";
  static constexpr bool is_linear = true;
  static double value(double x, double y) { return x - y; }
  template <class A, class B>
  static auto values(const A& x, const B& y) {
    return x - y;
  }
  template <int I, class T>
  static double derivative(wrt<I>, const T&, const T&, const T&) {
    return I == 0 ? 1.0 : -1.0;
  }
};

struct multiply_rule : rule<2> {
  static constexpr std::string_view name = "multiply", text = "Product x y.", reference = "x * y";
  static constexpr bool is_regular = true, is_quick = true;
  static constexpr std::uint8_t proportional_to = 0b11;
  static double value(double x, double y) { return x * y; }
  template <class A, class B>
  static auto values(const A& x, const B& y) {
    return x * y;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return y;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T&) {
    return x;
  }
};

struct divide_rule : rule<2> {
  static constexpr std::string_view name = "divide", text = "Quotient x / y.", reference = "x / y";
  static constexpr bool is_quick = true;
  static constexpr std::uint8_t proportional_to = 0b01;
  static double value(double x, double y) { return x / y; }
  template <class A, class B>
  static auto values(const A& x, const B& y) {
    return x / y;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return 1.0 / y;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& y, const T& value) {
    return -value / y;
  }
};

struct negative_rule : rule<1> {
  static constexpr std::string_view name = "negative", stan = "minus", text = "-x.", reference = "-x";
  static constexpr bool is_linear = true;
  static double value(double x) { return -x; }
  template <class A>
  static auto values(const A& x) {
    return -x;
  }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&) {
    return -1.0;
  }
};

struct plus_rule : rule<1> {
  static constexpr std::string_view name = "plus", text = "x itself.", reference = "x", ufunc = "positive";
  static constexpr bool is_linear = true;
  static double value(double x) { return x; }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&) {
    return 1.0;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<plus_rule, X> plus(const X& x) {
  return apply<plus_rule>(x);
}
/// Does the same as the operator; this is Stan's name.
template <class X>
AGRAD_ALWAYS_INLINE applied<negative_rule, X> minus(const X& x) {
  return apply<negative_rule>(x);
}

namespace rules {
using arithmetic = typelist<add_rule, subtract_rule, multiply_rule, divide_rule, negative_rule, plus_rule>;
}

namespace detail {
// The rank of a type's engine, -1 for types without an engine. Eigen's objects (recognised by StorageKind) have a fixed rank:
// overload resolution considers these operators for Eigen's objects too, perhaps before rules/array.hpp has declared the
// engine.
inline constexpr int array_rank = 10;
template <class T, class = void>
inline constexpr bool has_storage_kind = false;
template <class T>
inline constexpr bool has_storage_kind<T, std::void_t<typename T::StorageKind>> = true;
template <class T, bool is_eigen = has_storage_kind<T>, class = void>
struct rank_of_type : std::integral_constant<int, is_eigen ? array_rank : -1> {};
template <class T>
struct rank_of_type<T, false, std::void_t<typename engine_of<T>::type>>
    : std::integral_constant<int, engine_of<T>::type::rank> {};
template <class T>
inline constexpr int rank_of = rank_of_type<T>::value;
/// The scalar type that stores an object: the variable for a tape expression, every other type itself.
template <class T, class = void>
struct stored {
  using type = T;
};
template <class T>
struct stored<T, std::enable_if_t<(rank_of<T> == 1)>> {
  using type = typename engine_of<T>::type::scalar;
};
template <class T>
using stored_t = typename stored<T>::type;
template <class... X>
using if_scalar_operands = std::enable_if_t<((rank_of<X> >= 0 && rank_of<X> < array_rank) && ...) && ((rank_of<X> > 0) || ...)>;
}  // namespace detail

namespace detail {
/// Returns the number behind a scalar of any engine.
template <class X>
double number_of(const X& x) {
  if constexpr (std::is_arithmetic_v<X>)
    return static_cast<double>(x);
  else
    return number_of(x.val());
}
}  // namespace detail

/// Returns an argument as a constant for the next derivative.
template <class X>
double without_derivative(const X& x) {
  return detail::number_of(x);
}

template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
AGRAD_ALWAYS_INLINE applied<add_rule, X, Y> operator+(const X& x, const Y& y) {
  return apply<add_rule>(x, y);
}
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
AGRAD_ALWAYS_INLINE applied<subtract_rule, X, Y> operator-(const X& x, const Y& y) {
  return apply<subtract_rule>(x, y);
}
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
AGRAD_ALWAYS_INLINE applied<multiply_rule, X, Y> operator*(const X& x, const Y& y) {
  return apply<multiply_rule>(x, y);
}
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
AGRAD_ALWAYS_INLINE applied<divide_rule, X, Y> operator/(const X& x, const Y& y) {
  return apply<divide_rule>(x, y);
}
template <class X, class = detail::if_scalar_operands<X>>
AGRAD_ALWAYS_INLINE applied<negative_rule, X> operator-(const X& x) {
  return apply<negative_rule>(x);
}
template <class X, class = detail::if_scalar_operands<X>>
X operator+(const X& x) {
  return x;
}

/// Chooses as std::max does, also for operands of different types, which std::max rejects: max(a * b, c), max(x, 0.0).
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
detail::stored_t<applied<add_rule, X, Y>> max(const X& x, const Y& y) {
  if (x < y) return y;
  return x;
}
/// Chooses as std::min does, also for operands of different types.
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
detail::stored_t<applied<add_rule, X, Y>> min(const X& x, const Y& y) {
  if (y < x) return y;
  return x;
}

}  // namespace agrad
