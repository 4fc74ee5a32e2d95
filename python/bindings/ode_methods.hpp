// What files of their own add to the differential equations of ode.cpp.
#pragma once

#include <agrad/solve/ode_operation.hpp>

#include <pybind11/pybind11.h>

namespace agrad::python {

/// CVODES with forward sensitivities, or where asked for with whichever of forward and adjoint is cheaper.
struct forward_method {
  ode_operation::maker make;
};

void register_forward_method(pybind11::module_& m);  // after register_ode
void register_steady(pybind11::module_& m);

}  // namespace agrad::python
