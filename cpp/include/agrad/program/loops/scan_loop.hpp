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
  std::size_t most_kept = std::size_t{1} << 18U;

  std::size_t segment_length() const {
    if (!checkpoint) return std::max<std::size_t>(length, 1);
    return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(std::max<std::size_t>(length, 1)))));
  }
  /// Index of the entries of xs and ys that belong to a step.
  std::size_t entry(std::size_t step) const { return backwards ? length - 1 - step : step; }
  /// Number of entries of the operand that are entries of xs.
  std::size_t recorded() const {
    std::size_t n = 0;
    for (const sequence& x : xs) n += x.is_constant ? 0 : x.size * length;
    return n;
  }

  /// Returns whether a body with these numbers of inputs, outputs and captured values fits the loop; all numbers must be at
  /// most 2^32.
  bool fits(std::size_t inputs, std::size_t outputs, std::size_t captured) const {
    constexpr std::size_t most = std::size_t{1} << 32U;
    std::size_t entries = counts ? 1 : 0, results = 0;
    bool fits = carry <= inputs && carry <= outputs && std::max({length, inputs, outputs, captured}) <= most;
    for (const sequence& x : xs) {
      fits = fits && x.size <= inputs && entries <= inputs;
      const std::size_t all = fits ? x.size * length : 0;
      fits = fits && all <= most && x.constants.size() == (x.is_constant ? all : 0);
      entries += x.size;
    }
    for (const std::size_t size : ys) {
      fits = fits && size <= outputs && results <= outputs;
      results += size;
    }
    return fits && recorded() <= most && inputs == carry + entries && outputs == carry + results;
  }
};

template <class Archive>
void keep(Archive& archive, scan_loop::sequence& x) {
  archive(x.size, x.constants, x.is_constant);
}
template <class Archive>
void keep(Archive& archive, scan_loop& loop) {
  archive(loop.length, loop.carry, loop.xs, loop.ys, loop.counts, loop.first, loop.backwards, loop.checkpoint);
}

}  // namespace agrad
