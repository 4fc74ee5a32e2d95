// Scope: gives back by RAII all that was recorded since, also when an exception passes.
//
//     { agrad::scope inner; var y = f(x); y.grad(); ... }   // what was recorded inside is gone, what was before is as before
//
// Scopes nest. A sweep inside reaches to the scope's begin. Variables of an ended scope raise ScopeError when asked for
// their adjoint.
#pragma once

#include <agrad/tape/tape.hpp>

namespace agrad {

class scope {
 public:
  explicit scope(tape& on = tape::current()) : tape_(on), outer_(on.open_scope()) {}
  ~scope() { tape_.close_scope(outer_); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  tape& tape_;
  tape::mark outer_;
};

/// Forgets everything recorded in the innermost scope of this thread's tape, keeping its memory for the next gradient.
inline void reset() { tape::current().reset(); }

}  // namespace agrad
