// Scan loop: describes how a loop runs its body.
// Read next: program/loops/scan_run.hpp, a run of a loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>

namespace agrad {

/// The inputs of the body are the carry, the step's number if `counts`, and an entry of each of xs; the outputs of the body are
/// the carry and an entry of each of ys.
struct scan_loop {
  /// Entries one after the other, `size` numbers for each step: constants, or a part of the operation's operand.
  struct sequence {
    std::size_t size = 0;
    std::vector<double> constants = {};
    bool is_constant = false;
  };
  std::size_t length = 0, carry = 0;
  std::vector<sequence> xs = {};
  std::vector<std::size_t> ys = {};
  bool counts = false;
  double first = 0;  // number of the first step
  bool backwards = false, checkpoint = false;
  /// Most numbers, computed by the body, to be stored: 2 MB. Beyond that, computing the numbers again is as fast.
  std::size_t most_stored = std::size_t{1} << 18U;

  std::size_t segment_length() const;
  /// Returns the index of the entries of xs and ys that belong to a step.
  std::size_t entry(std::size_t step) const { return backwards ? length - 1 - step : step; }
  /// Returns the number of entries of the operand that are entries of xs.
  std::size_t recorded() const;

  /// Returns whether a body with these numbers of inputs, outputs and captured values fits the loop; all numbers must be at
  /// most 2^32.
  bool fits(std::size_t inputs, std::size_t outputs, std::size_t captured) const;
};

template <class Archive>
void serialize(Archive& archive, scan_loop::sequence& x) {
  archive(x.size, x.constants, x.is_constant);
}
template <class Archive>
void serialize(Archive& archive, scan_loop& loop) {
  archive(loop.length, loop.carry, loop.xs, loop.ys, loop.counts, loop.first, loop.backwards, loop.checkpoint);
}

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/scan_loop.ipp>
#endif
