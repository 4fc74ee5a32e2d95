// Say val() where the number is meant.
// expect: invalid .*cast.* from type 'const agrad::var' to type 'double'|cannot convert .*'const (agrad::)?var' to 'double'
#include <agrad/tape/var.hpp>

double wrong(const agrad::var& x) { return static_cast<double>(x); }
