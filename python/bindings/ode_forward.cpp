// Forward sensitivities in Python: their options, for the solve of a recorded right-hand side.
#include <agrad/solve/ode_forward.hpp>
#include <agrad/solve/ode_operation.hpp>
#include <agrad/solve/ode_weighing.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ode_methods.hpp"
#include "pool.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

forward_method forward_method_of(const std::string& function, long method, long corrector, double relative_tolerance,
                                 Eigen::VectorXd absolute_tolerance, long max_num_steps, const ode_algebra& algebra,
                                 const std::optional<ode_adjoint_options>& or_adjoint) {
  ode_forward_options o;
  o.relative_tolerance = relative_tolerance;
  o.absolute_tolerance = std::move(absolute_tolerance);
  o.max_num_steps = max_num_steps;
  o.method = method_from_code(function, "method", method);
  o.corrector = corrector_from_code(function, "corrector", corrector);
  o.algebra = algebra;
  if (or_adjoint) return {weighed_maker{o, *or_adjoint}};
  return {detail::forward_maker{o}};
}

}  // namespace

void register_forward_method(py::module_& m) {
  py::class_<forward_method>(m, "ForwardMethod", "CVODES with forward sensitivities; weighed against `or_adjoint` if given.")
      .def(py::init(&forward_method_of), py::arg("function"), py::arg("method"), py::arg("corrector"),
           py::arg("relative_tolerance"), py::arg("absolute_tolerance"), py::arg("max_num_steps"), py::arg("algebra"),
           py::arg("or_adjoint") = py::none());
  using operation = py::class_<ode_operation, std::shared_ptr<ode_operation>>;
  py::reinterpret_borrow<operation>(m.attr("OdeOperation"))
      .def(py::init([](const std::string& function, const pooled_program& f, Eigen::Index states, std::size_t times,
                       const forward_method& method, bool of_state, bool of_time, bool of_times) {
        return std::make_shared<ode_operation>(function, f.code, states, times, method.make,
                                               ode_wanted{of_state, of_time, of_times});
      }));
}

}  // namespace agrad::python
