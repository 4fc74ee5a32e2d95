// Unrolled: lists the operations of a program with straight code split into single operations, for code that inspects a program
// instead of running it (patterns, prints, careful passes).
#pragma once

#include <vector>

#include <agrad/program/machine/code.hpp>

namespace agrad {

namespace detail {

/// Returns a step of straight code as an operation of one entry.
inline operation operation_of_step(const instruction& step, slot result) {
  operation op;
  op.what = &step.what->whole();
  op.result = result;
  op.count = 1;
  op.arity = step.what->entries->arity;
  op.is_composed = step.is_composed;
  for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = {step.x[k], 1, 1, (step.what->active >> k & 1U) != 0, false};
  return op;
}

/// Returns the slot of entry i of an operand.
inline slot slot_of_entry(const std::uint32_t* integers, const span& x, std::size_t i) {
  return x.listed ? integers[x.first + i] : static_cast<slot>(x.first + i * x.stride);
}

}  // namespace detail

class unrolled {
 public:
  explicit unrolled(const program_code& code) {
    for (const operation& op : code.operations) {
      if (op.what != &kernels::straight) {
        operations_.push_back(op);
        continue;
      }
      for (std::uint32_t i = 0; i < op.count; ++i)
        operations_.push_back(detail::operation_of_step(code.instructions[op.data + i], op.result + i));
    }
  }
  const std::vector<operation>& operations() const { return operations_; }

 private:
  std::vector<operation> operations_;
};

}  // namespace agrad
