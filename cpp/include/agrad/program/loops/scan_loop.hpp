// Scan loop: what a loop does with its body.
// Read next: program/loops/scan_run.hpp, a run of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>

namespace agrad {

/// What a loop does with its body, whose inputs are the carry, the step's number if it counts, and an entry of each of xs;
/// its outputs are the carry and an entry of each of ys.
struct scan_loop {
  /// Entries one behind the other, a step's `size` numbers each: constants, or a part of the operation's argument.
  struct sequence {
    std::size_t size = 0;
    std::vector<double> constants = {};
    bool is_constant = false;
  };
  std::size_t length = 0, carry = 0;
  std::vector<sequence> xs = {};
  std::vector<std::size_t> ys = {};
  bool counts = false;
  double first = 0;  // the number of the first step
  bool backwards = false, checkpoint = false;
  /// So many numbers that the body computes are kept, 2 MB: where they are more, computing them again is as quick.
  std::size_t most_kept = std::size_t{1} << 18U;

  std::size_t segment_length() const {
    if (!checkpoint) return std::max<std::size_t>(length, 1);
    return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(std::max<std::size_t>(length, 1)))));
  }
  /// Which entries of xs and ys belong to a step.
  std::size_t entry(std::size_t step) const { return backwards ? length - 1 - step : step; }
  /// How many numbers of the argument are entries of xs.
  std::size_t recorded() const {
    std::size_t n = 0;
    for (const sequence& x : xs) n += x.is_constant ? 0 : x.size * length;
    return n;
  }

  /// Whether a body of so many inputs and outputs, with so many captured values, can be run in it; all are fewer than slots can be.
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
