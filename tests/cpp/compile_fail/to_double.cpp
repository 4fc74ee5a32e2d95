// A variable does not become a number by itself: its derivative would be lost.
// expect: cannot convert .*multiply_rule.* to '(const )?double'|no viable conversion from .* to '(const )?double'
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x) { const double y = x * x; }
