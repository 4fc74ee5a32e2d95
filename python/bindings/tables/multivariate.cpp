// The table of multivariate densities in Python: one call for all observations, recorded or evaluated at once.
#include "../../../cpp/rows/multivariate_rows.hpp"

#include <pybind11/stl.h>

#include "../arrays/array.hpp"
#include "row_lists.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

py::object call_multivariate(const multivariate_row& row, const py::args& arguments, bool propto) {
  const std::string name(row.name);
  check_count(row.name, row.arity, arguments);
  const auto outer = recording_of(name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  span operands[multivariate_row::most_arguments];
  detail::given_shape shapes[multivariate_row::most_arguments];
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const array x = as_array(in, row.name, arguments[k]);
    operands[k] = x.as_dense();
    shapes[k].axes = static_cast<int>(x.shape().size());
    if (shapes[k].axes > 0) shapes[k].rows = x.shape()[0];
    if (shapes[k].axes > 1) shapes[k].cols = x.shape()[1];
  }
  const slot sum = row.record(in->code, operands, shapes, propto);
  return outer ? py::cast(array(in, {}, sum)) : py::object(py::float_(in->code.value(sum)));
}

py::list shapes_of(const multivariate_row& row) {
  py::list shapes;
  for (int k = 0; k < row.arity; ++k) shapes.append(std::string{row.arguments[k].rows, row.arguments[k].cols});
  return shapes;
}

/// Returns what may be given instead of each argument.
py::list shorthands_of(const multivariate_row& row) {
  py::list names;
  for (int k = 0; k < row.arity; ++k) {
    const shorthand form = row.arguments[k].may_be;
    names.append(form == shorthand::diagonal ? "diagonal" : form == shorthand::number ? "number" : "");
  }
  return names;
}

}  // namespace

void register_multivariate(py::module_& m) {
  py::class_<multivariate_row>(m, "MultivariateRow",
                               "A log density of vectors or matrices: its name, arguments and texts, and calls.")
      .def_property_readonly("name", [](const multivariate_row& r) { return r.name; })
      .def_property_readonly("text", [](const multivariate_row& r) { return r.text; })
      .def_property_readonly("source", [](const multivariate_row& r) { return r.source; })
      .def_property_readonly("has_propto", [](const multivariate_row& r) { return r.has_propto(); })
      .def_property_readonly("is_product", [](const multivariate_row& r) { return r.is_product; })
      .def_property_readonly("arguments", &arguments_of<multivariate_row>)
      .def_property_readonly("shapes", &shapes_of)
      .def_property_readonly("shorthands", &shorthands_of)
      .def("__call__", &call_multivariate, py::kw_only(), py::arg("propto") = false);
  m.def(
      "multivariate_rows", [] { return references_to(multivariate_rows()); }, "All log densities of vectors and matrices.");
}

}  // namespace agrad::python
