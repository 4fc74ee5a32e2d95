// Interrupt pace: how often a long computation checks for an interrupt.
//
// A thread checks about every tenth of a second, whatever is nested in what: the time of its last check is the thread's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <agrad/base/error.hpp>
#include <agrad/base/interrupt.hpp>

namespace agrad {

namespace detail {

/// When the thread checks next. This is a plain number because a thread_local object with a constructor is slow.
inline thread_local std::chrono::steady_clock::rep next_check = 0;

/// Checks for an interrupt unless the thread has done so within the last tenth of a second.
AGRAD_COLD inline void poll_if_due() {
  using clock = std::chrono::steady_clock;
  constexpr clock::duration period = std::chrono::milliseconds(100);
  if (clock::now().time_since_epoch().count() < next_check) return;
  poll_interrupt();
  next_check = (clock::now().time_since_epoch() + period).count();
}

/// Checks, if that is due, beside an operation with so many entries that it takes longer than a look at the clock.
inline void poll_beside(std::size_t entries) {
  constexpr std::size_t many = 1U << 16U;
  if (AGRAD_UNLIKELY(entries >= many)) poll_if_due();
}

/// Sets `n` numbers to zero and checks for interrupts meanwhile: pages that a process touches first take a second a gigabyte.
inline void fill_zero(double* first, std::size_t n) {
  constexpr std::size_t block = std::size_t{1} << 20U;
  for (std::size_t at = 0; at < n; at += block) {
    std::fill_n(first + at, std::min(block, n - at), 0.0);
    poll_beside(n - at);
  }
}

/// Checks between the steps of a loop; looks at the clock at least at every 64th step.
class interrupt_pace {
 public:
  /// `slots`: the work of a step, in additions or so; with many slots the clock is read at each step.
  explicit interrupt_pace(std::size_t slots = 0) { begin(slots); }
  void begin(std::size_t slots) { left_ = stride_ = std::min<std::size_t>(64, 1 + 4096 / (slots + 1)); }
  void step() {
    if (AGRAD_UNLIKELY(--left_ == 0)) poll();
  }

 private:
  AGRAD_COLD void poll() {
    left_ = stride_;
    poll_if_due();
  }

  std::size_t stride_ = 1, left_ = 1;  // steps between two looks at the clock
};

}  // namespace detail

}  // namespace agrad
