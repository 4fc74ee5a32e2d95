// Differential equations in Python: methods with their options, and the solve of a recorded right-hand side.
#include <agrad/base/interrupt.hpp>
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/one_step/methods.hpp>
#include <agrad/solve/record/ode_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "../errors.hpp"
#include "../lock.hpp"
#include "../programs/pool.hpp"
#include "../programs/run.hpp"
#include "listener.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Checks for Ctrl-C, whose handler's exception ends the solve. For many solves, reports the number of finished solves.
void check_signals() {
  if (parts_listener::current() != nullptr) parts_listener::current()->poll();
  const lock_held locked;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

adjoint_method adjoint_method_of(const ode_adjoint_options& options) { return {{adjoint_maker(options)}, options}; }

void set_interpolation(ode_adjoint_options& o, const std::string& function, long code) {
  o.interpolation_polynomial = interpolation_from_code(function, "interpolation_polynomial", code);
}
void set_methods(ode_adjoint_options& o, const std::string& function, long forward, long backward) {
  o.solver_forward = method_from_code(function, "solver_forward", forward);
  o.solver_backward = method_from_code(function, "solver_backward", backward);
}

void register_adjoint_method(py::module_& m) {
  using options = ode_adjoint_options;
  py::class_<tolerances>(m, "TolerancePair", "A relative tolerance, and absolute tolerances for each number.")
      .def(py::init<double, Eigen::VectorXd>(), py::arg("relative"), py::arg("absolute"));
  py::class_<options>(m, "AdjointOptions", "Tolerances and methods of the adjoint ODE solver; see ode_adjoint_tol_ctl.")
      .def(py::init<>())
      .def_readwrite("forward", &options::forward)
      .def_readwrite("backward", &options::backward)
      .def_readwrite("quadrature", &options::quadrature)
      .def_readwrite("max_num_steps", &options::max_num_steps)
      .def_readwrite("num_steps_between_checkpoints", &options::num_steps_between_checkpoints)
      .def_readwrite("algebra", &options::algebra)
      .def_readwrite("first_step", &options::first_step)
      .def_readwrite("max_step", &options::max_step)
      .def_readwrite("in_units_of_loss", &options::in_units_of_loss)
      .def("set_interpolation", &set_interpolation, py::arg("function"), py::arg("code"), "Sets the interpolation by its code.")
      .def("set_methods", &set_methods, py::arg("function"), py::arg("forward"), py::arg("backward"),
           "Sets the methods of both passes by their codes.");
  py::class_<adjoint_method, configured_method>(m, "AdjointMethod", "CVODES with the adjoint method.")
      .def(py::init(&adjoint_method_of), py::arg("options"));
}

/// kind: the name in `solve_ivp`. ends, columns: of the pattern's rows, if a pattern is given.
ode_algebra algebra_from(const std::string& kind, const std::string& argument, std::optional<std::pair<long, long>> bandwidths,
                         const std::optional<std::vector<std::size_t>>& ends,
                         std::optional<std::vector<csr_pattern::index>> columns) {
  const std::pair<const char*, ode_algebra_kind> kinds[] = {{"auto", ode_algebra_kind::automatic},
                                                            {"dense", ode_algebra_kind::dense},
                                                            {"banded", ode_algebra_kind::banded},
                                                            {"sparse", ode_algebra_kind::sparse},
                                                            {"gmres", ode_algebra_kind::gmres}};
  ode_algebra a;
  for (const auto& [name, is] : kinds)
    if (kind == name) a.kind = is;
  a.argument = argument;
  if (bandwidths) a.bandwidths = half_bandwidths{bandwidths->first, bandwidths->second};
  if (ends && columns) {
    a.pattern.emplace();
    a.pattern->cols = ends->size();
    a.pattern->begin.insert(a.pattern->begin.end(), ends->begin(), ends->end());
    a.pattern->col = std::move(*columns);
  }
  return a;
}

/// The entries of a mass matrix: the ends of the rows, the columns, the values.
using mass_entries = std::tuple<std::vector<std::size_t>, std::vector<csr_pattern::index>, std::vector<double>>;

mass_matrix mass_from(mass_entries entries) {
  mass_matrix m;
  auto& [ends, columns, values] = entries;
  m.pattern.cols = ends.size();
  m.pattern.begin.insert(m.pattern.begin.end(), ends.begin(), ends.end());
  m.pattern.col = std::move(columns), m.values = std::move(values);
  return m;
}

step_method step_method_named(const std::string& name, double relative_tolerance, Eigen::VectorXd absolute_tolerance,
                              long max_num_steps, double first_step, double max_step, double max_memory,
                              const ode_algebra& algebra, step_error_control error_control, std::optional<mass_entries> mass) {
  step_options o{{relative_tolerance, std::move(absolute_tolerance)},
                 max_num_steps,
                 first_step,
                 max_step,
                 max_memory,
                 algebra,
                 error_control};
  if (mass) o.mass = mass_from(*std::move(mass));
  return {{one_step_maker(name, o), error_control == step_error_control::derivatives}};
}

/// of_state, of_time, of_times: which derivatives are wanted; active: which parameters have derivatives, empty for all. holds:
/// whether second derivatives have the part of kinks of states.
std::shared_ptr<solve_operation> make_ode(const std::string& function, const pooled_program& f, Eigen::Index states,
                                          std::size_t times, const configured_method& method, bool of_state, bool of_time,
                                          bool of_times, std::vector<bool> active, std::shared_ptr<solve_progress> progress,
                                          bool holds) {
  const ode_required required{of_state || method.same_steps, of_time, of_times};
  ode_problem::fields fields{{function, f.code, states, times, std::move(active)}, required, holds};
  return std::make_shared<solve_operation>(std::make_shared<const ode_problem>(std::move(fields), method.make),
                                           std::move(progress), method.same_steps);
}

/// Returns a function that warns once of each concern; if warnings are errors, the solve throws each time.
std::function<void(step_concern, const std::string&)> first_of_each_concern() {
  struct flags {
    std::atomic<bool> steps{false}, gradient{false};
  };
  return [said = std::make_shared<flags>()](step_concern what, const std::string& text) {
    std::atomic<bool>& is_said = what == step_concern::steps ? said->steps : said->gradient;
    if (is_said) return;
    const lock_held_in_run locked;
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
    is_said = true;
  };
}

}  // namespace

