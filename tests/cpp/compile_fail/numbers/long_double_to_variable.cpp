// A variable holds a double.
// expect: a long double would lose digits
#include <agrad/tape/var.hpp>

agrad::var wrong(long double x) { return x; }
