// The beta-negative-binomial distribution.
//
// Distribution functions are sums of positive terms, and constants where n < 0.
#pragma once

#include <cmath>

#include <agrad/families/counts/beta_neg_binomial_tail.hpp>
#include <agrad/families/tails/table_deviance.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad {

struct beta_neg_binomial_lpmf_rule : probability_rule<4> {
  static constexpr std::string_view
      name = "beta_neg_binomial_lpmf",
      text =
          "Log mass of n failures before r successes, with a probability that is beta distributed with shapes alpha and beta.",
      reference =
          "loggamma(n + r) - loggamma(n + 1) - loggamma(r) + loggamma(alpha + r) - loggamma(alpha) + loggamma(beta + n)"
          " - loggamma(beta) - loggamma(alpha + beta + r + n) + loggamma(alpha + beta)",
      source = "log f(n; r, alpha, beta) = log(gamma(n + r) / (n! gamma(r))) + log B(alpha + r, beta + n) - log B(alpha, beta)";
  static constexpr std::string_view scipy = "betanbinom(n, a, b): x - loc; n, a, b";
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative},
                                                   {"r", must_be::positive_finite},
                                                   {"alpha", must_be::positive_finite},
                                                   {"beta", must_be::positive_finite}};
  template <class P, class N, class R, class A, class B>
  static auto term(const parts& included, const P&, const N& n, const R& r, const A& alpha, const B& beta) {
    return detail::beta_neg_binomial_log_mass(included, n, r, alpha, beta);
  }
};
/// Returns the sum of the beta-negative-binomial log masses of n; see normal_lpdf.
template <bool propto = false, class N, class R, class Alpha, class Beta>
auto beta_neg_binomial_lpmf(const N& n, const R& r, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_neg_binomial_lpmf_rule, propto>(n, r, alpha, beta);
}

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
inline constexpr probability_function<beta_neg_binomial_cdf_rule> beta_neg_binomial_cdf;

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
inline constexpr probability_function<beta_neg_binomial_lcdf_rule> beta_neg_binomial_lcdf;

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
inline constexpr probability_function<beta_neg_binomial_lccdf_rule> beta_neg_binomial_lccdf;

using beta_neg_binomial_lbetween_rule =
    log_between_counts<beta_neg_binomial_lpmf_rule, beta_neg_binomial_lcdf_rule, beta_neg_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<beta_neg_binomial_lbetween_rule> beta_neg_binomial_lbetween;

/// Draws counts of failures before the r-th success, whose probability is a beta number of shapes alpha and beta. Throws
/// DomainError where a count has a rate beyond 2^52, which is frequent for small alpha.
template <class R, class Alpha, class Beta, class URBG>
auto beta_neg_binomial_rng(const R& r, const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_neg_binomial_lpmf_rule, count_t>(
      "beta_neg_binomial_rng",
      [&](detail::draw_place place, double n, double a, double b) {
        double log_rate = detail::draw_log_gamma(n, rng);
        log_rate += detail::draw_log_gamma(b, rng);
        log_rate -= detail::draw_log_gamma(a, rng);
        return detail::draw_poisson("beta_neg_binomial_rng", std::exp(log_rate), place, rng);
      },
      r, alpha, beta);
}

namespace rules {
using beta_neg_binomial_family = family<typelist<beta_neg_binomial_lpmf_rule, beta_neg_binomial_cdf_rule,
                                                 beta_neg_binomial_lcdf_rule, beta_neg_binomial_lccdf_rule>,
                                        typelist<>, typelist<beta_neg_binomial_lbetween_rule>>;
}

}  // namespace agrad
