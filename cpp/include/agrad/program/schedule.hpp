// Schedule: from a recording to a program that runs fast.
//
// Pruning takes away what is not needed (program/prune.hpp), levelling brings the rest into an order in which equal operations
// run together (program/levels.hpp).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/levels.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/prune.hpp>

namespace agrad {

/// The program that computes the slots `outputs` of a recording from its inputs.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs) {
  program_parts parts = level(prune(recording, outputs));
  return std::make_shared<const program>(std::move(parts.code), std::move(parts.image), std::move(parts.inputs),
                                         std::move(parts.outputs));
}

}  // namespace agrad
