// Dependence: tells on which entries of the operands the results of an operation depend, and whether linearly.
//
// Each kernel has one of a few kinds; the default, a dependence of everything on everything, is always right and only makes
// patterns larger. For elementwise kernels, the dependence follows from the rule: a derivative returned as a plain double has
// no tangent, so the derivative does not depend on the arguments.
// Read next: program/sparse/sparsity.hpp, which uses the kinds.
#pragma once

#include <cstddef>
#include <cstdint>

#include <agrad/rules/structure.hpp>

namespace agrad {

struct dependence {
  enum kind : std::uint8_t {
    on_everything,   // each result depends on each entry of each operand
    on_nothing,      // there is no derivative
    entrywise,       // result i depends on entry i of each operand
    gathered,        // result i depends on the slot integers[i]
    grouped,         // result i depends on entries i * integers[0] and following of operand 0
    along_lines,     // result i depends on line i of each operand (program/kernels/lines.hpp)
    before_in_line,  // results have the operand's shape and depend on the entries of their line up to their own
    across_lines,    // results have the operand's shape and depend on the entries of their line
    within_lines,    // the first half of the results, of the operand's shape, depends on their lines; the other half on nothing
    product,         // a product of matrices; integers: rows, inner columns, columns
    products,        // several products; integers: also their number, and whether the first and the second operands differ
    terms,           // a sum of integers[0] terms, each of entry i of each operand
    scattered,       // operand 0 with entries of operand 1 added at the indices in operand 2
    looked_up        // result i depends on entry i of operand 0 and on all entries of the other operands
  };
  static constexpr std::size_t most = 6;

  kind how = on_everything;
  bool is_linear = false;  // also piecewise linear: no second derivatives
  /// For entrywise operations: whether slopes, of any order, are infinite only where the result overflows.
  bool is_regular = false;
  /// For entrywise operations: bit l of curved[k] tells whether the derivative with respect to operand k depends on operand l.
  std::uint8_t curved[most] = {};
  /// For entrywise operations: bit k tells whether the result is zero where operand k is zero.
  std::uint8_t zero_with = 0;
  /// Whether operand 1, where there is one, has the weights of terms whose logarithms are operand 0, and results are logarithms
  /// of sums: where all weights are zero, the result is minus infinity and the slopes are infinite.
  bool has_weights = false;
};

/// Returns the dependence of a rule's elementwise kernel; S is a scalar with tangents.
template <class Rule, class S>
constexpr dependence dependence_of_rule() {
  using structure = detail::rule_structure<Rule, S>;
  if (structure::is_piecewise_constant) return {dependence::on_nothing, true};
  dependence d{dependence::entrywise, structure::is_piecewise_linear, Rule::is_regular};
  d.zero_with = detail::proportional_to<Rule>;
  std::size_t k = 0;
  for (const std::uint8_t each : structure::curved) d.curved[k++] = each;
  return d;
}

}  // namespace agrad
