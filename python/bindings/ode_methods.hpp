// What files of their own add to the differential equations of ode.cpp.
#pragma once

#include <pybind11/pybind11.h>

namespace agrad::python {

void register_forward_method(pybind11::module_& m);  // after register_ode

}  // namespace agrad::python
