// Definitions of program/tiles/order.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/tiles/order.hpp>
#include <agrad/program/tiles/reads.hpp>

namespace agrad::detail {

class tile_order {
 public:
  explicit tile_order(const program_code& code) : code_(code) {
    interrupt_pace pace;
    for (const operation& op : code.operations) pace.step(), place(op);
    while (!groups_.empty()) release(groups_.front().entries);
  }

  std::vector<operation> result() { return std::move(ordered_); }

 private:
  /// Operations that wait. At most one group has a number of entries, and none reads a result of another one.
  struct waiting_group {
    std::uint32_t entries;
    std::vector<operation> operations;
  };

  void place(const operation& op) {
    const std::uint32_t entries = tiled_entries(code_, op);
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
    if (entries == 0) return ordered_.push_back(op);
    const auto same = find(entries);
    waiting_group& group = same == groups_.end() ? groups_.emplace_back(waiting_group{entries, {}}) : *same;
    group.operations.push_back(op);
    results_.add(op.result, {entries, 0, op.count});
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
  tiled_results results_;
  std::vector<operation> ordered_;
};

AGRAD_INLINE void order_for_tiles(program_code& code) {
  const bool is_any = std::any_of(code.operations.begin(), code.operations.end(),
                                  [&](const operation& op) { return tiled_entries(code, op) != 0; });
  if (is_any) code.operations = tile_order(code).result();
}

}  // namespace agrad::detail
