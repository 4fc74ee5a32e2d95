// agrad's random numbers: draws of all distributions under Stan's names, by any generator of random bits (std::mt19937_64).
//
//     std::mt19937_64 rng(1);
//     double y = agrad::normal_rng(0.0, 2.0, rng);
//     std::vector<double> z = agrad::gamma_rng(std::vector<double>{0.5, 2.0}, 1.0, rng);
//
// A program that uses few families compiles quicker with their headers alone (<agrad/families/positive/gamma.hpp>).
#pragma once

#include <agrad/families/families.hpp>
#include <agrad/random/vectors/categories.hpp>
#include <agrad/random/vectors/multivariate.hpp>
