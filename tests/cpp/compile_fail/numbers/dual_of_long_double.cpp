// A derivative in long double would have the digits of double only.
// expect: T must be double, agrad::var or a dual
#include <agrad/dual/dual.hpp>

agrad::dual<long double> wrong(const agrad::dual<long double>& x) { return sin(x); }
