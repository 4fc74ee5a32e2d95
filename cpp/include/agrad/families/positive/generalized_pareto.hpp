// The generalized Pareto distribution of excesses: exponential for the shape 0, bounded for negative shapes.
//
// With z = (y - mu) / sigma the logarithm of the probability of a value beyond y is -h, where h = log(1 + xi z) / xi is smooth
// where xi passes 0 (rules/gamma/shape_integrals.hpp).
#pragma once

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
/// What the functions of the generalized Pareto distribution have in common.
struct generalized_pareto_rule : probability_rule<4> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}, {"xi", must_be::finite}};
  template <class Y, class M, class S, class X>
  static auto in_support(const Y& y, const M& mu, const S&, const X&) {
    return y > mu;
  }
  /// Returns formula(d), d = y - mu, or `beyond` where no values are as large as y.
  template <class T, class Formula>
  static T up_to_end(const T& y, const T& mu, const T& sigma, const T& xi, double beyond, const Formula& formula) {
    const T d = y - mu;
    return either<T>(
        d == infinity || sigma + xi * d <= 0.0, [&] { return T(beyond); }, [&] { return T(formula(d)); });
  }
};
}  // namespace detail

struct generalized_pareto_lpdf_rule : detail::generalized_pareto_rule {
  static constexpr std::string_view
      name = "generalized_pareto_lpdf",
      text = "Log density of y >= mu, with scale sigma and shape xi of either sign.",
      reference =
          "-log(sigma) - (1 + 1 / xi) * log1p(xi * (y - mu) / sigma)"
          " if y >= mu and 1 + xi * (y - mu) / sigma > 0 else -inf",
      source =
          "Pickands (1975), Annals of Statistics 3:119: log f = -log sigma - (1 + 1 / xi) log(1 + "
          "xi z) with z = (y - mu) / sigma";
  static constexpr std::string_view scipy = "genpareto(c): x; loc, scale, c";
  template <class Y, class M, class S, class X>
  static auto in_support(const Y& y, const M& mu, const S& sigma, const X& xi) {
    return y >= mu && y < infinity && sigma + xi * (y - mu) > 0.0;
  }
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    const T d = y - mu;
    return -detail::shaped_log(d, T(sigma), T(xi)) - log(sigma + xi * d);
  }
};
/// Returns the sum of the log densities of y of the generalized Pareto distribution; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma, class Xi>
auto generalized_pareto_lpdf(const Y& y, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return apply_probability<generalized_pareto_lpdf_rule, propto>(y, mu, sigma, xi);
}

struct generalized_pareto_cdf_rule : detail::generalized_pareto_rule {
  static constexpr std::string_view name = "generalized_pareto_cdf",
                                    text = "Probability of a value up to y, at least mu, with scale sigma and shape xi.",
                                    reference =
                                        "(-expm1(-log1p(xi * (y - mu) / sigma) / xi) if 1 + xi * (y - mu) / sigma > 0 else 1)"
                                        " if y > mu else 0",
                                    source = "F = 1 - (1 + xi z)^(-1 / xi), z = (y - mu) / sigma";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return up_to_end<T>(y, mu, sigma, xi, 1, [&](const T& d) { return -expm1(-detail::shaped_log(d, T(sigma), T(xi))); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<generalized_pareto_cdf_rule> generalized_pareto_cdf;

struct generalized_pareto_lcdf_rule : detail::generalized_pareto_rule {
  static constexpr std::string_view name = "generalized_pareto_lcdf", text = "Logarithm of generalized_pareto_cdf.",
                                    reference =
                                        "(log(-expm1(-log1p(xi * (y - mu) / sigma) / xi)) if 1 + xi * (y - mu) / sigma > 0"
                                        " else 0) if y > mu else -inf",
                                    source = "log F = log(1 - (1 + xi z)^(-1 / xi)), near mu by log z";
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return up_to_end<T>(y, mu, sigma, xi, 0, [&](const T& d) {
      const T h = detail::shaped_log(d, T(sigma), T(xi)), u = xi * (d / sigma);
      const auto is_small = h < 1.0;
      return either<T>(
          is_small && u < 1.0,  // with logarithms of d and sigma apart, whose mixed derivative is 0
          [&] { return T(log(d) - log(sigma) + log(apply<detail::shape_moment_rule>(T(0.0), u)) + log(exprel(-h))); }, is_small,
          [&] { return T(log(h) + log(exprel(-h))); },  //
          [&] { return T(log1m_exp(-h)); });
    });
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<generalized_pareto_lcdf_rule> generalized_pareto_lcdf;

struct generalized_pareto_lccdf_rule : detail::generalized_pareto_rule {
  static constexpr std::string_view name = "generalized_pareto_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, at least mu, with scale sigma and "
                                        "shape xi.",
                                    reference =
                                        "(-log1p(xi * (y - mu) / sigma) / xi if 1 + xi * (y - mu) / sigma > 0 else -inf)"
                                        " if y > mu else 0",
                                    source = "log(1 - F) = -log(1 + xi z) / xi";
  static constexpr double outside = 0;
  template <class P, class Y, class M, class S, class X>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const X& xi) {
    using T = promoted_t<Y, M, S, X>;
    return up_to_end<T>(y, mu, sigma, xi, -infinity, [&](const T& d) { return -detail::shaped_log(d, T(sigma), T(xi)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<generalized_pareto_lccdf_rule> generalized_pareto_lccdf;

struct generalized_pareto_quantile : quantile_of<generalized_pareto_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& xi) {
    return mu + sigma * detail::shaped_exp(T(-detail::log_above(is_upper, p)), xi);
  }
};
/// Returns the value up to which the probability is p: the inverse of generalized_pareto_cdf.
inline constexpr quantile_function<generalized_pareto_quantile> generalized_pareto_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<generalized_pareto_quantile, true> generalized_pareto_cqf;

using generalized_pareto_lbetween_rule =
    log_between<generalized_pareto_lpdf_rule, generalized_pareto_lcdf_rule, generalized_pareto_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<generalized_pareto_lbetween_rule> generalized_pareto_lbetween;

/// Draws generalized Pareto numbers from mu on with scale sigma and shape xi.
template <class Mu, class Sigma, class Xi, class URBG>
auto generalized_pareto_rng(const Mu& mu, const Sigma& sigma, const Xi& xi, URBG& rng) {
  return detail::draws<generalized_pareto_lpdf_rule, double>(
      "generalized_pareto_rng",
      [&](detail::draw_place, double m, double s, double x) {
        return m + s * detail::shaped_exp(detail::draw_exponential(rng), x);
      },
      mu, sigma, xi);
}

namespace rules {
using generalized_pareto_family = family<typelist<generalized_pareto_lpdf_rule, generalized_pareto_cdf_rule,
                                                  generalized_pareto_lcdf_rule, generalized_pareto_lccdf_rule>,
                                         typelist<generalized_pareto_quantile>, typelist<generalized_pareto_lbetween_rule>>;
}

}  // namespace agrad
