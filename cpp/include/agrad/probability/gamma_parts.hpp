// Gamma parts: what the gamma distribution and its relatives share (inverse gamma, chi square and its inverses, beta).
//
// With m = beta y, the gamma density is that of a deviance kl_div(alpha, m) and of the rest of lgamma: the large parts of
// alpha log(m) - m - lgamma(alpha) are cancelled analytically (Loader 2000, Fast and accurate computation of binomial
// probabilities).
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/rests.hpp>

namespace agrad::detail {

/// log(gamma(a)) - a log(a) + a.
template <class A>
auto lgamma_rest_of(const A& a) {
  return apply<lgamma_rest_rule>(0.0, a);
}

/// kl_div(shape, b y).
template <class A, class B, class Y>
auto deviance(const A& shape, const B& b, const Y& y) {
  return apply<kl_div_of_product_rule>(shape, b, y);
}

/// Log density of y for a shape and a rate; the rest of lgamma(shape) is given. Near 0 the power of y is written out for shapes
/// around 1, where its exponent is small.
template <class T, class Y, class A, class B, class R>
T gamma_log_density(const Y& y, const A& shape, const B& rate, const R& rest) {
  const auto near_0 = [&] {
    return T(shape * log(rate) + xlogy(shape - 1.0, y) - rate * y - (xlogy(shape, shape) - shape) - rest);
  };
  return either<T>(y == 0 || (rate * y < 1 && shape > 0.5 && shape < 3), near_0,
                   [&] { return T(-deviance(shape, rate, y) - log(y) - rest); });
}

/// The rest of lgamma(shape), or 0 if it is a constant that is not wanted.
template <class Parts, class A>
promoted_t<A> wanted_rest(const Parts& included, int argument, const A& shape) {
  return included.of({argument}) ? promoted_t<A>(lgamma_rest_of(shape)) : promoted_t<A>(0.0);
}

}  // namespace agrad::detail
