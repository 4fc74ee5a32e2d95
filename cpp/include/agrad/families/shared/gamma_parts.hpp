// Gamma parts: what the gamma distribution and its relatives share (inverse gamma, chi square and its inverses, beta).
//
// With m = beta y, the gamma density is that of a deviance kl_div(alpha, m) and of the rest of lgamma: the large parts of
// alpha log(m) - m - lgamma(alpha) are cancelled analytically (Loader 2000, Fast and accurate computation of binomial
// probabilities).
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/rests.hpp>

namespace agrad::detail {

/// Returns log(gamma(a)) - a log(a) + a.
template <class A>
auto lgamma_rest_of(const A& a) {
  return apply<lgamma_rest_rule>(0.0, a);
}

/// An argument of b and y, as the rules of two tails and of the deviance take it.
template <class Argument, class B, class Y>
struct argument_of {
  using argument = Argument;
  B b;
  Y y;
  promoted_t<B, Y> value() const { return Argument::of(promoted_t<B, Y>(b), promoted_t<B, Y>(y)); }
  promoted_t<B, Y> log_value() const { return Argument::log_of(promoted_t<B, Y>(b), promoted_t<B, Y>(y)); }
  /// Returns kl_div(shape, argument).
  template <class A>
  auto deviance_of(const A& shape) const {
    return apply<kl_div_of_rule<Argument>>(shape, b, y);
  }
};
template <class B, class Y>
argument_of<product_argument, B, Y> product_at(const B& b, const Y& y) {
  return {b, y};
}
template <class B, class Y>
argument_of<quotient_argument, B, Y> quotient_at(const B& b, const Y& y) {
  return {b, y};
}

/// Returns the log density of y for a shape and a rate; the rest of lgamma(shape) is given. Near 0 the power of y is written
/// out for shapes around 1, where its exponent is small.
template <class T, class Y, class A, class B, class R>
T gamma_log_density(const Y& y, const A& shape, const B& rate, const R& rest) {
  const auto near_0 = [&] {
    const T log_gamma = xlogy(shape, shape) - shape + rest;
    return T(shape * log(rate) + xlogy(shape - 1.0, y) - rate * y - log_gamma);
  };
  return either<T>(y == 0 || (rate * y < 1 && shape > 0.5 && shape < 3), near_0,
                   [&] { return T(-product_at(rate, y).deviance_of(shape) - log(y) - rest); });
}

/// Returns lgamma(shape), or what the deviance has of it if its rest is not wanted.
template <class Parts, class A>
A wanted_lgamma(const Parts& included, int argument, const A& shape) {
  return included.of({argument}) ? A(apply<lgamma_rule>(shape)) : A(shape * log(shape) - shape);
}

/// Returns the rest of lgamma(shape), or 0 if it is a constant that is not wanted.
template <class Parts, class A>
promoted_t<A> wanted_rest(const Parts& included, int argument, const A& shape) {
  return included.of({argument}) ? promoted_t<A>(lgamma_rest_of(shape)) : promoted_t<A>(0.0);
}

/// Formulas for octets of y, a shape alpha and a rate or scale beta. Prepared are log(beta) - digamma(alpha), the parts that
/// depend on alpha and beta alone, and alpha / beta.
struct gamma_octets : octet_formulas<3> {
  template <class S>
  static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
    const S log_beta = log(x[2]);
    return {log_beta - apply<digamma_rule>(x[1]), x[1] * log_beta - wanted_lgamma(included, 1, x[1]), x[1] / x[2]};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[1], 1e-3, 64) && within(x[2], 1e-50, 1e50);
  }
};

/// Does the same for y and nu, with shape nu / 2 and beta 1/2. Prepared are the derivative with respect to nu, except log(y),
/// and the parts that depend on nu alone.
struct chi_square_octets : octet_formulas<2> {
  template <class S>
  static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
    const S shape = 0.5 * x[1];
    return {-0.5 * (log_2 + apply<digamma_rule>(shape)), -log_2 * shape - wanted_lgamma(included, 1, shape)};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[1], 1e-3, 128);
  }
};

}  // namespace agrad::detail
