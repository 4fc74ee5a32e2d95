// Umbrella of solve/: differential equations, the only headers of agrad that need SUNDIALS.
#pragma once

#include <agrad/solve/cvodes_adjoint.hpp>
