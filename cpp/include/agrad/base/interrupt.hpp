// Interrupt: how a long computation learns that its user wants it to end.
//
// Solvers call `poll_interrupt` now and then. It does nothing unless a host has set `interrupt_check`, which may throw; the
// Python module sets it to look for Ctrl-C.
#pragma once

namespace agrad {

/// Set once, before any computation starts; throws to end the computation that calls it.
inline void (*interrupt_check)() = nullptr;

inline void poll_interrupt() {
  if (interrupt_check != nullptr) interrupt_check();
}

}  // namespace agrad
