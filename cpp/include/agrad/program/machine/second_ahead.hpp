// Second ahead: tells the forward pass of a program that a reverse pass with tangents follows, for second derivatives.
//
// Operations whose second derivatives need another run than values and first derivatives do, such as solves whose steps must
// then end at kinks, choose that run at once. An operation that was not told runs again in its `second`.
// Read next: solve/record/solve_operation.hpp, a user.
#pragma once

#include <agrad/program/machine/partial_second.hpp>

namespace agrad {

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
