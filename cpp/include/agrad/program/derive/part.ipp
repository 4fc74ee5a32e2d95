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
      enter(in, op);
  }
}

AGRAD_INLINE void recorded_part::enter(const recorder& in, const operation& op) {
  const bool may_be_cut = op.what->depends.zero_with != 0 && op.arity > 1;
  for (std::uint32_t i = 0; i < op.count; ++i) depends_[op.result + i] = !may_be_cut || entry_depends(in, op, i) ? 1 : 0;
}

AGRAD_INLINE bool recorded_part::entry_depends(const recorder& in, const operation& op, std::uint32_t i) const {
  bool is_any = false, is_cut = false;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const slot x = detail::slot_at(op.operands[k], i);
    is_any = is_any || depends(x);
    is_cut = is_cut || (is_constant_factor(op, k, i) && !in.is_active(x) && in.value(x) == 0);
  }
  return is_any && !is_cut;
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

AGRAD_INLINE bool recorded_part::is_constant_factor(const operation& op, std::uint32_t k, std::uint32_t i) const {
  return (op.what->depends.zero_with >> k & 1U) != 0 && !depends(detail::slot_at(op.operands[k], i));
}

AGRAD_INLINE std::uint32_t recorded_part::constant_factor(const operation& op, std::uint32_t k, std::uint32_t i) const {
  std::uint32_t l = 0;
  while (l < op.arity && (l == k || !is_constant_factor(op, l, i))) ++l;
  return l;
}

AGRAD_INLINE bool recorded_part::varies(const operation& op, std::uint32_t k, std::uint32_t i) const {
  const auto name = op.what->name;
  if (name == detail::passed_rule::name || name == detail::linked_rule::name || name == detail::linked_where_rule::name)
    return false;
  bool found = op.arity == 1;
  for (std::uint32_t l = 0; l < op.arity; ++l)
    found = found || ((op.what->depends.curved[k] >> l & 1U) != 0 && depends(detail::slot_at(op.operands[l], i)));
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
