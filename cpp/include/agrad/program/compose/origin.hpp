// Origin: where the slots of a recording come from.
//
// Read next: program/compose/recognise.hpp, program/compose/weights.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

/// A kernel of a rule with its operands.
struct applied_rule {
  const kernel* what = nullptr;
  std::array<span, operation::most_operands> operands{};
  std::size_t arity = 0;
};

namespace detail {

template <class Rule>
bool is_rule(const applied_rule& x) {
  return x.what == &kernel_of_rule<Rule>();
}

/// Returns the place of the first operation with results behind a slot.
inline std::vector<operation>::const_iterator operation_after(const recorder& in, slot x) {
  const std::vector<operation>& all = in.code().operations;
  return std::upper_bound(all.begin(), all.end(), x, [](slot first, const operation& op) { return first < op.result; });
}

/// Returns the operation that computed a slot; null for inputs and constants.
inline const operation* producer(const recorder& in, slot x) {
  const auto after = operation_after(in, x);
  if (after == in.code().operations.begin() || x >= (after - 1)->result + (after - 1)->count) return nullptr;
  return &*(after - 1);
}

/// Returns the first result behind an input or constant; the number of slots if there is none.
inline slot next_result(const recorder& in, slot x) {
  const auto after = operation_after(in, x);
  return after == in.code().operations.end() ? static_cast<slot>(in.size()) : after->result;
}

/// Returns `count` entries of an operation's result, from `first` on, as the rule on the operands' entries that belong to them;
/// nothing where the operation is no rule. stride: 0 where one entry stands for all.
inline std::optional<applied_rule> rule_at(const operation& op, slot first, std::uint32_t count, std::uint16_t stride) {
  if (op.what->entries == nullptr || first + count > op.result + op.count) return std::nullopt;
  applied_rule of{op.what, op.operands, op.arity};
  for (std::size_t i = 0; i < of.arity; ++i) {
    span& each = of.operands[i];
    if (each.listed) return std::nullopt;
    if (each.stride != 0) each.first += first - op.result, each.count = count, each.stride = stride;
  }
  return of;
}

/// Returns the rule that computed a span; nothing where there is no such rule.
inline std::optional<applied_rule> origin(const recorder& in, const span& x) {
  if (x.listed || x.count == 0) return std::nullopt;
  const operation* op = producer(in, x.first);
  return op == nullptr ? std::nullopt : rule_at(*op, x.first, x.count, x.stride);
}

}  // namespace detail

}  // namespace agrad
