// Run: the steps of every call of a program from Python: its inputs as one vector, and the run without the interpreter lock.
#pragma once

#include <pybind11/numpy.h>

#include <string>
#include <vector>

#include <agrad/program/machine/structure.hpp>
#include <agrad/program/program.hpp>

#include "../lock.hpp"

namespace agrad::python {

using doubles = pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;

/// Returns a copy of n numbers.
inline doubles to_numpy(const double* x, std::size_t n) { return doubles(static_cast<pybind11::ssize_t>(n), x); }

/// Returns the inputs as parts of the list of all inputs; throws ShapeError if the program has another number of inputs.
inline list_sources parts_of(const program& p, const std::vector<doubles>& inputs) {
  list_sources parts;
  std::size_t begin = 0;
  for (const doubles& values : inputs) {
    parts.push_back({values.data(), begin, static_cast<std::size_t>(values.size())});
    begin += parts.back().count;
  }
  if (begin != p.input_size())
    throw ShapeError("program: number of inputs is " + std::to_string(begin) + ", but must be " +
                     std::to_string(p.input_size()));
  return parts;
}

/// Returns a copy of all inputs, one after the other; throws ShapeError if the program has another number of inputs.
inline std::vector<double> joined(const program& p, const std::vector<doubles>& inputs) {
  std::vector<double> x;
  x.reserve(p.input_size());
  for (const auto& part : parts_of(p, inputs)) x.insert(x.end(), part.at, part.at + part.count);
  return x;
}

/// Runs `call` without the interpreter lock; returns whether the run stayed on the recorded path.
template <class Call>
bool on_path(const Call& call) {
  const lock_left unlocked;
  try {
    call();
  } catch (const kernels::path_left&) {
    return false;
  }
  return true;
}

}  // namespace agrad::python
