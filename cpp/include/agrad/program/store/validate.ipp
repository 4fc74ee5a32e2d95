// Definitions of program/store/validate.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/store/validate.hpp>

namespace agrad::detail {

AGRAD_INLINE program_check::program_check(const program_code& code, const std::vector<double>& fixed, std::size_t size,
                                          const std::vector<slot>& inputs, const std::vector<slot>& outputs)
    : code_(code), fixed_(fixed) {
  std::size_t count = fixed.size();
  for (const operation& op : code.operations) count += op.count;
  expect(count == size && size <= std::numeric_limits<slot>::max(), "the number of slots");
  slots_.assign(fixed.size(), kind::constant);
  slots_.resize(size, kind::pending);
  for (const slot s : inputs) {
    expect(s < fixed.size(), "an input");
    slots_[s] = kind::input;
  }
  for (const operation& op : code.operations) check(op);
  for (const slot s : outputs) expect(s < slots_.size(), "an output");
}

AGRAD_INLINE void program_check::expect(bool holds, std::string_view part) {
  if (AGRAD_UNLIKELY(!holds)) fail_damaged(part);
}

AGRAD_INLINE bool program_check::lies_within(std::size_t first, std::size_t count, std::size_t size) {
  return first <= size && count <= size - first;
}

AGRAD_INLINE void program_check::check(const operation& op) {
  const bool is_straight = op.what == &kernels::straight;  // data of straight code are instructions
  expect(op.arity <= operation::most_operands && (is_straight || lies_within(op.data, op.data_count, code_.integers.size())),
         "an operation");
  for (std::uint32_t k = 0; k < op.arity; ++k) expect(is_ready(op.operands[k], op.what->steps != nullptr), "an operand");
  expect(lies_within(op.result, op.count, slots_.size()), "a result");
  const auto result = slots_.begin() + op.result;  // of which no slot is an input, a constant or another operation's
  expect(std::all_of(result, result + op.count, [](kind k) { return k == kind::pending; }), "a result");
  const std::uint32_t* integers = is_straight ? nullptr : code_.integers.data() + op.data;
  const operation_view view{op, integers, code_.instructions, code_.externals, fixed_, slots_};
  if (AGRAD_UNLIKELY(op.what->fits == nullptr || !op.what->fits(view))) fail_damaged(op.what->name);
  std::fill_n(result, op.count, kind::computed);
}

AGRAD_INLINE bool program_check::is_ready(const span& x, bool may_list) const {
  if (x.stride > 1 || (x.stride == 0 && x.count != 1) || (x.listed && (!may_list || x.stride != 1))) return false;
  const auto ready = [&](slot s) { return s < slots_.size() && slots_[s] != kind::pending; };
  if (x.listed) {
    if (!lies_within(x.first, x.count, code_.integers.size())) return false;
    const std::uint32_t* slots = code_.integers.data() + x.first;
    return std::all_of(slots, slots + x.count, ready);
  }
  if (!lies_within(x.first, x.count, slots_.size())) return false;
  const auto first = slots_.begin() + x.first;
  return std::none_of(first, first + x.count, [](kind k) { return k == kind::pending; });
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE void check_program(const program_code& code, const std::vector<double>& fixed, std::size_t size,
                                const std::vector<slot>& inputs, const std::vector<slot>& outputs) {
  detail::program_check(code, fixed, size, inputs, outputs);
}

}  // namespace agrad
