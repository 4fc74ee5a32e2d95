// Recorded derivatives in Python: methods of the class Recording, with arrays of the recording as arguments and results.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/program/derive/linearity.hpp>

#include "../../../cpp/rows/derivatives.hpp"
#include "../arrays/array.hpp"
#include "../errors.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

std::vector<slot> slots_of(const std::vector<array>& arrays) {
  std::vector<slot> slots;
  for (const array& a : arrays)
    for (std::size_t i = 0, n = a.size(); i < n; ++i) slots.push_back(a.at(i));
  return slots;
}

std::vector<slot> seeds_of(const std::shared_ptr<recording>& r, const py::object& seeds, std::size_t n) {
  const array given = as_array(r, r->function, seeds);
  if (given.size() != n)
    throw ShapeError(r->function + ": a direction has another size than the values, but must have the same");
  return given.slots();
}

array variable(const std::shared_ptr<recording>& r, const array& x) {
  check_open(r->function.c_str(), *r);
  const std::vector<slot> slots = x.slots();
  return {r, x.shape(), r->code.variables(slots.data(), slots.size())};
}

array adjoints(const std::shared_ptr<recording>& r, std::size_t begin, std::size_t end, const array& output,
               const py::object& seeds, const std::vector<array>& required) {
  check_open(r->function.c_str(), *r);
  std::vector<slot> slots =
      record_adjoints(r->code, begin, end, output.slots(), seeds_of(r, seeds, output.size()), slots_of(required));
  const auto n = static_cast<py::ssize_t>(slots.size());
  return {r, {n}, std::move(slots)};
}

array tangents(const std::shared_ptr<recording>& r, std::size_t begin, std::size_t end, const std::vector<array>& inputs,
               const py::object& seeds, const array& output) {
  check_open(r->function.c_str(), *r);
  const std::vector<slot> from = slots_of(inputs);
  return {r, output.shape(), record_tangents(r->code, begin, end, from, seeds_of(r, seeds, from.size()), output.slots())};
}

linearity dependence_on(const std::shared_ptr<recording>& r, std::size_t begin, const std::vector<array>& on) {
  check_open(r->function.c_str(), *r);
  return {r->code, begin, slots_of(on)};
}

bool has_external(const recording& r, std::size_t begin) {
  const std::vector<operation>& all = r.code.code().operations;
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(std::min(begin, all.size())), all.end(),
                     [](const operation& op) { return op.what == &kernels::external; });
}

}  // namespace

void register_derivatives(py::module_& m) {
  m.def(
      "set_composing", [](bool is_on) { return std::exchange(detail::is_composing(), is_on); }, py::arg("is_on"),
      "Sets whether this thread records operations of a composed function; returns whether it did.");
  py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"))
      .def_property_readonly(
          "operations", [](const recording& r) { return r.code.code().operations.size(); }, "The number of operations so far.")
      .def("variable", &variable, py::arg("x"), "The same numbers in new slots, by which derivatives will be taken.")
      .def("adjoints", &adjoints, py::arg("begin"), py::arg("end"), py::arg("output"), py::arg("seeds"), py::arg("required"),
           "Records the reverse pass over the operations from `begin` to before `end`; returns the adjoints of `required`, one "
           "after the "
           "other.")
      .def("tangents", &tangents, py::arg("begin"), py::arg("end"), py::arg("inputs"), py::arg("seeds"), py::arg("output"),
           "Records the tangents of the operations from `begin` to before `end`; returns those of `output`, in its shape.")
      .def("has_external", &has_external, py::arg("begin"),
           "Whether an operation from `begin` on is not made of rules, such as a loop.")
      .def(
          "depends",
          [](const std::shared_ptr<recording>& r, std::size_t begin, const std::vector<array>& on,
             const std::vector<array>& x) { return dependence_on(r, begin, on).depends(slots_of(x)); },
          py::arg("begin"), py::arg("on"), py::arg("x"), "Whether x depends on `on` by the operations from `begin` on.")
      .def(
          "is_linear",
          [](const std::shared_ptr<recording>& r, std::size_t begin, const std::vector<array>& on,
             const std::vector<array>& x) { return dependence_on(r, begin, on).is_linear(slots_of(x)); },
          py::arg("begin"), py::arg("on"), py::arg("x"), "Whether x is linear in `on`, which are zeros.");
}

}  // namespace agrad::python
