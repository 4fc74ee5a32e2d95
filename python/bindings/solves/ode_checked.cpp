// Checked gradients in Python: compares the gradients of two methods, on request or where an adjoint is suspect, and warns
// where these differ.
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/solver/checked.hpp>
#include <agrad/solve/solver/shift_check.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "../lock.hpp"
#include "minus_time.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Warns; if warnings are errors, the reverse pass throws.
void warn(const std::string& function, const gradient_difference& found, double allowed, const std::string& advice) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%.1e, more than %.1e", found.relative, allowed);
  const std::string text = found.of == nullptr
                               ? function + ": the estimated relative error of the gradient is " + numbers + "; " + advice
                               : function + ": the gradient with respect to " + found.of +
                                     " differs from that at tighter tolerances by the relative difference " + numbers + "; " +
                                     advice;
  const lock_held_in_run locked;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, in_time(text).c_str(), 1) != 0) throw py::error_already_set();
}

struct checked_maker {
  ode_maker first, other;
  double allowed;

  double tolerance() const { return first.tolerance(); }
  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    const bool none = !required.initial_state && !required.initial_time && !required.times && system.parameters() == 0;
    if (none) return first(function, system, required);
    const auto report = [function, allowed = allowed](const gradient_difference& found) {
      warn(function, found, allowed, "tighten rtol and atol");
    };
    return std::make_unique<checked_solver>(first(function, system, required),
                                            other(function + " (the second solve of gradient_check)", system, required),
                                            allowed, report);
  }
};

checked_method checked_method_of(const configured_method& method, const configured_method& second, double allowed) {
  return {{checked_maker{method.make, second.make, allowed}, method.same_steps}};
}

/// Returns the options with a hundredth of the tolerances.
ode_adjoint_options tighter(ode_adjoint_options o) {
  for (tolerances* each : {&o.forward, &o.backward, &o.quadrature}) each->relative /= 100, each->absolute /= 100;
  return o;
}

}  // namespace

ode_maker adjoint_maker(const ode_adjoint_options& options) {
  shift_check check;
  const auto as_given = detail::cvodes_maker(options), tighter_ones = detail::cvodes_maker(tighter(options));
  check.make = [as_given, tighter_ones](const std::string& function, ode_system& system, ode_required required,
                                        bool is_tighter) -> std::unique_ptr<ode_solver> {
    return is_tighter ? tighter_ones(function, system, required) : as_given(function, system, required);
  };
  check.relative_tolerance = std::max({options.forward.relative, options.backward.relative, options.quadrature.relative});
  check.absolute_tolerance = options.forward.absolute;
  check.report = [](const std::string& function, const gradient_difference& found, double allowed) {
    warn(function, found, allowed,
         "the reverse pass of CVODES has lost the adjoint; tighten rtol and atol, or choose a one-step method");
  };
  const auto make = [check, as_given](const std::string& function, ode_system& system,
                                      ode_required required) -> std::unique_ptr<ode_solver> {
    const bool none = !required.initial_state && !required.initial_time && system.parameters() == 0;
    if (none) return as_given(function, system, required);
    return std::make_unique<shift_checked_solver>(function, system, required, check);
  };
  return make_named("adjoint", make, options);
}

void register_checked_method(py::module_& m) {
  py::class_<checked_method, configured_method>(m, "CheckedMethod",
                                                "A method whose gradients are compared with those of a second one.")
      .def(py::init(&checked_method_of), py::arg("method"), py::arg("second"), py::arg("allowed"));
}

}  // namespace agrad::python
