// Only a scalar has a gradient.
// expect: has no member named 'grad'|no member named 'grad'
#include <agrad/tape/matrix.hpp>

void wrong(const agrad::matrix<agrad::var>& x) { x.grad(); }
