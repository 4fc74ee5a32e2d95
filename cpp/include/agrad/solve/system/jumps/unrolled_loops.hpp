// Unrolled loops: a right-hand side without the loops whose bodies jump.
//
// Where a loop's body jumps at a state or at a time, the loop is written out, step after step, so that its comparisons are
// operations of the right-hand side like others, and are found and held. Numbers that are known, such as the step's number, are
// computed at once, and equal operations once. Where a body has several paths, all of them are computed, and the results are
// chosen by the paths' guards. Loops without jumps stay loops. A loop that cannot be written out stays, and is named.
// Read first: solve/system/jumps/loop_jumps.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>

namespace agrad {

struct unrolled_loops {
  /// A loop that jumps and is not written out.
  struct left {
    std::string loop, reason;
  };

  std::shared_ptr<const program> f;
  std::vector<left> hidden = {};
};

/// Returns a right-hand side of (t, n states, parameters) with loops that jump, or also those with kinks, written out; f where
/// there are no such loops.
unrolled_loops with_unrolled_loops(std::shared_ptr<const program> f, std::size_t n, held_kind kind = held_kind::jumps);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/unrolled_loops.ipp>
#endif
