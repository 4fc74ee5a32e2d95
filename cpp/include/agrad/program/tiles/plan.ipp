// Definitions of program/tiles/plan.hpp.
#pragma once

#include <algorithm>
#include <iterator>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/singular.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/tiles/plan.hpp>
#include <agrad/program/tiles/planner.hpp>
#include <agrad/program/tiles/roles.hpp>

namespace agrad::detail {

/// The most operations of a group, so that the registers fit the second cache.
inline constexpr std::size_t most_members = 128;

// ---- groups

AGRAD_INLINE tile_planner::tile_planner(const program_code& code, const std::vector<slot>& outputs, const term_owners& owners)
    : code_(code), owners_(owners) {
  find_groups();
  if (groups_.empty()) return;
  find_outside_readers(outputs);
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    link(g);
    assign_ahead(groups_[g]);
    assign_adjoints(groups_[g], assign_values(groups_[g]));
    assign_scalars(groups_[g]);
  }
}

AGRAD_INLINE void tile_planner::find_groups() {
  for (std::uint32_t number = 0; number < code_.operations.size(); ++number) {
    const operation& op = code_.operations[number];
    const std::uint32_t count = tiled_entries(code_, op);
    if (count == 0 || count != open_.count || open_.members.size() == most_members || !joins(op, number)) close();
    if (count != 0) open(op, number);
  }
  close();
}

AGRAD_INLINE bool tile_planner::joins(const operation& op, std::uint32_t number) const {
  bool joins = open_.members.empty() || owners_.of(open_.first) == owners_.of(number);
  each_read(code_, op, [&](slot first, std::uint32_t count) {
    if (!joins || (reads_by_entries(op, count, open_.count) && own_.exactly(first, count) != nullptr)) return;
    own_.each_overlapping(first, count, [&](const tiled_results::place&) { return joins = false; });
  });
  return joins;
}

AGRAD_INLINE void tile_planner::open(const operation& op, std::uint32_t number) {
  if (open_.members.empty()) open_.first = number, open_.count = tiled_entries(code_, op);
  const auto member = static_cast<std::uint32_t>(open_.members.size());
  own_.add(op.result, {static_cast<std::uint32_t>(groups_.size()), member, op.count});
  tile_member next;
  next.operation = number;
  next.may_be_singular = may_be_singular(op);
  if (op.what == &kernels::gather) next.ranges = ranges_of_slots(code_.integers.data() + op.data, op.count);
  if (op.what == &kernels::sum) next.sum = open_.sums++;
  open_.members.push_back(next);
}

AGRAD_INLINE void tile_planner::close() {
  if (open_.members.size() > 1) {
    const auto group = static_cast<std::uint32_t>(groups_.size());
    for (std::uint32_t m = 0; m < open_.members.size(); ++m) {
      const operation& op = code_.operations[open_.members[m].operation];
      all_.add(op.result, {group, m, op.count});
    }
    groups_.push_back(std::move(open_));
  }
  open_ = {};
  own_.clear();
}

// ---- readers

AGRAD_INLINE void tile_planner::find_outside_readers(const std::vector<slot>& outputs) {
  for (const tile_group& group : groups_) is_read_outside_.emplace_back(group.members.size(), false);
  std::uint32_t group = 0;
  for (std::uint32_t number = 0; number < code_.operations.size(); ++number) {
    const operation& op = code_.operations[number];
    if (group < groups_.size() && number == groups_[group].end()) ++group;
    const bool is_inside = group < groups_.size() && number >= groups_[group].first;
    const std::uint32_t reader = is_inside ? group : tile_member::none;
    each_read(code_, op, [&](slot first, std::uint32_t count) { mark_outside(first, count, reader); });
  }
  each_run(outputs.data(), outputs.size(), [&](std::size_t, slot first, std::size_t count) {
    mark_outside(first, static_cast<std::uint32_t>(count), tile_member::none);
  });
}

AGRAD_INLINE void tile_planner::mark_outside(slot first, std::uint32_t count, std::uint32_t reader) {
  all_.each_overlapping(first, count, [&](const tiled_results::place& at) {
    if (at.group != reader) is_read_outside_[at.group][at.member] = true;
    return true;
  });
}

// ---- registers

AGRAD_INLINE void tile_planner::link(std::uint32_t number) {
  tile_group& group = groups_[number];
  std::vector<bool> has_adjoint(group.members.size(), false);
  for (std::size_t m = group.members.size(); m-- > 0;) {
    tile_member& member = group.members[m];
    const operation& op = code_.operations[member.operation];
    const bool is_local = !is_read_outside_[number][m];
    if (is_local) member.ahead = 0;
    member.is_reached = !is_local || has_adjoint[m];
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      const tiled_results::place* from = x.listed || x.stride == 0 ? nullptr : all_.exactly(x.first, group.count);
      if (from == nullptr || from->group != number || is_read_outside_[number][from->member]) continue;
      member.operands[k].member = from->member;
      if (!member.is_reached || !x.active) continue;
      member.operands[k].is_first = !has_adjoint[from->member];
      has_adjoint[from->member] = true;
    }
  }
}

