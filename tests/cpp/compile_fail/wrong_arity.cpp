// A rule of one argument applied to two.
// expect: the rule takes another number of arguments
#include <agrad/rules/exponential.hpp>
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x) { agrad::apply<agrad::exp_rule>(x, x); }
