// The Dirichlet distribution, and the multinomial distribution whose probabilities have it.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/families/tails/share_deviance.hpp>
#include <agrad/rules/gamma/entropy.hpp>

namespace agrad {

struct dirichlet_lpdf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "dirichlet_lpdf", text = "Log density of simplexes theta with weights alpha.",
                                    source = "log f = log Gamma(sum alpha) + sum((alpha - 1) log theta - log Gamma(alpha))";
  static constexpr matrix_argument arguments[] = {{"theta", 'n', 'k', must_be::simplex},
                                                  {"alpha", 'n', 'k', must_be::positive_finite}};
  template <class W, class Theta, class A>
  static auto log_density(const parts& included, const Theta& theta, const A& alpha) {
    const bool with_norm = included.of({1});
    const auto total = W::row_sums(alpha);
    const auto power = [with_norm](const auto& a, const auto& of, const auto& x) {
      using T = promoted_t<decltype(a), decltype(of), decltype(x)>;
      return with_norm ? T(apply<detail::weight_of_share_rule>(a, of, x)) : T(xlogy(a - 1.0, x));
    };
    const auto log_gamma = [](const auto& a, const auto& of) { return apply<detail::weight_of_total_rule>(a, of); };
    const auto powers = W::sum(W::each(power, alpha, total, theta));
    const auto norm = W::part(
        with_norm,
        [&] {
          const auto all = W::sum(W::each(log_gamma, total, total)), each = W::sum(W::each(log_gamma, alpha, total));
          return detail::multiple<W>(detail::copies(alpha, std::max(theta.rows(), alpha.rows())),
                                     W::each(detail::difference_of{}, all, each));
        },
        alpha);
    return detail::added<W>(powers, norm);
  }
};
/// Returns the sum of the Dirichlet log densities of theta: the rows of a matrix, or one vector; so is alpha.
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
    const auto counts = W::row_sums(n);
    const auto weights = W::row_sums(alpha);
    const auto term = [](const auto& count, const auto& a, const auto& all, const auto& all_weights) {
      return apply<detail::drawn_count_rule>(count, a, all, all_weights);
    };
    const auto total = [](const auto& count, const auto& a) { return apply<detail::drawn_total_rule>(count, a); };
    const auto sum =
        detail::added<W>(W::sum(W::each(total, counts, weights)), W::sum(W::each(term, n, alpha, counts, weights)));
    if (included.constants()) return sum;
    const auto log_count = [](const auto& count) {  // log(0) is left out
      using T = promoted_t<decltype(count)>;
      return either<T>(
          count == 0.0, [] { return T(0.0); }, [&] { return T(log(count)); });
    };
    return detail::weighted<W>(1, sum, -1, W::sum(W::each(log_count, counts)), 1, W::sum(W::each(log_count, n)));
  }
};
/// Returns the sum of the log masses of counts n, the rows of a matrix or one vector; n has no derivative.
template <bool propto = false, class N, class A>
auto dirichlet_multinomial_lpmf(const N& n, const A& alpha) {
  return apply_multivariate<dirichlet_multinomial_lpmf_rule, propto>(n, alpha);
}

namespace rules {
using dirichlet_distribution = typelist<dirichlet_lpdf_rule, dirichlet_multinomial_lpmf_rule>;
}

}  // namespace agrad
