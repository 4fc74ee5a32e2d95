// Row lists: what the tables of functions have in common in Python.
//
// Tables are vectors of rows, and calls of a row have a number of arguments; a density's arguments have names and conditions.
// Read next: rows.cpp, linalg.cpp, density.cpp, multivariate.cpp.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <vector>

#include "../errors.hpp"

namespace agrad::python {

namespace py = pybind11;

/// Throws TypeError unless a function is called with `count` arguments.
inline void check_count(std::string_view function, int count, const py::args& given, std::string_view hint = {}) {
  if (given.size() == static_cast<std::size_t>(count)) return;
  fail_type(std::string(function) + ": number of arguments is " + std::to_string(given.size()) + ", but must be " +
            std::to_string(count) + std::string(hint));
}

/// Returns the name and the name of the condition of each argument.
template <class Row>
py::list arguments_of(const Row& row) {
  py::list arguments;
  for (int k = 0; k < row.arity; ++k) arguments.append(py::make_tuple(row.arguments[k].name, row.arguments[k].must.name));
  return arguments;
}

/// Returns the conditions on two arguments: the first one's index, the condition, the second one's index.
template <class Row>
py::list pairs_of(const Row& row) {
  py::list pairs;
  for (std::size_t k = 0; k < row.pair_count; ++k)
    pairs.append(py::make_tuple(row.pairs[k].first, row.pairs[k].must.name, row.pairs[k].second));
  return pairs;
}

/// Returns the rows of a table, which lives as long as the program.
template <class Row>
py::list references_to(const std::vector<Row>& rows) {
  py::list list;
  for (const Row& row : rows) list.append(py::cast(&row, py::return_value_policy::reference));
  return list;
}

}  // namespace agrad::python
