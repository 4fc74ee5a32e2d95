// An expression is no truth value either.
// expect: could not convert .* to 'bool'|not contextually convertible to 'bool'
#include <agrad/tape/var.hpp>

int wrong(const agrad::var& x) { return x * x ? 1 : 0; }
