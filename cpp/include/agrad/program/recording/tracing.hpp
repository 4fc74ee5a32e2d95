// Tracing: records the operations of traced numbers (program/machine/traced.hpp).
#pragma once

#include <agrad/program/machine/traced.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

inline span traced::slots_in(recorder& r) const {
  if (is_constant()) return {r.constant(constant_), 1, 0, false};
  return x_;
}

inline traced traced::record(const kernel& what, const traced* x, std::size_t n) {
  recorder* in = nullptr;
  std::uint32_t count = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i].is_constant()) continue;
    in = x[i].in_;
    count = std::max(count, x[i].x_.count);
  }
  span operands[operation::most_operands];
  for (std::size_t i = 0; i < n; ++i) operands[i] = x[i].slots_in(*in);
  const slot first = in->apply(what, count, operands, n);
  return {*in, {first, count, static_cast<std::uint16_t>(count == 1 ? 0 : 1), in->is_active(first)}};
}

namespace detail {

/// Returns entry i of a span.
inline slot slot_at(const span& x, std::uint32_t i) { return x.first + (x.stride == 0 ? 0 : i); }

/// Returns a span as a traced number; a span of one entry stands for all entries.
inline traced number_of(recorder& in, span x) {
  if (x.count == 1) x.stride = 0;
  return {in, x};
}

/// Returns a partial derivative times an adjoint or a tangent; the product is zero where either is zero, even beside infinity.
inline traced times(const traced& partial, const traced& other) {
  if (!partial.is_constant()) return apply<passed_rule>(partial, other);
  return partial.constant() == 1 ? other : partial.constant() == -1 ? -other : partial.constant() * other;
}

/// Returns the product of two links of the chain rule, the first of which is further in (rules/passing.hpp, linked_rule).
inline traced linked(const traced& first, const traced& then) {
  return first.is_constant() || then.is_constant() ? times(first, then) : apply<linked_rule>(first, then);
}

}  // namespace detail

}  // namespace agrad
