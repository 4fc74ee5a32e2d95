// Recordings and programs in Python: inputs, reverse passes, runs.
//
// The interpreter lock is released while a program runs. A program keeps one workspace for each thread that runs it at the same
// time, so that the second call allocates nothing.
#include <agrad/program/program.hpp>

#include <agrad/program/derive/for_inputs.hpp>
#include <agrad/program/jacobian.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <algorithm>
#include <functional>
#include <optional>

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "../arrays/array.hpp"
#include "../errors.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

std::shared_ptr<pooled_program> for_some_inputs(const std::shared_ptr<pooled_program>& f, const py::array_t<bool>& wanted) {
  const bool* each = wanted.data();
  const auto n = static_cast<std::size_t>(wanted.size());
  if (std::find(each, each + n, false) == each + n) return f;
  auto some = std::make_shared<const std::vector<bool>>(each, each + n);
  return std::make_shared<pooled_program>(for_inputs(f->code, *some), some);
}

py::object forward(const pooled_program& f, const std::vector<doubles>& inputs) {
  const list_sources x = parts_of(*f.code, inputs);
  py::array_t<double> y(static_cast<py::ssize_t>(f.code->output_size()));
  double* to = y.mutable_data();
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    f.code->forward(*w, x, to, false);
  });
  return done ? py::object(std::move(y)) : py::none();
}

py::object value_and_vjp(const pooled_program& f, const std::vector<doubles>& inputs, const doubles& y_adjoint) {
  const list_sources x = parts_of(*f.code, inputs);
  py::array_t<double> y(static_cast<py::ssize_t>(f.code->output_size()));
  py::array_t<double> x_adjoint(static_cast<py::ssize_t>(f.code->input_size()));
  if (static_cast<std::size_t>(y_adjoint.size()) != f.code->output_size())
    throw ShapeError("vjp: y_adjoint must have one entry for each output");
  double *to = y.mutable_data(), *back = x_adjoint.mutable_data();
  const double* seeds = y_adjoint.data();
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    f.code->forward_and_reverse(*w, x, to, seeds, back);
  });
  return done ? py::object(py::make_tuple(y, x_adjoint)) : py::none();
}

/// Computes rows by reverse passes, or eight columns at a time by tangents if that takes fewer passes and gives the same to
/// rounding.
py::object jacobian(const pooled_program& f, const std::vector<doubles>& inputs) {
  const std::vector<double> x = joined(*f.code, inputs);
  const std::size_t m = f.code->output_size(), n = x.size();
  py::array_t<double> y(static_cast<py::ssize_t>(m));
  py::array_t<double> rows({static_cast<py::ssize_t>(m), static_cast<py::ssize_t>(n)});
  double *to = y.mutable_data(), *entry = rows.mutable_data();
  const bool done = on_path([&] {
    const bool has_both = f.code->first_without_tangents(1) == nullptr && f.code->first_without_tangents(0) == nullptr;
    if (has_both && are_tangents_fewer(*f.code)) {
      const auto w = f.workspaces.acquire();
      jacobian_by_tangents(*f.code, *w, x.data(), to, entry);
    } else {
      const auto w = f.workspaces.acquire();
      jacobian_by_adjoints(*f.code, *w, x.data(), to, entry);
    }
  });
  return done ? py::object(py::make_tuple(y, rows)) : py::none();
}

void register_recording(py::module_& m) {
  py::enum_<comparison>(m, "Comparison", "The effect of the truth value of a comparison of recorded values.")
      .value("answers", comparison::answers)
      .value("guards", comparison::guards)
      .value("refuses", comparison::refuses);
  auto type = py::class_<recording, std::shared_ptr<recording>>(m, "Recording", py::dynamic_attr(),
                                                                "A program that is being recorded.");
  type.def(py::init([](std::string function, comparison on_comparison, bool stores_adjoints, bool captures, std::size_t depth) {
             auto r = std::make_shared<recording>();
             r->function = std::move(function);
             r->on_comparison = on_comparison;
             r->stores_adjoints = stores_adjoints;
             r->captures = captures;
             r->depth = depth;
             return r;
           }),
           py::arg("function"), py::arg("on_comparison"), py::arg("stores_adjoints"), py::arg("captures"), py::arg("depth"))
      .def("input",
           [](const std::shared_ptr<recording>& r, const doubles& values) {
             const slot first = r->code.input(values.data(), static_cast<std::size_t>(values.size()));
             return array(r, shape_type(values.shape(), values.shape() + values.ndim()), first);
           })
      .def(
          "array", [](const std::shared_ptr<recording>& r, const py::object& x) { return as_array(r, r->function, x); },
          "The argument as an array of this recording.")
      .def("close", [](recording& r) { r.is_open = false; })
      .def_property_readonly("depth", [](const recording& r) { return r.depth; })
      .def_property_readonly("function", [](const recording& r) { return r.function; })
      .def_property_readonly("captured", [](const recording& r) { return r.captured; })
      .def(
          "reverse",
          [](recording& r, const array& output, const doubles& seeds, const std::vector<array>& required) {
            const std::vector<slot> outputs = output.slots();
            std::vector<slot> slots;
            for (const array& a : required)
              for (std::size_t i = 0, n = a.size(); i < n; ++i) slots.push_back(a.at(i));
            py::array_t<double> adjoints(static_cast<py::ssize_t>(slots.size()));
            double* to = adjoints.mutable_data();
            const double* from = seeds.data();
            const lock_left unlocked;
            r.code.reverse(outputs.data(), from, outputs.size(), slots.data(), to, slots.size());
            return adjoints;
          },
          "The adjoints of `required`, one after the other, for the seeds of `output`.")
      .def("program", [](const recording& r, const array& output) {
        return std::make_shared<pooled_program>(schedule(r.code, output.slots()));
      });
}

}  // namespace

void register_program(py::module_& m) {
  register_recording(m);
  py::class_<pooled_program, std::shared_ptr<pooled_program>>(m, "Program", "A finished recording that runs without Python.")
      .def_property_readonly("input_size", [](const pooled_program& f) { return f.code->input_size(); })
      .def_property_readonly("output_size", [](const pooled_program& f) { return f.code->output_size(); })
      .def_property_readonly("operations", [](const pooled_program& f) { return f.code->code().operations.size(); })
      .def_property_readonly("slots", [](const pooled_program& f) { return f.code->size(); })
      .def("for_inputs", &for_some_inputs, py::arg("wanted"),
           "A program for derivatives with respect to some inputs, for each of which `wanted` is true; often this one.")
      .def("forward", &forward, "Outputs for the inputs; None if a comparison had another result than at recording.")
      .def("value_and_vjp", &value_and_vjp, "Outputs, and the transposed Jacobian times y_adjoint; or None as above.")
      .def("jacobian", &jacobian, "Outputs, and the Jacobian (outputs x inputs); or None as above.");
}

}  // namespace agrad::python
