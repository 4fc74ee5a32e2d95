// Forward sensitivities in Python: their options, for the solve of a recorded right-hand side.
#include <agrad/solve/cvodes/forward_or_adjoint.hpp>
#include <agrad/solve/ode_forward.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

forward_method forward_method_of(const std::string& function, long method, long corrector, double relative_tolerance,
                                 Eigen::VectorXd absolute_tolerance, long max_num_steps, const ode_algebra& algebra,
                                 double first_step, double max_step, const adjoint_method* or_adjoint) {
  ode_forward_options o;
  o.states = {relative_tolerance, std::move(absolute_tolerance)};
  o.max_num_steps = max_num_steps;
  o.method = method_from_code(function, "method", method);
  o.corrector = corrector_from_code(function, "corrector", corrector);
  o.algebra = algebra;
  o.first_step = first_step, o.max_step = max_step;
  if (or_adjoint != nullptr) return {{weighed_maker_of(o, or_adjoint->options)}};
  return {{forward_maker(o)}};
}

}  // namespace

ode_maker forward_maker(const ode_forward_options& options) {
  return make_named("forward", detail::forward_maker{options}, options);
}
ode_maker weighed_maker_of(const ode_forward_options& forward, const ode_adjoint_options& adjoint) {
  return make_named("weighed", weighed_maker{forward, adjoint}, forward, adjoint);
}

void register_forward_method(py::module_& m) {
  py::class_<forward_method, configured_method>(
      m, "ForwardMethod", "CVODES with forward sensitivities, or by `or_adjoint`, if given, where that costs less.")
      .def(py::init(&forward_method_of), py::arg("function"), py::arg("method"), py::arg("corrector"),
           py::arg("relative_tolerance"), py::arg("absolute_tolerance"), py::arg("max_num_steps"), py::arg("algebra"),
           py::arg("first_step"), py::arg("max_step"), py::arg("or_adjoint") = py::none());
}

}  // namespace agrad::python
