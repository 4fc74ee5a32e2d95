// A conditional between an expression and a number: make one of them a var.
// expect: operands to '[?]:' have different types|incompatible operand types
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x) { const agrad::var z = x < 1 ? x * x : 1.0; }
