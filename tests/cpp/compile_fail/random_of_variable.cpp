// A random number has no derivative.
// expect: a random number has no derivative: pass values
#include <agrad/families/families.hpp>
#include <random>

double wrong(const agrad::var& mu, std::mt19937_64& rng) { return agrad::normal_rng(mu, 1.0, rng); }
