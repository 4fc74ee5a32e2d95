// The index of a variable's adjoint is the tape's to give.
// expect: is private|private within this context|calling a private constructor
#include <agrad/tape/var.hpp>

agrad::var wrong(const agrad::tape& t) { return agrad::var(1.0, agrad::tape::index_type{7}, t.scope_id()); }
