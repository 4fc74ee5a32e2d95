// Source: the place in the user's Python code at which an operation is recorded, for messages.
//
// A place is the innermost frame that belongs neither to agrad nor to NumPy. The search goes up a few frames; only comparisons
// and watched recordings pay for the search. Read next: array_class.cpp (truth), debug.cpp.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

namespace agrad::python {

/// A line of Python code; `code` is empty if there is no frame of the user.
struct source_place {
  pybind11::object code;
  int line = 0;
  pybind11::object file() const;
};

/// Returns the current line of the user's code. Needs the interpreter lock.
source_place user_place();

/// Counts how often the comparisons at each line of a recording were true and false.
class comparison_lines {
 public:
  /// Counts an outcome at the current line of the user's code.
  void add(bool outcome);
  /// Returns (file, line, times true, times false) for each line, in the order of the first comparisons.
  pybind11::list tallies() const;

 private:
  struct tally {
    source_place place;
    std::uint64_t count[2];
  };
  std::vector<tally> lines_;  // few: one for each comparison in the code
};

}  // namespace agrad::python
