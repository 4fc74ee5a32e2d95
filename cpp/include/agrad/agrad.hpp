// agrad: the whole library except for the solvers of differential equations, which are in <agrad/ode.hpp> and need SUNDIALS,
// sparse matrices (<agrad/rules/linalg/sparse.hpp>), checks of gradients (<agrad/testing.hpp>), and integrals, roots, hidden
// Markov models, Laplace's approximation and sums by parts (<agrad/functionals/quadrature.hpp>, roots.hpp, hidden_markov.hpp,
// laplace.hpp, by_parts.hpp), and functions that are recorded and replayed (<agrad/replay.hpp>).
//
// Rules state functions (rules/), engines apply them: the tape (tape/, reverse mode), duals (dual/, forward mode) and
// recorded programs (program/). Start with tape/README.md and rules/exponential.hpp.
#pragma once

#include <agrad/dual/density.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/dual/matrix.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/functionals/values.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/rules/lists/linalg.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/complex.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/density.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <agrad/version.hpp>
