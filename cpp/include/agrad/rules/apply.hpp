// Apply: passes a rule to the engine of its arguments.
//
// `apply<log_rule>(x)` is a double for doubles, an expression for tape variables, a dual number for dual numbers and an array
// for Eigen arrays. An engine is a class with `rank` and `apply<Rule>(x...)`; `engine_of<T>` names the engine of a type. Of
// mixed arguments the highest rank wins (a double is a constant to every other engine). `applied<Rule, X...>` is the result's
// type and drops out of overload resolution if no engine fits, so that agrad's functions coexist with those of <cmath>.
#pragma once

#include <type_traits>

#include <agrad/base/error.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad {

namespace detail {
/// Refuses a number that agrad's functions, which compute in double, would round without a word.
template <class X>
struct fits_double {
  static_assert(!std::is_same_v<X, long double>,
                "agrad computes in double, so a long double would lose digits; write static_cast<double>(x)");
  static constexpr bool value = true;
};
}  // namespace detail

/// The engine of plain numbers: the value of the rule.
struct real_engine {
  static constexpr int rank = 0;
  template <class Rule, class... X>
  static double apply(const X&... x) {
    static_assert((detail::fits_double<X>::value && ...));
    return Rule::value(static_cast<double>(x)...);
  }
};

/// Names the engine of a type: `using type = ...`. Each engine specialises this for its own types.
template <class T, class = void>
struct engine_of {};
template <class T>
struct engine_of<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  using type = real_engine;
};

namespace detail {

template <class A, class B>
using stronger_t = std::conditional_t<(A::rank >= B::rank), A, B>;

template <class... X>
struct strongest;
template <class X>
struct strongest<X> {
  using type = typename engine_of<X>::type;
};
template <class X, class Y, class... Rest>
struct strongest<X, Y, Rest...> {
  using type = stronger_t<typename engine_of<X>::type, typename strongest<Y, Rest...>::type>;
};

// Arguments of <cmath>'s templates: integers, and numbers of different types. (For floating-point numbers of one type <cmath>
// has overloads that are not templates, which are preferred to agrad's.)
template <class Rule, class X, class... Rest>
inline constexpr bool left_to_cmath = std::is_base_of_v<in_cmath, Rule>&& std::is_arithmetic_v<X> &&
                                      (std::is_arithmetic_v<Rest> && ...) &&
                                      (std::is_integral_v<X> || (!std::is_same_v<X, Rest> || ...));

template <class Enable, class Rule, class... X>
struct applied {};
template <class Rule, class... X>
struct applied<std::void_t<typename engine_of<X>::type...>, Rule, X...> {
  using engine = typename strongest<X...>::type;
  using type = decltype(engine::template apply<Rule>(std::declval<const X&>()...));
};

}  // namespace detail

/// The type of Rule applied to arguments of types X.
template <class Rule, class... X>
using applied = typename std::enable_if_t<!detail::left_to_cmath<Rule, X...>, detail::applied<void, Rule, X...>>::type;

/// Applies a rule to its arguments by their engine.
template <class Rule, class... X>
AGRAD_ALWAYS_INLINE applied<Rule, X...> apply(const X&... x) {
  static_assert(sizeof...(X) == Rule::arity, "the rule takes another number of arguments");
  return detail::strongest<X...>::type::template apply<Rule>(x...);
}

}  // namespace agrad
