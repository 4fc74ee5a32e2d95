// Partial second order: marks passes whose adjoint tangents are only a part, because further terms are added elsewhere.
//
// The reverse pass over a recorded reverse pass differentiates an operation's Jacobian for constant adjoints of the results;
// the other terms take their own way through the recording. Operations whose limits need all terms (equal eigenvalues,
// rules/linalg/equal_values.hpp) have no derivative then.
#pragma once

namespace agrad {

/// Whether passes of this thread are partial.
inline thread_local bool second_is_partial = false;

/// Sets whether passes are partial until the end of the scope.
class partial_second {
 public:
  explicit partial_second(bool is = true) : before_(second_is_partial) { second_is_partial = is; }
  partial_second(const partial_second&) = delete;
  partial_second& operator=(const partial_second&) = delete;
  ~partial_second() { second_is_partial = before_; }

 private:
  bool before_;
};

}  // namespace agrad
