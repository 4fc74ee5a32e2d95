// The distribution functions of the beta-negative-binomial distribution.
//
// They are sums of positive terms, and constants where n < 0.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/beta_neg_binomial_tail.hpp>

namespace agrad {

namespace detail {
/// What the distribution functions of the beta-negative-binomial distribution have in common.
struct beta_neg_binomial_cdf_base : probability_rule<4> {
  static constexpr density_argument arguments[] = {
      {"n", must_be::moderate_count}, {"r", must_be::moderate}, {"alpha", must_be::moderate}, {"beta", must_be::moderate}};
  /// Returns the probability of at most n failures, or of more, or its logarithm.
  template <bool is_upper, bool is_log, class N, class R, class A, class B>
  static auto tail(const N& n, const R& r, const A& alpha, const B& beta) {
    using T = promoted_t<N, R, A, B>;
    using tail_rule = beta_neg_binomial_tail_rule<is_upper, is_log>;
    return either<T>(
        !(n >= 0), [] { return T(is_log ? (is_upper ? 0.0 : -infinity) : (is_upper ? 1.0 : 0.0)); },
        [&] { return T(apply<tail_rule>(tail_rule::unit * n, r, alpha, beta)); });
  }
};
}  // namespace detail

struct beta_neg_binomial_cdf_rule : detail::beta_neg_binomial_cdf_base {
  static constexpr std::string_view
      name = "beta_neg_binomial_cdf",
      text = "Probability of at most n failures before r successes, with a probability that is beta distributed.",
      reference = "beta_neg_binomial_share(n, r, alpha, beta)[0]",
      source = "F(n; r, alpha, beta) = sum over k <= n of gamma(k + r) / (k! gamma(r)) B(alpha + r, beta + k) / B(alpha, beta)";
  static constexpr bool is_product = true;
  template <class P, class N, class R, class A, class B>
  static auto term(const parts&, const P&, const N& n, const R& r, const A& alpha, const B& beta) {
    return tail<false, false>(n, r, alpha, beta);
  }
};
/// Returns the product of the probabilities of at most n failures; see normal_cdf. Shapes are at most 1e12, n is below.
template <class N, class R, class Alpha, class Beta>
auto beta_neg_binomial_cdf(const N& n, const R& r, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_neg_binomial_cdf_rule>(n, r, alpha, beta);
}

struct beta_neg_binomial_lcdf_rule : detail::beta_neg_binomial_cdf_base {
  static constexpr std::string_view name = "beta_neg_binomial_lcdf", text = "Logarithm of beta_neg_binomial_cdf.",
                                    reference = "log(beta_neg_binomial_share(n, r, alpha, beta)[0]) if n >= 0 else -inf",
                                    source = "log F(n; r, alpha, beta)";
  template <class P, class N, class R, class A, class B>
  static auto term(const parts&, const P&, const N& n, const R& r, const A& alpha, const B& beta) {
    return tail<false, true>(n, r, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of at most n failures.
template <class N, class R, class Alpha, class Beta>
auto beta_neg_binomial_lcdf(const N& n, const R& r, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_neg_binomial_lcdf_rule>(n, r, alpha, beta);
}

struct beta_neg_binomial_lccdf_rule : detail::beta_neg_binomial_cdf_base {
  static constexpr std::string_view name = "beta_neg_binomial_lccdf",
                                    text =
                                        "Logarithm of the probability of more than n failures before r successes, with a "
                                        "probability that is beta distributed.",
                                    reference = "log(beta_neg_binomial_share(n, r, alpha, beta)[1])",
                                    source = "log(1 - F(n; r, alpha, beta))";
  template <class P, class N, class R, class A, class B>
  static auto term(const parts&, const P&, const N& n, const R& r, const A& alpha, const B& beta) {
    return tail<true, true>(n, r, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of more than n failures.
template <class N, class R, class Alpha, class Beta>
auto beta_neg_binomial_lccdf(const N& n, const R& r, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_neg_binomial_lccdf_rule>(n, r, alpha, beta);
}

namespace rules {
using beta_neg_binomial_cdfs = typelist<beta_neg_binomial_cdf_rule, beta_neg_binomial_lcdf_rule, beta_neg_binomial_lccdf_rule>;
}

}  // namespace agrad
