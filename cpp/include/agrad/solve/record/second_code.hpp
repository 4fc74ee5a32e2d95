// Second code: what a recorded right-hand side needs beside its own program where second derivatives are wanted.
//
// A kink changes neither values nor first derivatives, so solves do not look for it. But where the time of a kink moves, the
// second derivatives have a term from there, like first derivatives at a jump. So the solve for second derivatives holds
// comparisons that make kinks, too, and its steps end where one changes. The search for them waits for the first such solve.
// Read first: solve/system/jumps/held_code.hpp. Read next: solve/record/event_problem.hpp, solve/record/ode_problem.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/jumps/time_switches.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

class second_code {
 public:
  struct found {
    std::shared_ptr<const program> f;  // the right-hand side, with operations that have many kinks written out
    std::shared_ptr<const held_code> held;
    time_switches switches;
    std::shared_ptr<program_structure> structure = std::make_shared<program_structure>();
  };

  /// f: a right-hand side of (t, n states, parameters). tolerance: the relative tolerance of the states.
  second_code(std::shared_ptr<const program> f, std::size_t n, double tolerance)
      : f_(std::move(f)), n_(n), tolerance_(tolerance) {}

  /// Returns what the search has found; null without kinks.
  const found* get() const;

 private:
  std::shared_ptr<const program> f_;
  std::size_t n_;
  double tolerance_;
  mutable fork_safe_mutex mutex_;
  mutable bool is_searched_ = false;
  mutable std::unique_ptr<const found> found_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/second_code.ipp>
#endif
