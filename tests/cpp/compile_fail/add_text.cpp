// Neither a number nor a variable.
// expect: no match for 'operator[+]='|no viable overloaded '[+]='
#include <agrad/tape/var.hpp>
#include <string>

void wrong(agrad::var& x) { x += std::string("1"); }
