// Steady states in Python, as an operation of a recording or at once.
#include <agrad/solve/steady_operation.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>

#include "apply.hpp"
#include "array.hpp"
#include "errors.hpp"
#include "ode_methods.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using steady = steady_operation<>;

std::shared_ptr<steady> made_steady(const std::string& function, const pooled_program& f, Eigen::Index states,
                                    double relative_tolerance, Eigen::VectorXd absolute_tolerance, long max_iterations,
                                    int method) {
  const steady_options options{relative_tolerance, std::move(absolute_tolerance), max_iterations,
                               static_cast<steady_method>(method)};
  check_solver_options(function, options, states);
  return std::make_shared<steady>(function, f.code, states, options);
}

/// Records the steady state on the slots of x.
array record_steady(const std::shared_ptr<const steady>& f, const array& x) { return applied(f, x); }

/// Finds it at once: the steady state, and how it was found.
py::tuple solve_steady(const steady& f, const doubles& x) {
  py::array_t<double> y(static_cast<py::ssize_t>(f.output_size()));
  const double* from = x.data();
  double* to = y.mutable_data();
  const auto state = f.make_state();
  {
    const py::gil_scoped_release unlocked;
    f.forward(*state, from, to, false);
  }
  const steady_report& r = steady::report(*state);
  py::dict d;
  d["method"] = r.by_integration ? "integration" : "newton";
  d["iterations"] = r.iterations;
  d["residual"] = r.residual;
  d["integrated_time"] = r.integrated_time;
  d["conserved"] = r.conserved;
  return py::make_tuple(y, d);
}

}  // namespace

void register_steady(py::module_& m) {
  py::class_<steady, std::shared_ptr<steady>>(m, "SteadyOperation", "A steady state of a recorded right-hand side.")
      .def(py::init(&made_steady), py::arg("function"), py::arg("f"), py::arg("states"), py::arg("relative_tolerance"),
           py::arg("absolute_tolerance"), py::arg("max_iterations"), py::arg("method"))
      .def("record", &record_steady, py::arg("x"))
      .def("solve", &solve_steady, py::arg("x"));
}

}  // namespace agrad::python
