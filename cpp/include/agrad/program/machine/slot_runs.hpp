// Slot runs: finds consecutive slots in lists, so that work on them is done range by range.
//
// Lists of millions of slots, such as the inputs of a program with large arrays, are a few ranges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <agrad/program/machine/operation.hpp>

namespace agrad::detail {

/// Returns how many slots from the beginning of a list of n slots, at least 1, are consecutive.
inline std::size_t consecutive_slots(const slot* slots, std::size_t n) {
  constexpr std::size_t block = 64;  // compared together, by packets
  std::size_t end = 1;
  while (end + block <= n) {
    slot differs = 0;
    for (std::size_t i = end; i < end + block; ++i) differs |= slots[i] ^ (slots[0] + static_cast<slot>(i));
    if (differs != 0) break;
    end += block;
  }
  while (end < n && slots[end] == slots[0] + end) ++end;
  return std::min(end, n);
}

/// Returns whether all slots of a list are consecutive.
inline bool are_consecutive(const slot* slots, std::size_t n) { return n == 0 || consecutive_slots(slots, n) == n; }

/// Calls use(i, first, count) for each range of consecutive slots of a list: slots[i] is `first`.
template <class Use>
void each_run(const slot* slots, std::size_t n, const Use& use) {
  for (std::size_t i = 0; i < n;) {
    const std::size_t count = consecutive_slots(slots + i, n - i);
    use(i, slots[i], count);
    i += count;
  }
}

/// Calls use(first, end) for each range of indices from `begin` to `end` whose marks are 1. Marks are 0 or 1.
template <class Use>
void each_marked(const std::uint8_t* marks, std::size_t begin, std::size_t end, const Use& use) {
  const auto find = [&](int mark) {
    const void* found = std::memchr(marks + begin, mark, end - begin);
    return found == nullptr ? end : static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - marks);
  };
  while (begin < end && (begin = find(1)) < end) {
    const std::size_t first = begin;
    begin = find(0);
    use(first, begin);
  }
}

}  // namespace agrad::detail
