// Generalised linear models: densities of single terms at linear predictors eta = alpha + x beta.
//
// Terms are those of the univariate rules. (bernoulli_logit_glm, whose time counts, is in rules/density.)
#pragma once

#include <agrad/families/counts/binomial.hpp>
#include <agrad/families/counts/neg_binomial.hpp>
#include <agrad/families/counts/poisson.hpp>
#include <agrad/families/multivariate/parts.hpp>

namespace agrad {

namespace detail {

template <class W, class X, class A, class B>
auto linear_predictor(const X& x, const A& alpha, const B& beta) {
  return added<W>(W::product(x, W::transposed(beta)), alpha);
}

/// Returns the sum of the terms of a univariate rule. `active` tells which of its arguments have derivatives.
template <class W, class Rule, class... X>
auto sum_of_rule(bool propto, const std::array<bool, sizeof...(X)>& active, const X&... x) {
  typename Rule::parts included;
  included.propto = propto;
  included.active = active;
  return W::sum(W::each(
      [&](const auto&... each) {
        using T = promoted_t<decltype(each)...>;
        const auto inside = Rule::in_support(each...);
        const auto term = [&] { return T(Rule::term(included, Rule::prepare(included, each...), each...)); };
        if constexpr (std::is_same_v<std::decay_t<decltype(inside)>, std::true_type>)
          return term();
        else
          return either<T>(inside, term, [] { return T(Rule::outside); });
      },
      x...));
}

}  // namespace detail

struct normal_id_glm_lpdf_rule : multivariate_rule<5> {
  static constexpr std::string_view name = "normal_id_glm_lpdf",
                                    text = "Normal log density of y with means alpha + x beta and standard deviation sigma.",
                                    source = "normal_lpdf(y, alpha + x beta, sigma)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::finite},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"alpha", 'n', '1', must_be::finite},
                                                  {"beta", '1', 'k', must_be::finite},
                                                  {"sigma", 'n', '1', must_be::positive_finite}};
  template <class W, class Y, class X, class A, class B, class S>
  static auto log_density(const parts& included, const Y& y, const X& x, const A& alpha, const B& beta, const S& sigma) {
    const auto d = W::each(detail::difference_of{}, y, detail::linear_predictor<W>(x, alpha, beta));
    const double n = static_cast<double>(std::max(d.rows(), sigma.rows()));
    const auto squares = W::sum(W::each(
        [](const auto& by, const auto& s) {
          using T = promoted_t<decltype(by), decltype(s)>;
          const T z = by / s;
          return T(z * z);
        },
        d, sigma));
    const auto logs = W::part(
        included.of({4}), [&] { return W::sum(W::each(detail::log_of{}, sigma)); }, sigma);
    return detail::weighted<W>(-0.5, squares, -detail::copies(sigma, sigma.rows() == 1 ? d.rows() : sigma.rows()), logs,
                               included.constants() ? -n * detail::half_log_two_pi : 0.0, detail::one_number(1));
  }
};
/// Returns the sum of the normal log densities of y given predictors x: n x k, or one row; alpha and sigma are numbers or n
/// numbers.
template <bool propto = false, class Y, class X, class A, class B, class S>
auto normal_id_glm_lpdf(const Y& y, const X& x, const A& alpha, const B& beta, const S& sigma) {
  return apply_multivariate<normal_id_glm_lpdf_rule, propto>(y, x, alpha, beta, sigma);
}

