// A dual is no truth value.
// expect: could not convert .* to 'bool'|not contextually convertible to 'bool'
#include <agrad/dual/dual.hpp>

int wrong(const agrad::dual<double>& x) { return x ? 1 : 0; }
