// Reach: the inputs that determine a value, with or without a derivative.
//
// A comparison of t with a number has no derivative, yet its result depends on t. Patterns of derivatives
// (program/sparse/sparsity.hpp) omit this dependence, so questions about values need this file. Inputs have marks, and a value
// has the marks of all inputs from which the value is computed. Entrywise operations and gathers are followed entry by entry;
// results of other operations depend on all operands.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>

namespace agrad {

class reach {
 public:
  using marks = std::uint8_t;

  /// of_inputs: one mark or several for each input.
  reach(const program& f, const std::vector<marks>& of_inputs);

  marks of(slot s) const { return of_[s]; }
  /// Returns the marks of several values together.
  marks of(const std::vector<slot>& slots) const;

  /// Returns the slot of entry i of operand k.
  static slot place(const std::vector<std::uint32_t>& integers, const operation& op, std::size_t k, std::size_t i);

 private:
  void propagate(const operation& op);

  /// Returns whether an operation works entry by entry. Conditions do, though their lack of derivatives hides this.
  static bool is_entrywise(const operation& op);

  const std::vector<std::uint32_t>& integers_;
  std::vector<marks> of_;  // of each slot
};

/// Returns whether an output depends on the input.
bool depends_on(const program& f, std::size_t input);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/reach.ipp>
#endif
