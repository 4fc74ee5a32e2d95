// Programs as bytes in Python, for pickles, and as programs again.
//
// Kernels have the names of cpp/rows; the kinds of external operations that can be stored are listed below.
#include <agrad/functionals/search/quadrature_operation.hpp>
#include <agrad/functionals/search/search_operation.hpp>
#include <agrad/program/derive/derivative_operations.hpp>
#include <agrad/program/loops/parallel.hpp>
#include <agrad/program/loops/scan.hpp>
#include <agrad/program/store/portable.hpp>
#include <agrad/version.hpp>

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../../cpp/rows/kernels.hpp"
#include "../errors.hpp"
#include "../solves/ode_methods.hpp"
#include "pool.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

class names_here final : public portable_names {
 public:
  std::string_view name_of(const kernel* what) const override { return name_of_kernel(what); }
  const kernel* kernel_of(std::string_view name) const override { return kernel_of_name(name); }
  external_reader reader_of(std::string_view kind) const override {
    static const std::vector<portable_kind> kinds{{scan_operation::stored_kind, scan_operation::read},
                                                  {reverse_operation::stored_kind, reverse_operation::read},
                                                  {tangent_operation::stored_kind, tangent_operation::read},
                                                  {parallel_operation::stored_kind, parallel_operation::read},
                                                  {quadrature_operation::stored_kind, quadrature_operation::read},
                                                  {root_operation::stored_kind, root_operation::read},
                                                  {minimum_operation::stored_kind, minimum_operation::read},
                                                  ode_kind(),
                                                  event_kind(),
                                                  dae_kind(),
                                                  steady_kind()};
    for (const portable_kind& each : kinds)
      if (each.name == kind) return each.read;
    return {};
  }
};

py::bytes bytes_of(const pooled_program& f) { return stored_program(*f.code, names_here(), version); }

/// Returns the bytes, or None for a program that cannot be stored.
py::object bytes_or_none(const pooled_program& f) {
  try {
    return bytes_of(f);
  } catch (const not_portable&) {
    return py::none();
  }
}

/// Returns the sentence on the first operation that holds more than plain data, or None.
py::object more_than_data(const pooled_program& f) {
  try {
    stored_program(*f.code, names_here(), version);
  } catch (const not_portable& error) {
    return py::str(error.what());
  }
  return py::none();
}

std::shared_ptr<pooled_program> program_of_bytes(const py::bytes& bytes) {
  return std::make_shared<pooled_program>(program_of(static_cast<std::string_view>(bytes), names_here(), version));
}

}  // namespace

ode_maker read_maker(portable_reader& from) {
  std::string name;
  from(name);
  if (name == "one step") {
    std::string method;
    step_options options;
    from(method, options);
    return one_step_maker(method, options);
  }
  ode_adjoint_options adjoint;
  if (name == "adjoint") {
    from(adjoint);
    return adjoint_maker(adjoint);
  }
  ode_forward_options forward;
  from.expect(name == "forward" || name == "weighed", "a method");
  from(forward);
  if (name == "forward") return forward_maker(forward);
  from(adjoint);
  return weighed_maker_of(forward, adjoint);
}

void register_pickle(py::module_& m) {
  py::reinterpret_borrow<py::class_<pooled_program, std::shared_ptr<pooled_program>>>(m.attr("Program"))
      .def("to_bytes", &bytes_or_none,
           "The program as bytes, for `program_of`; None if an operation holds more than plain data.")
      .def("more_than_data", &more_than_data, "The sentence on the first operation that cannot be stored as bytes, or None.")
      .def("__reduce__", [](const py::object& f) {
        const py::module_ module = py::module_::import("agrad._transforms.compiled.pickle");
        const py::object from = module.attr("read_program");  // pickle stores the function by name
        return py::make_tuple(from, py::make_tuple(bytes_of(f.cast<const pooled_program&>())));
      });
  m.def("program_of", &program_of_bytes, py::arg("kept"), "The program that is stored in the bytes.");
  m.def(
      "kernel_names",
      [] {
        std::vector<std::string> names;
        for (const named_kernel& each : named_kernels()) names.push_back(each.name);
        return names;
      },
      "The names of operations in pickles.");
}

}  // namespace agrad::python
