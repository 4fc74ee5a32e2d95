// Second order: what a thread knows about its passes with second derivatives.
//
// Passes are partial where further terms are added elsewhere: the reverse pass over a recorded reverse pass differentiates an
// operation's Jacobian for constant adjoints of the results, and the other terms take their own way through the recording.
// Operations whose limits need all terms (equal eigenvalues, rules/spectra/equal_values.hpp) have no derivative then.
//
// A forward pass may know that second derivatives follow. Operations whose second derivatives need another run than values and
// first derivatives do, such as solves whose steps must then end at kinks, choose that run at once. An operation that was not
// told runs again in its `second`.
// Read next: solve/record/solve_operation.hpp, a user.
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

/// Whether forward passes of this thread precede second derivatives.
inline thread_local bool second_follows = false;

/// Sets whether second derivatives follow until the end of the scope.
class second_ahead {
 public:
  explicit second_ahead(bool is = true) : before_(second_follows) { second_follows = is; }
  second_ahead(const second_ahead&) = delete;
  second_ahead& operator=(const second_ahead&) = delete;
  ~second_ahead() { second_follows = before_; }

 private:
  bool before_;
};

/// What a thread that works for another one takes over from it.
struct second_order_marks {
  partial_second is_partial;
  second_ahead is_ahead;
};

}  // namespace agrad
