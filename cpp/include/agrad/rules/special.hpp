// Special: families of elementwise rules that <agrad/agrad.hpp> leaves out for the time to compile, and the only list of these.
// Programs include this header, <agrad/probability.hpp> or a family's header beside <agrad/agrad.hpp>. Python has the functions
// of the list.
#pragma once

#include <agrad/rules/bessel_integer.hpp>
#include <agrad/rules/bessel_modified.hpp>
#include <agrad/rules/bessel_orders.hpp>
#include <agrad/rules/betainc.hpp>
#include <agrad/rules/betaincinv.hpp>
#include <agrad/rules/factorial.hpp>
#include <agrad/rules/hypergeometric.hpp>
#include <agrad/rules/lambert.hpp>
#include <agrad/rules/log_gammainc.hpp>
#include <agrad/rules/log_probabilities.hpp>
#include <agrad/rules/multigamma.hpp>
#include <agrad/rules/owens_t.hpp>

namespace agrad::rules {

using special = concat_t<log_probabilities, lambert, owens_t, bessel_integer, bessel_modified, bessel_orders, factorial,
                         multigamma, hypergeometric, betainc, betaincinv>;

}  // namespace agrad::rules
