// Steady states in Python: the search of a steady state of a recorded right-hand side.
#include <agrad/solve/record/solve_operation.hpp>
#include <agrad/solve/record/steady_problem.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../errors.hpp"
#include "../programs/pool.hpp"
#include "../programs/run.hpp"
#include "listener.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using problem = steady_problem<>;

/// Warns if the steady state is unstable; if warnings are errors, the run throws.
void warn_unless_stable(const std::string& function, const steady_report& found) {
  if (found.stable) return;
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2g", found.growth_rate);
  const std::string text =
      function + ": the steady state found is unstable: a small deviation grows at the rate " + rate +
      (found.by_integration ? "" : "; method='integration' finds the state that the system approaches from y0");
  const lock_held_in_run locked;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

steady_listener listener_of(const std::string& function) {
  return [function](const steady_report& found) { warn_unless_stable(function, found); };
}

std::shared_ptr<solve_operation> make_steady(const std::string& function, const pooled_program& f, Eigen::Index states,
                                             double relative_tolerance, Eigen::VectorXd absolute_tolerance, long max_iterations,
                                             int method, std::optional<double> time, std::shared_ptr<solve_progress> progress) {
  const steady_options options{
      {relative_tolerance, std::move(absolute_tolerance)}, max_iterations, static_cast<steady_method>(method), time};
  return std::make_shared<solve_operation>(
      std::make_shared<const problem>(problem::fields{function, f.code, states, options}, listener_of(function)),
      std::move(progress));
}

/// Finds the steady state at once; returns the state and a report.
py::tuple solve_steady(const solve_operation& f, const doubles& x) {
  py::array_t<double> y(static_cast<py::ssize_t>(f.output_size()));
  const double* from = x.data();
  std::unique_ptr<posed_solve> solved;
  {
    const lock_left unlocked;
    solved = f.solve(from, false);
  }
  solved->read(y.mutable_data());
  const steady_report& r = dynamic_cast<const posed_steady<>&>(*solved).report();
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
  return {problem::stored_kind, [](portable_reader& from) { return solve_operation::read<problem>(from, listener_of); }};
}

void register_steady(py::module_& m) {
  m.def("steady_operation", &make_steady, py::arg("function"), py::arg("f"), py::arg("states"), py::arg("relative_tolerance"),
        py::arg("absolute_tolerance"), py::arg("max_iterations"), py::arg("method"), py::arg("time"),
        py::arg("progress") = py::none(), "Returns the search of a steady state of a recorded right-hand side.");
  m.def("solve_steady", &solve_steady, py::arg("operation"), py::arg("x"),
        "Finds the steady state at once; returns the state and a report.");
}

}  // namespace agrad::python
