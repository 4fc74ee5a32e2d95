// Values of a matrix<var> are written by the operation that made it.
// expect: is private|private within this context|private member
#include <agrad/tape/matrix.hpp>

void wrong(agrad::matrix<agrad::var>& x) { x.writable().setZero(); }
