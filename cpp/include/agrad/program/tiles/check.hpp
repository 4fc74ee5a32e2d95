// Check: compares a run in tiles with a run of whole operations (program/tiles/settings.hpp).
#pragma once

#include <agrad/program/machine/code.hpp>
#include <agrad/program/tiles/plan.hpp>

namespace agrad::detail {

class tile_check {
 public:
  /// Copies a workspace before its run.
  tile_check(const program_code& code, const tile_plan& plan, const workspace& w);

  /// Runs whole operations forward and throws std::logic_error where a value outside of registers has other bits.
  void compare_values(const workspace& w);
  /// After that: runs whole operations in reverse and throws std::logic_error where an adjoint of an input differs by more than
  /// rounding.
  void compare_adjoints(const workspace& w);

 private:
  const program_code& code_;
  const tile_plan& plan_;
  workspace whole_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/check.ipp>
#endif
