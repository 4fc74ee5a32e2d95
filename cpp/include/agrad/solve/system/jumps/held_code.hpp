// Held code: a recorded right-hand side whose jumps are held, and the values that decide them.
//
// A comparison of states chooses a branch; while a step is attempted, the choice must not change, or the method differentiates
// across the jump. So the results of such operations become inputs of the program, the held sides: truths and signs, whole
// numbers of roundings, quotients of remainders. A second program has the two sides of each of them, whose difference is zero
// where the choice changes, and a third one the results themselves. Operations whose times are known before the solve
// (solve/system/jumps/time_switches.hpp) are left alone, and so are those that are continuous where they switch
// (solve/system/jumps/kinks.hpp): only second derivatives need these, whose held side tells which branch is computed.
// Read next: solve/system/program/program_switches.hpp, the user.
#pragma once

#include <algorithm>
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
  bool is_kink = false;           // whether the right-hand side is continuous where the side changes

  /// The operation in the user's words, as far as they are known: "y[0] > 4".
  std::string text = {};

  /// Returns what is held where the two numbers have these values: the result, of a remainder the quotient, of the absolute
  /// value the sign, and of a larger or smaller number whether it is x.
  double side_at(double x_value, double y_value) const;
};

struct held_code {
  std::vector<held_entry> entries;
  std::shared_ptr<const program> f;      // of (t, n states, parameters, held sides)
  std::shared_ptr<const program> sides;  // of the same; x and y of each entry
  std::shared_ptr<const program> plain;  // of (t, n states, parameters); x, y and result of each entry
};

/// Returns whether kinks are held.
inline bool has_kinks(const held_code& code) {
  return std::any_of(code.entries.begin(), code.entries.end(), [](const held_entry& each) { return each.is_kink; });
}

/// Which operations are held: those that jump, or those with kinks, too.
enum class held_kind { jumps, jumps_and_kinks };

/// Returns the held code of a right-hand side of (t, n states, parameters); without entries the programs are null.
held_code held_code_of(const program& f, std::size_t n, held_kind kind = held_kind::jumps);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/held_code.ipp>
#endif
