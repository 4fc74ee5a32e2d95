// The beta-binomial distribution: mass.
//
// The large parts of the log mass are the deviance of the table with the rows n, N - n and alpha, beta; with the rests of
// Stirling's formulas added, no large numbers cancel. If n or N - n is 0, or a shape is small, the log mass is a sum of
// logarithms of ratios of rising factorials, which are small.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/count_octets.hpp>
#include <agrad/rules/gamma_rest.hpp>
#include <agrad/rules/table_deviance.hpp>

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

namespace rules {
using beta_binomial_distribution = typelist<beta_binomial_lpmf_rule>;
}

}  // namespace agrad
