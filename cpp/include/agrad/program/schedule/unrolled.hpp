// Unrolled: lists the operations of a program with straight code split into single operations, for code that inspects a program
// instead of running it (patterns, prints).
#pragma once

#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

class unrolled {
 public:
  explicit unrolled(const program_code& code) {
    for (const operation& op : code.operations) {
      if (op.what != &kernels::straight) {
        operations_.push_back(op);
        continue;
      }
      for (std::uint32_t i = 0; i < op.count; ++i) add_step(code.instructions[op.data + i], op.result + i);
    }
  }
  const std::vector<operation>& operations() const { return operations_; }

 private:
  void add_step(const instruction& step, slot result) {
    operation op;
    op.what = &step.what->whole();
    op.result = result;
    op.count = 1;
    op.arity = step.what->entries->arity;
    for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = {step.x[k], 1, 1, (step.what->active >> k & 1U) != 0, false};
    operations_.push_back(op);
  }

  std::vector<operation> operations_;
};

}  // namespace agrad
