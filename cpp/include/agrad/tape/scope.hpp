// Scope: removes from the tape all that was recorded since the scope opened, also when an exception passes.
//
//     { agrad::scope inner; var y = f(x); y.grad(); ... }   // what was recorded inside is gone, what was before is as before
//
// Scopes nest, and a reverse pass covers all of them: adjoints of variables of outer scopes are complete derivatives, too. A
// reverse pass ends at an isolated scope: variables from outside are constant inside, and their adjoints do not change. `adj`
// of a variable of an ended scope throws ScopeError. A scope that ends before a scope inside of it is removed when the inner
// scope ends.
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

/// A scope at whose beginning reverse passes end. Outer variables are constant inside, and their number costs nothing.
class isolated_scope : public scope {
 public:
  explicit isolated_scope(tape& on = tape::current()) : scope(on, true) {}
};

/// Removes all that was recorded in the innermost scope of this thread's tape. The memory is reused for the next gradient.
inline void reset() { tape::current().reset(); }

}  // namespace agrad
