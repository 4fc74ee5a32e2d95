// A tape's variable and a dual of numbers belong to different engines, and neither converts.
// expect: these scalars do not mix
#include <agrad/dual/dual.hpp>
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x, const agrad::dual<double>& y) { const auto z = x / y; }
