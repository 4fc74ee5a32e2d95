// C function: the addresses at which C code calls plain functions, in the signatures of the samplers that call them.
#include <pybind11/stl.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "../errors.hpp"
#include "../programs/run.hpp"
#include "plain_function.hpp"

namespace py = pybind11;

namespace {

using agrad::python::outcome;
using agrad::python::plain_function;

outcome call(std::size_t n, const double* x, double* gradient, double* value, void* context) noexcept {
  double unused = 0;
  if (context == nullptr) return outcome::failed;
  return static_cast<plain_function*>(context)->call(n, x, gradient, value == nullptr ? &unused : value);
}

}  // namespace

extern "C" {

/// nutpie: the gradient before the value, and a code.
static std::int64_t agrad_value_and_gradient(std::uint64_t n, const double* x, double* gradient, double* value, void* context) {
  return static_cast<std::int64_t>(call(n, x, gradient, value, context));
}
/// walnutpie: the same with C's sizes.
static int agrad_value_and_gradient_int(std::size_t n, const double* x, double* gradient, double* value, void* context) {
  return static_cast<int>(call(n, x, gradient, value, context));
}
/// owalnuts and numba: returns the value. Minus infinity rejects the point, nan means that the caller must end.
static double agrad_value(std::intptr_t n, const double* x, double* gradient, void* context) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const int code = static_cast<int>(call(static_cast<std::size_t>(n), x, gradient, &value, context));
  if (code == 0) return value;
  return code > 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

}  // extern "C"

namespace agrad::python {

namespace {

/// Calls the function without the interpreter lock. Returns (code, value, gradient).
py::tuple called(plain_function& f, const doubles& x) {
  const auto n = static_cast<std::size_t>(x.size());
  py::array_t<double> gradient(static_cast<py::ssize_t>(n));
  const double* from = x.data();
  double *to = gradient.mutable_data(), value = std::numeric_limits<double>::quiet_NaN();
  const outcome code = [&] {
    const lock_left unlocked;
    return f.call_from_python(n, from, to, &value);
  }();
  return py::make_tuple(static_cast<int>(code), value, gradient);
}

py::dict counts_of(const plain_function& f) {
  const auto ended = f.count_of(outcome::wrong_length) + f.count_of(outcome::out_of_reach) + f.count_of(outcome::failed) +
                     f.count_of(outcome::cancelled);
  py::dict counts;
  counts["calls"] = f.calls();
  counts["domain"] = f.count_of(outcome::outside);
  counts["solver"] = f.count_of(outcome::unsolved);
  counts["not finite"] = f.count_of(outcome::not_finite);
  counts["ended"] = ended;
  return counts;
}

template <class Function>
std::uintptr_t address_of(Function* f) {
  return reinterpret_cast<std::uintptr_t>(f);
}

}  // namespace

void register_c_function(py::module_& m) {
  m.attr("C_FUNCTIONS") =
      py::dict(py::arg("code") = address_of(&agrad_value_and_gradient),
               py::arg("int") = address_of(&agrad_value_and_gradient_int), py::arg("value") = address_of(&agrad_value));
  py::class_<plain_function>(m, "PlainFunction", "A value and gradient of a vector, for calls from C.")
      .def(py::init<std::size_t, std::size_t, std::vector<double>, bool, const py::object&>(), py::arg("first"),
           py::arg("size"), py::arg("inputs"), py::arg("may_catch"), py::arg("owner"))
      .def("add_path", &plain_function::add_path, py::arg("program"), py::arg("place"))
      .def("call", &called, py::arg("x"), "The code, the value and the gradient, as C code gets them.")
      .def("cancel", &plain_function::cancel)
      .def("reset", &plain_function::reset)
      .def_property_readonly("context", [](const plain_function& f) { return reinterpret_cast<std::uintptr_t>(&f); })
      .def_property_readonly("paths", &plain_function::paths)
      .def_property_readonly("counts", &counts_of)
      .def_property_readonly("last_error", &plain_function::last_error);
}

}  // namespace agrad::python
