// Scan loop: what a loop does with its body, and how often it looks for an interrupt.
// Read next: program/scan_run.hpp, a run of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/base/interrupt.hpp>

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
};

namespace detail {

/// Looks for an interrupt about every tenth of a second, at the cost of looking at the clock now and then.
class interrupt_pace {
 public:
  void begin(std::size_t slots) {
    left_ = stride_ = std::min<std::size_t>(64, 1 + 4096 / (slots + 1));
    next_ = clock::now() + period;
  }
  void step() {
    if (AGRAD_UNLIKELY(--left_ == 0)) look();
  }

 private:
  AGRAD_COLD void look() {
    left_ = stride_;
    if (clock::now() < next_) return;
    poll_interrupt();
    next_ = clock::now() + period;
  }

  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds period{100};
  clock::time_point next_{};
  std::size_t stride_ = 1, left_ = 1;  // steps from one look at the clock to the next
};

}  // namespace detail

}  // namespace agrad
