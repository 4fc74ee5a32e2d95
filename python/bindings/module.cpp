// The extension module agrad._core.
#include <pybind11/pybind11.h>

#include <agrad/version.hpp>

#include "arrays/array.hpp"
#include "errors.hpp"
#include "solves/ode_methods.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled part of agrad.";
  m.attr("__version__") = agrad::version;
  agrad::python::register_errors(m);
  agrad::python::register_rows(m);
  agrad::python::register_densities(m);
  agrad::python::register_multivariate(m);
  agrad::python::register_linalg(m);
  agrad::python::register_program(m);
  agrad::python::register_products(m);
  agrad::python::register_sparse(m);
  agrad::python::register_array(m);
  agrad::python::register_functions(m);
  agrad::python::register_solve_operation(m);
  agrad::python::register_ode(m);
  agrad::python::register_events(m);
  agrad::python::register_forward_method(m);
  agrad::python::register_checked_method(m);
  agrad::python::register_steady(m);
  agrad::python::register_dae(m);
  agrad::python::register_solve_many(m);
  agrad::python::register_callback(m);
  agrad::python::register_body(m);
  agrad::python::register_derivatives(m);
  agrad::python::register_batch(m);
  agrad::python::register_debug(m);
  agrad::python::register_describe(m);
  agrad::python::register_pickle(m);
  agrad::python::register_call(m);
  agrad::python::register_c_function(m);
}
