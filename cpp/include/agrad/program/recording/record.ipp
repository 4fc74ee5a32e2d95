// Definitions of program/recording/record.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/careful.hpp>
#include <agrad/program/machine/slot_runs.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad::detail {

AGRAD_INLINE void recording_memory::clear() {
  code.operations.clear();
  code.integers.clear();
  code.instructions.clear();
  code.externals.clear();
  work.states.clear();
  work.values.clear();
  work.adjoints.clear();
  active.clear();
  inputs.clear();
}

AGRAD_INLINE std::size_t recording_memory::bytes() const {
  return (work.values.capacity() + work.adjoints.capacity()) * sizeof(double) + active.capacity() +
         (code.integers.capacity() + inputs.capacity()) * sizeof(slot) + code.operations.capacity() * sizeof(operation);
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE slot recorder::input(const double* values, std::size_t n) {
  if (AGRAD_UNLIKELY(watch_ != nullptr)) watch_->after_input(values, n);
  const slot first = append(values, n, true);
  inputs_.insert(inputs_.end(), n, 0);
  for (std::size_t i = 0; i < n; ++i) inputs_[inputs_.size() - n + i] = first + static_cast<slot>(i);
  return first;
}

AGRAD_INLINE slot recorder::apply(const kernel& what, std::size_t count, const span* operands, std::size_t arity,
                                  std::initializer_list<std::uint32_t> integers, bool with_adjoint) {
  operation op;
  op.what = &what;
  op.count = static_cast<std::uint32_t>(count);
  op.arity = static_cast<std::uint32_t>(arity);
  op.data = static_cast<std::uint32_t>(code_.integers.size());
  op.data_count = static_cast<std::uint32_t>(integers.size());
  bool active = false;
  for (std::size_t i = 0; i < arity; ++i) {
    op.operands[i] = operands[i];
    active = active || operands[i].active;
  }
  code_.integers.insert(code_.integers.end(), integers);
  return execute(op, active, with_adjoint);
}

AGRAD_INLINE slot recorder::apply(std::shared_ptr<const external_operation> f, const span& x, std::size_t count,
                                  bool with_adjoint) {
  code_.externals.push_back(std::move(f));
  const auto place = static_cast<std::uint32_t>(code_.externals.size() - 1);
  try {
    return apply(kernels::external, count, &x, 1, {place}, with_adjoint);
  } catch (...) {
    code_.externals.pop_back();
    throw;
  }
}

AGRAD_INLINE slot recorder::repeat(const program_code& from, operation op, const span* operands) {
  bool active = false;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    op.operands[k] = operands[k];
    active = active || operands[k].active;
  }
  if (op.what == &kernels::external) {
    std::shared_ptr<const external_operation> f = from.externals[from.integers[op.data]];
    return apply(std::move(f), operands[0], op.count, true);
  }
  const std::vector<std::uint32_t> integers(from.integers.begin() + op.data, from.integers.begin() + op.data + op.data_count);
  op.data = static_cast<std::uint32_t>(code_.integers.size());
  code_.integers.insert(code_.integers.end(), integers.begin(), integers.end());
  return execute(op, active, true);  // the recording itself may run a reverse pass
}

AGRAD_INLINE void recorder::guard(slot condition) {
  const span x{condition, 1, 0, is_active(condition)};
  apply(kernels::guard, 0, &x, 1, {work_.values[condition] != 0 ? 1U : 0U});
}

AGRAD_INLINE span recorder::consecutive(const slot* slots, std::size_t n) {
  if (n == 0) return {0, 0, 1, false};
  if (detail::are_consecutive(slots, n)) return consecutive(slots[0], n);
  if (std::find_if(slots, slots + n, [&](slot s) { return s != slots[0]; }) == slots + n)
    return {slots[0], 1, 0, is_active(slots[0])};
  return gathered(slots, n, any_active(slots, n));
}

AGRAD_INLINE span recorder::consecutive(slot first, std::size_t n) const {
  const bool active = n > 0 && std::memchr(active_.data() + first, 1, n) != nullptr;
  return {first, static_cast<std::uint32_t>(n), 1, active};
}

