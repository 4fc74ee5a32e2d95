// Special: families of elementwise rules that <agrad/agrad.hpp> leaves out for the time to compile, and the only list of these.
// Programs include <agrad/probability.hpp>, or a family's header beside <agrad/agrad.hpp>. Python has the functions of
// rules/elementwise.hpp alone.
#pragma once

#include <agrad/rules/betainc.hpp>
#include <agrad/rules/factorial.hpp>
#include <agrad/rules/log_gammainc.hpp>

namespace agrad::rules {

using special = concat_t<factorial, betainc, log_gammainc>;

}  // namespace agrad::rules
