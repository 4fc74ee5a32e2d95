// Unrolled: the operations of a program with its straight code taken apart, one operation a step, for whoever looks at a
// program instead of running it (patterns, prints).
#pragma once

#include <memory>
#include <unordered_map>
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
  /// Their kernels live as long as this object.
  const std::vector<operation>& operations() const { return operations_; }

 private:
  void add_step(const instruction& step, slot result) {
    auto& what = kernels_[step.what];
    if (what == nullptr) what = std::make_unique<kernel>(kernel{step.what->name, nullptr, nullptr, {}, {}, step.what->depends});
    operation op;
    op.what = what.get();
    op.result = result;
    op.count = 1;
    op.arity = step.what->entries->arity;
    for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = {step.x[k], 1, 1, (step.what->active >> k & 1U) != 0, false};
    operations_.push_back(op);
  }

  std::vector<operation> operations_;
  std::unordered_map<const straight_steps*, std::unique_ptr<kernel>> kernels_;
};

}  // namespace agrad
