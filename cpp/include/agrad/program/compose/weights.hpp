// Weights: the argument log(w) + a of logsumexp as weights w and terms a.
//
// Sums, differences a - b of which a has the logarithm, log1p(x) and log1m(x) are looked into, also where they were joined. The
// derivative of log(sum(exp(log(w) + a))) with respect to a weight of zero is finite, but the chain rule multiplies the
// share of the term, zero, by the infinite slope of the logarithm. logsumexp with weights has the right one.
#pragma once

#include <optional>

#include <agrad/base/inline.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

struct weighted_terms {
  span terms, weights;
};

/// Returns terms and weights of the argument of logsumexp, one for each entry; nothing where no entry is a sum with the
/// logarithm of a variable. Entries without such a logarithm have the weight 1.
AGRAD_INLINE std::optional<weighted_terms> weighted_terms_of(recorder& in, const span& x);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/compose/weights.ipp>
#endif
