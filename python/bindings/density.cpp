// The rows of densities in Python: one operation for a whole data set, recorded or evaluated at once.
#include "../../cpp/rows/rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "array.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// The shape that all arguments broadcast to must be that of those which are no single numbers.
std::size_t terms_of(const density_row& row, const std::vector<array>& x) {
  const array* longest = nullptr;
  for (const array& a : x)
    if (a.size() != 1 || (longest == nullptr && !a.shape().empty()))
      longest = longest == nullptr || longest->size() == 1 ? &a : longest;
  if (longest == nullptr) return 1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k].size() == 1 || x[k].shape() == longest->shape()) continue;
    throw ShapeError(std::string(row.name) + ": " + std::string(row.arguments[k].name) + " is of shape " +
                     to_text(x[k].shape()) + ", but must be of shape " + to_text(longest->shape()) +
                     "; arrays have one shape, single numbers broadcast");
  }
  return longest->size();
}

span operand(const array& a, std::size_t n) {
  const span s = a.as_span();
  return a.size() == 1 ? span{s.first, 1, static_cast<std::uint16_t>(n == 1 && !a.shape().empty() ? 1 : 0), s.active} : s;
}

array record(const density_row& row, const std::vector<array>& x, bool propto) {
  const std::size_t n = terms_of(row, x);
  span operands[operation::most_operands];
  for (std::size_t k = 0; k < x.size(); ++k) operands[k] = operand(x[k], n);
  const auto& in = x[0].owner();
  const slot first = in->code.apply(*row.loops, 1, operands, x.size(), {static_cast<std::uint32_t>(n), propto ? 1U : 0U});
  return array(in, {}, first);
}

py::object call(const density_row& row, const py::args& arguments, bool propto) {
  const std::string name(row.name);
  if (arguments.size() != static_cast<std::size_t>(row.arity)) {
    fail_type(name + ": number of arguments is " + std::to_string(arguments.size()) + ", but must be " +
              std::to_string(row.arity));
  }
  const auto outer = recording_of(name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  std::vector<array> x;
  for (const py::handle argument : arguments) x.push_back(as_array(in, row.name, argument));
  const array y = record(row, x, propto && outer);
  return outer ? py::cast(y) : py::object(py::float_(in->code.value(y.at(0))));
}

}  // namespace

void register_densities(py::module_& m) {
  py::class_<density_row>(m, "DensityRow", "A log probability density: what is known of it and how to call it.")
      .def_property_readonly("name", [](const density_row& r) { return r.name; })
      .def_property_readonly("text", [](const density_row& r) { return r.text; })
      .def_property_readonly("source", [](const density_row& r) { return r.source; })
      .def_property_readonly("arguments",
                             [](const density_row& r) {
                               py::list arguments;
                               for (int k = 0; k < r.arity; ++k)
                                 arguments.append(py::make_tuple(r.arguments[k].name, r.arguments[k].must.name));
                               return arguments;
                             })
      .def("__call__", &call, py::kw_only(), py::arg("propto") = false);
  m.def(
      "density_rows",
      [] {
        py::list rows;
        for (const density_row& row : density_rows()) rows.append(py::cast(&row, py::return_value_policy::reference));
        return rows;
      },
      "All log probability densities.");
}

}  // namespace agrad::python
