// A conditional between different expressions: make one of them a var.
// expect: operands to '[?]:' have different types|incompatible operand types
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x, const agrad::var& y) { const agrad::var z = x < y ? x * y : x + y; }
