// Jump site: an operation of a recorded function that jumps, or has a kink, where its first argument passes its second one,
// zero, a whole number, a whole multiple of its second argument, or an entry of a table.
//
// Between two such places the operation's result is known from the result at one point: a truth, a sign, a whole number, or the
// quotient of a remainder.
// Read next: solve/system/jumps/time_switches.hpp, solve/system/jumps/held_code.hpp, the users.
#pragma once

#include <agrad/program/recording/elementwise.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/steps.hpp>

namespace agrad {

struct jump_site {
  enum how { none, comparison, side, rounding, quotient, lookup } kind = none;
  /// Which whole number a number between two of them becomes.
  enum way { down, up, nearest, to_zero } rounds = down;
  bool has_other = false;  // there is a second argument that matters: y
  bool is_rest = false;    // the result is the remainder of the quotient
  bool is_kink = false;    // the result is continuous

  bool halves() const { return rounds == nearest; }  // jumps at midpoints between whole numbers
  bool is_single() const { return kind == comparison || kind == side; }
};

jump_site jump_site_of(const operation& op);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/jump_site.ipp>
#endif
