// What is recorded has no value yet to decide by.
// expect: could not convert .* to 'bool'|not contextually convertible to 'bool'
#include <agrad/program/machine/traced.hpp>

agrad::traced wrong(const agrad::traced& x) {
  if (x < 1.0) return x;
  return 1.0;
}
