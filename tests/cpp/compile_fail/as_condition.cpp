// Nor a truth value: compare it with 0.
// expect: could not convert 'x' from 'const agrad::var' to 'bool'|not contextually convertible to 'bool'
#include <agrad/tape/var.hpp>

double wrong(const agrad::var& x) {
  if (x) return 1;
  return 0;
}
