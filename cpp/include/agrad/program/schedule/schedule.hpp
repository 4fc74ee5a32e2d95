// Schedule: from a recording to a program that runs fast.
//
// Pruning takes away what is not needed (program/schedule/prune.hpp), levelling brings the rest into an order in which equal
// operations run together (program/schedule/levels.hpp).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/program/schedule/levels.hpp>
#include <agrad/program/schedule/prune.hpp>

namespace agrad {

namespace detail {
inline std::shared_ptr<const program> program_of(program_parts parts) {
  return std::make_shared<const program>(std::move(parts.code), std::move(parts.fixed), parts.size, std::move(parts.inputs),
                                         std::move(parts.outputs));
}
}  // namespace detail

/// The program that computes the slots `outputs` of a recording from its inputs.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs) {
  return detail::program_of(level(prune(recording, outputs)));
}

/// The same program and, for whoever wants to know what its operations were, where each slot of the recording is in it. A slot
/// that went is at place 0, where no operation has its result.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs,
                                               std::vector<slot>& places) {
  detail::pruner pruned(recording, outputs);
  detail::leveller levelled(pruned.result());
  places = pruned.places();
  for (slot& s : places) s = levelled.now(s);
  return detail::program_of(levelled.result());
}

}  // namespace agrad