struct poisson_log_glm_lpmf_rule : multivariate_rule<4> {
  static constexpr std::string_view name = "poisson_log_glm_lpmf",
                                    text = "Poisson log mass of counts y with log rates alpha + x beta.",
                                    source = "poisson_log_lpmf(y, alpha + x beta)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::whole_nonnegative},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"alpha", 'n', '1', must_be::finite},
                                                  {"beta", '1', 'k', must_be::finite}};
  template <class W, class Y, class X, class A, class B>
  static auto log_density(const parts& included, const Y& y, const X& x, const A& alpha, const B& beta) {
    return detail::sum_of_rule<W, poisson_log_lpmf_rule>(included.propto, {false, included.of({1, 2, 3})}, y,
                                                         detail::linear_predictor<W>(x, alpha, beta));
  }
};
/// Returns the sum of the Poisson log masses of y given predictors x; see normal_id_glm_lpdf.
template <bool propto = false, class Y, class X, class A, class B>
auto poisson_log_glm_lpmf(const Y& y, const X& x, const A& alpha, const B& beta) {
  return apply_multivariate<poisson_log_glm_lpmf_rule, propto>(y, x, alpha, beta);
}

struct neg_binomial_2_log_glm_lpmf_rule : multivariate_rule<5> {
  static constexpr std::string_view name = "neg_binomial_2_log_glm_lpmf",
                                    text =
                                        "Negative binomial log mass of counts y with log means alpha + x beta and shape phi.",
                                    source = "neg_binomial_2_log_lpmf(y, alpha + x beta, phi)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::whole_nonnegative},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"alpha", 'n', '1', must_be::finite},
                                                  {"beta", '1', 'k', must_be::finite},
                                                  {"phi", 'n', '1', must_be::positive_finite}};
  template <class W, class Y, class X, class A, class B, class F>
  static auto log_density(const parts& included, const Y& y, const X& x, const A& alpha, const B& beta, const F& phi) {
    return detail::sum_of_rule<W, neg_binomial_2_log_lpmf_rule>(included.propto,
                                                                {false, included.of({1, 2, 3}), included.of({4})}, y,
                                                                detail::linear_predictor<W>(x, alpha, beta), phi);
  }
};
/// Returns the sum of the negative binomial log masses of y given predictors x; see normal_id_glm_lpdf.
template <bool propto = false, class Y, class X, class A, class B, class F>
auto neg_binomial_2_log_glm_lpmf(const Y& y, const X& x, const A& alpha, const B& beta, const F& phi) {
  return apply_multivariate<neg_binomial_2_log_glm_lpmf_rule, propto>(y, x, alpha, beta, phi);
}

struct binomial_logit_glm_lpmf_rule : multivariate_rule<5> {
  static constexpr std::string_view name = "binomial_logit_glm_lpmf",
                                    text = "Binomial log mass of n successes in N trials with log odds alpha + x beta.",
                                    source = "binomial_logit_lpmf(n, N, alpha + x beta)";
  static constexpr matrix_argument arguments[] = {{"n", 'n', '1', must_be::whole_nonnegative},
                                                  {"N", 'n', '1', must_be::whole_nonnegative},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"alpha", 'n', '1', must_be::finite},
                                                  {"beta", '1', 'k', must_be::finite}};
  template <class W, class Y, class N, class X, class A, class B>
  static auto log_density(const parts& included, const Y& n, const N& trials, const X& x, const A& alpha, const B& beta) {
    return detail::sum_of_rule<W, binomial_logit_lpmf_rule>(included.propto, {false, false, included.of({2, 3, 4})}, n, trials,
                                                            detail::linear_predictor<W>(x, alpha, beta));
  }
};
/// Returns the sum of the binomial log masses of n in N trials given predictors x; see normal_id_glm_lpdf.
template <bool propto = false, class Y, class N, class X, class A, class B>
auto binomial_logit_glm_lpmf(const Y& n, const N& trials, const X& x, const A& alpha, const B& beta) {
  return apply_multivariate<binomial_logit_glm_lpmf_rule, propto>(n, trials, x, alpha, beta);
}

namespace rules {
using glm_distribution = typelist<normal_id_glm_lpdf_rule, poisson_log_glm_lpmf_rule, neg_binomial_2_log_glm_lpmf_rule,
                                  binomial_logit_glm_lpmf_rule>;
}

}  // namespace agrad
