// Either: the choice between formulas within a derivative.
//
// Numbers decide, and one of the formulas is computed. What is recorded rather than computed (program/machine/traced.hpp) has
// no answer yet: it takes them all, and a selection of one. Rules' derivatives say `either` where other code says `if`.
#pragma once

namespace agrad {

/// then() where the condition holds, elsewhere what follows: one more formula, or a condition, a formula and so on.
template <class T, class Then, class... Rest>
T either(bool condition, const Then& then, const Rest&... rest) {
  if (condition) return then();
  if constexpr (sizeof...(Rest) == 1)
    return (rest(), ...);
  else
    return either<T>(rest...);
}

/// The same of two numbers.
inline double either(bool condition, double then, double otherwise) { return condition ? then : otherwise; }

}  // namespace agrad
