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

#include <agrad/program/schedule/unrolled.hpp>

namespace agrad {

class reach {
 public:
  using marks = std::uint8_t;

  /// of_inputs: one mark or several for each input.
  reach(const program& f, const std::vector<marks>& of_inputs) : integers_(f.code().integers), of_(f.size(), 0) {
    for (std::size_t i = 0; i < of_inputs.size(); ++i) of_[f.inputs()[i]] = of_inputs[i];
    const unrolled steps(f.code());
    for (const operation& op : steps.operations()) carry(op);
  }

  marks of(slot s) const { return of_[s]; }
  /// Returns the marks of several values together.
  marks of(const std::vector<slot>& slots) const {
    marks all = 0;
    for (const slot s : slots) all |= of_[s];
    return all;
  }

  /// Returns the slot of entry i of operand k.
  static slot place(const std::vector<std::uint32_t>& integers, const operation& op, std::size_t k, std::size_t i) {
    const span& x = op.operands[k];
    return x.listed ? integers[x.first + i] : static_cast<slot>(x.first + i * x.stride);
  }

 private:
  void carry(const operation& op) {
    if (op.what->depends.how == dependence::gathered) {
      for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = of_[integers_[op.data + i]];
    } else if (is_entrywise(op)) {
      for (std::size_t i = 0; i < op.count; ++i) {
        marks all = 0;
        for (std::size_t k = 0; k < op.arity; ++k) all |= of_[place(integers_, op, k, i)];
        of_[op.result + i] = all;
      }
    } else {
      marks all = 0;
      for (std::size_t k = 0; k < op.arity; ++k)
        for (std::size_t i = 0; i < op.operands[k].count; ++i) all |= of_[place(integers_, op, k, i)];
      for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = all;
    }
  }

  /// Returns whether an operation works entry by entry. Conditions do, though their lack of derivatives hides this.
  static bool is_entrywise(const operation& op) {
    if (op.what->depends.how == dependence::entrywise) return true;
    if (op.what->depends.how != dependence::on_nothing) return false;
    for (std::size_t k = 0; k < op.arity; ++k)
      if (op.operands[k].stride != 0 && op.operands[k].count != op.count) return false;
    return true;
  }

  const std::vector<std::uint32_t>& integers_;
  std::vector<marks> of_;  // of each slot
};

/// Returns whether an output depends on the input.
inline bool depends_on(const program& f, std::size_t input) {
  std::vector<reach::marks> of_inputs(f.input_size(), 0);
  of_inputs[input] = 1;
  return reach(f, of_inputs).of(f.outputs()) != 0;
}

}  // namespace agrad
