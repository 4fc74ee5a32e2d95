// agrad's probability functions, for numbers, vectors, duals and variables: densities, masses, distribution functions,
// quantiles and probabilities of intervals of all families; and the special functions that <agrad/agrad.hpp> leaves out. A
// program that uses few families compiles quicker with their headers alone (<agrad/families/positive/exponential.hpp>).
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/families/families.hpp>
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/rules/lists/special.hpp>
