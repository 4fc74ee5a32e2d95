// Part: the operations of a recording between two positions, and which of their slots depend on some that were given.
//
// Derivatives by hand are recorded at arguments that are held constant (program/custom.hpp). The derivative of such a
// derivative needs them at the arguments themselves, so what depends on a held argument is recorded once more without it.
// Read next: program/adjoints.hpp, program/tangents.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <agrad/program/custom.hpp>
#include <agrad/program/record.hpp>

namespace agrad {

class recorded_part {
 public:
  /// The operations from number `begin` to before `end`; `on`: the slots that derivatives are with respect to.
  recorded_part(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& on)
      : begin_(begin), end_(end), depends_(in.size(), 0) {
    for (const slot s : on) depends_[s] = 1;
    bool holds = false;
    for (std::size_t i = begin_; i < end_; ++i) {
      const operation& op = in.code().operations[i];
      holds = holds || op.what == &kernels::hold;
      if (op.count > 0 && reads_dependent(in, op)) std::fill_n(depends_.begin() + op.result, op.count, std::uint8_t{1});
    }
    if (holds) release(in);
  }

  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  bool depends(slot s) const { return s < depends_.size() && depends_[s] != 0; }
  bool depends(slot first, std::uint32_t n) const {
    return std::any_of(depends_.begin() + first, depends_.begin() + first + n, [](std::uint8_t d) { return d != 0; });
  }

  /// A span at the arguments themselves.
  span now(recorder& in, const span& x) const {
    if (now_.empty() || x.count == 0) return x;
    std::vector<slot> slots(x.count);
    for (std::uint32_t i = 0; i < x.count; ++i) slots[i] = now_[x.first + i];
    if (std::equal(slots.begin(), slots.end(), each_.begin() + x.first)) return x;
    return x.stride == 0 ? in.consecutive(slots.data(), 1) : in.dense(slots.data(), slots.size());
  }

  /// The slots of all operands, one after the other, at the arguments themselves.
  std::vector<slot> operands_now(recorder& in, const operation& op) const {
    std::vector<slot> slots;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span x = now(in, op.operands[k]);
      for (std::uint32_t i = 0; i < op.operands[k].count; ++i) slots.push_back(x.first + (x.stride == 0 ? 0 : i));
    }
    return slots;
  }

  /// Makes operands active that derivatives are with respect to, though they may be constants of the recording.
  void mark_active(operation& op) const {
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      span& x = op.operands[k];
      x.active = x.active || (x.count > 0 && depends(x.first, x.count));
    }
  }

  /// Whether the operation has no second derivatives.
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

  /// Records what depends on held arguments once more.
  void release(recorder& in) {
    now_.resize(in.size());
    std::iota(now_.begin(), now_.end(), slot{0});
    each_ = now_;
    for (std::size_t i = begin_; i < end_; ++i) {
      const operation op = in.code().operations[i];
      if (op.what == &kernels::hold) {
        for (std::uint32_t j = 0; j < op.count; ++j)
          now_[op.result + j] = now_[op.operands[0].first + (op.operands[0].stride == 0 ? 0 : j)];
      } else if (op.what == &kernels::gather) {
        for (std::uint32_t j = 0; j < op.count; ++j) now_[op.result + j] = now_[in.code().integers[op.data + j]];
      } else {
        release(in, op);
      }
    }
  }
  void release(recorder& in, const operation& op) {
    if (op.count == 0 || op.what == &kernels::with_derivative) return;  // whose own derivatives are right as it is
    span operands[operation::most_operands];
    bool is_same = true;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      operands[k] = now(in, op.operands[k]);
      is_same = is_same && operands[k].first == op.operands[k].first;
    }
    if (is_same) return;
    const slot first = in.repeat(in, op, operands);
    std::iota(now_.begin() + op.result, now_.begin() + op.result + op.count, first);
  }

  std::size_t begin_, end_;
  std::vector<std::uint8_t> depends_;
  std::vector<slot> now_, each_;  // empty where nothing is held
};

}  // namespace agrad
