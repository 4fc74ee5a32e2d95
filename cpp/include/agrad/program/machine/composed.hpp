// Composed: marks the operations that a function of agrad records where a user sees one function, such as the tails and
// quantiles of a distribution.
//
// The formula inside of such a function is known and tested as a whole, also where a factor overflows or underflows: a zero
// inside times an infinite slope inside is zero. The rule for zeros that meet infinite slopes (program/machine/careful.hpp)
// holds between the functions that a user composes.
#pragma once

namespace agrad {

namespace detail {

/// Returns whether this thread records the operations of a composed function.
inline bool& is_composing() {
  static thread_local bool is_on = false;
  return is_on;
}

}  // namespace detail

/// While it lives, operations that this thread records are those of a composed function.
class composed_scope {
 public:
  explicit composed_scope(bool is_on = true) : before_(detail::is_composing()) { detail::is_composing() = is_on || before_; }
  ~composed_scope() { detail::is_composing() = before_; }
  composed_scope(const composed_scope&) = delete;
  composed_scope& operator=(const composed_scope&) = delete;

 private:
  bool before_;
};

}  // namespace agrad
