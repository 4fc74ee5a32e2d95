// A long double beside a variable would be rounded to double without a word.
// expect: a long double would lose digits
#include <agrad/tape/var.hpp>

agrad::var wrong(const agrad::var& x) { return x * 0.1L; }
