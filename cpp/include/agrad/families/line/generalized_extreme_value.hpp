// The generalized extreme value distribution of maxima: Gumbel's for the shape 0, Frechet's and Weibull's on either side.
//
// With z = (y - mu) / sigma and h = log(1 + xi z) / xi (rules/gamma/shape_integrals.hpp), the logarithm of the probability of a
// value up to y is -exp(-h), as Gumbel's is of z.
#pragma once

#include <cmath>

#include <agrad/families/tails/centred.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/gamma/shape_integrals.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {
/// What the functions of the generalized extreme value distribution have in common.
struct generalized_extreme_value_rule : probability_rule<4> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}, {"xi", must_be::finite}};
  /// Returns formula(h), or a constant where no values are as small, or as large, as y.
  template <class T, class Formula>
  static T between_ends(const T& y, const T& mu, const T& sigma, const T& xi, double below, double above,
                        const Formula& formula) {
    const T d = y - mu;
    const auto is_outside = sigma + xi * d <= 0.0;
    return either<T>(
        d == -infinity || (is_outside && xi > 0.0), [&] { return T(below); },  //
        d == infinity || is_outside, [&] { return T(above); },                 //
        [&] { return T(formula(shaped_log(d, sigma, xi))); });
  }
};
}  // namespace detail

struct generalized_extreme_value_lpdf_rule : detail::generalized_extreme_value_rule {
  static constexpr std::string_view
      name = "generalized_extreme_value_lpdf",
      text = "Log density of y, a maximum, with location mu, scale sigma and shape xi of either sign.",
      reference =
          "-log(sigma) - (1 + 1 / xi) * log1p(xi * (y - mu) / sigma) - exp(-log1p(xi * (y - mu) / sigma) / xi)"
          " if 1 + xi * (y - mu) / sigma > 0 else -inf",
      source =
          "Jenkinson (1955), Quarterly Journal of the Royal Meteorological Society 81:158: log f = -log sigma"
          " - (1 + 1 / xi) log(1 + xi z) - (1 + xi z)^(-1 / xi) with z = (y - mu) / sigma";
  static constexpr std::string_view scipy = "genextreme(c {finite}): x; loc, scale, -c";
  template <class Y, class M, class S, class X>
  static auto in_support(const Y& y, const M& mu, const S& sigma, const X& xi) {
    return abs(y) < infinity && sigma + xi * (y - mu) > 0.0;
  }
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    const T d = y - mu, h = detail::shaped_log(d, T(sigma), T(xi));
    return -1.0 - apply<detail::expm1_rest_rule>(-h) - log(sigma + xi * d);
  }
};
/// Returns the sum of the log densities of y of the generalized extreme value distribution; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma, class Xi>
auto generalized_extreme_value_lpdf(const Y& y, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return apply_probability<generalized_extreme_value_lpdf_rule, propto>(y, mu, sigma, xi);
}

struct generalized_extreme_value_cdf_rule : detail::generalized_extreme_value_rule {
  static constexpr std::string_view name = "generalized_extreme_value_cdf",
                                    text = "Probability of a value up to y, with location mu, scale sigma and shape xi.",
                                    reference =
                                        "exp(-exp(-log1p(xi * (y - mu) / sigma) / xi)) if 1 + xi * (y - mu) / sigma > 0"
                                        " else (0 if xi > 0 else 1)",
                                    source = "F = exp(-(1 + xi z)^(-1 / xi)), z = (y - mu) / sigma";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return between_ends<T>(y, mu, sigma, xi, 0, 1, [](const T& h) { return apply<detail::gumbel_probability_rule>(h); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<generalized_extreme_value_cdf_rule> generalized_extreme_value_cdf;

struct generalized_extreme_value_lcdf_rule : detail::generalized_extreme_value_rule {
  static constexpr std::string_view name = "generalized_extreme_value_lcdf",
                                    text = "Logarithm of generalized_extreme_value_cdf.",
                                    reference =
                                        "-exp(-log1p(xi * (y - mu) / sigma) / xi) if 1 + xi * (y - mu) / sigma > 0"
                                        " else (-inf if xi > 0 else 0)",
                                    source = "log F = -(1 + xi z)^(-1 / xi)";
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return between_ends<T>(y, mu, sigma, xi, -infinity, 0, [](const T& h) { return -exp(-h); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<generalized_extreme_value_lcdf_rule> generalized_extreme_value_lcdf;

struct generalized_extreme_value_lccdf_rule : detail::generalized_extreme_value_rule {
  static constexpr std::string_view name = "generalized_extreme_value_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, with location mu, scale sigma and "
                                        "shape xi.",
                                    reference =
                                        "log(-expm1(-exp(-log1p(xi * (y - mu) / sigma) / xi))) if 1 + xi * (y - mu) / sigma > 0"
                                        " else (0 if xi > 0 else -inf)",
                                    source = "log(1 - F) = log t + log((1 - exp(-t)) / t), t = (1 + xi z)^(-1 / xi)";
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return between_ends<T>(y, mu, sigma, xi, 0, -infinity, [](const T& h) {
      return either<T>(
          h > 0.0, [&] { return T(log(exprel(-exp(-h))) - h); }, [&] { return T(log1m_exp(-exp(-h))); });
    });
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<generalized_extreme_value_lccdf_rule> generalized_extreme_value_lccdf;

struct generalized_extreme_value_quantile : quantile_of<generalized_extreme_value_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& xi) {
    return mu + sigma * detail::shaped_exp(T(-log(-detail::log_below(is_upper, p))), xi);
  }
};
/// Returns the value up to which the probability is p: the inverse of generalized_extreme_value_cdf.
inline constexpr quantile_function<generalized_extreme_value_quantile> generalized_extreme_value_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<generalized_extreme_value_quantile, true> generalized_extreme_value_cqf;

using generalized_extreme_value_lbetween_rule =
    log_between<generalized_extreme_value_lpdf_rule, generalized_extreme_value_lcdf_rule, generalized_extreme_value_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<generalized_extreme_value_lbetween_rule> generalized_extreme_value_lbetween;

/// Draws generalized extreme values with location mu, scale sigma and shape xi.
template <class Mu, class Sigma, class Xi, class URBG>
auto generalized_extreme_value_rng(const Mu& mu, const Sigma& sigma, const Xi& xi, URBG& rng) {
  return detail::draws<generalized_extreme_value_lpdf_rule, double>(
      "generalized_extreme_value_rng",
      [&](detail::draw_place, double m, double s, double x) {
        return m + s * detail::shaped_exp(-std::log(detail::draw_exponential(rng)), x);
      },
      mu, sigma, xi);
}

namespace rules {
using generalized_extreme_value_family =
    family<typelist<generalized_extreme_value_lpdf_rule, generalized_extreme_value_cdf_rule,
                    generalized_extreme_value_lcdf_rule, generalized_extreme_value_lccdf_rule>,
           typelist<generalized_extreme_value_quantile>, typelist<generalized_extreme_value_lbetween_rule>>;
}

}  // namespace agrad
