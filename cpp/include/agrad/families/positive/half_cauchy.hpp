// The half-Cauchy distribution: that of the size of a Cauchy number with location 0.
//
// The reciprocal of such a number is one with the reciprocal scale, so that the probabilities up to y and beyond it are one
// function with y and sigma exchanged; the functions are those of families/line/cauchy.hpp.
#pragma once

#include <cmath>

#include <agrad/families/line/cauchy.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the half-Cauchy distribution have in common.
struct half_cauchy_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"sigma", must_be::positive_finite, true}};
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y > 0.0;
  }
};

/// Returns the logarithm of the half-Cauchy probability of a value up to y, or beyond sigma with scale y.
template <class T>
T log_half_cauchy_up_to(const T& y, const T& sigma) {
  return either<T>(
      y < sigma, [&] { return T(log_2 + log_cauchy_up_to(T(-sigma), y)); },
      [&] { return T(log1m(2.0 * cauchy_tail(y, sigma))); });
}
}  // namespace detail

struct half_cauchy_lpdf_rule : detail::half_cauchy_rule {
  static constexpr std::string_view name = "half_cauchy_lpdf",
                                    text = "Log density of y >= 0, the size of a Cauchy number with scale sigma.",
                                    reference = "-log(pi / 2 * sigma * (1 + (y / sigma) ** 2)) if 0 <= y < inf else -inf",
                                    source = "log f(y; sigma) = -log(pi sigma / 2) - log(1 + (y / sigma)^2)";
  static constexpr std::string_view scipy = "halfcauchy: x - loc; scale";
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y >= 0.0 && y < infinity;
  }
  template <class Y, class S>
  static auto prepare(const parts& included, const Y&, const S& sigma) {
    return detail::log_density_of_scale<1>(included, detail::log_2 - detail::log_pi, sigma);
  }
  template <class P, class Y, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return of_scale - detail::log1p_square(T(y), T(sigma));
  }
};
/// Returns the sum of the half-Cauchy log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Sigma>
auto half_cauchy_lpdf(const Y& y, const Sigma& sigma) {
  return apply_probability<half_cauchy_lpdf_rule, propto>(y, sigma);
}

struct half_cauchy_cdf_rule : detail::half_cauchy_rule {
  static constexpr std::string_view name = "half_cauchy_cdf",
                                    text = "Probability of a value up to y, the size of a Cauchy number, with scale sigma.",
                                    reference = "2 * atan2(y, sigma) / pi if y > 0 else 0",
                                    source = "F(y; sigma) = 2 atan(y / sigma) / pi";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return either<T>(
        y == infinity, [] { return T(1.0); }, [&] { return T(2.0 * detail::cauchy_tail(T(sigma), T(y))); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<half_cauchy_cdf_rule> half_cauchy_cdf;

struct half_cauchy_lcdf_rule : detail::half_cauchy_rule {
  static constexpr std::string_view name = "half_cauchy_lcdf", text = "Logarithm of half_cauchy_cdf.",
                                    reference =
                                        "(log(2 * atan2(y, sigma) / pi) if y < sigma else log1p(-2 * atan2(sigma, y) / pi))"
                                        " if y > 0 else -inf",
                                    source = "log F(y; sigma) = log(2 atan(y / sigma) / pi)";
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return detail::log_half_cauchy_up_to(T(y), T(sigma));
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<half_cauchy_lcdf_rule> half_cauchy_lcdf;

struct half_cauchy_lccdf_rule : detail::half_cauchy_rule {
  static constexpr std::string_view
      name = "half_cauchy_lccdf",
      text = "Logarithm of the probability of a value beyond y, the size of a Cauchy number, with scale sigma.",
      reference =
          "(log1p(-2 * atan2(y, sigma) / pi) if y < sigma else log(2 * atan2(sigma, y) / pi))"
          " if y > 0 else 0",
      source = "log(1 - F(y; sigma)) = log(2 atan(sigma / y) / pi)";
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return detail::log_half_cauchy_up_to(T(sigma), T(y));
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<half_cauchy_lccdf_rule> half_cauchy_lccdf;

struct half_cauchy_quantile : quantile_of<half_cauchy_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    const T x = either<T>(  // the quantile of the complement is the reciprocal
        p < 0.5, [&] { return T(tan((0.5 * detail::pi) * p)); }, [&] { return T(1.0 / tan((0.5 * detail::pi) * (1.0 - p))); });
    return is_upper ? T(sigma / x) : T(sigma * x);
  }
};
/// Returns the value up to which the probability is p: the inverse of half_cauchy_cdf.
inline constexpr quantile_function<half_cauchy_quantile> half_cauchy_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<half_cauchy_quantile, true> half_cauchy_cqf;

using half_cauchy_lbetween_rule = log_between<half_cauchy_lpdf_rule, half_cauchy_lcdf_rule, half_cauchy_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<half_cauchy_lbetween_rule> half_cauchy_lbetween;

/// Draws the sizes of Cauchy numbers with location 0 and scale sigma.
template <class Sigma, class URBG>
auto half_cauchy_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<half_cauchy_lpdf_rule, double>(
      "half_cauchy_rng", [&](detail::draw_place, double s) { return s * std::abs(detail::draw_cauchy(rng)); }, sigma);
}

namespace rules {
using half_cauchy_family =
    family<typelist<half_cauchy_lpdf_rule, half_cauchy_cdf_rule, half_cauchy_lcdf_rule, half_cauchy_lccdf_rule>,
           typelist<half_cauchy_quantile>, typelist<half_cauchy_lbetween_rule>>;
}

}  // namespace agrad
