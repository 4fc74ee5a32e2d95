// The beta distribution.
//
// Distribution functions are the incomplete beta function between 0 and 1, and constants elsewhere.
#pragma once

#include <agrad/families/shared/shape_quantiles.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/beta/beta_density.hpp>
#include <agrad/rules/beta/betainc.hpp>

namespace agrad {

struct beta_lpdf_rule : probability_rule<3> {
  static constexpr std::string_view name = "beta_lpdf",
                                    text = "Log density of theta between 0 and 1 with the shapes alpha and beta.",
                                    reference =
                                        "((alpha - 1) * log(theta) if alpha != 1 else 0)"
                                        " + ((beta - 1) * log(1 - theta) if beta != 1 else 0)"
                                        " - (loggamma(alpha) + loggamma(beta) - loggamma(alpha + beta))"
                                        " if 0 <= theta <= 1 else -inf",
                                    source =
                                        "log f(theta; alpha, beta) = (alpha - 1) log(theta) + (beta - 1) log(1 - theta)"
                                        " - betaln(alpha, beta); deviances of Loader (2000), Fast and accurate computation of"
                                        " binomial probabilities, for large shapes";
  static constexpr std::string_view scipy = "beta(a, b): (x - loc) / scale; a, b";
  static constexpr density_argument arguments[] = {
      {"theta", must_be::not_nan}, {"alpha", must_be::positive_finite, true}, {"beta", must_be::positive_finite, true}};
  template <class Y, class A, class B>
  static auto in_support(const Y& theta, const A&, const B&) {
    return theta >= 0 && theta <= 1;
  }
  template <class P, class Y, class A, class B>
  static auto term(const parts& included, const P&, const Y& theta, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    if (included.of({1, 2})) return T(apply<detail::beta_log_density_rule>(alpha, beta, theta));
    return T(xlogy(alpha - 1.0, theta) + xlog1py(beta - 1.0, -theta));
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S sum = x[1] + x[2], slope_of_sum = apply<digamma_rule>(sum);
      const S constant = apply<lgamma_rule>(sum) - apply<lgamma_rule>(x[1]) - apply<lgamma_rule>(x[2]);
      return {slope_of_sum - apply<digamma_rule>(x[1]), slope_of_sum - apply<digamma_rule>(x[2]),
              included.of({1, 2}) ? constant : S(0.0)};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-50, 1.0) && within(x[1], 0.05, 64) && within(x[2], 0.05, 64);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S rest = 1.0 - x[0], log_y = log(x[0]), log_rest = log1p(-x[0]), a = x[1] - 1.0, b = x[2] - 1.0;
      slope[0] = a / x[0] - b / rest;
      slope[1] = prepared[0] + log_y;
      slope[2] = prepared[1] + log_rest;
      return prepared[2] + a * log_y + b * log_rest;
    }
  };
};
/// Returns the sum of the beta log densities of theta; see normal_lpdf.
template <bool propto = false, class Theta, class Alpha, class Beta>
auto beta_lpdf(const Theta& theta, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_lpdf_rule, propto>(theta, alpha, beta);
}

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
inline constexpr probability_function<beta_cdf_rule> beta_cdf;

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
inline constexpr probability_function<beta_lcdf_rule> beta_lcdf;

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
inline constexpr probability_function<beta_lccdf_rule> beta_lccdf;

struct beta_quantile : quantile_of<beta_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    return detail::beta_quantile_of(is_upper, p, alpha, beta);
  }
};
/// Returns the value up to which the probability is p: the inverse of beta_cdf.
inline constexpr quantile_function<beta_quantile> beta_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<beta_quantile, true> beta_cqf;

using beta_lbetween_rule = log_between<beta_lpdf_rule, beta_lcdf_rule, beta_lccdf_rule, detail::log_odds_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<beta_lbetween_rule> beta_lbetween;

/// Draws beta numbers with shapes alpha and beta.
template <class Alpha, class Beta, class URBG>
auto beta_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_lpdf_rule, double>(
      "beta_rng", [&](detail::draw_place, double a, double b) { return detail::draw_beta(a, b, rng).share; }, alpha, beta);
}

namespace rules {
using beta_family = family<typelist<beta_lpdf_rule, beta_cdf_rule, beta_lcdf_rule, beta_lccdf_rule>, typelist<beta_quantile>,
                           typelist<beta_lbetween_rule>>;
}

}  // namespace agrad