ode_maker one_step_maker(const std::string& name, const step_options& options) {
  const one_step_method* method = entry_of(name);
  if (method == nullptr) throw std::invalid_argument("no one-step method has the name " + name);
  step_options warning = options;
  warning.warn = first_of_each_concern();
  const auto make = [method, warning](const std::string& function, ode_system& system, ode_required required) {
    return method->make(function, system, warning, required);
  };
  return make_named("one step", make, name, options);
}

portable_kind ode_kind() {
  return {ode_problem::stored_kind, [](portable_reader& from) { return solve_operation::read<ode_problem>(from, read_maker); }};
}

void register_ode(py::module_& m) {
  interrupt_check = check_signals;
  m.def(
      "one_step_methods",
      [] {
        py::list rows;
        for (const one_step_method& each : one_step_methods)
          rows.append(py::make_tuple(each.name, each.text, each.order, each.real_stability, each.has_factors));
        return rows;
      },
      "Returns, for each one-step method, the name, the description, the order, the end of the stable part of the negative "
      "real axis (0 for implicit methods), and whether the method solves linear equations with the Jacobian.");
  py::class_<ode_algebra>(m, "OdeAlgebra", "Linear algebra of implicit methods; see solve_ivp.")
      .def(py::init(&algebra_from), py::arg("kind"), py::arg("argument"), py::arg("half_bandwidths"), py::arg("ends"),
           py::arg("columns"));
  py::enum_<step_error_control>(m, "ErrorControl",
                                "The errors by which the steps of a one-step method are chosen; see solve_ivp.")
      .value("auto", step_error_control::automatic)
      .value("states", step_error_control::states)
      .value("derivatives", step_error_control::derivatives);
  py::class_<configured_method>(m, "ConfiguredMethod", "A method of differential equations with its options.")
      .def_readonly("same_steps", &configured_method::same_steps);
  register_adjoint_method(m);
  py::class_<step_method, configured_method>(m, "StepMethod", "A one-step method with a discrete adjoint, and its options.")
      .def(py::init(&step_method_named), py::arg("name"), py::arg("relative_tolerance"), py::arg("absolute_tolerance"),
           py::arg("max_num_steps"), py::arg("first_step"), py::arg("max_step"), py::arg("max_memory"), py::arg("algebra"),
           py::arg("error_control"), py::arg("mass"));
  m.def("check_initial_value_problem", &check_initial_value_problem, py::arg("function"), py::arg("y0"), py::arg("t0"),
        py::arg("times"), "Raises unless y0, t0 and times are an initial value problem.");
  m.def("ode_operation", &make_ode, py::arg("function"), py::arg("program"), py::arg("states"), py::arg("times"),
        py::arg("method"), py::arg("of_state"), py::arg("of_time"), py::arg("of_times"),
        py::arg("active") = std::vector<bool>(), py::arg("progress") = py::none(), py::arg("holds") = true,
        "Returns the solve of a recorded right-hand side.");
}

}  // namespace agrad::python
