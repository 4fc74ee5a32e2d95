// Traced: numbers that stand for operands of a recording, so that the derivative of a rule is recorded instead of computed.
//
// The derivatives of rules are templates of the scalar. With traced numbers, a derivative records its operations; so a recorded
// reverse pass (program/derive/adjoints.hpp) consists of rules and can be differentiated again, to any order. A traced number
// is a constant or one span; comparisons are recorded too, and `either` selects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <agrad/program/machine/operation.hpp>
#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/comparison.hpp>
#include <agrad/rules/passing.hpp>

namespace agrad {

class recorder;

/// Returns the kernel of a rule (program/recording/elementwise.hpp).
template <class Rule>
const kernel& kernel_of_rule();

class traced {
 public:
  traced(double constant = 0) : constant_(constant) {}  // NOLINT: a number is a constant traced number
  traced(recorder& in, const span& x) : in_(&in), x_(x) {}

  template <class X>
  traced& operator+=(const X& x) {
    return *this = *this + x;
  }
  template <class X>
  traced& operator-=(const X& x) {
    return *this = *this - x;
  }
  template <class X>
  traced& operator*=(const X& x) {
    return *this = *this * x;
  }
  template <class X>
  traced& operator/=(const X& x) {
    return *this = *this / x;
  }

  /// Returns whether this is a known constant without a slot.
  bool is_constant() const { return in_ == nullptr; }
  double constant() const { return constant_; }
  recorder* in() const { return in_; }
  /// Returns the slots of a number that is not a constant; stride 0 for one number for all entries.
  const span& slots() const { return x_; }
  /// Returns the slots of any traced number, in a recording.
  span slots_in(recorder& r) const;

  /// Records an elementwise operation on n traced numbers, at least one of which is not a constant.
  static traced record(const kernel& what, const traced* x, std::size_t n);

 private:
  recorder* in_ = nullptr;
  span x_;
  double constant_ = 0;
};

/// The engine for traced numbers.
struct trace_engine {
  static constexpr int rank = 3;
  template <class Rule, class... X>
  static traced apply(const X&... given) {
    const traced x[] = {given...};
    if (std::all_of(x, x + sizeof...(X), [](const traced& each) { return each.is_constant(); }))
      return of_constants<Rule>(x, std::index_sequence_for<X...>{});
    return traced::record(kernel_of_rule<Rule>(), x, sizeof...(X));
  }

 private:
  template <class Rule, std::size_t... I>
  static double of_constants(const traced* x, std::index_sequence<I...>) {
    return Rule::value(x[I].constant()...);
  }
};
template <>
struct engine_of<traced> {
  using type = trace_engine;
};

inline const traced& without_derivative(const traced& x) { return x; }

inline traced operator<(const traced& x, const traced& y) { return apply<less_rule>(x, y); }
inline traced operator<=(const traced& x, const traced& y) { return apply<less_equal_rule>(x, y); }
inline traced operator>(const traced& x, const traced& y) { return apply<greater_rule>(x, y); }
inline traced operator>=(const traced& x, const traced& y) { return apply<greater_equal_rule>(x, y); }
inline traced operator==(const traced& x, const traced& y) { return apply<equal_rule>(x, y); }
inline traced operator!=(const traced& x, const traced& y) { return apply<not_equal_rule>(x, y); }
inline traced operator&&(const traced& x, const traced& y) { return apply<logical_and_rule>(x, y); }
inline traced operator||(const traced& x, const traced& y) { return apply<logical_or_rule>(x, y); }
inline traced operator!(const traced& x) { return apply<logical_not_rule>(x); }

template <class T, class Then, class... Rest>
traced either(const traced& condition, const Then& then, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 1)
    return apply<select_rule>(condition, traced(then()), traced((rest(), ...)));
  else
    return apply<select_rule>(condition, traced(then()), either<T>(rest...));
}
inline traced either(const traced& condition, const traced& then, const traced& otherwise) {
  return apply<select_rule>(condition, then, otherwise);
}

}  // namespace agrad
