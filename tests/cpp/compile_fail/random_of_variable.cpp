// A random number has no derivative.
// expect: a random number has no derivative: pass values
#include <agrad/random/location_scale.hpp>
#include <random>

double wrong(const agrad::var& mu, std::mt19937_64& rng) { return agrad::normal_rng(mu, 1.0, rng); }
