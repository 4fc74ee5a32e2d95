// Differential-algebraic equations in Python: the solve of a recorded residual.
#include <agrad/solve/dae/start.hpp>
#include <agrad/solve/record/dae_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
#include <agrad/solve/system/program/dae.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../programs/pool.hpp"
#include "listener.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

dae_options options_of(const std::string& function, double relative_tolerance, const Eigen::VectorXd& absolute_tolerance,
                       long max_num_steps, double first_step, double max_step, std::vector<bool> differential, int initial,
                       int sensitivities) {
  dae_options o = dae_tolerance_options(function, absolute_tolerance.size(), relative_tolerance, absolute_tolerance.minCoeff(),
                                        max_num_steps);
  o.forward.absolute = absolute_tolerance / 10;
  o.backward.absolute = absolute_tolerance / 3;
  o.first_step = first_step, o.max_step = max_step;
  o.differential = std::move(differential);
  o.initial = static_cast<dae_initial>(initial);
  o.sensitivities = static_cast<dae_sensitivities>(sensitivities);
  return o;
}

/// required: whether derivatives with respect to y0, yp0, t0, the times and the stops may be needed.
std::shared_ptr<solve_operation> make_dae(const std::string& function, const pooled_program& f, std::size_t times,
                                          std::size_t stops, const dae_options& options, std::array<bool, 5> required,
                                          std::shared_ptr<solve_progress> progress) {
  const dae_required derivatives{required[0], required[1], required[2], required[3], required[4]};
  dae_problem::fields fields{function, f.code, options.forward.absolute.size(), times, stops, options, derivatives};
  return std::make_shared<solve_operation>(std::make_shared<const dae_problem>(std::move(fields)), std::move(progress));
}

/// Returns the matrix Q whose product Q' y is the differential part, and consistent y0 and y'0.
py::tuple start_of_dae(const std::string& function, const pooled_program& f, const Eigen::VectorXd& parameters, double t0,
                       const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, const dae_options& options) {
  program_dae system(f.code, y0.size(), false);
  system.set_parameters(parameters.data());
  const dae_start s = start_dae(function, system, options, y0, yp0, t0);
  return py::make_tuple(s.q, s.y, s.yp);
}

}  // namespace

portable_kind dae_kind() { return {dae_problem::stored_kind, solve_operation::read<dae_problem>}; }

void register_dae(py::module_& m) {
  py::class_<dae_options>(m, "DaeOptions", "Tolerances and choices of a differential-algebraic solve; see solve_dae.")
      .def(py::init(&options_of), py::arg("function"), py::arg("relative_tolerance"), py::arg("absolute_tolerance"),
           py::arg("max_num_steps"), py::arg("first_step"), py::arg("max_step"), py::arg("differential"), py::arg("initial"),
           py::arg("sensitivities"));
  m.def("check_dae_problem", &check_dae_problem, py::arg("function"), py::arg("y0"), py::arg("yp0"), py::arg("t0"),
        py::arg("times"), "Raises unless y0, yp0, t0 and times are a problem.");
  m.def("dae_start", &start_of_dae, py::arg("function"), py::arg("f"), py::arg("parameters"), py::arg("t0"), py::arg("y0"),
        py::arg("yp0"), py::arg("options"), "Returns the differential part and consistent initial values.");
  m.def("dae_operation", &make_dae, py::arg("function"), py::arg("f"), py::arg("times"), py::arg("stops"), py::arg("options"),
        py::arg("required"), py::arg("progress") = py::none(), "Returns the solve of a recorded residual.");
}

}  // namespace agrad::python
