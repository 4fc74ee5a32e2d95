// The beta-binomial distribution.
//
// The large parts of the log mass are the deviance of the table with the rows n, N - n and alpha, beta; with the rests of
// Stirling's formulas added, no large numbers cancel. If n or N - n is 0, or a shape is small, the log mass is a sum of
// logarithms of ratios of rising factorials, which are small.
//
// Distribution functions are sums of masses, and constants where n < 0 or n >= N.
#pragma once

#include <agrad/families/shared/count_octets.hpp>
#include <agrad/families/tails/beta_binomial_tail.hpp>
#include <agrad/families/tails/table_deviance.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad {

struct beta_binomial_lpmf_rule : probability_rule<4> {
  static constexpr std::string_view
      name = "beta_binomial_lpmf",
      text = "Log mass of n successes in N trials, with a probability that is beta distributed with shapes alpha and beta.",
      reference =
          "loggamma(N + 1) - loggamma(n + 1) - loggamma(N - n + 1) + loggamma(n + alpha) - loggamma(alpha)"
          " + loggamma(N - n + beta) - loggamma(beta) - loggamma(N + alpha + beta) + loggamma(alpha + beta) if n <= N else "
          "-inf",
      source = "log f(n; N, alpha, beta) = log(N! / (n! (N - n)!)) + log B(n + alpha, N - n + beta) - log B(alpha, beta)";
  static constexpr std::string_view scipy = "betabinom(n, a, b): x - loc; n, a, b";
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative},
                                                   {"N", must_be::whole_nonnegative, true},
                                                   {"alpha", must_be::positive_finite, true},
                                                   {"beta", must_be::positive_finite, true}};
  template <class N, class S, class A, class B>
  static auto in_support(const N& n, const S& size, const A&, const B&) {
    return n <= size;
  }
  template <class P, class N, class S, class A, class B>
  static auto term(const parts& included, const P&, const N& n, const S& size, const A& alpha, const B& beta) {
    using T = promoted_t<N, S, A, B>;
    using ratio = detail::log_rising_ratio_rule;
    using rising = detail::rising_rest_rule;
    using factorial = detail::factorial_rest_rule;
    const auto other = size - n;
    const auto general = [&] {
      T sum(apply<rising>(alpha, n) + apply<rising>(beta, other) - apply<rising>(alpha + beta, size));
      if (included.constants()) sum += apply<factorial>(size) - apply<factorial>(n) - apply<factorial>(other);
      return T(sum - n * apply<detail::table_deviance_rule>(other / n, alpha / n, beta / n));
    };
    const auto of_small = [&](const T& small, const T& count, const T& shape, const T& rest) {
      const T sum = small + shape;
      const T third = either<T>(
          sum < 1, [&] { return T(-apply<ratio>(rest + sum, 1.0 - sum, count)); },
          [&] { return T(apply<ratio>(rest + 1.0, sum - 1.0, count)); });
      return T(apply<ratio>(shape, small, rest) + apply<ratio>(small, 1.0 - small, count) + third);
    };
    const auto of_zero = [&] { return T(apply<ratio>(beta, alpha, size)); };
    const auto of_all = [&] { return T(apply<ratio>(alpha, beta, size)); };
    if (included.propto) return either<T>(n == 0, of_zero, n == size, of_all, general);
    return either<T>(
        n == 0, of_zero, n == size, of_all, alpha < beta && alpha < 0.1, [&] { return of_small(alpha, n, beta, other); },
        beta < 0.1, [&] { return of_small(beta, other, alpha, n); }, general);
  }

  /// Products of few factors. Their rounding errors count where the mass is near 1, which shapes of similar sizes prevent.
  struct octets : octet_formulas<4> {
    static constexpr bool fills_last = true;
    static constexpr bool has_propto = false;
    template <class S>
    static std::array<S, 2> prepare(const parts&, const each<S>& x) {
      const detail::rising_product<S> of_all(x[1], x[2] + x[3]);
      return {1.0 / of_all.ratio, of_all.sum_of_inverses};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= x[1] && x[1] <= detail::longest_product && within(x[2], 0.25, 32) && within(x[3], 0.25, 32);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const detail::rising_product<S> hits(x[0], x[2]), misses(x[1] - x[0], x[3]);
      slope[0] = slope[1] = 0.0;
      slope[2] = hits.sum_of_inverses - prepared[1];
      slope[3] = misses.sum_of_inverses - prepared[1];
      return log(hits.ratio * misses.ratio * prepared[0]);
    }
  };
};
/// Returns the sum of the beta-binomial log masses of n in N trials; see normal_lpdf.
template <bool propto = false, class N, class Trials, class Alpha, class Beta>
auto beta_binomial_lpmf(const N& n, const Trials& trials, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_binomial_lpmf_rule, propto>(n, trials, alpha, beta);
}

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
inline constexpr probability_function<beta_binomial_cdf_rule> beta_binomial_cdf;

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
inline constexpr probability_function<beta_binomial_lcdf_rule> beta_binomial_lcdf;

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
inline constexpr probability_function<beta_binomial_lccdf_rule> beta_binomial_lccdf;

using beta_binomial_lbetween_rule =
    log_between_counts<beta_binomial_lpmf_rule, beta_binomial_lcdf_rule, beta_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<beta_binomial_lbetween_rule> beta_binomial_lbetween;

/// Draws the number of successes in N trials whose common probability is a beta number of shapes alpha and beta.
template <class Trials, class Alpha, class Beta, class URBG>
auto beta_binomial_rng(const Trials& trials, const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_binomial_lpmf_rule, count_t>(
      "beta_binomial_rng",
      [&](detail::draw_place, double n, double a, double b) {
        const double t = detail::draw_beta(a, b, rng).share;
        return detail::draw_binomial(n, t, rng);
      },
      trials, alpha, beta);
}

namespace rules {
using beta_binomial_family =
    family<typelist<beta_binomial_lpmf_rule, beta_binomial_cdf_rule, beta_binomial_lcdf_rule, beta_binomial_lccdf_rule>,
           typelist<>, typelist<beta_binomial_lbetween_rule>>;
}

}  // namespace agrad