AGRAD_INLINE span recorder::dense(const slot* slots, std::size_t n) {
  const span s = consecutive(slots, n);
  return s.stride == 1 ? s : gathered(slots, n, s.active);
}

AGRAD_INLINE void recorder::reverse(const slot* outputs, const double* seeds, std::size_t n, const slot* required,
                                    double* adjoints, std::size_t n_required) {
  const auto seed = [&] {
    for (std::size_t i = 0; i < n; ++i)
      if (is_active(outputs[i])) work_.adjoints[outputs[i]] += seeds[i];
  };
  if (AGRAD_UNLIKELY(watch_ != nullptr)) {
    work_.adjoints.assign(work_.values.size(), 0.0);
    seed();
    run_reverse(code_, work_, *watch_);
  } else {
    clear_active_adjoints();
    seed();
    reverse_active();
  }
  const detail::singular_entries singular(code_);
  work_.slopes = {};
  if (AGRAD_UNLIKELY(singular.meet_zero(code_, work_, work_.adjoints.data()))) {
    work_.adjoints.assign(work_.values.size(), 0.0);
    seed();
    detail::careful_reverse(code_, work_, 0, {required, required + n_required}).run(watch_);
  }
  for (std::size_t i = 0; i < n_required; ++i) adjoints[i] = is_active(required[i]) ? work_.adjoints[required[i]] : 0.0;
}

AGRAD_INLINE void recorder::clear_active_adjoints() {
  work_.adjoints.clear();  // prevents a copy of the old entries
  work_.adjoints.resize(work_.values.size());
  detail::each_marked(active_.data(), 0, active_.size(), [&](std::size_t first, std::size_t end) {
    std::fill(work_.adjoints.data() + first, work_.adjoints.data() + end, 0.0);
  });
}

AGRAD_INLINE void recorder::reverse_active() {
  const run_context context = work_.context(code_, true);
  for (auto op = code_.operations.rbegin(); op != code_.operations.rend(); ++op)
    if (op->count > 0 && is_active(op->result)) {
      op->what->reverse(*op, context, work_.values.data(), work_.adjoints.data());
      detail::poll_beside(op->count);
    }
}

AGRAD_INLINE slot recorder::append(const double* values, std::size_t n, bool active) {
  const auto first = static_cast<slot>(work_.values.size());
  work_.values.insert(work_.values.end(), values, values + n);
  active_.insert(active_.end(), n, active ? 1 : 0);
  return first;
}

AGRAD_INLINE slot recorder::execute(operation op, bool active, bool with_adjoint) {
  op.result = static_cast<slot>(work_.values.size());
  op.is_composed = op.is_composed || (detail::is_composing() && !op.what->depends.is_linear);
  try {
    detail::grow(work_.values, op.count);
    detail::poll_beside(op.count);
    if (AGRAD_UNLIKELY(watch_ != nullptr)) std::fill(work_.values.begin() + op.result, work_.values.end(), 0.0);  // no old nan
    op.what->forward(op, work_.context(code_, with_adjoint), work_.values.data());
    if (AGRAD_UNLIKELY(watch_ != nullptr)) watch_->after_forward(op, code_.operations.size(), work_.values.data());
  } catch (...) {
    work_.values.resize(op.result);
    code_.integers.resize(op.data);
    throw;
  }
  active_.resize(work_.values.size(), active ? 1 : 0);
  code_.operations.push_back(op);
  return op.result;
}

AGRAD_INLINE span recorder::gathered(const slot* slots, std::size_t n, bool active) {
  operation op;
  op.what = &kernels::gather;
  op.count = static_cast<std::uint32_t>(n);
  op.data = static_cast<std::uint32_t>(code_.integers.size());
  op.data_count = static_cast<std::uint32_t>(n);
  code_.integers.insert(code_.integers.end(), slots, slots + n);
  return {execute(op, active), op.count, 1, active};
}

AGRAD_INLINE bool recorder::any_active(const slot* slots, std::size_t n) const {
  for (std::size_t i = 0; i < n; ++i)
    if (is_active(slots[i])) return true;
  return false;
}

}  // namespace agrad
