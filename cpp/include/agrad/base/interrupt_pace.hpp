// Interrupt pace: how often a long computation checks for an interrupt.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <agrad/base/error.hpp>
#include <agrad/base/interrupt.hpp>

namespace agrad {

namespace detail {

/// Checks for an interrupt about every tenth of a second; reads the clock at least every 64 steps.
class interrupt_pace {
 public:
  /// `slots`: the work of a step, in additions or so; with many slots the clock is read at each step.
  explicit interrupt_pace(std::size_t slots = 0) { begin(slots); }
  void begin(std::size_t slots) {
    left_ = stride_ = std::min<std::size_t>(64, 1 + 4096 / (slots + 1));
    next_ = clock::now() + period;
  }
  void step() {
    if (AGRAD_UNLIKELY(--left_ == 0)) poll();
  }

 private:
  AGRAD_COLD void poll() {
    left_ = stride_;
    if (clock::now() < next_) return;
    poll_interrupt();
    next_ = clock::now() + period;
  }

  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds period{100};
  clock::time_point next_{};
  std::size_t stride_ = 1, left_ = 1;  // steps between two readings of the clock
};

}  // namespace detail

}  // namespace agrad
