// The half-normal distribution: that of the size of a normal number with mean 0.
//
// Probabilities up to y are those of a normal number between -y and y. Near 0 their logarithm is one of y, near infinity that
// of twice a normal tail.
#pragma once

#include <cmath>

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/shared/powers.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/error/normal_slab.hpp>
#include <agrad/rules/error/probit.hpp>

namespace agrad {

namespace detail {
/// What the functions of the half-normal distribution have in common.
struct half_normal_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"sigma", must_be::positive_finite, true}};
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y > 0.0;
  }
};
}  // namespace detail

struct half_normal_lpdf_rule : detail::half_normal_rule {
  static constexpr std::string_view name = "half_normal_lpdf",
                                    text = "Log density of y >= 0, the size of a normal number with standard deviation sigma.",
                                    reference = "log(2 / pi) / 2 - log(sigma) - (y / sigma) ** 2 / 2 if 0 <= y < inf else -inf",
                                    source = "log f(y; sigma) = log 2 + log of the normal density at y";
  static constexpr std::string_view scipy = "halfnorm: x - loc; scale";
  static constexpr double half_log_two_over_pi = -0.225791352644727432363097614947441072;
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y >= 0.0 && y < infinity;
  }
  template <class Y, class S>
  static auto prepare(const parts& included, const Y&, const S& sigma) {
    return detail::log_density_of_scale<1>(included, half_log_two_over_pi, sigma);
  }
  template <class P, class Y, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const S& sigma) {
    return of_scale - 0.5 * square(y / sigma);
  }
};
/// Returns the sum of the half-normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Sigma>
auto half_normal_lpdf(const Y& y, const Sigma& sigma) {
  return apply_probability<half_normal_lpdf_rule, propto>(y, sigma);
}

struct half_normal_cdf_rule : detail::half_normal_rule {
  static constexpr std::string_view name = "half_normal_cdf",
                                    text = "Probability of a value up to y, the size of a normal number, with scale sigma.",
                                    reference = "erf(y / (sqrt(2) * sigma)) if y > 0 else 0",
                                    source = "F(y; sigma) = erf(y / (sqrt(2) sigma))";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    const promoted_t<Y, S> z = y / sigma;
    return detail::with_limits(z, 0, 1, [&] { return promoted_t<Y, S>(erf(detail::inv_sqrt_2 * z)); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<half_normal_cdf_rule> half_normal_cdf;

struct half_normal_lcdf_rule : detail::half_normal_rule {
  static constexpr std::string_view name = "half_normal_lcdf", text = "Logarithm of half_normal_cdf.",
                                    reference =
                                        "(log(erf(y / (sqrt(2) * sigma))) if y < sigma else"
                                        " log1p(-erfc(y / (sqrt(2) * sigma)))) if y > 0 else -inf",
                                    source = "log F(y; sigma) = log erf(y / (sqrt(2) sigma)), near 0 by log(y / sigma)";
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    const T z = y / sigma;
    return either<T>(
        z < detail::narrow_slab,  // with logarithms of y and sigma apart, whose mixed derivative is 0
        [&] {
          const T excess = apply<detail::normal_slab_rule<0, 0>>(T(0.0), T(z * z));
          return T(detail::log_scaled(T(y), T(sigma)) + half_normal_lpdf_rule::half_log_two_over_pi + log1p(excess));
        },
        z < 1.0, [&] { return T(log(erf(detail::inv_sqrt_2 * z))); },  //
        [&] { return detail::with_limits(z, 0, 0, [&] { return T(log1m(erfc(detail::inv_sqrt_2 * z))); }); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<half_normal_lcdf_rule> half_normal_lcdf;

struct half_normal_lccdf_rule : detail::half_normal_rule {
  static constexpr std::string_view
      name = "half_normal_lccdf",
      text = "Logarithm of the probability of a value beyond y, the size of a normal number, with scale sigma.",
      reference =
          "(log1p(-erf(y / (sqrt(2) * sigma))) if y < sigma else log(erfc(y / (sqrt(2) * sigma))))"
          " if y > 0 else 0",
      source = "log(1 - F(y; sigma)) = log 2 + log Phi(-y / sigma)";
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    const T z = y / sigma;
    return either<T>(
        z < 0.5, [&] { return T(log1m(erf(detail::inv_sqrt_2 * z))); }, z == infinity, [&] { return T(-infinity); },
        [&] { return T(detail::log_2 + log_ndtr(-z)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<half_normal_lccdf_rule> half_normal_lccdf;

struct half_normal_quantile : quantile_of<half_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    const T x = is_upper ? T(erfcinv(p)) : T(erfinv(p));
    return sigma * (x / detail::inv_sqrt_2);
  }
};
/// Returns the value up to which the probability is p: the inverse of half_normal_cdf.
inline constexpr quantile_function<half_normal_quantile> half_normal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<half_normal_quantile, true> half_normal_cqf;

using half_normal_lbetween_rule = log_between<half_normal_lpdf_rule, half_normal_lcdf_rule, half_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<half_normal_lbetween_rule> half_normal_lbetween;

/// Draws the sizes of normal numbers with mean 0 and standard deviation sigma.
template <class Sigma, class URBG>
auto half_normal_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<half_normal_lpdf_rule, double>(
      "half_normal_rng", [&](detail::draw_place, double s) { return s * std::abs(detail::draw_normal(rng)); }, sigma);
}

namespace rules {
using half_normal_family =
    family<typelist<half_normal_lpdf_rule, half_normal_cdf_rule, half_normal_lcdf_rule, half_normal_lccdf_rule>,
           typelist<half_normal_quantile>, typelist<half_normal_lbetween_rule>>;
}

}  // namespace agrad
