// Prune: keeps the operations of a recording that the outputs need. An operation without active inputs becomes a constant,
// equal operations are computed once, slots are renumbered without gaps, and external operations through which no derivative of
// an output passes, such as searches before a `stop_gradient`, get passive operands and so compute values only.
//
// A backward loop marks the slots on which outputs and their derivatives depend, a forward loop copies the operations that
// compute them. An operation equal to an earlier one (kernel, operands, integers) uses the earlier result; where a span is then
// no longer consecutive, its slots are gathered. Slots are handled range by range, because arrays may be large.
// Read next: program/schedule/levels.hpp, which reorders the operations.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

/// The parts of an unfinished program: operations in order, the values of the slots that no operation computes (inputs and
/// constants; these come first), the number of slots, and the slots of inputs and outputs.
struct program_parts {
  program_code code;
  std::vector<double> fixed;
  std::size_t size = 0;
  std::vector<slot> inputs, outputs;

  /// Adds n slots for results and returns the first one.
  slot new_slots(std::size_t n);
};

namespace detail {

/// Operations with equal keys are equal: the kernel, and the operands and integers as one list of numbers.
struct operation_key {
  const kernel* what;
  std::vector<std::uint32_t> numbers;
  bool operator==(const operation_key& other) const { return what == other.what && numbers == other.numbers; }
};
struct operation_hash {
  std::size_t operator()(const operation_key& key) const;
};

class pruner {
 public:
  pruner(const recorder& recording, const std::vector<slot>& outputs);

  program_parts result() { return std::move(parts_); }
  /// Returns the new number of each slot of the recording; 0 for removed slots.
  const std::vector<slot>& places() const { return place_; }

 private:
  using mark_type = std::uint8_t;  // 0 or 1
  using marks = std::vector<mark_type>;

  bool is_live(const operation& op) const;

  void mark_live();
  void mark_differentiated(const operation& op);
  static void mark(const slot* slots, std::size_t n, marks& marked);
  bool is_any(const marks& marked, const operation& op) const;

  // Copies slots that are not results of wanted operations (inputs, constants), then operations, in the order of the recording.
  void copy_all();

  void copy_fixed(std::size_t begin, std::size_t end);

  void copy(operation op);

  span moved(span x);
  /// Returns the new numbers of n slots.
  std::vector<slot> moved(const slot* slots, std::size_t n) const;

  // Appends the operation unless there is an equal one; returns the first slot of the result.
  slot add(operation op, const std::vector<std::uint32_t>& integers);

  const recorder& from_;
  marks live_;
  marks differentiated_;     // slots through which derivatives of outputs pass
  std::vector<slot> place_;  // old slot -> new slot
  program_parts parts_;
  std::unordered_map<operation_key, slot, operation_hash> seen_;
};

}  // namespace detail

/// Returns the operations of a recording that the slots `outputs` need.
program_parts prune(const recorder& recording, const std::vector<slot>& outputs);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/schedule/prune.ipp>
#endif
