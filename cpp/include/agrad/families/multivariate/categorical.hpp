// Categorical and multinomial distributions: by probabilities or by log odds.
//
// Categories count from 0, as all indices of agrad do; Stan's count from 1.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/families/tails/share_deviance.hpp>
#include <agrad/rules/gamma/entropy.hpp>

namespace agrad {

namespace detail {

/// Returns the sum of the log probabilities of outcomes y, for a row of log odds for each outcome or for all.
template <class W, class Y, class B>
auto categorical_log_sum(const Y& y, const B& odds) {
  return W::log_shares(W::counts_of(y, odds), odds);
}

/// Returns log N! - sum log n_k!, summed over rows, given N of each row or a constant for it: for a large one without the
/// parts that count_of_share_rule has.
template <class W, class N, class Total, class Where>
auto log_multinomial(const N& n, const Total& total, const Where& where) {
  const auto log_factorial = [](const auto& count, const auto& of) { return apply<count_of_total_rule>(count, of); };
  return W::each(difference_of{}, W::sum(W::each(log_factorial, total, where)), W::sum(W::each(log_factorial, n, where)));
}

}  // namespace detail

struct categorical_lpmf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "categorical_lpmf",
                                    text = "Log mass of categories y, which count from 0, with probabilities theta.",
                                    source = "log f = log theta[y]";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::category, 'k'},
                                                  {"theta", 'n', 'k', must_be::simplex}};
  template <class W, class Y, class Theta>
  static auto log_density(const parts&, const Y& y, const Theta& theta) {
    return W::sum(W::each(detail::log_of{}, W::pick(theta, y)));
  }
};
/// Returns the sum of the log masses of the categories y, one or a sequence, which count from 0; theta is one simplex or a row
/// for each y.
template <bool propto = false, class Y, class Theta>
auto categorical_lpmf(const Y& y, const Theta& theta) {
  return apply_multivariate<categorical_lpmf_rule, propto>(y, theta);
}

struct categorical_logit_lpmf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "categorical_logit_lpmf",
                                    text =
                                        "Log mass of categories y, which count from 0, with log odds beta; a category with -inf"
                                        " does not occur.",
                                    source = "log f = beta[y] - log(sum(exp(beta)))";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::category, 'k'},
                                                  {"beta", 'n', 'k', must_be::log_odds}};
  template <class W, class Y, class B>
  static auto log_density(const parts&, const Y& y, const B& beta) {
    return detail::categorical_log_sum<W>(y, beta);
  }
};
/// Does the same with log odds beta, which need not be normalised. Those of a category that cannot occur are -inf; its gradient
/// is 0.
template <bool propto = false, class Y, class B>
auto categorical_logit_lpmf(const Y& y, const B& beta) {
  return apply_multivariate<categorical_logit_lpmf_rule, propto>(y, beta);
}

struct categorical_logit_glm_lpmf_rule : multivariate_rule<4> {
  static constexpr std::string_view name = "categorical_logit_glm_lpmf",
                                    text = "Log mass of categories y, which count from 0, with log odds alpha + x beta.",
                                    source = "categorical_logit_lpmf(y, alpha + x beta)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::category, 'c'},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"alpha", '1', 'c', must_be::finite},
                                                  {"beta", 'k', 'c', must_be::finite}};
  template <class W, class Y, class X, class A, class B>
  static auto log_density(const parts&, const Y& y, const X& x, const A& alpha, const B& beta) {
    return detail::categorical_log_sum<W>(y, detail::added<W>(W::product(x, beta), alpha));
  }
};
/// Returns the sum of the log masses of the categories y given predictors x, a row for each y or one for all.
template <bool propto = false, class Y, class X, class A, class B>
auto categorical_logit_glm_lpmf(const Y& y, const X& x, const A& alpha, const B& beta) {
  return apply_multivariate<categorical_logit_glm_lpmf_rule, propto>(y, x, alpha, beta);
}

struct multinomial_lpmf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "multinomial_lpmf", text = "Log mass of counts y with probabilities theta.",
                                    source = "log f = log(N! / prod y_k!) + sum y_k log theta_k, N = sum y";
  static constexpr matrix_argument arguments[] = {{"y", 'n', 'k', must_be::whole_nonnegative},
                                                  {"theta", 'n', 'k', must_be::simplex}};
  template <class W, class Y, class Theta>
  static auto log_density(const parts& included, const Y& y, const Theta& theta) {
    if (!included.constants())
      return W::sum(W::each([](const auto& count, const auto& p) { return xlogy(count, p); }, y, theta));
    const auto total = W::row_sums(y);
    const auto power = [](const auto& count, const auto& of, const auto& p) {
      return apply<detail::count_of_share_rule>(count, of, p);
    };
    return detail::added<W>(
        W::sum(W::each(power, y, total, theta)),
        detail::multiple<W>(detail::copies(y, std::max(y.rows(), theta.rows())), detail::log_multinomial<W>(y, total, total)));
  }
};
/// Returns the sum of the multinomial log masses of counts y, the rows of a matrix or one vector; y has no derivative.
template <bool propto = false, class Y, class Theta>
auto multinomial_lpmf(const Y& y, const Theta& theta) {
  return apply_multivariate<multinomial_lpmf_rule, propto>(y, theta);
}

struct multinomial_logit_lpmf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "multinomial_logit_lpmf", text = "Log mass of counts y with log odds gamma.",
                                    source = "multinomial_lpmf(y, softmax(gamma))";
  static constexpr matrix_argument arguments[] = {{"y", 'n', 'k', must_be::whole_nonnegative},
                                                  {"gamma", 'n', 'k', must_be::finite}};
  template <class W, class Y, class G>
  static auto log_density(const parts& included, const Y& y, const G& gamma) {
    const auto norm = W::part(
        included.constants(), [&] { return detail::log_multinomial<W>(y, W::row_sums(y), detail::one_number(0)); }, y);
    return detail::added<W>(W::log_shares(y, gamma),
                            detail::multiple<W>(detail::copies(y, std::max(y.rows(), gamma.rows())), norm));
  }
};
/// Does the same with log odds gamma, which need not be normalised.
template <bool propto = false, class Y, class G>
auto multinomial_logit_lpmf(const Y& y, const G& gamma) {
  return apply_multivariate<multinomial_logit_lpmf_rule, propto>(y, gamma);
}

namespace rules {
using categorical_distribution = typelist<categorical_lpmf_rule, categorical_logit_lpmf_rule, categorical_logit_glm_lpmf_rule,
                                          multinomial_lpmf_rule, multinomial_logit_lpmf_rule>;
}

}  // namespace agrad
