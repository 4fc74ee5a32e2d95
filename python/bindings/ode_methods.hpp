// Methods of differential equations as Python has them, and what files of their own add to ode.cpp.
#pragma once

#include <agrad/solve/ode_operation.hpp>
#include <agrad/solve/ode_options.hpp>

#include <pybind11/pybind11.h>

namespace agrad::python {

/// A method with its options: what makes its solvers. The classes derived from it differ in how they are made.
struct ode_method {
  ode_operation::maker make;
  bool same_steps = false;  // whether a solve without derivatives takes the steps of one with them
};
/// CVODES with the adjoint method.
struct adjoint_method : ode_method {
  ode_adjoint_options options;
};
/// A one-step method with a discrete adjoint.
struct step_method : ode_method {};
/// CVODES with forward sensitivities, or where asked for with whichever of forward and adjoint is cheaper.
struct forward_method : ode_method {};
/// Two methods whose gradients are compared.
struct checked_method : ode_method {};

void register_forward_method(pybind11::module_& m);  // these two after register_ode
void register_checked_method(pybind11::module_& m);
void register_steady(pybind11::module_& m);
void register_dae(pybind11::module_& m);

}  // namespace agrad::python
