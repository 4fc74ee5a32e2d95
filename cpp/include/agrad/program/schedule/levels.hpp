// Levels: joins small independent operations of one kind into batches; the other small operations become straight code.
//
// An entry's level is one more than the highest level of the entries that it reads. All entries of one rule on one level can
// run together: many entries become one elementwise operation with lists of operands, few entries become steps of straight code
// (program/machine/straight.hpp). Large operations stay as they are. Gathers are resolved: an operation reads the slots from
// which a gather copies, and a new gather is made only for an operation that needs consecutive slots. Guards come first within
// a level, and an operation that may throw comes after all guards recorded before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/schedule/prune.hpp>

namespace agrad {

/// Least number of entries of one rule on one level that become a batch rather than steps.
inline constexpr std::size_t shortest_batch = 12;
/// Spans of at most this many entries are split into entries.
inline constexpr std::uint32_t longest_small_span = 16;

namespace detail {

class leveller {
 public:
  explicit leveller(program_parts from);

  program_parts result() { return std::move(to_); }
  /// Returns the new number of a slot.
  slot now(slot s) const { return place_[source_[s]]; }

 private:
  /// An operation or one of its entries, in the order of running.
  struct item {
    std::uint32_t level, kind, place, entry;  // kind: 0 guards, 1 whole operations, then rules by their active operands
    bool operator<(const item& other) const;
  };
  static constexpr std::uint32_t guards = 0, wholes = 1, rules = 2;

  const std::uint32_t* integers_of(const operation& op) const { return from_.code.integers.data() + op.data; }
  static bool is_small(const operation& op) { return op.what->steps != nullptr && op.count <= longest_small_span; }
  static slot entry_of(const span& x, std::uint32_t i) { return x.first + (x.stride == 0 ? 0 : i); }

  // ---- levels

  void assign_levels();

  std::uint32_t level_of(slot s) const { return level_[source_[s]]; }
  std::uint32_t level_of(const span& x) const;

  static std::uint32_t mask_of(const operation& op);

  std::uint32_t kind_of(const operation& op);

  // ---- emission

  /// Writes level after level; on each level first guards, whole operations and batches, then steps.
  void emit_all();

  void emit_kind(std::size_t begin, std::size_t end, std::vector<item>& steps);

  void emit_whole(operation op);

  std::uint32_t add_list(const std::vector<slot>& slots);

  /// Returns the span with the new slots, gathered where the slots are not consecutive.
  span dense(span x);

  /// Writes entries of one rule as one operation.
  void emit_batch(std::size_t begin, std::size_t end);

  slot old_slot(const item& each) const { return from_.code.operations[each.place].result + each.entry; }

  span listed(bool active, const std::vector<slot>& slots);

  // ---- straight code

  void emit_step(const item& each);

  void end_steps();

  program_parts from_, to_;
  std::vector<slot> source_;  // slot -> the slot from which a gather copied
  std::vector<std::uint32_t> level_;
  std::vector<slot> place_;  // old slot -> new slot
  std::vector<item> items_;
  std::map<std::pair<const straight_steps*, bool>, std::uint32_t> kinds_;
  std::unordered_map<operation_key, slot, operation_hash> gathered_;
  std::uint32_t steps_ = 0;  // of the straight code being written
};

}  // namespace detail

/// Returns the same program, ordered by levels.
inline program_parts level(program_parts parts) { return detail::leveller(std::move(parts)).result(); }

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/schedule/levels.ipp>
#endif
