// Schedule: makes a fast program from a recording.
//
// Pruning removes unneeded operations (program/schedule/prune.hpp); levelling orders the others such that equal operations run
// as batches (program/schedule/levels.hpp); then large operations over one index become neighbours (program/tiles/order.hpp).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/program/schedule/levels.hpp>
#include <agrad/program/schedule/prune.hpp>
#include <agrad/program/tiles/order.hpp>

namespace agrad {

namespace detail {
inline std::shared_ptr<const program> program_of(program_parts parts) {
  order_for_tiles(parts.code, parts.outputs);
  return std::make_shared<const program>(std::move(parts.code), std::move(parts.fixed), parts.size, std::move(parts.inputs),
                                         std::move(parts.outputs));
}
}  // namespace detail

/// Returns the program that computes the slots `outputs` of a recording from the recording's inputs.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs) {
  return detail::program_of(level(prune(recording, outputs)));
}

/// Does the same and also returns the new number of each slot of the recording, so that callers can identify operations. A
/// removed slot gets number 0, where no operation has a result.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs,
                                               std::vector<slot>& places) {
  detail::pruner pruned(recording, outputs);
  detail::leveller levelled(pruned.result());
  places = pruned.places();
  program_parts parts = levelled.result();
  if (parts.size == 0) return detail::program_of(std::move(parts));  // all slots were removed, and have number 0
  for (slot& s : places) s = levelled.now(s);
  return detail::program_of(std::move(parts));
}

}  // namespace agrad
