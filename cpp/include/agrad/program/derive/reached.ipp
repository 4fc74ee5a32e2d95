// Definitions of program/derive/reached.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/reached.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE void reached_slots::add(slot to, slot from, slot cut) {
  if (last_[to] == always) return;
  if (is_always(from) && cut == 0) return set_always(to);
  if (!is_always(from) && last_[from] == none) return;
  all_.push_back({from, cut, last_[to]});
  last_[to] = static_cast<std::uint32_t>(all_.size());
}

AGRAD_INLINE traced reached_slots::of(slot first, std::uint32_t n) {
  std::vector<slot> slots(n);
  for (std::uint32_t i = 0; i < n; ++i) slots[i] = first + i;
  return of(slots);
}

AGRAD_INLINE traced reached_slots::of(const std::vector<slot>& slots) {
  std::vector<slot> unknown;
  bool all = true;
  for (const slot s : slots) {
    all = all && is_always(s);
    if (!is_always(s) && last_[s] != none && flags_.find(s) == flags_.end()) unknown.push_back(s);
  }
  if (all) return 1.0;
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  if (!unknown.empty()) record(unknown);
  std::vector<slot> flags;
  for (const slot s : slots) flags.push_back(is_always(s) ? one() : last_[s] == none ? 0 : flags_[s]);
  return detail::number_of(in_, in_.consecutive(flags.data(), flags.size()));
}

AGRAD_INLINE traced reached_slots::are_open(const std::vector<way>& ways) {
  std::vector<slot> from, cuts;
  for (const way& each : ways) {
    from.push_back(each.from);
    cuts.push_back(each.cut == 0 ? one() : each.cut);
  }
  const traced open = detail::number_of(in_, in_.consecutive(cuts.data(), cuts.size())), before = of(from);
  return before.is_constant() ? open : before && open;
}

AGRAD_INLINE void reached_slots::record(const std::vector<slot>& slots) {
  std::vector<slot> with_few;
  std::vector<std::vector<way>> ways;  // of these
  for (const slot s : slots) {
    std::vector<way> here = ways_of(s);
    if (here.size() <= few) {
      with_few.push_back(s), ways.push_back(std::move(here));
      continue;
    }
    const span open = traced(are_open(here) != 0.0).slots_in(in_);
    flags_[s] = open.stride == 0 ? open.first : in_.apply(kernels::sum, 1, &open, 1, {open.count});
  }
  if (with_few.empty()) return;
  std::size_t most = 0;
  for (const auto& each : ways) most = std::max(most, each.size());
  traced flag(0.0);
  for (std::size_t round = 0; round < most; ++round) {
    std::vector<way> nth;
    for (const auto& each : ways) nth.push_back(round < each.size() ? each[round] : each.back());
    const traced open = are_open(nth);
    flag = round == 0 ? open : flag || open;
  }
  const span found = flag.slots_in(in_);
  for (std::uint32_t i = 0; i < with_few.size(); ++i) flags_[with_few[i]] = detail::slot_at(found, i);
}

AGRAD_INLINE std::vector<reached_slots::way> reached_slots::ways_of(slot s) const {
  std::vector<way> ways;
  for (std::uint32_t at = last_[s]; at != none; at = all_[at - 1].before) ways.push_back(all_[at - 1]);
  return ways;
}

AGRAD_INLINE slot reached_slots::one() { return one_ = one_ == 0 ? in_.constant(1.0) : one_; }

}  // namespace agrad
