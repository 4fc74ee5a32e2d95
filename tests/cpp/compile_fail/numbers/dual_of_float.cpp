// Derivatives are computed in double.
// expect: T must be double, agrad::var or a dual
#include <agrad/dual/dual.hpp>

agrad::dual<float> wrong(const agrad::dual<float>& x) { return x * x; }
