// The table of elementwise functions in Python: their metadata, their values on NumPy arrays and their recording.
#include "../../../cpp/rows/rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "../../../cpp/rows/added_rules.hpp"
#include "../arrays/array.hpp"
#include "row_lists.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

py::list domain_of(const elementwise_row& row) {
  py::list domain;
  for (int i = 0; i < row.arity; ++i) {
    const interval& of = row.domain[i];
    domain.append(py::make_tuple(of.lower, of.upper, of.whole));
  }
  return domain;
}

void check_arity(const elementwise_row& row, const py::args& arguments) {
  check_count(row.name, row.arity, arguments,
              row.name == "log_sum_exp" ? "; ag.special.logsumexp(x) is that of the entries of an array" : "");
}

/// Computes the function, or with `wrt` >= 0 its partial derivative, of plain numbers and arrays: by the kernel of a program,
/// on a small recording.
py::object evaluate(const elementwise_row& row, const py::args& arguments, int wrt) {
  check_arity(row, arguments);
  const auto scratch = std::make_shared<recording>();
  scratch->function = std::string(row.name);
  std::vector<array> x;
  py::list inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto values = as_array(scratch, row.name, arguments[i]);
    std::vector<double> copy(values.size());
    for (std::size_t k = 0; k < copy.size(); ++k) copy[k] = scratch->code.value(values.at(k));
    x.emplace_back(scratch, values.shape(), scratch->code.input(copy.data(), copy.size()));
    inputs.append(py::cast(x.back()));
  }
  const array y = record_elementwise(row, py::args(py::tuple(inputs)));
  std::vector<double> result(y.size());
  if (wrt < 0) {
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = scratch->code.value(y.at(k));
  } else {
    const std::vector<slot> outputs = y.slots(), required = x.at(static_cast<std::size_t>(wrt)).slots();
    if (required.size() != outputs.size()) throw py::value_error("derivative: arguments must have the shape of the result");
    const std::vector<double> seeds(outputs.size(), 1.0);
    scratch->code.reverse(outputs.data(), seeds.data(), seeds.size(), required.data(), result.data(), required.size());
  }
  if (y.shape().empty()) return py::float_(result[0]);
  return py::array_t<double>(y.shape(), result.data());
}

/// Computes the second partial derivative with respect to arguments i and j, of numbers: by the kernel's second order, with
/// tangents along argument j.
double second_derivative(const elementwise_row& row, std::size_t i, std::size_t j, const std::vector<double>& arguments) {
  const std::size_t arity = arguments.size();
  if (arity != static_cast<std::size_t>(row.arity) || i >= arity || j >= arity)
    throw py::index_error(std::string(row.name) + ": has no such argument");
  std::vector<double> values(arguments), tangents(arity + 1), adjoints(arity + 1), adjoint_tangents(arity + 1);
  values.push_back(0);
  tangents[j] = 1;
  adjoints[arity] = 1;
  operation op;
  op.what = row.loops;
  op.result = static_cast<slot>(arity);
  op.count = 1;
  op.arity = static_cast<std::uint32_t>(arity);
  for (std::size_t k = 0; k < arity; ++k) op.operands[k] = {static_cast<slot>(k), 1};
  row.loops->forward(op, {}, values.data());
  row.loops->tangent.one(op, {}, values.data(), tangents.data());
  row.loops->second.one(op, {}, {values.data(), tangents.data(), adjoints.data(), adjoint_tangents.data()});
  return adjoint_tangents[i];
}

}  // namespace

void register_rows(py::module_& m) {
  py::class_<elementwise_row>(m, "ElementwiseRow", "An elementwise function: its name, domain and texts, and calls.")
      .def_property_readonly("name", [](const elementwise_row& r) { return r.name; })
      .def_property_readonly("text", [](const elementwise_row& r) { return r.text; })
      .def_property_readonly("reference", [](const elementwise_row& r) { return r.reference; })
      .def_property_readonly("ufunc", [](const elementwise_row& r) { return r.ufunc.empty() ? r.name : r.ufunc; })
      .def_property_readonly("stan", [](const elementwise_row& r) { return r.stan; })
      .def_property_readonly("source", [](const elementwise_row& r) { return r.source; })
      .def_property_readonly("must", [](const elementwise_row& r) { return r.must; })
      .def_readonly("arity", &elementwise_row::arity)
      .def_property_readonly("domain", &domain_of)
      .def_readonly("outside", &elementwise_row::outside)
      .def("__call__",
           [](const elementwise_row& row, const py::args& arguments) -> py::object {
             if (recording_of(std::string(row.name).c_str(), arguments) == nullptr) return evaluate(row, arguments, -1);
             check_arity(row, arguments);
             return py::cast(record_elementwise(row, arguments));
           })
      .def(
          "derivative",
          [](const elementwise_row& row, int wrt, const py::args& arguments) { return evaluate(row, arguments, wrt); },
          "Partial derivative with respect to argument `wrt`, for plain numbers and arrays.")
      .def("second_derivative", &second_derivative, py::arg("i"), py::arg("j"), py::arg("arguments"),
           "Second partial derivative with respect to arguments i and j, for a list of numbers.");
  m.def(
      "elementwise_rows", [] { return references_to(elementwise_rows()); }, "All elementwise functions of agrad.");
  m.def(
      "add_rules",
      [](std::uintptr_t library, const std::string& file) {
        py::list rows;
        for (const elementwise_row* row : add_rules(reinterpret_cast<const rule_library*>(library), file))
          rows.append(py::cast(row, py::return_value_policy::reference));
        return rows;
      },
      py::arg("library"), py::arg("file"),
      "Adds the rules of a library at an address, which stays loaded; its elementwise functions.");
}

}  // namespace agrad::python
