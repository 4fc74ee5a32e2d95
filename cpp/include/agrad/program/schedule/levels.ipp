// Definitions of program/schedule/levels.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/slot_runs.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/schedule/levels.hpp>

namespace agrad::detail {

AGRAD_INLINE leveller::leveller(program_parts from)
    : from_(std::move(from)), source_(from_.size), level_(from_.size, 0), place_(from_.size, 0) {
  std::iota(source_.begin(), source_.end(), slot{0});
  to_.code.externals = from_.code.externals;  // with unchanged indices
  to_.fixed = std::move(from_.fixed);
  to_.size = to_.fixed.size();
  std::copy_n(source_.begin(), to_.size, place_.begin());
  assign_levels();
  std::sort(items_.begin(), items_.end());
  emit_all();
  to_.inputs = std::move(from_.inputs);  // fixed slots keep their numbers
  to_.outputs.reserve(from_.outputs.size());
  for (const slot s : from_.outputs) to_.outputs.push_back(now(s));
}

AGRAD_INLINE bool leveller::item::operator<(const item& other) const {
  return std::tie(level, kind, place, entry) < std::tie(other.level, other.kind, other.place, other.entry);
}

AGRAD_INLINE void leveller::assign_levels() {
  std::uint32_t guarded = 0;  // highest level of a guard so far
  interrupt_pace pace;
  for (std::uint32_t place = 0; place < from_.code.operations.size(); ++place) {
    pace.step();
    const operation& op = from_.code.operations[place];
    if (op.what == &kernels::gather) {
      for (std::uint32_t i = 0; i < op.count; ++i) source_[op.result + i] = source_[integers_of(op)[i]];
    } else if (is_small(op)) {
      for (std::uint32_t i = 0; i < op.count; ++i) {
        std::uint32_t level = 0;
        for (std::uint32_t k = 0; k < op.arity; ++k) level = std::max(level, level_of(entry_of(op.operands[k], i)));
        level_[op.result + i] = level + 1;
        items_.push_back({level + 1, kind_of(op), place, i});
      }
    } else {
      std::uint32_t level = op.what->steps == nullptr ? guarded : 0;
      for (std::uint32_t k = 0; k < op.arity; ++k) level = std::max(level, level_of(op.operands[k]));
      std::fill_n(level_.begin() + op.result, op.count, level + 1);
      const bool is_guard = op.what == &kernels::guard;
      if (is_guard) guarded = std::max(guarded, level);
      items_.push_back({level + 1, is_guard ? guards : wholes, place, 0});
    }
  }
}

AGRAD_INLINE std::uint32_t leveller::level_of(const span& x) const {
  std::uint32_t level = 0;
  if (x.first + std::size_t{x.count} <= to_.fixed.size()) return level;
  for (std::uint32_t i = 0; i < x.count; ++i) level = std::max(level, level_of(x.first + i));
  return level;
}

AGRAD_INLINE std::uint32_t leveller::mask_of(const operation& op) {
  std::uint32_t mask = 0;
  for (std::uint32_t k = 0; k < op.arity; ++k) mask |= op.operands[k].active ? 1U << k : 0U;
  return mask;
}

AGRAD_INLINE std::uint32_t leveller::kind_of(const operation& op) {
  const auto* steps = op.what->steps + mask_of(op);
  return kinds_.try_emplace({steps, op.is_composed}, rules + static_cast<std::uint32_t>(kinds_.size())).first->second;
}

AGRAD_INLINE void leveller::emit_all() {
  interrupt_pace pace;
  for (std::size_t begin = 0; begin < items_.size(); pace.step()) {
    std::size_t end = begin;
    std::vector<item> steps;
    while (end < items_.size() && items_[end].level == items_[begin].level) {
      std::size_t last = end;
      while (last < items_.size() && items_[last].level == items_[end].level && items_[last].kind == items_[end].kind) ++last;
      emit_kind(end, last, steps);
      end = last;
    }
    for (const item& each : steps) emit_step(each);
    begin = end;
  }
  end_steps();
}

AGRAD_INLINE void leveller::emit_kind(std::size_t begin, std::size_t end, std::vector<item>& steps) {
  if (items_[begin].kind < rules) {
    for (std::size_t i = begin; i < end; ++i) emit_whole(from_.code.operations[items_[i].place]);
  } else if (end - begin >= shortest_batch) {
    emit_batch(begin, end);
  } else {
    steps.insert(steps.end(), items_.begin() + static_cast<std::ptrdiff_t>(begin),
                 items_.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

AGRAD_INLINE void leveller::emit_whole(operation op) {
  end_steps();
  for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = dense(op.operands[k]);
  const slot old = op.result;
  const auto* integers = integers_of(op);
  op.data = static_cast<std::uint32_t>(to_.code.integers.size());
  to_.code.integers.insert(to_.code.integers.end(), integers, integers + op.data_count);
  op.result = to_.new_slots(op.count);
  std::iota(place_.begin() + old, place_.begin() + old + op.count, op.result);
  to_.code.operations.push_back(op);
}

AGRAD_INLINE std::uint32_t leveller::add_list(const std::vector<slot>& slots) {
  const auto first = static_cast<std::uint32_t>(to_.code.integers.size());
  to_.code.integers.insert(to_.code.integers.end(), slots.begin(), slots.end());
  return first;
}

AGRAD_INLINE span leveller::dense(span x) {
  if (x.count == 0) return x;
  const slot* sources = &source_[x.first];
  if (are_consecutive(sources, x.count) && are_consecutive(&place_[sources[0]], x.count)) {
    x.first = place_[sources[0]];
    return x;
  }
  std::vector<slot> slots(x.count);
  for (std::uint32_t i = 0; i < x.count; ++i) slots[i] = now(x.first + i);
  if (are_consecutive(slots.data(), slots.size())) {
    x.first = slots[0];
    return x;
  }
  const auto [known, is_new] = gathered_.try_emplace({&kernels::gather, slots}, 0);
  if (is_new) {
    operation gather;
    gather.what = &kernels::gather;
    gather.count = gather.data_count = x.count;
    gather.data = add_list(slots);
    gather.result = known->second = to_.new_slots(x.count);
    to_.code.operations.push_back(gather);
  }
  x.first = known->second;
  return x;
}

AGRAD_INLINE void leveller::emit_batch(std::size_t begin, std::size_t end) {
  end_steps();
  operation op = from_.code.operations[items_[begin].place];
  const auto n = static_cast<std::uint32_t>(end - begin);
  std::vector<slot> slots(n);
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const item& each = items_[begin + i];
      slots[i] = now(entry_of(from_.code.operations[each.place].operands[k], each.entry));
    }
    op.operands[k] = listed(op.operands[k].active, slots);
  }
  op.count = n;
  op.data = op.data_count = 0;  // lists belong to operands
  op.result = to_.new_slots(n);
  for (std::uint32_t i = 0; i < n; ++i) place_[old_slot(items_[begin + i])] = op.result + i;
  to_.code.operations.push_back(op);
}

AGRAD_INLINE span leveller::listed(bool active, const std::vector<slot>& slots) {
  const auto n = static_cast<std::uint32_t>(slots.size());
  if (are_consecutive(slots.data(), n)) return {slots[0], n, 1, active, false};
  if (std::all_of(slots.begin(), slots.end(), [&](slot s) { return s == slots[0]; })) return {slots[0], 1, 0, active, false};
  return {add_list(slots), n, 1, active, true};
}

AGRAD_INLINE void leveller::emit_step(const item& each) {
  if (steps_ == 0) to_.code.instructions.push_back({&straight_stop::steps});
  const operation& op = from_.code.operations[each.place];
  instruction step{op.what->steps + mask_of(op), {}, op.is_composed};
  for (std::uint32_t k = 0; k < op.arity; ++k) step.x[k] = now(entry_of(op.operands[k], each.entry));
  to_.code.instructions.push_back(step);
  place_[old_slot(each)] = to_.new_slots(1);
  if (++steps_ == longest_straight) end_steps();
}

AGRAD_INLINE void leveller::end_steps() {
  if (steps_ == 0) return;
  operation op;
  op.what = &kernels::straight;
  op.count = steps_;
  op.result = static_cast<slot>(to_.size) - steps_;
  op.data = static_cast<std::uint32_t>(to_.code.instructions.size()) - steps_;
  to_.code.instructions.push_back({&straight_stop::steps});
  to_.code.operations.push_back(op);
  steps_ = 0;
}

}  // namespace agrad::detail
