// Record: writes a program. Each operation runs when it is recorded, so that values are known.
//
// Slots are numbered in order: slot 0 is the constant zero, then come inputs, constants and results as recorded. Arrays of the
// front end (python/bindings) are lists of slots; the recorder takes spans and gathers slots that are not consecutive.
// Read next: program/schedule/schedule.hpp, which makes a program from a recording.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/machine/code.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/machine/watch.hpp>

namespace agrad {

namespace detail {
/// Memory of a recording.
struct recording_memory {
  program_code code;
  workspace work;
  std::vector<std::uint8_t> active;
  std::vector<slot> inputs;

  void clear() {
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
  std::size_t bytes() const {
    return (work.values.capacity() + work.adjoints.capacity()) * sizeof(double) + active.capacity() +
           (code.integers.capacity() + inputs.capacity()) * sizeof(slot) + code.operations.capacity() * sizeof(operation);
  }
};
}  // namespace detail

class recorder {
 public:
  recorder() { constant(0.0); }
  ~recorder() { memory_pool<detail::recording_memory>::put(memory_); }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// Adds n slots of an argument; each run of the program fills these slots with new values, in the order of the inputs.
  slot input(const double* values, std::size_t n) {
    if (AGRAD_UNLIKELY(watch_ != nullptr)) watch_->after_input(values, n);
    const slot first = append(values, n, true);
    inputs_.insert(inputs_.end(), n, 0);
    for (std::size_t i = 0; i < n; ++i) inputs_[inputs_.size() - n + i] = first + static_cast<slot>(i);
    return first;
  }
  /// Adds n constant slots.
  slot constant(const double* values, std::size_t n) { return append(values, n, false); }
  slot constant(double value) { return constant(&value, 1); }

  /// Records and runs an operation with a result of `count` slots. Returns the first slot of the result.
  slot apply(const kernel& what, std::size_t count, const span* operands, std::size_t arity,
             std::initializer_list<std::uint32_t> integers = {}, bool with_adjoint = false) {
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
    return carry_out(op, active, with_adjoint);
  }

  /// Records an external operation on one span; `with_adjoint` if the recording itself will run a reverse pass.
  slot apply(std::shared_ptr<const external_operation> f, const span& x, std::size_t count, bool with_adjoint) {
    code_.externals.push_back(std::move(f));
    const auto place = static_cast<std::uint32_t>(code_.externals.size() - 1);
    try {
      return apply(kernels::external, count, &x, 1, {place}, with_adjoint);
    } catch (...) {
      code_.externals.pop_back();
      throw;
    }
  }

  /// Records an operation of this or another recording again, on operands of this recording with the same sizes.
  slot repeat(const recorder& from, operation op, const span* operands) {
    bool active = false;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      op.operands[k] = operands[k];
      active = active || operands[k].active;
    }
    if (op.what == &kernels::external) {
      std::shared_ptr<const external_operation> f = from.code_.externals[from.code_.integers[op.data]];
      return apply(std::move(f), operands[0], op.count, true);
    }
    const std::vector<std::uint32_t> integers(from.code_.integers.begin() + op.data,
                                              from.code_.integers.begin() + op.data + op.data_count);
    op.data = static_cast<std::uint32_t>(code_.integers.size());
    code_.integers.insert(code_.integers.end(), integers.begin(), integers.end());
    return carry_out(op, active, true);  // the recording itself may run a reverse pass
  }

  /// Copies the slots into consecutive new slots.
  slot copied(const slot* slots, std::size_t n) { return gathered(slots, n).first; }

  /// Records a guard: the path of the recording depends on whether the slot is zero.
  void guard(slot condition) {
    const span x{condition, 1, 0, is_active(condition)};
    apply(kernels::guard, 0, &x, 1, {work_.values[condition] != 0 ? 1U : 0U});
  }

  /// Returns the slots as a span, gathered unless the slots are consecutive or all the same.
  span consecutive(const slot* slots, std::size_t n) {
    if (n == 0) return {0, 0, 1, false};
    bool next = true, same = true;
    for (std::size_t i = 1; i < n && (next || same); ++i) {
      next = next && slots[i] == slots[0] + i;
      same = same && slots[i] == slots[0];
    }
    if (same && n > 1) return {slots[0], 1, 0, is_active(slots[0])};
    if (next) return consecutive(slots[0], n);
    return gathered(slots, n);
  }

