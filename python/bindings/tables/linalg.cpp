// The table of linear algebra in Python: one recorded operation for each matrix.
//
// Stacks and NumPy's conventions are handled in python/agrad/_numpy/linalg.py; arguments here are vectors and matrices, results
// matrices.
#include "../../../cpp/rows/linalg_rows.hpp"

#include <pybind11/pybind11.h>

#include "../arrays/array.hpp"
#include "row_lists.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

linalg::shape matrix_shape(const linalg_row& row, const array& x) {
  const shape_type& s = x.shape();
  if (s.empty() || s.size() > 2)
    throw ShapeError(std::string(row.name) + ": argument is of shape " + to_text(s) + ", but must be a vector or a matrix");
  return {static_cast<linalg::Index>(s[0]), static_cast<linalg::Index>(s.size() == 2 ? s[1] : 1)};
}

/// Returns the results as matrices, a scalar as 1 x 1.
py::tuple record_linalg(const linalg_row& row, const py::args& arguments) {
  const std::string name(row.name);
  check_count(name, row.arguments, arguments);
  const auto in = recording_of(name.c_str(), arguments);
  if (!in) fail_type(name + ": arguments are plain arrays, but must be recorded; call SciPy's or NumPy's function");
  span operands[operation::most_operands];
  linalg::shape x[most_matrices], y[most_matrices];
  std::uint32_t sizes[2 * most_matrices] = {};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const array a = as_array(in, row.name, arguments[i]);
    x[i] = matrix_shape(row, a);
    operands[i] = a.as_dense();
    sizes[2 * i] = static_cast<std::uint32_t>(x[i].rows);
    sizes[2 * i + 1] = static_cast<std::uint32_t>(x[i].cols);
  }
  std::size_t count = row.layout(x, y);
  for (int r = 0; r < row.results; ++r) count += static_cast<std::size_t>(y[r].rows * y[r].cols);
  const auto& [m0, n0, m1, n1, m2, n2] = sizes;
  const auto apply = [&](std::initializer_list<std::uint32_t> shapes) {
    return in->code.apply(*row.loops, count, operands, shapes.size() / 2, shapes);
  };
  slot next = arguments.size() == 1   ? apply({m0, n0})
              : arguments.size() == 2 ? apply({m0, n0, m1, n1})
                                      : apply({m0, n0, m1, n1, m2, n2});
  py::tuple results(static_cast<std::size_t>(row.results));
  for (int r = 0; r < row.results; ++r) {
    results[static_cast<std::size_t>(r)] = py::cast(array(in, {y[r].rows, y[r].cols}, next));
    next += static_cast<slot>(y[r].rows * y[r].cols);
  }
  return results;
}

}  // namespace

void register_linalg(py::module_& m) {
  py::class_<linalg_row>(m, "LinalgRow", "An operation on whole matrices: its name and texts, and recording.")
      .def_property_readonly("name", [](const linalg_row& r) { return r.name; })
      .def_property_readonly("text", [](const linalg_row& r) { return r.text; })
      .def_property_readonly("source", [](const linalg_row& r) { return r.source; })
      .def_readonly("options", &linalg_row::options)
      .def_readonly("arguments", &linalg_row::arguments)
      .def_readonly("results", &linalg_row::results)
      .def("__call__", &record_linalg);
  m.def(
      "linalg_rows", [] { return references_to(linalg_rows()); }, "All operations of linear algebra.");
}

}  // namespace agrad::python
