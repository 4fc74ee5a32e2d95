// agrad: all of the library but the solvers of differential equations, which are in <agrad/ode.hpp> and need SUNDIALS.
//
// Rules state functions (rules/), engines apply them: the tape (tape/, reverse mode), duals (dual/, forward mode) and
// recorded programs (program/). Start with tape/README.md and rules/exponential.hpp.
#pragma once

#include <agrad/dual/density.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/density.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <agrad/version.hpp>
