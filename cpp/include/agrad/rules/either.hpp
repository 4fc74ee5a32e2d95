// Either: the choice between formulas within a derivative.
//
// With numbers, one of the formulas is computed. Recorded values (program/machine/traced.hpp) do not know the condition yet:
// they record all formulas, and a selection. Derivatives of rules use `either` where other code uses `if`.
#pragma once

namespace agrad {

/// Returns then() if the condition holds, else the result of the rest: a formula, or a condition, a formula and so on.
template <class T, class Then, class... Rest>
T either(bool condition, const Then& then, const Rest&... rest) {
  if (condition) return then();
  if constexpr (sizeof...(Rest) == 1)
    return (rest(), ...);
  else
    return either<T>(rest...);
}

/// Does the same for two numbers.
inline double either(bool condition, double then, double otherwise) { return condition ? then : otherwise; }

}  // namespace agrad
