// Special: families of elementwise rules that <agrad/agrad.hpp> leaves out for the time to compile, and the only list of these.
// Programs include this header, <agrad/probability.hpp> or a family's header beside <agrad/agrad.hpp>. Python has the functions
// of the list.
#pragma once

#include <agrad/rules/bessel/bessel_integer.hpp>
#include <agrad/rules/bessel/bessel_modified.hpp>
#include <agrad/rules/bessel/bessel_orders.hpp>
#include <agrad/rules/beta/betainc.hpp>
#include <agrad/rules/error/owens_t.hpp>
#include <agrad/rules/gamma/factorial.hpp>
#include <agrad/rules/gamma/log_gammainc.hpp>
#include <agrad/rules/gamma/multigamma.hpp>
#include <agrad/rules/special/betaincinv.hpp>
#include <agrad/rules/special/hypergeometric.hpp>
#include <agrad/rules/special/lambert.hpp>
#include <agrad/rules/special/log_probabilities.hpp>

namespace agrad::rules {

using special = concat_t<log_probabilities, lambert, owens_t, bessel_integer, bessel_modified, bessel_orders, factorial,
                         multigamma, hypergeometric, betainc, betaincinv>;

}  // namespace agrad::rules