/// Registers that are free again after their last use.
class register_pool {
 public:
  explicit register_pool(std::uint32_t first) : next_(first) {}
  std::uint32_t take() {
    if (free_.empty()) return next_++;
    const std::uint32_t taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give(std::uint32_t one) { free_.push_back(one); }

 private:
  std::uint32_t next_;
  std::vector<std::uint32_t> free_;
};

AGRAD_INLINE void tile_planner::assign_ahead(tile_group& group) {
  std::vector<std::uint32_t> last(group.members.size());
  for (std::uint32_t m = 0; m < group.members.size(); ++m) {
    last[m] = m;
    for (const tile_member::source& x : group.members[m].operands)
      if (x.member != tile_member::none) last[x.member] = m;
  }
  register_pool pool(0);
  for (std::uint32_t m = 0; m < group.members.size(); ++m) {
    tile_member& member = group.members[m];
    if (member.is_local()) member.ahead = pool.take();
    for (std::uint32_t k = 0; k < most_arguments; ++k) {
      const std::uint32_t from = member.operands[k].member;
      if (from == tile_member::none || last[from] != m) continue;
      pool.give(group.members[from].ahead);
      last[from] = tile_member::none;  // an operation may read one result twice
    }
    if (member.is_local() && last[m] == m) pool.give(member.ahead);
  }
}

AGRAD_INLINE std::uint32_t tile_planner::assign_values(tile_group& group) const {
  std::uint32_t next = 0;
  for (tile_member& member : group.members) {
    const entry_functions* entries = code_.operations[member.operation].what->entries;
    if (member.is_local()) member.value = next++;
    const bool is_product = code_.operations[member.operation].what->rows != nullptr;
    member.is_stored = is_product || (entries != nullptr && !entries->is_quick);
  }
  return next;
}

AGRAD_INLINE void tile_planner::assign_adjoints(tile_group& group, std::uint32_t first) {
  register_pool pool(first);
  for (std::size_t m = group.members.size(); m-- > 0;) {
    const tile_member& member = group.members[m];
    if (!member.is_reached) continue;
    for (const tile_member::source& x : member.operands)
      if (x.is_first) group.members[x.member].adjoint = pool.take();
    if (member.is_local()) pool.give(member.adjoint);
  }
}

/// Returns how many registers have been given to the members of a group.
inline std::uint32_t registers_of(const tile_group& group) {
  std::uint32_t count = 0;
  for (const tile_member& m : group.members)
    for (const std::uint32_t number : {m.ahead, m.value, m.adjoint})
      if (number != tile_member::none) count = std::max(count, number + 1);
  return count;
}

AGRAD_INLINE void tile_planner::assign_scalars(tile_group& group) const {
  constexpr std::size_t most = 16;  // others are copied tile by tile
  const std::uint32_t first = registers_of(group);
  for (tile_member& member : group.members) {
    const operation& op = code_.operations[member.operation];
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      if (x.listed || x.stride != 0) continue;
      auto known = std::find_if(group.scalars.begin(), group.scalars.end(), [&](const auto& s) { return s.first == x.first; });
      if (known == group.scalars.end()) {
        if (group.scalars.size() == most) continue;
        const std::uint32_t number = first + static_cast<std::uint32_t>(group.scalars.size());
        known = group.scalars.insert(known, {x.first, number});
      }
      member.operands[k].scalar = known->second;
    }
  }
}

// ---- plan

AGRAD_INLINE tile_plan::tile_plan(const program_code& code, const std::vector<slot>& outputs) {
  term_owners owners(code, outputs);
  sums_ = owners.sums();
  groups_ = tile_planner(code, outputs, owners).result();
  for (const tile_group& group : groups_) {
    registers_ = std::max(registers_, registers_of(group) + group.scalars.size());
    for (const tile_member& member : group.members)
      if (member.is_local()) locals_.emplace_back(code.operations[member.operation].result, group.count);
  }
  for (const term_sum& s : sums_) {
    slopes_ = s.slopes + slopes_of(code, s);
    for (std::uint32_t number = s.first; number < s.number; ++number)
      locals_.emplace_back(code.operations[number].result, code.operations[number].count);
  }
  std::sort(locals_.begin(), locals_.end());
  if (!groups_.empty()) roles_ = tile_roles(code, groups_, owners).result();
}

/// Returns the last range that begins with an operation or before it; null if there is none.
template <class Range>
const Range* last_from(const std::vector<Range>& ranges, std::size_t operation) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), operation,
                                      [](std::size_t number, const Range& range) { return number < range.first; });
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

AGRAD_INLINE bool tile_plan::has(std::size_t operation) const {
  const tile_group* group = last_from(groups_, operation);
  return (group != nullptr && operation < group->end()) || sum_of(operation) != nullptr;
}

AGRAD_INLINE const term_sum* tile_plan::sum_of(std::size_t operation) const {
  const term_sum* sum = last_from(sums_, operation);
  return sum != nullptr && operation < sum->number ? sum : nullptr;
}

}  // namespace agrad::detail
