// The beta-negative-binomial distribution: mass.
//
// The large parts of the log mass are the deviance of the table with the rows n, r and beta, alpha; with the rests of
// Stirling's formulas added, no large numbers cancel. If n is 0 or alpha is small, the log mass is a sum of logarithms of
// ratios of rising factorials, which are not large.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/gamma_rest.hpp>
#include <agrad/rules/table_deviance.hpp>

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
    using T = promoted_t<N, R, A, B>;
    using ratio = detail::log_rising_ratio_rule;
    using rising = detail::rising_rest_rule;
    const auto is_first = r < beta;  // r and beta are interchangeable
    const T smaller = either<T>(
        is_first, [&] { return T(r); }, [&] { return T(beta); });
    const T larger = either<T>(
        is_first, [&] { return T(beta); }, [&] { return T(r); });
    const auto of_small_alpha = [&] {
      const T least = either<T>(
          smaller < alpha, [&] { return smaller; }, [&] { return T(alpha); });
      const T other = either<T>(
          smaller < alpha, [&] { return T(alpha); }, [&] { return smaller; });
      const T weight = either<T>(  // log(gamma(least + n) / (n! gamma(least)))
          least < 1, [&] { return T(apply<ratio>(least, 1.0 - least, n)); },
          [&] { return T(-apply<ratio>(1.0, least - 1.0, n)); });
      return T(apply<ratio>(larger, alpha, n) + apply<ratio>(other, least, n) + apply<ratio>(alpha + n, smaller, larger) +
               weight);
    };
    const auto general = [&] {
      T sum(apply<rising>(r, n) + apply<rising>(beta, n) + apply<rising>(alpha, smaller) -
            apply<rising>(alpha + larger, smaller + n));
      if (included.constants()) sum -= apply<detail::factorial_rest_rule>(n);
      return T(sum - n * apply<detail::table_deviance_rule>(r / n, beta / n, alpha / n));
    };
    const auto of_zero = [&] { return T(apply<ratio>(alpha, beta, r)); };
    if (included.propto) return either<T>(n == 0, of_zero, general);
    return either<T>(n == 0, of_zero, alpha < 10, of_small_alpha, general);
  }
};
/// Returns the sum of the beta-negative-binomial log masses of n; see normal_lpdf.
template <bool propto = false, class N, class R, class Alpha, class Beta>
auto beta_neg_binomial_lpmf(const N& n, const R& r, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_neg_binomial_lpmf_rule, propto>(n, r, alpha, beta);
}

namespace rules {
using beta_neg_binomial_distribution = typelist<beta_neg_binomial_lpmf_rule>;
}

}  // namespace agrad