  /// Returns n slots from `first` as a span.
  span consecutive(slot first, std::size_t n) const {
    const bool active = n > 0 && std::memchr(active_.data() + first, 1, n) != nullptr;
    return {first, static_cast<std::uint32_t>(n), 1, active};
  }

  /// Does the same for operations that do not take one slot for all entries.
  span dense(const slot* slots, std::size_t n) {
    const span s = consecutive(slots, n);
    return s.stride == 1 ? s : gathered(slots, n);
  }

  /// Runs a reverse pass over the recording: computes adjoints of the slots `wanted` from seeds of the slots `outputs`.
  void reverse(const slot* outputs, const double* seeds, std::size_t n, const slot* wanted, double* adjoints,
               std::size_t n_wanted) {
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
    for (std::size_t i = 0; i < n_wanted; ++i) adjoints[i] = is_active(wanted[i]) ? work_.adjoints[wanted[i]] : 0.0;
  }

  /// Sets a watch for all later operations; the watch must outlive the recorder.
  void watch(operation_watch* by) { watch_ = by; }

  double value(slot i) const { return work_.values[i]; }
  /// Returns whether a slot depends on an input; a slot that does not is a constant of the program, even if computed.
  bool is_active(slot i) const { return active_[i] != 0; }
  std::size_t size() const { return work_.values.size(); }
  const program_code& code() const { return code_; }
  const std::vector<slot>& inputs() const { return inputs_; }
  const space& values() const { return work_.values; }

 private:
  /// Sets the adjoints of slots that depend on inputs to zero. The adjoints of constants are never used, and data may be large.
  void clear_active_adjoints() {
    work_.adjoints.clear();  // prevents a copy of the old entries
    work_.adjoints.resize(work_.values.size());
    const std::uint8_t *begin = active_.data(), *end = begin + active_.size();
    for (const std::uint8_t* at = begin; at != end;) {
      const auto left = static_cast<std::size_t>(end - at);
      const auto* first = static_cast<const std::uint8_t*>(std::memchr(at, 1, left));
      if (first == nullptr) break;
      const auto* last = static_cast<const std::uint8_t*>(std::memchr(first, 0, static_cast<std::size_t>(end - first)));
      at = last == nullptr ? end : last;
      std::fill(work_.adjoints.begin() + (first - begin), work_.adjoints.begin() + (at - begin), 0.0);
    }
  }
  void reverse_active() {
    const run_context context = work_.context(code_, true);
    for (auto op = code_.operations.rbegin(); op != code_.operations.rend(); ++op)
      if (op->count > 0 && is_active(op->result)) op->what->reverse(*op, context, work_.values.data(), work_.adjoints.data());
  }

  slot append(const double* values, std::size_t n, bool active) {
    const auto first = static_cast<slot>(work_.values.size());
    work_.values.insert(work_.values.end(), values, values + n);
    active_.insert(active_.end(), n, active ? 1 : 0);
    return first;
  }

  // An operation that throws is not part of the recording.
  slot carry_out(operation op, bool active, bool with_adjoint = false) {
    op.result = static_cast<slot>(work_.values.size());
    work_.values.resize(work_.values.size() + op.count);
    if (AGRAD_UNLIKELY(watch_ != nullptr)) std::fill(work_.values.begin() + op.result, work_.values.end(), 0.0);  // no old nan
    try {
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

  span gathered(const slot* slots, std::size_t n) {
    operation op;
    op.what = &kernels::gather;
    op.count = static_cast<std::uint32_t>(n);
    op.data = static_cast<std::uint32_t>(code_.integers.size());
    op.data_count = static_cast<std::uint32_t>(n);
    code_.integers.insert(code_.integers.end(), slots, slots + n);
    const bool active = any_active(slots, n);
    return {carry_out(op, active), op.count, 1, active};
  }

  bool any_active(const slot* slots, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i)
      if (is_active(slots[i])) return true;
    return false;
  }

  detail::recording_memory memory_ = memory_pool<detail::recording_memory>::take();
  program_code& code_ = memory_.code;
  workspace& work_ = memory_.work;
  std::vector<std::uint8_t>& active_ = memory_.active;
  std::vector<slot>& inputs_ = memory_.inputs;
  operation_watch* watch_ = nullptr;
};

}  // namespace agrad
