// Definitions of program/tiles/order.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/tiles/order.hpp>
#include <agrad/program/tiles/reads.hpp>
#include <agrad/program/tiles/term_sums.hpp>

namespace agrad::detail {

class tile_order {
 public:
  tile_order(const program_code& code, const term_owners& owners) : code_(code) {
    interrupt_pace pace;
    for (std::uint32_t number = 0; number < code.operations.size(); ++number) {
      pace.step();
      place(number, owners.of(number));
    }
    while (!groups_.empty()) release(groups_.front().entries);
  }

  std::vector<operation> result() { return std::move(ordered_); }

 private:
  /// Operations that wait. At most one group has a number of entries, and none reads a result of another one.
  struct waiting_group {
    std::uint32_t entries;
    std::vector<operation> operations;
  };

  void place(std::uint32_t number, std::uint32_t owner) {
    const operation& op = code_.operations[number];
    if (owner == term_owners::none) return place(op, tiled_entries(code_, op));
    if (owner != number) return terms_[owner].push_back(number);
    std::vector<std::uint32_t>& terms = terms_[number];
    terms.push_back(number);
    for (const std::uint32_t each : terms) release_read(code_.operations[each], 0);
    for (const std::uint32_t each : terms) ordered_.push_back(code_.operations[each]);
    terms_.erase(number);
  }

  void place(const operation& op, std::uint32_t entries) {
    release_read(op, entries);
    if (entries == 0) return ordered_.push_back(op);
    const auto same = find(entries);
    waiting_group& group = same == groups_.end() ? groups_.emplace_back(waiting_group{entries, {}}) : *same;
    group.operations.push_back(op);
    results_.add(op.result, {entries, 0, op.count});
  }

  /// Releases what an operation over `entries` waits for.
  void release_read(const operation& op, std::uint32_t entries) {
    std::vector<std::uint32_t> read;  // groups of which the operation reads results, but for those of
                                      // its own group entry by entry
    each_read(code_, op, [&](slot first, std::uint32_t count) {
      const tiled_results::place* exact = reads_by_entries(op, count, entries) ? results_.exactly(first, count) : nullptr;
      if (exact != nullptr && exact->group == entries) return;
      results_.each_overlapping(first, count, [&](const tiled_results::place& at) {
        if (std::find(read.begin(), read.end(), at.group) == read.end()) read.push_back(at.group);
        return true;
      });
    });
    for (const std::uint32_t group : read) release(group);
  }

  std::vector<waiting_group>::iterator find(std::uint32_t entries) {
    return std::find_if(groups_.begin(), groups_.end(), [&](const waiting_group& g) { return g.entries == entries; });
  }

  void release(std::uint32_t entries) {
    const auto group = find(entries);
    for (const operation& op : group->operations) {
      results_.remove(op.result);
      ordered_.push_back(op);
    }
    groups_.erase(group);
  }

  const program_code& code_;
  std::vector<waiting_group> groups_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> terms_;  // the operations of sums that were not placed yet
  tiled_results results_;
  std::vector<operation> ordered_;
};

AGRAD_INLINE void order_for_tiles(program_code& code, const std::vector<slot>& outputs) {
  const term_owners owners(code, outputs);
  const bool is_any = !owners.is_empty() || std::any_of(code.operations.begin(), code.operations.end(),
                                                        [&](const operation& op) { return tiled_entries(code, op) != 0; });
  if (is_any) code.operations = tile_order(code, owners).result();
}

}  // namespace agrad::detail
