// Part: the operations of a recording between two positions, and which of their slots depend on given slots.
//
// Derivatives by hand are recorded at arguments that are held constant (program/machine/custom.hpp). The derivative of such a
// derivative needs the operations at the arguments themselves (program/derive/released.hpp).
// Read next: program/derive/adjoints.hpp, program/derive/tangents.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <agrad/program/derive/released.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/record.hpp>

namespace agrad {

class recorded_part {
 public:
  /// Contains operations `begin` to before `end`; `on`: the slots with respect to which derivatives are wanted.
  recorded_part(const recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& on)
      : begin_(begin), end_(end), depends_(in.size(), 0), released_(in, begin, end) {
    for (const slot s : on) depends_[s] = 1;
    for (std::size_t i = begin_; i < end_; ++i) {
      const operation& op = in.code().operations[i];
      if (op.count > 0 && reads_dependent(in, op)) std::fill_n(depends_.begin() + op.result, op.count, std::uint8_t{1});
    }
  }

  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  bool depends(slot s) const { return s < depends_.size() && depends_[s] != 0; }
  bool depends(slot first, std::uint32_t n) const {
    return std::any_of(depends_.begin() + first, depends_.begin() + first + n, [](std::uint8_t d) { return d != 0; });
  }

  /// Returns an operand or the result of an operation, at the arguments themselves where these are held.
  span now(recorder& in, const span& x, const operation& op) { return released_(in, x, op); }

  /// Returns the slots of all operands, one after the other, at the arguments themselves.
  std::vector<slot> operands_now(recorder& in, const operation& op) {
    std::vector<slot> slots;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span x = now(in, op.operands[k], op);
      for (std::uint32_t i = 0; i < op.operands[k].count; ++i) slots.push_back(x.first + (x.stride == 0 ? 0 : i));
    }
    return slots;
  }

  /// Makes operands active that depend on the slots `on`, even where they are constants of the recording.
  void mark_active(operation& op) const {
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      span& x = op.operands[k];
      x.active = x.active || (x.count > 0 && depends(x.first, x.count));
    }
  }

  /// Returns whether the operation has no second derivatives.
  static bool is_linear(const recorder& in, const operation& op) {
    if (op.what != &kernels::external) return op.what->depends.is_linear;
    return in.code().externals[in.code().integers[op.data]]->is_linear();
  }

  static std::string name_of(const recorder& in, const operation& op) {
    if (op.what != &kernels::external) return std::string(op.what->name);
    const program_code& code = in.code();
    return std::string(code.externals[code.integers[op.data]]->name());
  }

 private:
  bool reads_dependent(const recorder& in, const operation& op) const {
    if (op.what == &kernels::stop_gradient || op.what == &kernels::hold) return false;
    if (op.what == &kernels::with_derivative) return depends(op.operands[2].first, op.operands[2].count);
    if (op.what == &kernels::gather) {
      const std::uint32_t* from = in.code().integers.data() + op.data;
      return std::any_of(from, from + op.count, [&](slot s) { return depends(s); });
    }
    for (std::uint32_t k = 0; k < op.arity; ++k)
      if (op.operands[k].count > 0 && depends(op.operands[k].first, op.operands[k].count)) return true;
    return false;
  }

  std::size_t begin_, end_;
  std::vector<std::uint8_t> depends_;
  released released_;
};

}  // namespace agrad
