// The Dirichlet distribution, and the multinomial distribution whose probabilities have it.
#pragma once

#include <agrad/probability/multivariate/parts.hpp>
#include <agrad/rules/beta.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/gamma.hpp>

namespace agrad {

struct dirichlet_lpdf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "dirichlet_lpdf", text = "Log density of simplexes theta with weights alpha.",
                                    source = "log f = log Gamma(sum alpha) + sum((alpha - 1) log theta - log Gamma(alpha))";
  static constexpr matrix_argument arguments[] = {{"theta", 'n', 'k', must_be::simplex},
                                                  {"alpha", 'n', 'k', must_be::positive_finite}};
  template <class W, class Theta, class A>
  static auto log_density(const parts& included, const Theta& theta, const A& alpha) {
    const auto power = [](const auto& x, const auto& a) { return xlogy(a - 1.0, x); };
    const auto log_gamma = [](const auto& a) { return lgamma(a); };
    const auto powers = W::sum(W::each(power, theta, alpha));
    const auto norm = W::part(
        included.of({1}),
        [&] {
          const auto all = W::sum(W::each(log_gamma, W::row_sums(alpha))), each = W::sum(W::each(log_gamma, alpha));
          return detail::multiple<W>(detail::copies(alpha, std::max(theta.rows(), alpha.rows())),
                                     W::each(detail::difference_of{}, all, each));
        },
        alpha);
    return detail::added<W>(powers, norm);
  }
};
/// Sum of the Dirichlet log densities of theta: the rows of a matrix, or one vector; so is alpha.
template <bool propto = false, class Theta, class A>
auto dirichlet_lpdf(const Theta& theta, const A& alpha) {
  return apply_multivariate<dirichlet_lpdf_rule, propto>(theta, alpha);
}

struct dirichlet_multinomial_lpmf_rule : multivariate_rule<2> {
  static constexpr std::string_view
      name = "dirichlet_multinomial_lpmf",
      text = "Log mass of counts n that are multinomial with probabilities of a Dirichlet distribution with weights alpha.",
      source = "log f = log(N B(sum alpha, N)) - sum over n_k > 0 of log(n_k B(alpha_k, n_k)), N = sum n";
  static constexpr matrix_argument arguments[] = {{"n", 'n', 'k', must_be::whole_nonnegative},
                                                  {"alpha", 'n', 'k', must_be::positive_finite}};
  template <class W, class N, class A>
  static auto log_density(const parts& included, const N& n, const A& alpha) {
    const bool constants = included.constants();
    const auto log_term = [constants](const auto& count, const auto& a) {
      using T = promoted_t<decltype(count), decltype(a)>;
      return either<T>(
          count == 0.0, [] { return T(0.0); },
          [&] { return constants ? T(log(count) + betaln(a, count)) : T(betaln(a, count)); });
    };
    const auto total = W::sum(W::each(log_term, W::row_sums(n), W::row_sums(alpha)));
    return W::each(detail::difference_of{}, total, W::sum(W::each(log_term, n, alpha)));
  }
};
/// Sum of the log masses of counts n, the rows of a matrix or one vector; n has no derivative.
template <bool propto = false, class N, class A>
auto dirichlet_multinomial_lpmf(const N& n, const A& alpha) {
  return apply_multivariate<dirichlet_multinomial_lpmf_rule, propto>(n, alpha);
}

namespace rules {
using dirichlet_distribution = typelist<dirichlet_lpdf_rule, dirichlet_multinomial_lpmf_rule>;
}

}  // namespace agrad
