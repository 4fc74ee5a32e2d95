// Umbrella of differential-algebraic equations. agrad/ode.hpp leaves this out because the matrices take three times as long to
// compile.
#pragma once

#include <agrad/solve/dae_adjoint.hpp>
#include <agrad/solve/dae_forward.hpp>
#include <agrad/solve/record/dae_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
