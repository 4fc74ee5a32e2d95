// Definitions of program/tiles/roles.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/tiles/roles.hpp>

namespace agrad::detail {

AGRAD_INLINE tile_roles::tile_roles(const program_code& code, const std::vector<tile_group>& groups, const term_owners& owners)
    : code_(code), groups_(groups), owners_(owners), sources_(code.operations.size(), 0) {
  find_sources();
  set_roles();
}

AGRAD_INLINE void tile_roles::find_sources() {
  std::uint32_t group = 0;
  for (std::uint32_t number = 0; number < code_.operations.size(); ++number) {
    const operation& op = code_.operations[number];
    if (group < groups_.size() && number == groups_[group].end()) ++group;
    const bool is_member = group < groups_.size() && number >= groups_[group].first;
    group_set from = sources_of(op);
    if (is_member) {
      const group_set own = group < most_groups ? group_set{1} << group : 0;
      apart_ |= from & ~own;
      from |= own;
    }
    const bool has_formulas = owners_.of(number) != term_owners::none;  // whose slopes depend on all that they read
    if (has_formulas || (!is_member && from != 0 && !has_early_slopes(op))) apart_ |= from;
    sources_[number] = from;
    if (from != 0 && op.count > 0) results_.add(op.result, {number, 0, op.count});
  }
}

AGRAD_INLINE tile_roles::group_set tile_roles::sources_of(slot first, std::uint32_t count) const {
  group_set from = 0;
  results_.each_overlapping(first, count, [&](const tiled_results::place& at) {
    from |= sources_[at.group];
    return true;
  });
  return from;
}

AGRAD_INLINE tile_roles::group_set tile_roles::sources_of(const operation& op) const {
  group_set from = 0;
  each_read(code_, op, [&](slot first, std::uint32_t count) { from |= sources_of(first, count); });
  return from;
}

AGRAD_INLINE bool tile_roles::has_early_slopes(const operation& op) const {
  if (op.what == &kernels::straight) {
    for (std::uint32_t i = 0; i < op.count; ++i)
      if (!has_early_slopes(operation_of_step(code_.instructions[op.data + i], op.result + i))) return false;
    return true;
  }
  if (op.what == &kernels::sum || op.what == &kernels::gather || op.what == &kernels::guard) return true;
  if (op.what->depends.how == dependence::terms && op.what->depends.is_linear) return true;  // the sum of a density's terms
  if (op.what->entries == nullptr) return false;
  if (op.what->entries->is_linear) return true;
  for (std::uint32_t j = 0; j < op.arity; ++j) {
    if (!op.operands[j].active) continue;
    if ((op.what->depends.zero_with >> j & 1U) == 0) return false;  // not a multiple of the operand
    for (std::uint32_t l = 0; l < op.arity; ++l)
      if (l != j && (op.operands[l].listed || sources_of(op.operands[l].first, op.operands[l].count) != 0)) return false;
  }
  return true;
}

AGRAD_INLINE void tile_roles::set_roles() {
  const group_set all = groups_.size() < most_groups ? (group_set{1} << groups_.size()) - 1 : ~group_set{0};
  const group_set joint = all & ~apart_;
  if (joint == 0) return;
  roles_.assign(code_.operations.size(), tile_role::early);
  for (std::size_t number = 0; number < sources_.size(); ++number)
    if ((sources_[number] & joint) != 0) roles_[number] = tile_role::late;
  for (std::uint32_t g = 0; g < std::min<std::size_t>(groups_.size(), most_groups); ++g)
    if ((joint >> g & 1U) != 0)
      std::fill(roles_.begin() + groups_[g].first, roles_.begin() + groups_[g].end(), tile_role::joint);
}

}  // namespace agrad::detail
