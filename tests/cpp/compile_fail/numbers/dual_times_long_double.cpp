// A long double beside a dual would be rounded to double without a word.
// expect: a long double would lose digits
#include <agrad/dual/dual.hpp>

agrad::dual<double> wrong(const agrad::dual<double>& x) { return 0.1L - x; }
