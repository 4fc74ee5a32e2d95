// Expression: a C++ expression of tape variables, differentiated while it is evaluated and written to the tape when it is
// assigned.
//
// An expression of N leaves is its value, N partial derivatives and N indices; a rule applied to expressions scales theirs.
// It holds no reference to anything, so that `auto e = a * b`, a function that returns `auto` and `cond ? a * b : c * d` are
// safe. Assignment writes one statement with one edge a leaf. All of it is inlined whatever the compiler thinks: the arrays
// then live in registers and constants fold, while an expression that passes through memory costs more than its arithmetic.
// Read next: tape/var.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <agrad/rules/apply.hpp>
#include <agrad/rules/passing.hpp>
#include <agrad/tape/tape.hpp>

namespace agrad {

class var;
namespace detail {
struct tape_access;
}

/// Of N leaves; what rules make of variables, numbers and each other.
template <int N>
struct expression {
  static constexpr int leaves = N;
  double value;
  std::array<double, std::size_t{N}> partials;
  std::array<tape::index_type, std::size_t{N}> indices;
#ifdef AGRAD_CHECKED
  std::uint32_t scope;  // the innermost of its variables'
#endif

  double val() const { return value; }
};

namespace detail {

/// A number in an expression.
struct constant {
  static constexpr int leaves = 0;
  double value;
};

/// A variable in an expression.
struct leaf {
  static constexpr int leaves = 1;
  double value;
  tape::index_type index;
#ifdef AGRAD_CHECKED
  std::uint32_t scope;  // 0 for a constant
#endif
};

template <class T>
inline constexpr bool is_expression = false;
template <int N>
inline constexpr bool is_expression<expression<N>> = true;
template <class T>
inline constexpr bool is_operand = is_expression<T> || std::is_same_v<T, constant> || std::is_same_v<T, leaf>;

/// How a type stands in an expression: as a leaf, a constant or itself.
template <class T, class = void>
struct operand_of;
template <class T>
using operand_t = typename operand_of<T>::type;

template <class T>
struct operand_of<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  using type = constant;
  AGRAD_INLINE static constant make(T x) { return {static_cast<double>(x)}; }
};
template <class T>
struct operand_of<T, std::enable_if_t<is_operand<T>>> {
  using type = T;
  AGRAD_INLINE static const T& make(const T& x) { return x; }
};

/// Appends an operand's leaves to a result at Place, scaled by the derivative with respect to the operand.
template <int Place, class Result>
AGRAD_INLINE void append_leaves(Result&, double, const constant&) {}
template <int Place, class Result>
AGRAD_INLINE void append_leaves(Result& result, double derivative, const leaf& x) {
  result.partials[Place] = derivative;
  result.indices[Place] = x.index;
}
template <int Place, class Result, int N, std::size_t... I>
AGRAD_INLINE void append_leaves(Result& result, double derivative, const expression<N>& x, std::index_sequence<I...>) {
  ((result.partials[Place + I] = passed(derivative, x.partials[I])), ...);
  ((result.indices[Place + I] = x.indices[I]), ...);
}
template <int Place, class Result, int N>
AGRAD_INLINE void append_leaves(Result& result, double derivative, const expression<N>& x) {
  append_leaves<Place>(result, derivative, x, std::make_index_sequence<std::size_t{N}>{});
}

/// Appends the statement that an expression, times a sign, is added to the target.
AGRAD_INLINE void write_statement(tape&, tape::index_type, const constant&, int) {}
AGRAD_INLINE void write_statement(tape& t, tape::index_type target, const leaf& x, int sign) {
  t.record<1>(target, {static_cast<double>(sign)}, {x.index});
}
template <int N>
AGRAD_INLINE void write_statement(tape& t, tape::index_type target, expression<N> x, int sign) {
#ifdef AGRAD_CHECKED
  if (x.scope != 0) t.check_usable("expression", "variable", x.scope);
#endif
  if (sign < 0)
    for (double& partial : x.partials) partial = -partial;
  t.record(target, x.partials, x.indices);
}

#ifdef AGRAD_CHECKED
// Scopes of a tape are numbered as they open, so the one of the greatest number is the first to end. An operand's must be open.
inline std::uint32_t scope_of(const constant&) { return 0; }
template <class Operand>
std::uint32_t scope_of(const Operand& x) {
  if (x.scope != 0) tape::current().check_usable("expression", "variable", x.scope);
  return x.scope;
}
#endif

/// How many leaves the first I of some operands have.
template <std::size_t I, class... Operand>
constexpr int leaves_before() {
  constexpr int leaves[] = {Operand::leaves...};
  int before = 0;
  for (std::size_t i = 0; i < I; ++i) before += leaves[i];
  return before;
}

/// A rule applied to operands.
template <class Rule, std::size_t... I, class... Operand>
AGRAD_INLINE auto express(std::index_sequence<I...>, const Operand&... x) {
  expression<(Operand::leaves + ...)> result;
  result.value = Rule::value(x.value...);
#ifdef AGRAD_CHECKED
  result.scope = std::max({scope_of(x)...});
#endif
  const auto append = [&](auto argument, auto place, const auto& operand) {
    if constexpr (std::decay_t<decltype(operand)>::leaves > 0)
      append_leaves<place()>(result, Rule::derivative(argument, x.value..., result.value), operand);
  };
  (append(wrt<static_cast<int>(I)>{}, std::integral_constant<int, leaves_before<I, Operand...>()>{}, x), ...);
  return result;
}

}  // namespace detail

/// Engine of the tape: builds expressions.
struct tape_engine {
  static constexpr int rank = 1;
  using scalar = var;  // what expressions are stored as
  template <class Rule, class... X>
  AGRAD_INLINE static auto apply(const X&... x) {
    return detail::express<Rule>(std::index_sequence_for<X...>{}, detail::operand_of<X>::make(x)...);
  }
};

template <class T>
struct engine_of<T, std::enable_if_t<detail::is_operand<T>>> {
  using type = tape_engine;
};
template <>
struct engine_of<var> {
  using type = tape_engine;
};

}  // namespace agrad
