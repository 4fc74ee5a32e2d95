// Held code: a recorded right-hand side whose jumps are held, and the values that decide them.
//
// A comparison of states chooses a branch; while a step is attempted, the choice must not change, or the method differentiates
// across the jump. So the results of such operations become inputs of the program, the held sides: truths and signs, whole
// numbers of roundings, quotients of remainders. A second program has the two sides of each of them, whose difference is zero
// where the choice changes, and a third one the results themselves. Operations that are continuous where they switch
// (solve/system/jumps/kinks.hpp), and those whose times are known before the solve (solve/system/jumps/time_switches.hpp),
// are left alone.
// Read next: solve/system/program/switches.hpp, the user.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/solve/system/jumps/jump_site.hpp>

namespace agrad {

/// One entry of an operation whose result is held: an operation on two numbers x and y (or on x alone, then y = x).
struct held_entry {
  jump_site site;
  const kernel* what = nullptr;
  slot x = 0, y = 0, result = 0;  // in the recorded right-hand side
  bool is_linear = false;         // whether x and y are piecewise linear in t and the states

  /// The operation in the user's words, as far as they are known: "y[0] > 4".
  std::string text = {};

  /// Returns what is held where the two numbers have these values: the result, or of a remainder the quotient.
  double side_at(double x_value, double y_value) const;
};

struct held_code {
  std::vector<held_entry> entries;
  std::shared_ptr<const program> f;      // of (t, n states, parameters, held sides)
  std::shared_ptr<const program> sides;  // of the same; x and y of each entry
  std::shared_ptr<const program> plain;  // of (t, n states, parameters); x, y and result of each entry
};

/// Returns the held code of a right-hand side of (t, n states, parameters); without entries the programs are null.
held_code held_code_of(const program& f, std::size_t n);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/held_code.ipp>
#endif
