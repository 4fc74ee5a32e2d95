// Scope: gives back by RAII all that was recorded since, also when an exception passes.
//
//     { agrad::scope inner; var y = f(x); y.grad(); ... }   // what was recorded inside is gone, what was before is as before
//
// Scopes nest, and a sweep goes through all of them: adjoints of variables outside are whole derivatives too. An isolated
// scope ends sweeps: what lies outside is constant inside, and keeps its adjoints. Variables of an ended scope raise ScopeError
// when asked for their adjoint. A scope that ends before one inside of it is given back when that one ends.
#pragma once

#include <agrad/tape/tape.hpp>

namespace agrad {

class scope {
 public:
  explicit scope(tape& on = tape::current()) : scope(on, false) {}
  ~scope() { tape_.close_scope(depth_); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 protected:
  scope(tape& on, bool isolated) : tape_(on), depth_(on.open_scope(isolated)) {}

 private:
  tape& tape_;
  std::size_t depth_;
};

/// A scope whose sweeps end at its begin, whatever lies outside: that costs them nothing, and is constant to them.
class isolated_scope : public scope {
 public:
  explicit isolated_scope(tape& on = tape::current()) : scope(on, true) {}
};

/// Forgets everything recorded in the innermost scope of this thread's tape, keeping its memory for the next gradient.
inline void reset() { tape::current().reset(); }

}  // namespace agrad
