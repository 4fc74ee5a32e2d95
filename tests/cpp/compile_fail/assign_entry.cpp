// Entries of a matrix<var> never change.
// expect: discards qualifiers|no viable overloaded '='|not marked const
#include <agrad/tape/matrix.hpp>

void wrong(agrad::matrix<agrad::var>& x) { x(0, 0) = 1.0; }
