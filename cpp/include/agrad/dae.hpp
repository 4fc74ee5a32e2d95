// Umbrella of differential-algebraic equations. It is not in agrad/ode.hpp: its matrices take three times as long to compile.
#pragma once

#include <agrad/solve/dae_adjoint.hpp>
#include <agrad/solve/record/dae_operation.hpp>
