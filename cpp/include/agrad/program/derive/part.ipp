// Definitions of program/derive/part.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/part.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE recorded_part::recorded_part(const recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& on)
    : begin_(begin), end_(end), depends_(in.size(), 0), released_(in, begin, end) {
  for (const slot s : on) depends_[s] = 1;
  for (std::size_t i = begin_; i < end_; ++i) {
    const operation& op = in.code().operations[i];
    if (op.what == &kernels::gather)
      for (std::uint32_t k = 0; k < op.count; ++k) depends_[op.result + k] = depends_[in.code().integers[op.data + k]];
    else if (op.count > 0 && reads_dependent(op))
      std::fill_n(depends_.begin() + op.result, op.count, std::uint8_t{1});
  }
}

AGRAD_INLINE bool recorded_part::depends(slot first, std::uint32_t n) const {
  return std::any_of(depends_.begin() + first, depends_.begin() + first + n, [](std::uint8_t d) { return d != 0; });
}

AGRAD_INLINE std::vector<slot> recorded_part::operands_now(recorder& in, const operation& op) {
  std::vector<slot> slots;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const span x = now(in, op.operands[k], op);
    for (std::uint32_t i = 0; i < op.operands[k].count; ++i) slots.push_back(x.first + (x.stride == 0 ? 0 : i));
  }
  return slots;
}

AGRAD_INLINE void recorded_part::mark_active(operation& op) const {
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    span& x = op.operands[k];
    x.active = x.active || (x.count > 0 && depends(x.first, x.count));
  }
}

AGRAD_INLINE std::uint32_t recorded_part::constant_factor(const operation& op, std::uint32_t k) const {
  std::uint32_t l = 0;
  const auto is_factor = [&] {
    return l != k && (op.what->depends.zero_with >> l & 1U) != 0 && !depends(op.operands[l].first, op.operands[l].count);
  };
  while (l < op.arity && !is_factor()) ++l;
  return l;
}

AGRAD_INLINE bool recorded_part::varies(const operation& op, std::uint32_t k) const {
  const auto name = op.what->name;
  if (name == detail::passed_rule::name || name == detail::linked_rule::name || name == detail::linked_where_rule::name)
    return false;
  bool found = op.arity == 1;
  for (std::uint32_t l = 0; l < op.arity; ++l)
    found = found || ((op.what->depends.curved[k] >> l & 1U) != 0 && depends(op.operands[l].first, op.operands[l].count));
  return found;
}

AGRAD_INLINE bool recorded_part::is_linear(const recorder& in, const operation& op) {
  if (op.what != &kernels::external) return op.what->depends.is_linear;
  return in.code().externals[in.code().integers[op.data]]->is_linear();
}

AGRAD_INLINE std::string recorded_part::name_of(const recorder& in, const operation& op) {
  if (op.what != &kernels::external) return std::string(op.what->name);
  const program_code& code = in.code();
  return std::string(code.externals[code.integers[op.data]]->name());
}

AGRAD_INLINE bool recorded_part::reads_dependent(const operation& op) const {
  if (op.what == &kernels::stop_gradient || op.what == &kernels::hold) return false;
  if (op.what == &kernels::with_derivative) return depends(op.operands[2].first, op.operands[2].count);
  for (std::uint32_t k = 0; k < op.arity; ++k)
    if (op.operands[k].count > 0 && depends(op.operands[k].first, op.operands[k].count)) return true;
  return false;
}

}  // namespace agrad
