// Solve operation in Python: a solve of any kind, as an operation of a recording or at once.
#include <agrad/solve/record/solve_operation.hpp>

#include <pybind11/stl.h>

#include <memory>

#include "../arrays/apply.hpp"
#include "../arrays/array.hpp"
#include "../programs/run.hpp"
#include "listener.hpp"
#include "ode_cost.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Records the solve on the entries of x; returns the recorded result.
array record(const std::shared_ptr<solve_operation>& f, const array& x, const shape_type& shape) {
  return applied(f, x, shape);
}

/// Solves at once; returns the result.
py::array_t<double> solve(const solve_operation& f, const doubles& x, const shape_type& shape) {
  py::array_t<double> y(shape);
  const double* from = x.data();
  double* to = y.mutable_data();
  const lock_left unlocked;
  f.solve(from, false)->read(to);
  return y;
}

/// Fills the log, without the interpreter lock; returns whether the method can.
bool log_steps(const solve_operation& f, const doubles& x, detail::step_log& log, bool differentiated) {
  const double* from = x.data();
  const lock_left unlocked;
  return f.log_steps(from, log, differentiated);
}

}  // namespace

void register_solve_operation(py::module_& m) {
  py::class_<detail::step_log>(m, "StepLog", "What limited each step of a solve.")
      .def(py::init())
      .def("columns", [](const detail::step_log& log) { return to_dict(log); });
  py::class_<solve_progress, std::shared_ptr<solve_progress>>(m, "SolveProgress", "The progress callables of a solve.")
      .def(py::init<py::object, double, double, double>(), py::arg("make"), py::arg("patience"), py::arg("begin"),
           py::arg("end"));
  py::class_<solve_operation, std::shared_ptr<solve_operation>>(m, "SolveOperation", "The solve of a recorded problem.")
      .def("record", &record, py::arg("x"), py::arg("shape"))
      .def("solve", &solve, py::arg("x"), py::arg("shape"))
      .def("statistics", [](const solve_operation& f) { return to_dict(f.statistics()); })
      .def("log_steps", &log_steps, py::arg("x"), py::arg("log"), py::arg("differentiated"))
      .def("expect_hits", [](const solve_operation& f) { f.problem().expect_hits(); });
}

}  // namespace agrad::python
