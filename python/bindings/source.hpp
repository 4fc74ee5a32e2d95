// Source: where in the user's Python code an operation is recorded, for messages.
//
// A place is the innermost frame that belongs neither to agrad nor to NumPy: a walk up a few frames, which only comparisons
// and recordings under watch pay for. Read next: array_class.cpp (truth), debug.cpp.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

namespace agrad::python {

/// A line of Python code; without code when there is no user's frame.
struct source_place {
  pybind11::object code;
  int line = 0;
  pybind11::object file() const;
};

/// The line that the user's code is at. Needs the interpreter lock.
source_place user_place();

/// How often the comparisons at each line of a recording were true and false.
class comparison_lines {
 public:
  /// One more outcome, at the line that the user's code is at.
  void add(bool outcome);
  /// For each line (file, line, times true, times false), in the order in which they were first met.
  pybind11::list tallies() const;

 private:
  struct tally {
    source_place place;
    std::uint64_t count[2];
  };
  std::vector<tally> lines_;  // few: a function has few comparisons, however often they are made
};

}  // namespace agrad::python
