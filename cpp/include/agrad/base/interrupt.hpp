// Interrupt: how a user ends a long computation.
//
// Solvers call `poll_interrupt` regularly. The function does nothing unless a host has set `interrupt_check`, which may throw;
// the Python module's check looks for Ctrl-C. A worker thread checks the stop request of the thread for which it works instead,
// and so does a thread whose caller has a stop request of its own.
#pragma once

#include <atomic>

namespace agrad {

/// Set once, before any computation starts. The function throws to end the calling computation.
inline void (*interrupt_check)() = nullptr;

/// Set in a worker thread, or by a caller: whether the thread's computation is to stop.
inline thread_local const std::atomic<bool>* stop_requested = nullptr;

/// Thrown in a thread that is to stop.
struct stopped {};

/// Whether this thread's computation must do without the host's code, such as Python's, because its caller may wait for the
/// computation while it holds a lock that such code needs. A worker thread takes it over from the thread for which it works.
inline thread_local bool is_without_host = false;

/// Whether an interrupt ended the last computation of this thread.
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
