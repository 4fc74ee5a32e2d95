// Steady states in Python: finds the steady state of a recorded right-hand side, as an operation of a recording or at once.
#include <agrad/solve/record/steady_operation.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <cstdio>
#include <memory>
#include <optional>
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

/// Warns if the steady state is unstable; if warnings are errors, the run throws.
void warn_unless_stable(const std::string& function, const steady_report& found) {
  if (found.stable) return;
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2g", found.growth_rate);
  const std::string text =
      function + ": the steady state found is unstable: a small deviation grows at the rate " + rate +
      (found.by_integration ? "" : "; method='integration' finds the state that the system approaches from y0");
  const lock_held locked;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

steady::listener listener_of(const std::string& function) {
  return [function](const steady_report& found) { warn_unless_stable(function, found); };
}

std::shared_ptr<steady> make_steady(const std::string& function, const pooled_program& f, Eigen::Index states,
                                    double relative_tolerance, Eigen::VectorXd absolute_tolerance, long max_iterations,
                                    int method, std::optional<double> time) {
  const steady_options options{relative_tolerance, std::move(absolute_tolerance), max_iterations,
                               static_cast<steady_method>(method), time};
  check_solver_options(function, options, states);
  return std::make_shared<steady>(function, f.code, states, options, listener_of(function));
}

/// Records the steady state on the slots of x.
array record_steady(const std::shared_ptr<const steady>& f, const array& x) { return applied(f, x); }

/// Finds the steady state at once; returns the state and a report.
py::tuple solve_steady(const steady& f, const doubles& x) {
  py::array_t<double> y(static_cast<py::ssize_t>(f.output_size()));
  const double* from = x.data();
  double* to = y.mutable_data();
  const auto state = f.make_state();
  {
    const lock_left unlocked;
    f.forward(*state, from, to, false);
  }
  const steady_report& r = steady::report(*state);
  py::dict d;
  d["method"] = r.by_integration ? "integration" : "newton";
  d["iterations"] = r.iterations;
  d["residual"] = r.residual;
  d["integrated_time"] = r.integrated_time;
  d["conserved"] = r.conserved;
  d["stable"] = r.stable;
  d["growth_rate"] = r.growth_rate;
  return py::make_tuple(y, d);
}

}  // namespace

portable_kind steady_kind() {
  return {steady::stored_kind, [](portable_reader& from) { return steady::read(from, listener_of); }};
}

void register_steady(py::module_& m) {
  py::class_<steady, std::shared_ptr<steady>>(m, "SteadyOperation", "A steady state of a recorded right-hand side.")
      .def(py::init(&make_steady), py::arg("function"), py::arg("f"), py::arg("states"), py::arg("relative_tolerance"),
           py::arg("absolute_tolerance"), py::arg("max_iterations"), py::arg("method"), py::arg("time"))
      .def("record", &record_steady, py::arg("x"))
      .def("solve", &solve_steady, py::arg("x"));
}

}  // namespace agrad::python
