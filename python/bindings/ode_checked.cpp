// Checked gradients in Python: compares the gradients of two methods, and warns where these differ.
#include <agrad/solve/solver/checked.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "lock.hpp"
#include "minus_time.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Warns; if warnings are errors, the reverse pass throws.
void warn(const std::string& function, const gradient_difference& found, double allowed) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%.1e, more than %.1e", found.relative, allowed);
  const std::string text =
      found.of == nullptr
          ? function + ": the estimated relative error of the gradient is " + numbers + "; tighten rtol and atol"
          : function + ": the gradient with respect to " + found.of +
                " differs from that at tighter tolerances by the relative difference " + numbers + "; tighten rtol and atol";
  const lock_held locked;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, in_time(text).c_str(), 1) != 0) throw py::error_already_set();
}

struct checked_maker {
  ode_maker first, other;
  double allowed;

  double tolerance() const { return first.tolerance(); }
  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    const bool none = !required.initial_state && !required.initial_time && !required.times && system.parameters() == 0;
    if (none) return first(function, system, required);
    const auto report = [function, allowed = allowed](const gradient_difference& found) { warn(function, found, allowed); };
    return std::make_unique<checked_solver>(first(function, system, required),
                                            other(function + " (the second solve of gradient_check)", system, required),
                                            allowed, report);
  }
};

checked_method checked_method_of(const configured_method& method, const configured_method& second, double allowed) {
  return {{checked_maker{method.make, second.make, allowed}, method.same_steps}};
}

}  // namespace

void register_checked_method(py::module_& m) {
  py::class_<checked_method, configured_method>(m, "CheckedMethod",
                                                "A method whose gradients are compared with those of a second one.")
      .def(py::init(&checked_method_of), py::arg("method"), py::arg("second"), py::arg("allowed"));
}

}  // namespace agrad::python
