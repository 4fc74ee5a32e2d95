// Definitions of program/schedule/inlined.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/program/schedule/inlined.hpp>

namespace agrad {

namespace detail {

/// Returns whether the recorded reverse pass (program/derive/adjoints.hpp) has a formula for the derivative of a kernel.
inline bool has_derivative_of_rules(const operation& op) {
  const kernel* what = op.what;
  if (what->entries != nullptr || what == &kernels::straight || what == &kernels::guard || what->depends.is_linear) return true;
  const kernel* known[] = {&kernels::product, &kernels::log_shares_along, &kernels::softmax_along, &kernels::shares_along};
  return what->formulas != nullptr || std::find(std::begin(known), std::end(known), what) != std::end(known);
}

/// The recording of a program's operations in another recording.
class inlining {
 public:
  inlining(recorder& in, const program& f, const std::vector<slot>& inputs) : in_(in), code_(f.code()), now_(f.size()) {
    std::iota(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(f.fixed().size()),
              in.constant(f.fixed().data(), f.fixed().size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) now_[f.inputs()[i]] = inputs[i];
  }
  slot now(slot s) const { return now_[s]; }

  void record(const operation& op) {
    const std::uint32_t* integers = code_.integers.data() + op.data;
    if (op.what == &kernels::guard) return;
    if (op.what == &kernels::gather) {
      for (std::uint32_t i = 0; i < op.count; ++i) now_[op.result + i] = now_[integers[i]];
      return;
    }
    span operands[operation::most_operands];
    for (std::uint32_t k = 0; k < op.arity; ++k) operands[k] = operand(op.operands[k]);
    const std::vector<slot> result = recorded(op, integers, operands);
    std::copy(result.begin(), result.end(), now_.begin() + op.result);
  }

 private:
  span operand(const span& x) {
    std::vector<slot> slots(x.count);
    for (std::uint32_t i = 0; i < x.count; ++i) slots[i] = now_[x.listed ? code_.integers[x.first + i] : x.first + i];
    span y = in_.dense(slots.data(), slots.size());
    y.active = y.active && x.active;
    if (!x.listed) y.stride = x.stride;
    return y;
  }

  std::vector<slot> recorded(const operation& op, const std::uint32_t* integers, const span* operands) {
    if (op.what == &kernels::external) return record_external(in_, code_.externals[integers[0]], operands[0], op.count);
    std::vector<slot> slots;
    if (op.what->formulas != nullptr && op.what->formulas->value != nullptr) {
      const composed_scope scope;
      slots = op.what->formulas->value(in_, op, integers, operands);
    }
    if (!slots.empty()) return slots;
    slots.resize(op.count);
    std::iota(slots.begin(), slots.end(), in_.repeat(code_, op, operands));
    return slots;
  }

  recorder& in_;
  const program_code& code_;
  std::vector<slot> now_;  // the place of each slot of the program
};

}  // namespace detail

AGRAD_INLINE bool has_formulas(const program& f) {
  const program_code& code = f.code();
  return std::all_of(code.operations.begin(), code.operations.end(), [&](const operation& op) {
    if (op.what != &kernels::external) return detail::has_derivative_of_rules(op);
    const external_operation& each = *code.externals[code.integers[op.data]];
    return each.is_linear() || each.has_formulas();
  });
}

AGRAD_INLINE std::vector<slot> record_external(recorder& in, const std::shared_ptr<const external_operation>& f, const span& x,
                                               std::size_t count) {
  if (f->has_formulas()) return f->record(in, x);
  std::vector<slot> slots(count);
  std::iota(slots.begin(), slots.end(), in.apply(f, x, count, true));
  return slots;
}

AGRAD_INLINE std::vector<slot> record_inlined(recorder& in, const program& f, const std::vector<slot>& inputs) {
  detail::inlining inlined(in, f, inputs);
  const unrolled single(f.code());
  for (const operation& op : single.operations()) inlined.record(op);
  std::vector<slot> outputs;
  for (const slot s : f.outputs()) outputs.push_back(inlined.now(s));
  return outputs;
}

}  // namespace agrad
