// Reads: which slots an operation reads, and which tiled operation wrote them.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include <agrad/program/machine/code.hpp>
#include <agrad/program/machine/slot_runs.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/tiles/settings.hpp>

namespace agrad::detail {

/// Returns the number of entries that an operation runs over; 0 where tiles do not suit it.
inline std::uint32_t tiled_entries(const program_code& code, const operation& op) {
  const bool is_sum = op.what == &kernels::sum && op.count == 1;
  const bool has_rows = op.what->rows != nullptr && op.what->rows->count(op, code.integers.data() + op.data) == op.count;
  const bool is_suited = is_sum || has_rows || op.what->entries != nullptr || op.what == &kernels::gather;
  const std::uint32_t count = is_sum ? op.operands[0].count : op.count;
  return is_suited && count >= tile_settings::now().least_entries ? count : 0;
}

/// Returns whether an operation reads the range of slots of a result entry by entry, in the order of its own entries. A gather
/// reads memory, whatever its list.
inline bool reads_by_entries(const operation& op, std::uint32_t count, std::uint32_t entries) {
  return count == entries && op.what->rows == nullptr && op.what != &kernels::gather;
}

/// Calls use(first, count) for each range of slots that an operation reads.
template <class Use>
void each_read(const program_code& code, const operation& op, const Use& use) {
  if (op.what == &kernels::straight)
    for (std::uint32_t i = 0; i < op.count; ++i)
      each_read(code, operation_of_step(code.instructions[op.data + i], op.result + i), use);
  const auto use_run = [&](std::size_t, slot first, std::size_t count) { use(first, static_cast<std::uint32_t>(count)); };
  if (op.what == &kernels::gather) each_run(code.integers.data() + op.data, op.count, use_run);
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const span& x = op.operands[k];
    if (x.listed)
      each_run(code.integers.data() + x.first, x.count, use_run);
    else
      use(x.first, x.count);
  }
}

/// Results of tiled operations, by their first slots, so that the operation that wrote a slot can be found.
class tiled_results {
 public:
  struct place {
    std::uint32_t group, member, count;
  };

  void add(slot first, const place& at) { places_[first] = at; }
  void remove(slot first) { places_.erase(first); }
  void clear() { places_.clear(); }
  /// Returns the place of the result that has exactly `count` slots from `first` on; null if there is none.
  const place* exactly(slot first, std::uint32_t count) const {
    const auto found = places_.find(first);
    return found == places_.end() || found->second.count != count ? nullptr : &found->second;
  }
  /// Calls use(place) for each result that overlaps `count` slots from `first` on, until it returns false.
  template <class Use>
  void each_overlapping(slot first, std::uint32_t count, const Use& use) const {
    auto at = places_.upper_bound(first);
    if (at != places_.begin() && std::prev(at)->first + std::uint64_t{std::prev(at)->second.count} > first) --at;
    for (; at != places_.end() && at->first < first + std::uint64_t{count}; ++at)
      if (!use(at->second)) return;
  }

 private:
  std::map<slot, place> places_;
};

}  // namespace agrad::detail
