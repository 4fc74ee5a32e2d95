// Elementwise: all families of scalar rules, and the only list of these families.
//
// Everything that exists once for each function (recorded operations, Python functions, entries of the docs' tables, tests) is
// derived from `rules::elementwise`; a rule's position in the list is its opcode.
#pragma once

#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/bessel/bessel.hpp>
#include <agrad/rules/cmath.hpp>
#include <agrad/rules/comparison.hpp>
#include <agrad/rules/error/error.hpp>
#include <agrad/rules/error/normal_quantiles.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/beta.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/gammainc.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/hyperbolic.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/special/matern.hpp>
#include <agrad/rules/steps.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad::rules {

using elementwise = concat_t<arithmetic, exponential, power, trigonometric, hyperbolic, error, gamma, piecewise, links,
                             comparison, steps, quotients, entropy, probit, beta, gammainc, bessel, matern, normal_quantiles>;

}  // namespace agrad::rules
