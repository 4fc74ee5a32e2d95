// Plan: which operations of a program run together in tiles, and where their numbers are meanwhile.
//
// A group is a range of large operations over one index, which nothing else interrupts: elementwise operations, gathers, sums,
// and matrices times vectors, whose rows are entries. It runs in tiles: for each block of entries all operations of the group,
// so that what one of them writes is in the first cache when the next one reads it. Results that only the group reads are in
// registers, which hold one tile, and never reach memory. The reverse pass of a group runs in tiles, too: values in registers
// are computed again where that is quick, and read from memory where it is not; adjoints of these results are in registers, and
// the first one that is passed to a result is written, not added.
//
// The operations of a program and their numbers stay as they are: a plan only tells how to run them. Values keep their bits.
// Sums of adjoints have one order, that of tiles, and within a tile that of operations. Read next: program/tiles/run.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/machine/blocks.hpp>
#include <agrad/program/machine/code.hpp>
#include <agrad/program/tiles/slot_list.hpp>
#include <agrad/program/tiles/term_sums.hpp>

namespace agrad::detail {

struct tile_member {
  static constexpr std::uint32_t none = 0xffffffff;

  struct source {
    std::uint32_t member = none;  // whose result the operand is, if it is in registers
    std::uint32_t scalar = none;  // register that holds the operand's only number in every place
    bool is_first = false;        // whether this operand's adjoint is the first one of that result
  };

  std::uint32_t operation = 0;   // its number
  std::uint32_t ahead = none;    // register of the values in a pass without derivatives; none: in memory
  std::uint32_t value = none;    // register of the values in passes with derivatives
  std::uint32_t adjoint = none;  // register of the adjoints
  std::uint32_t sum = none;      // number of a sum among the sums of the group
  bool is_stored = false;        // whether a forward pass stores these values in memory for the reverse pass
  bool is_reached = true;        // whether the result has adjoints
  bool may_be_singular = false;  // whether slopes may be infinite without an overflow
  std::array<source, most_arguments> operands{};
  std::vector<slot_range> ranges;  // of a gather of slices or shifted arrays; empty where the slots are scattered

  bool is_local() const { return ahead != none; }
};

struct tile_group {
  std::uint32_t first = 0;  // number of the first operation
  std::uint32_t count = 0;  // entries of each operation
  std::uint32_t sums = 0;
  std::vector<std::pair<slot, std::uint32_t>> scalars;  // with their registers
  std::vector<tile_member> members;

  std::uint32_t end() const { return first + static_cast<std::uint32_t>(members.size()); }
};

/// How an operation takes part in a pass that computes value and gradient together.
enum class tile_role : std::uint8_t {
  early,  // it runs first, and in reverse last
  joint,  // it belongs to a group that runs forward and in reverse tile by tile: adjoints of its results are known before
  late    // it depends on joint groups, and its slopes do not, so that it runs in reverse before them
};

class tile_plan {
 public:
  tile_plan() = default;
  tile_plan(const program_code& code, const std::vector<slot>& outputs);

  bool is_empty() const { return groups_.empty() && sums_.empty(); }
  const std::vector<tile_group>& groups() const { return groups_; }
  /// Returns the sums that formulas compute. Groups belong to one sum each, or to none.
  const std::vector<term_sum>& sums() const { return sums_; }
  /// Returns the sum that an operation computes terms for, null if there is none.
  const term_sum* sum_of(std::size_t operation) const;
  /// Returns the number of slopes of all sums.
  std::size_t slopes() const { return slopes_; }
  /// Returns the number of registers that the largest group needs.
  std::size_t registers() const { return registers_; }
  bool has_joint_groups() const { return !roles_.empty(); }
  /// Returns the role of an operation, where there are joint groups.
  tile_role role(std::size_t operation) const { return roles_[operation]; }
  /// Returns whether an operation runs in a group, or is left out where formulas compute a sum.
  bool has(std::size_t operation) const;
  /// Calls use(first, end) for each range of slots of operations from `begin` on whose adjoints are in memory.
  template <class Use>
  void each_in_memory(std::size_t begin, std::size_t size, const Use& use) const {
    for (const auto& [first, count] : locals_) {
      if (first > begin) use(begin, std::size_t{first});
      begin = std::size_t{first} + count;
    }
    if (size > begin) use(begin, size);
  }

 private:
  std::vector<tile_group> groups_;
  std::vector<term_sum> sums_;
  /// Results whose adjoints are in registers, or needed only where formulas do not suit, in the order of slots.
  std::vector<std::pair<slot, std::uint32_t>> locals_;
  std::vector<tile_role> roles_;
  std::size_t registers_ = 0, slopes_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/plan.ipp>
#include <agrad/program/tiles/roles.ipp>
#endif
