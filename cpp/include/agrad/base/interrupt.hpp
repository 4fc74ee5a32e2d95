// Interrupt: how a long computation learns that its user wants it to end.
//
// Solvers call `poll_interrupt` now and then. It does nothing unless a host has set `interrupt_check`, which may throw; the
// Python module sets it to look for Ctrl-C. A thread that works for another one looks at that one's wish to stop instead.
#pragma once

#include <atomic>

namespace agrad {

/// Set once, before any computation starts; throws to end the computation that calls it.
inline void (*interrupt_check)() = nullptr;

/// Of a thread that works for another one: whether it is to stop.
inline thread_local const std::atomic<bool>* stop_requested = nullptr;

/// Thrown in such a thread when it is.
struct stopped {};

/// Whether an interrupt ended what this thread did last.
inline thread_local bool was_interrupted = false;

inline void poll_interrupt() {
  if (stop_requested != nullptr) {
    if (*stop_requested) throw stopped();
    return;
  }
  if (interrupt_check == nullptr) return;
  try {
    interrupt_check();
  } catch (...) {
    was_interrupted = true;
    throw;
  }
}

}  // namespace agrad
