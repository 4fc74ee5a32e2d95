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
#include <agrad/program/machine/composed.hpp>
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

  void clear();
  std::size_t bytes() const;
};
}  // namespace detail

class recorder {
 public:
  recorder() { constant(0.0); }
  ~recorder() { memory_pool<detail::recording_memory>::release(memory_); }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// Adds n slots of an argument; each run of the program fills these slots with new values, in the order of the inputs.
  slot input(const double* values, std::size_t n);
  /// Adds n constant slots.
  slot constant(const double* values, std::size_t n) { return append(values, n, false); }
  slot constant(double value) { return constant(&value, 1); }

  /// Records and runs an operation with a result of `count` slots. Returns the first slot of the result.
  slot apply(const kernel& what, std::size_t count, const span* operands, std::size_t arity,
             std::initializer_list<std::uint32_t> integers = {}, bool with_adjoint = false);

  /// Records an external operation on one span; `with_adjoint` if the recording itself will run a reverse pass.
  slot apply(std::shared_ptr<const external_operation> f, const span& x, std::size_t count, bool with_adjoint);

  /// Records an operation of this or another recording again, on operands of this recording with the same sizes.
  slot repeat(const recorder& from, const operation& op, const span* operands) { return repeat(from.code_, op, operands); }
  slot repeat(const program_code& from, operation op, const span* operands);

  /// Copies the slots into consecutive new slots.
  slot copied(const slot* slots, std::size_t n) { return gathered(slots, n, any_active(slots, n)).first; }

  /// Copies the slots into consecutive new slots that are variables, whatever the originals are: derivatives with respect to
  /// these will be recorded.
  slot variables(const slot* slots, std::size_t n) { return gathered(slots, n, true).first; }

  /// Records a guard: the path of the recording depends on whether the slot is zero.
  void guard(slot condition);

  /// Returns the slots as a span, gathered unless the slots are consecutive or all the same.
  span consecutive(const slot* slots, std::size_t n);

  /// Returns n slots from `first` as a span.
  span consecutive(slot first, std::size_t n) const;

  /// Does the same for operations that do not take one slot for all entries.
  span dense(const slot* slots, std::size_t n);

  /// Runs a reverse pass over the recording: computes adjoints of the slots `required` from seeds of the slots `outputs`.
  void reverse(const slot* outputs, const double* seeds, std::size_t n, const slot* required, double* adjoints,
               std::size_t n_required);

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
  void clear_active_adjoints();
  void reverse_active();

  slot append(const double* values, std::size_t n, bool active);

  // An operation that throws is not part of the recording.
  slot execute(operation op, bool active, bool with_adjoint = false);

  span gathered(const slot* slots, std::size_t n, bool active);

  bool any_active(const slot* slots, std::size_t n) const;

  detail::recording_memory memory_ = memory_pool<detail::recording_memory>::acquire();
  program_code& code_ = memory_.code;
  workspace& work_ = memory_.work;
  std::vector<std::uint8_t>& active_ = memory_.active;
  std::vector<slot>& inputs_ = memory_.inputs;
  operation_watch* watch_ = nullptr;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/recording/record.ipp>
#endif
