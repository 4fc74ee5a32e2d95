// Time course: tells which values of a recorded function are piecewise constant or linear in t, with parameters held constant.
//
// The times at which such a value passes a number are known before a solve (solve/system/jumps/time_switches.hpp); those of
// other values are found step by step, as those of states are (solve/system/jumps/held_code.hpp). The fact follows from the
// recorded operations, not from values.
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/program/sparse/reach.hpp>

namespace agrad {

class time_course {
 public:
  /// f: of (t, n states, parameters). with_states: whether a value may also be linear in the states.
  time_course(const program& f, std::size_t n, bool with_states = false);

  /// Returns whether the value is piecewise linear in t; without `with_states` false for values that depend on states.
  bool is_linear(slot s) const { return of_[s] != other; }
  /// Returns whether the value is constant, but for jumps that jump sites make: a whole number, a truth, a choice of constants.
  bool is_constant(slot s) const { return of_[s] == constant; }

 private:
  enum course : std::uint8_t { constant, linear, other };

  course of(const std::vector<std::uint32_t>& integers, const operation& op, std::size_t i) const;

  std::vector<course> of_;  // of each slot
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/time_course.ipp>
#endif
