// A conditional between expressions of different size: make one of them a var. Of equal size they are of one type.
// expect: operands to '[?]:' have different types|incompatible operand types
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x, const agrad::var& y) { const agrad::var z = x < y ? x * y : x * y + x; }
