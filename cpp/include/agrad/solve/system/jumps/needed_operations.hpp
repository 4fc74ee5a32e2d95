// Needed operations: leaves out those operations of an unfinished program that its outputs do not need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <agrad/program/schedule/prune.hpp>

namespace agrad::detail {

/// Keeps the operations that compute outputs; operands are no lists.
inline void keep_needed(program_parts& parts) {
  std::vector<std::uint8_t> live(parts.size, 0);
  for (const slot s : parts.outputs) live[s] = 1;
  std::vector<operation> kept;
  std::vector<operation>& all = parts.code.operations;
  for (auto op = all.rbegin(); op != all.rend(); ++op) {
    const auto begin = live.begin() + op->result;
    if (std::find(begin, begin + op->count, 1) == begin + op->count) continue;
    if (op->what->depends.how == dependence::gathered)
      for (std::size_t i = 0; i < op->count; ++i) live[parts.code.integers[op->data + i]] = 1;
    for (std::size_t k = 0; k < op->arity; ++k)
      std::fill_n(live.begin() + op->operands[k].first, op->operands[k].count, std::uint8_t{1});
    kept.push_back(*op);
  }
  all.assign(kept.rbegin(), kept.rend());
}

}  // namespace agrad::detail
