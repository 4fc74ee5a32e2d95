// std::exp is for numbers; exp alone finds agrad's by its argument, beside `using std::exp;` too.
// expect: no matching function for call to 'exp['(]
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>

void wrong(const agrad::var& x) { const agrad::var z = std::exp(x); }
