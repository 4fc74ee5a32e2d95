// Differential-algebraic equations in Python: solves a recorded residual, as an operation of a recording or at once.
#include <agrad/solve/record/dae_operation.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "errors.hpp"
#include "ode_cost.hpp"
#include "ode_methods.hpp"
#include "pool.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using dae = dae_operation<>;

dae_options options_of(const std::string& function, double relative_tolerance, const Eigen::VectorXd& absolute_tolerance,
                       long max_num_steps, double first_step, double max_step, std::vector<bool> differential, int initial,
                       int sensitivities) {
  dae_options o = dae_tolerance_options(function, absolute_tolerance.size(), relative_tolerance, absolute_tolerance.minCoeff(),
                                        max_num_steps);
  o.absolute_tolerance_forward = absolute_tolerance / 10;
  o.absolute_tolerance_backward = absolute_tolerance / 3;
  o.first_step = first_step, o.max_step = max_step;
  o.differential = std::move(differential);
  o.initial = static_cast<dae_initial>(initial);
  o.sensitivities = static_cast<dae_sensitivities>(sensitivities);
  return o;
}

/// wanted: whether derivatives with respect to y0, yp0, t0, the times and the stops may be needed.
std::shared_ptr<dae> make_dae(const std::string& function, const pooled_program& f, std::size_t times, std::size_t stops,
                              const dae_options& options, std::array<bool, 5> required) {
  return std::make_shared<dae>(function, f.code, options.absolute_tolerance_forward.size(), times, stops, options,
                               dae_required{required[0], required[1], required[2], required[3], required[4]});
}

shape_type shape_of(const dae& f, py::ssize_t times) {
  return {times, 2, static_cast<py::ssize_t>(f.output_size()) / times / 2};
}

/// Records the solve on the slots of x; returns the recorded y and y' at the times, times x 2 x n.
array record_dae(const std::shared_ptr<const dae>& f, const array& x, py::ssize_t times) {
  const span argument = x.as_dense();
  recording& in = *x.owner();
  slot first = 0;
  {
    const lock_left unlocked;
    first = in.code.apply(f, argument, f->output_size(), in.stores_adjoints);
  }
  return array(x.owner(), shape_of(*f, times), first);
}

/// Solves at once; returns y and y' at the times, and the cost.
py::tuple solve_dae(const dae& f, const py::array_t<double, py::array::c_style | py::array::forcecast>& x, py::ssize_t times) {
  py::array_t<double> y(shape_of(f, times));
  const double* from = x.data();
  double* to = y.mutable_data();
  const auto state = f.make_state();
  {
    const lock_left unlocked;
    f.forward(*state, from, to, false);
  }
  return py::make_tuple(y, to_dict(dae::statistics(*state)));
}

}  // namespace

portable_kind dae_kind() { return {dae::stored_kind, dae::read}; }

void register_dae(py::module_& m) {
  py::class_<dae_options>(m, "DaeOptions", "Tolerances and choices of a differential-algebraic solve; see solve_dae.")
      .def(py::init(&options_of), py::arg("function"), py::arg("relative_tolerance"), py::arg("absolute_tolerance"),
           py::arg("max_num_steps"), py::arg("first_step"), py::arg("max_step"), py::arg("differential"), py::arg("initial"),
           py::arg("sensitivities"));
  m.def("check_dae_problem", &check_dae_problem, py::arg("function"), py::arg("y0"), py::arg("yp0"), py::arg("t0"),
        py::arg("times"), "Raises unless y0, yp0, t0 and times are a problem.");
  py::class_<dae, std::shared_ptr<dae>>(m, "DaeOperation", "The solve of a recorded residual.")
      .def(py::init(&make_dae), py::arg("function"), py::arg("f"), py::arg("times"), py::arg("stops"), py::arg("options"),
           py::arg("required"))
      .def("record", &record_dae, py::arg("x"), py::arg("times"))
      .def("solve", &solve_dae, py::arg("x"), py::arg("times"));
}

}  // namespace agrad::python
