// agrad's probability functions, for numbers, vectors, duals and variables: densities, masses, distribution functions,
// quantiles and probabilities of intervals of all families; and the special functions that <agrad/agrad.hpp> leaves out. A
// program that uses few families compiles quicker with their headers alone (<agrad/probability/exponential.hpp>).
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/probability/distributions.hpp>
#include <agrad/probability/intervals.hpp>
#include <agrad/probability/multivariate/distributions.hpp>
#include <agrad/probability/quantiles.hpp>
#include <agrad/rules/special.hpp>
