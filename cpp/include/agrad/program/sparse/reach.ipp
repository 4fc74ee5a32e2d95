// Definitions of program/sparse/reach.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/reach.hpp>

namespace agrad {

AGRAD_INLINE reach::reach(const program& f, const std::vector<marks>& of_inputs)
    : integers_(f.code().integers), of_(f.size(), 0) {
  for (std::size_t i = 0; i < of_inputs.size(); ++i) of_[f.inputs()[i]] = of_inputs[i];
  const unrolled steps(f.code());
  for (const operation& op : steps.operations()) propagate(op);
}

AGRAD_INLINE reach::marks reach::of(const std::vector<slot>& slots) const {
  marks all = 0;
  for (const slot s : slots) all |= of_[s];
  return all;
}

AGRAD_INLINE slot reach::place(const std::vector<std::uint32_t>& integers, const operation& op, std::size_t k, std::size_t i) {
  return detail::slot_of_entry(integers.data(), op.operands[k], i);
}

AGRAD_INLINE void reach::propagate(const operation& op) {
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

AGRAD_INLINE bool reach::is_entrywise(const operation& op) {
  if (op.what->depends.how == dependence::entrywise) return true;
  if (op.what->depends.how != dependence::on_nothing) return false;
  for (std::size_t k = 0; k < op.arity; ++k)
    if (op.operands[k].stride != 0 && op.operands[k].count != op.count) return false;
  return true;
}

AGRAD_INLINE bool depends_on(const program& f, std::size_t input) {
  std::vector<reach::marks> of_inputs(f.input_size(), 0);
  of_inputs[input] = 1;
  return reach(f, of_inputs).of(f.outputs()) != 0;
}

}  // namespace agrad
