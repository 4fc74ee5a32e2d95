// agrad's probability functions: densities, masses, distribution functions and quantiles of all families, for numbers, vectors,
// duals and variables; and the special functions that <agrad/agrad.hpp> leaves out. A program that uses few families compiles
// quicker with their headers alone (<agrad/probability/exponential.hpp>).
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/probability/distributions.hpp>
#include <agrad/probability/multivariate/distributions.hpp>
#include <agrad/probability/quantiles.hpp>
#include <agrad/rules/special.hpp>
