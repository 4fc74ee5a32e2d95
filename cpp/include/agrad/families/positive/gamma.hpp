// The gamma distribution.
#pragma once

#include <agrad/families/shared/gamma_tails.hpp>
#include <agrad/families/shared/shape_quantiles.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the gamma distribution have in common.
struct gamma_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"alpha", must_be::positive_finite, true}, {"beta", must_be::positive_finite, true}};
  template <class Y, class A, class B>
  static auto in_support(const Y& y, const A&, const B&) {
    return y > 0;
  }
};
}  // namespace detail

struct gamma_lpdf_rule : detail::gamma_rule {
  static constexpr std::string_view
      name = "gamma_lpdf",
      text = "Log density of y > 0 with shape alpha and rate beta.",
      reference =
          "alpha * log(beta) - loggamma(alpha) + (alpha - 1) * log(y) - beta * y if 0 < y < inf else"
          " inf if y == 0 and alpha < 1 else log(beta) if y == 0 and alpha == 1 else -inf",
      source = "log f(y; alpha, beta) = alpha log(beta) - lgamma(alpha) + (alpha - 1) log(y) - beta y";
  static constexpr std::string_view scipy = "gamma(a): x - loc; a, 1 / scale";
  template <class Y, class A, class B>
  static auto in_support(const Y& y, const A&, const B&) {
    return y >= 0 && y < infinity;
  }
  template <class Y, class A, class B>
  static auto prepare(const parts& included, const Y&, const A& alpha, const B&) {
    return detail::wanted_rest(included, 1, alpha);
  }
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P& rest, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B, P>;
    return detail::gamma_log_density<T>(y, alpha, beta, rest);
  }

  struct octets : detail::gamma_octets {
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0]), power = x[1] - 1.0;
      slope[0] = power / x[0] - x[2];
      slope[1] = prepared[0] + log_y;
      slope[2] = prepared[2] - x[0];
      return prepared[1] + power * log_y - x[2] * x[0];
    }
  };
};
/// Returns the sum of the gamma log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Alpha, class Beta>
auto gamma_lpdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<gamma_lpdf_rule, propto>(y, alpha, beta);
}

struct gamma_cdf_rule : detail::gamma_rule {
  static constexpr std::string_view name = "gamma_cdf",
                                    text = "Probability of a value up to y, with shape alpha and rate beta.",
                                    reference = "lower_gamma(alpha, beta * y) if y > 0 else 0",
                                    source = "F(y; alpha, beta) = gammainc(alpha, beta y)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return detail::gamma_tail_of<false, promoted_t<Y, A, B>>(y == infinity, 1.0, alpha, detail::product_at(beta, y));
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<gamma_cdf_rule> gamma_cdf;

struct gamma_lcdf_rule : detail::gamma_rule {
  static constexpr std::string_view name = "gamma_lcdf", text = "Logarithm of gamma_cdf.",
                                    reference = "log(lower_gamma(alpha, beta * y)) if y > 0 else -inf",
                                    source = "log F(y; alpha, beta) = log gammainc(alpha, beta y)";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return detail::log_gamma_tail_of<false, promoted_t<Y, A, B>>(y == infinity, 0.0, alpha, detail::product_at(beta, y));
  }

  using octets = detail::gamma_tail_octets<false, detail::product_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<gamma_lcdf_rule> gamma_lcdf;

struct gamma_lccdf_rule : detail::gamma_rule {
  static constexpr std::string_view name = "gamma_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with shape alpha and rate beta.",
                                    reference = "log(upper_gamma(alpha, beta * y)) if y > 0 else 0",
                                    source = "log(1 - F(y; alpha, beta)) = log gammaincc(alpha, beta y)";
  static constexpr double outside = 0;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    return detail::log_gamma_tail_of<true, promoted_t<Y, A, B>>(y == infinity, -infinity, alpha, detail::product_at(beta, y));
  }

  using octets = detail::gamma_tail_octets<true, detail::product_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<gamma_lccdf_rule> gamma_lccdf;

struct gamma_quantile : quantile_of<gamma_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    return detail::gamma_quantile_of(is_upper, p, alpha) / beta;
  }
};
/// Returns the value up to which the probability is p: the inverse of gamma_cdf.
inline constexpr quantile_function<gamma_quantile> gamma_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<gamma_quantile, true> gamma_cqf;

using gamma_lbetween_rule = log_between<gamma_lpdf_rule, gamma_lcdf_rule, gamma_lccdf_rule, detail::steep_log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<gamma_lbetween_rule> gamma_lbetween;

/// Draws gamma numbers with shape alpha and rate beta.
template <class Alpha, class Beta, class URBG>
auto gamma_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<gamma_lpdf_rule, double>(
      "gamma_rng", [&](detail::draw_place, double a, double b) { return detail::draw_gamma_power(a, b, 1, 1, rng); }, alpha,
      beta);
}

namespace rules {
using gamma_family = family<typelist<gamma_lpdf_rule, gamma_cdf_rule, gamma_lcdf_rule, gamma_lccdf_rule>,
                            typelist<gamma_quantile>, typelist<gamma_lbetween_rule>>;
}

}  // namespace agrad
