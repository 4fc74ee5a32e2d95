// Definitions of program/compose/recognise.hpp.
#pragma once

#include <optional>

#include <agrad/program/compose/recognise.hpp>
#include <agrad/program/compose/rules.hpp>

namespace agrad {

namespace detail {

class recogniser {
 public:
  recogniser(const recorder& in, const applied_rule& outer) : in_(in), outer_(outer) {}

  std::optional<applied_rule> found() const {
    if (is_rule<multiply_rule>(outer_)) return square(outer_.operands[0], outer_.operands[1]);
    if (is_rule<square_rule>(outer_)) return square(outer_.operands[0], outer_.operands[0]);
    if (is_rule<pow_rule>(outer_)) return power();
    if (is_rule<exp_rule>(outer_)) return exponential();
    return std::nullopt;
  }

 private:
  /// An operation of one or two operands, seen from a part of its result.
  using inner = applied_rule;

  template <class Rule>
  static bool is(const std::optional<inner>& x) {
    return x && is_rule<Rule>(*x);
  }
  /// Returns whether derivatives pass through the rule's first operand, whose slope may be infinite.
  template <class Rule>
  static bool passes(const std::optional<inner>& x) {
    return is<Rule>(x) && x->operands[0].active;
  }

  template <class Rule, class... Spans>
  static applied_rule rule_of(const Spans&... x) {
    return {&kernel_of_rule<Rule>(), {x...}, sizeof...(x)};
  }

  std::optional<inner> origin(const span& x) const { return detail::origin(in_, x); }

  /// Returns whether two spans surely have the same values.
  bool equal(const span& a, const span& b) const {
    if (a.first == b.first && a.count == b.count && a.stride == b.stride) return true;
    return a.stride == 0 && b.stride == 0 && !a.active && !b.active && in_.value(a.first) == in_.value(b.first);
  }
  bool equal(const std::optional<inner>& a, const std::optional<inner>& b) const {
    if (!a || !b || a->what != b->what) return false;
    for (std::size_t i = 0; i < a->arity; ++i)
      if (!equal(a->operands[i], b->operands[i])) return false;
    return true;
  }

  /// Returns the number that all entries of a constant operand are.
  std::optional<double> constant(const span& x) const {
    if (x.active || (x.stride != 0 && x.count != 1)) return std::nullopt;
    return in_.value(x.first);
  }

  std::optional<applied_rule> square(const span& left, const span& right) const {
    if (!left.active || !right.active) return std::nullopt;
    const std::optional<inner> x = origin(left);
    if (!x || !(equal(left, right) || equal(x, origin(right)))) return std::nullopt;
    const span &first = x->operands[0], &second = x->operands[1];
    if (passes<sqrt_rule>(x)) return rule_of<square_of_root_rule>(first);
    if (is<hypot_rule>(x)) return rule_of<square_of_hypot_rule>(first, second);
    if (passes<pow_rule>(x)) return rule_of<square_of_power_rule>(first, second);
    if (is<abs_rule>(x)) return rule_of<multiply_rule>(first, first);
    const bool is_quotient = is<divide_rule>(x);
    if (!is_quotient && !is<multiply_rule>(x)) return std::nullopt;
    const std::optional<inner> of_first = origin(first);
    if (passes<sqrt_rule>(of_first)) {
      if (is_quotient) return rule_of<square_of_root_over_rule>(of_first->operands[0], second);
      return rule_of<square_of_root_times_rule>(of_first->operands[0], second);
    }
    const std::optional<inner> of_second = is_quotient ? std::nullopt : origin(second);
    if (passes<sqrt_rule>(of_second)) return rule_of<square_of_root_times_rule>(of_second->operands[0], first);
    return std::nullopt;
  }

  std::optional<applied_rule> power() const {
    const std::optional<inner> x = origin(outer_.operands[0]);
    if (passes<sqrt_rule>(x)) return rule_of<power_of_root_rule>(x->operands[0], outer_.operands[1]);
    if (passes<cbrt_rule>(x) && constant(outer_.operands[1]) == 3) return rule_of<cube_of_cbrt_rule>(x->operands[0]);
    return std::nullopt;
  }

  std::optional<applied_rule> exponential() const {
    const std::optional<inner> x = origin(outer_.operands[0]);
    if (passes<log_rule>(x)) return rule_of<exp_of_log_rule>(x->operands[0]);
    if (is<subtract_rule>(x)) {
      const std::optional<inner> log = origin(x->operands[0]);
      if (passes<log_rule>(log)) return rule_of<exp_of_log_minus_rule>(log->operands[0], x->operands[1]);
    }
    if (!is<add_rule>(x) && !is<multiply_rule>(x)) return std::nullopt;
    for (const std::size_t i : {0U, 1U}) {
      const std::optional<inner> log = origin(x->operands[i]);
      if (!passes<log_rule>(log)) continue;
      const span &of_log = log->operands[0], &other = x->operands[1 - i];
      if (is<add_rule>(x)) return rule_of<exp_of_log_plus_rule>(of_log, other);
      return rule_of<exp_of_log_times_rule>(of_log, other);
    }
    return std::nullopt;
  }

  const recorder& in_;
  const applied_rule& outer_;
};

}  // namespace detail

AGRAD_INLINE applied_rule recognised(const recorder& in, applied_rule outer) {
  if (const std::optional<applied_rule> whole = detail::recogniser(in, outer).found()) return *whole;
  return outer;
}

}  // namespace agrad
