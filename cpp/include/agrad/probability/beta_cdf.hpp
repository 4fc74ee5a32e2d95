// The distribution functions of the beta distribution.
//
// They are the incomplete beta function between 0 and 1, and constants elsewhere.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/betainc.hpp>

namespace agrad {

namespace detail {
/// What the distribution functions of the beta distribution have in common.
struct beta_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"alpha", must_be::positive_finite}, {"beta", must_be::positive_finite}};
  /// Returns the probability of values up to y, or beyond it, or its logarithm.
  template <bool is_upper, bool is_log, class Y, class A, class B>
  static auto tail(const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const double none = is_log ? -infinity : 0, all = is_log ? 0 : 1;
    return either<T>(
        !(y > 0), [&] { return T(is_upper ? all : none); }, !(y < 1), [&] { return T(is_upper ? none : all); },
        [&] { return T(apply<incomplete_beta<is_upper, is_log>>(alpha, beta, y)); });
  }
};
}  // namespace detail

struct beta_cdf_rule : detail::beta_cdf_base {
  static constexpr std::string_view name = "beta_cdf", text = "Probability of a value up to y, of shapes alpha and beta.",
                                    reference =
                                        "(betainc(alpha, beta, 0, y, regularized=True) if y < 1 else 1) if y > 0 else 0",
                                    source = "F(y; alpha, beta) = I_y(alpha, beta)";
  static constexpr bool is_product = true;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return tail<false, false>(y, alpha, beta);
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
template <class Y, class Alpha, class Beta>
auto beta_cdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_cdf_rule>(y, alpha, beta);
}

struct beta_lcdf_rule : detail::beta_cdf_base {
  static constexpr std::string_view
      name = "beta_lcdf",
      text = "Logarithm of beta_cdf.",
      reference = "(log(betainc(alpha, beta, 0, y, regularized=True)) if y < 1 else 0) if y > 0 else -inf",
      source = "log F(y; alpha, beta)";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return tail<false, true>(y, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
template <class Y, class Alpha, class Beta>
auto beta_lcdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_lcdf_rule>(y, alpha, beta);
}

struct beta_lccdf_rule : detail::beta_cdf_base {
  static constexpr std::string_view
      name = "beta_lccdf",
      text = "Logarithm of the probability of a value beyond y, of shapes alpha and beta.",
      reference = "(log(betainc(alpha, beta, y, 1, regularized=True)) if y < 1 else -inf) if y > 0 else 0",
      source = "log(1 - F(y; alpha, beta))";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return tail<true, true>(y, alpha, beta);
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
template <class Y, class Alpha, class Beta>
auto beta_lccdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_lccdf_rule>(y, alpha, beta);
}

namespace rules {
using beta_cdfs = typelist<beta_cdf_rule, beta_lcdf_rule, beta_lccdf_rule>;
}

}  // namespace agrad
