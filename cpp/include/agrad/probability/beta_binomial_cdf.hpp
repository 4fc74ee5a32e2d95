// The distribution functions of the beta-binomial distribution.
//
// They are sums of masses, and constants where n < 0 or n >= N.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/beta_binomial_tail.hpp>

namespace agrad {

namespace detail {
/// What the distribution functions of the beta-binomial distribution have in common.
struct beta_binomial_cdf_base : probability_rule<4> {
  static constexpr density_argument arguments[] = {{"n", must_be::whole},
                                                   {"N", must_be::few_trials},
                                                   {"alpha", must_be::positive_finite},
                                                   {"beta", must_be::positive_finite}};
  /// Returns the probability of at most n successes, or of more, or its logarithm.
  template <bool is_upper, bool is_log, class N, class S, class A, class B>
  static auto tail(const N& n, const S& size, const A& alpha, const B& beta) {
    using T = promoted_t<N, S, A, B>;
    const double none = is_log ? -infinity : 0, all = is_log ? 0 : 1;
    using tail_rule = beta_binomial_tail_rule<is_upper, is_log>;
    return either<T>(
        !(n >= 0), [&] { return T(is_upper ? all : none); }, !(n < size), [&] { return T(is_upper ? none : all); },
        [&] { return T(apply<tail_rule>(tail_rule::counts(n, size), alpha, beta)); });
  }
};
}  // namespace detail

struct beta_binomial_cdf_rule : detail::beta_binomial_cdf_base {
  static constexpr std::string_view
      name = "beta_binomial_cdf",
      text = "Probability of at most n successes in N trials, with a probability that is beta distributed.",
      reference =
          "("
          "sum(binomial(N, k) * gamma(k + alpha) / gamma(alpha) * gamma(N - k + beta) / gamma(beta)"
          " * gamma(alpha + beta) / gamma(N + alpha + beta) for k in range(int(n) + 1))"
          " if n < N else 1) if n >= 0 else 0",
      source = "F(n; N, alpha, beta) = sum over k <= n of C(N, k) B(k + alpha, N - k + beta) / B(alpha, beta)";
  static constexpr bool is_product = true;
  template <class P, class N, class S, class A, class B>
  static auto term(const parts&, const P&, const N& n, const S& size, const A& alpha, const B& beta) {
    return tail<false, false>(n, size, alpha, beta);
  }
};
/// Returns the product of the probabilities of at most n successes in N < 2^23 trials; see normal_cdf.
template <class Count, class Trials, class Alpha, class Beta>
auto beta_binomial_cdf(const Count& n, const Trials& trials, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_binomial_cdf_rule>(n, trials, alpha, beta);
}

struct beta_binomial_lcdf_rule : detail::beta_binomial_cdf_base {
  static constexpr std::string_view
      name = "beta_binomial_lcdf",
      text = "Logarithm of beta_binomial_cdf.",
      reference =
          "(log("
          "sum(binomial(N, k) * gamma(k + alpha) / gamma(alpha) * gamma(N - k + beta) / gamma(beta)"
          " * gamma(alpha + beta) / gamma(N + alpha + beta) for k in range(int(n) + 1))"
          ") if n < N else 0) if n >= 0 else -inf",
      source = "log F(n; N, alpha, beta)";
  template <class P, class N, class S, class A, class B>
  static auto term(const parts&, const P&, const N& n, const S& size, const A& alpha, const B& beta) {
    return tail<false, true>(n, size, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of at most n successes.
template <class Count, class Trials, class Alpha, class Beta>
auto beta_binomial_lcdf(const Count& n, const Trials& trials, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_binomial_lcdf_rule>(n, trials, alpha, beta);
}

struct beta_binomial_lccdf_rule : detail::beta_binomial_cdf_base {
  static constexpr std::string_view
      name = "beta_binomial_lccdf",
      text = "Logarithm of the probability of more than n successes in N trials, with a probability that is beta distributed.",
      reference =
          "(log("
          "sum(binomial(N, k) * gamma(k + alpha) / gamma(alpha) * gamma(N - k + beta) / gamma(beta)"
          " * gamma(alpha + beta) / gamma(N + alpha + beta) for k in range(int(n) + 1, int(N) + 1))"
          ") if n < N else -inf) if n >= 0 else 0",
      source = "log(1 - F(n; N, alpha, beta))";
  template <class P, class N, class S, class A, class B>
  static auto term(const parts&, const P&, const N& n, const S& size, const A& alpha, const B& beta) {
    return tail<true, true>(n, size, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of more than n successes.
template <class Count, class Trials, class Alpha, class Beta>
auto beta_binomial_lccdf(const Count& n, const Trials& trials, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_binomial_lccdf_rule>(n, trials, alpha, beta);
}

namespace rules {
using beta_binomial_cdfs = typelist<beta_binomial_cdf_rule, beta_binomial_lcdf_rule, beta_binomial_lccdf_rule>;
}

}  // namespace agrad
