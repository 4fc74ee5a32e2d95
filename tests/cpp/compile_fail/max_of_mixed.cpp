// std::max wants one type; max without std::, found in agrad by its arguments, takes any two.
// expect: no matching function for call to 'max
#include <agrad/tape/var.hpp>
#include <algorithm>

void wrong(const agrad::var& x, const agrad::var& y) { const agrad::var z = std::max(x * y, y); }
