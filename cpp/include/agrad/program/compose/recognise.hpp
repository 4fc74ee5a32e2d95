// Recognise: finds known compositions, such as sqrt(x)^2, while they are recorded.
//
// sqrt(x)^2 has the derivative 1 at 0, but the chain rule multiplies a slope of zero by an infinite slope there. Where the last
// operation of such a composition is recorded, the rule of the whole composition (program/compose/rules.hpp) is recorded
// instead. The operations inside are dropped by the schedule unless something else uses them.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/compose/origin.hpp>

namespace agrad {

/// Returns the rule of the whole composition that the operation would complete; the operation itself where there is none.
/// A square may be a product of a number with itself.
AGRAD_INLINE applied_rule recognised(const recorder& in, applied_rule outer);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/compose/recognise.ipp>
#endif
