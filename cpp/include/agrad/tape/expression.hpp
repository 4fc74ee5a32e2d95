// Expression: a C++ expression of tape variables, differentiated during its evaluation and written to the tape when assigned.
//
// An expression of N leaves is a value, N partial derivatives and N indices; a rule applied to expressions scales their partial
// derivatives. An expression holds no references, so that `auto e = a * b`, `cond ? a * b : c * d` and a function that returns
// `auto` are safe. Assignment writes one statement with one edge for each leaf. All functions here are always inlined: the
// arrays then stay in registers and constants fold, while an expression in memory costs more than its arithmetic. A leaf gets
// index 0 where its derivative is zero by structure; a computed zero times an infinite derivative is nan (docs/functions.md,
// "Zero times infinity"). Read next: tape/var.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <agrad/rules/apply.hpp>
#include <agrad/rules/passing.hpp>
#include <agrad/rules/structure.hpp>
#include <agrad/tape/tape.hpp>

// Statements check that the scopes of their variables are open, unless NDEBUG is defined: a variable of an ended scope or of
// another thread would add its derivative to an unrelated variable. With the check a gradient of short statements takes 1.3 to
// 1.8 times as long.
#if !defined(NDEBUG) || defined(AGRAD_CHECKED)
#define AGRAD_CHECKS_OPERANDS
#endif

namespace agrad {

class var;
namespace detail {
struct tape_access;
}

/// An expression of N leaves: the result of rules applied to variables, numbers and expressions.
template <int N>
struct expression {
  static constexpr int leaves = N;
  double value;
  std::array<double, std::size_t{N}> partials;
  std::array<tape::index_type, std::size_t{N}> indices;
  std::uint32_t scope = 0;   // of the innermost scope among its variables; 0 where it is not checked
  bool is_singular = false;  // whether a rule inside has an infinite derivative without an overflow

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
  std::uint32_t scope = 0;  // 0 for a constant, and where it is not checked
};

template <class T>
inline constexpr bool is_expression = false;
template <int N>
inline constexpr bool is_expression<expression<N>> = true;
template <class T>
inline constexpr bool is_operand = is_expression<T> || std::is_same_v<T, constant> || std::is_same_v<T, leaf>;

/// The operand that a type becomes in an expression: a leaf, a constant or the expression itself.
template <class T, class = void>
struct operand_of;
template <class T>
using operand_t = typename operand_of<T>::type;

template <class T>
struct operand_of<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  using type = constant;
  AGRAD_ALWAYS_INLINE static constant make(T x) {
    static_assert(fits_double<T>::value);
    return {static_cast<double>(x)};
  }
};
template <class T>
struct operand_of<T, std::enable_if_t<is_operand<T>>> {
  using type = T;
  AGRAD_ALWAYS_INLINE static const T& make(const T& x) { return x; }
};

/// Whether a number is infinite or nan: one comparison.
AGRAD_ALWAYS_INLINE bool is_infinite_or_nan(double x) { return !(std::abs(x) <= std::numeric_limits<double>::max()); }

/// Appends an operand's leaves to a result from Place on, scaled by the derivative with respect to the operand. is_cut: whether
/// the derivative is a zero of structure.
template <int Place, class Result>
AGRAD_ALWAYS_INLINE void append_leaves(Result& result, double derivative, bool is_cut, const leaf& x) {
  result.partials[Place] = derivative;
  result.indices[Place] = is_cut ? 0 : x.index;
}
template <int Place, class Result, int N, std::size_t... I>
AGRAD_ALWAYS_INLINE void append_leaves(Result& result, double derivative, bool is_cut, const expression<N>& x,
                                       std::index_sequence<I...>) {
  const bool is_zero = derivative == 0 && (is_cut || !x.is_singular);  // also if the partial derivative is infinite
  ((result.partials[Place + I] = is_zero || x.partials[I] == 0 ? 0.0 : derivative * x.partials[I]), ...);
  ((result.indices[Place + I] = is_cut ? 0 : x.indices[I]), ...);
  result.is_singular |= x.is_singular;
}
template <int Place, class Result, int N>
AGRAD_ALWAYS_INLINE void append_leaves(Result& result, double derivative, bool is_cut, const expression<N>& x) {
  append_leaves<Place>(result, derivative, is_cut, x, std::make_index_sequence<std::size_t{N}>{});
}

/// Appends the statement that adds an expression, times a sign, to the target.
AGRAD_ALWAYS_INLINE void write_statement(tape&, tape::index_type, const constant&, int) {}
AGRAD_ALWAYS_INLINE void write_statement(tape& t, tape::index_type target, const leaf& x, int sign) {
  t.record<1>(target, {static_cast<double>(sign)}, {x.index});
}
template <int N>
AGRAD_ALWAYS_INLINE void write_statement(tape& t, tape::index_type target, expression<N> x, int sign) {
#ifdef AGRAD_CHECKS_OPERANDS
  if (x.scope != 0) t.check_operand("expression", "variable", x.scope);
#endif
  if (sign < 0)
    for (double& partial : x.partials) partial = -partial;
  t.record(target, x.partials, x.indices);
  if (AGRAD_UNLIKELY(x.is_singular)) t.note_singular();
}

#ifdef AGRAD_CHECKS_OPERANDS
// Scope numbers of a tape increase, so the scope with the greatest number is the first to end. An operand's scope must be open.
inline std::uint32_t scope_of(const constant&) { return 0; }
inline std::uint32_t scope_of(const leaf& x) { return x.scope; }  // checked when it was made
template <class Operand>
AGRAD_ALWAYS_INLINE std::uint32_t scope_of(const Operand& x) {
  if (x.scope != 0) tape::current().check_operand("expression", "variable", x.scope);
  return x.scope;
}
#endif

/// Returns the number of leaves of the first I operands.
template <std::size_t I, class... Operand>
constexpr int leaves_before() {
  constexpr int leaves[] = {Operand::leaves...};
  int before = 0;
  for (std::size_t i = 0; i < I; ++i) before += leaves[i];
  return before;
}

/// Applies a rule to operands.
template <class Rule, std::size_t... I, class... Operand>
AGRAD_ALWAYS_INLINE auto express(std::index_sequence<I...>, const Operand&... x) {
  expression<(Operand::leaves + ...)> result;
  result.value = Rule::value(x.value...);
#ifdef AGRAD_CHECKS_OPERANDS
  result.scope = std::max({scope_of(x)...});
#endif
  using structure = rule_structure<Rule, var>;
  constexpr unsigned active = bits_of((Operand::leaves > 0)...);
  double sizes = 0;  // their sum is not finite where one of them is not
  const auto append = [&](auto argument, auto place, const auto& operand) {
    if constexpr (std::decay_t<decltype(operand)>::leaves > 0) {
      const double derivative = Rule::derivative(wrt<static_cast<int>(argument())>{}, x.value..., result.value);
      sizes += std::abs(derivative);
      append_leaves<place()>(result, derivative,
                             structure::template is_structural_zero<argument(), active>(derivative, x.value...), operand);
    }
  };
  (append(std::integral_constant<std::size_t, I>{}, std::integral_constant<int, leaves_before<I, Operand...>()>{}, x), ...);
  if constexpr (structure::may_be_singular) result.is_singular |= is_infinite_or_nan(sizes);
  return result;
}

}  // namespace detail

/// The engine of the tape: returns expressions.
struct tape_engine {
  static constexpr int rank = 1;
  using scalar = var;  // the type in which expressions are stored
  template <class Rule, class... X>
  AGRAD_ALWAYS_INLINE static auto apply(const X&... x) {
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
