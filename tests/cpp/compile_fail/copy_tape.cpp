// A tape is its own and only one.
// expect: use of deleted function 'agrad::tape::tape|call to deleted constructor
#include <agrad/tape/tape.hpp>

void wrong(const agrad::tape& t) { const agrad::tape other = t; }
