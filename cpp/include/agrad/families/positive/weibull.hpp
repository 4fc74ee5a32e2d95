// The Weibull distribution.
#pragma once

#include <cmath>

#include <agrad/families/shared/powers.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the Weibull distribution have in common. z is the logarithm of the cumulative hazard.
struct weibull_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"alpha", must_be::positive_finite, true}, {"sigma", must_be::positive_finite, true}};
  template <class Y, class A, class S>
  static auto in_support(const Y& y, const A&, const S&) {
    return y > 0;
  }
};
}  // namespace detail

struct weibull_lpdf_rule : detail::weibull_rule {
  static constexpr std::string_view name = "weibull_lpdf", text = "Log density of y > 0 with shape alpha and scale sigma.",
                                    reference =
                                        "log(alpha / sigma) + (alpha - 1) * log(y / sigma) - (y / sigma) ** alpha"
                                        " if 0 < y < inf else inf if y == 0 and alpha < 1 else"
                                        " -log(sigma) if y == 0 and alpha == 1 else -inf",
                                    source =
                                        "log f(y; alpha, sigma) = log(alpha / sigma) + (alpha - 1) log(y / sigma)"
                                        " - (y / sigma)^alpha";
  static constexpr std::string_view scipy = "weibull_min(c): x - loc; c, scale | weibull_max(c): loc - x; c, scale";
  template <class Y, class A, class S>
  static auto in_support(const Y& y, const A&, const S&) {
    return y >= 0 && y < infinity;
  }
  template <class P, class Y, class A, class S>
  static auto term(const parts& included, const P&, const Y& y, const A& alpha, const S& sigma) {
    using T = promoted_t<Y, A, S>;
    // At 0, and below the scale if the shape may be near 1, powers of y are written out; elsewhere what depends on the shape is
    // a rest, which does not cancel for small shapes.
    const T log_y = detail::log_scaled(y, sigma), z = alpha * log_y;
    T sum = either<T>(
        y == 0, [&] { return T(xlogy(alpha - 1.0, y) - pow(y / sigma, alpha) - alpha * log(sigma)); }, alpha > 0.5 && z < -1,
        [&] { return T((alpha - 1.0) * log_y - detail::hazard_of<T>(y, alpha, sigma) - log(sigma)); },
        [&] { return T(-1.0 - log(y) - detail::exp_rest_of(z)); });
    if (included.of({1})) sum += log(alpha);
    return sum;
  }

  struct octets : detail::power_octets {
    template <class S>
    static S term(const std::array<S, 4>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0] * prepared[0]), power = exp(x[1] * log_y), rest = 1.0 - power;
      slope[0] = (x[1] * rest - 1.0) / x[0];
      slope[1] = prepared[1] + log_y * rest;
      slope[2] = -x[1] * rest * prepared[0];
      return prepared[2] - prepared[3] + (x[1] - 1.0) * log_y - power;
    }
  };
};
/// Returns the sum of the Weibull log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Alpha, class Sigma>
auto weibull_lpdf(const Y& y, const Alpha& alpha, const Sigma& sigma) {
  return apply_probability<weibull_lpdf_rule, propto>(y, alpha, sigma);
}

struct weibull_cdf_rule : detail::weibull_rule {
  static constexpr std::string_view name = "weibull_cdf",
                                    text = "Probability of a value up to y, with shape alpha and scale sigma.",
                                    reference = "-expm1(-(y / sigma) ** alpha) if y > 0 else 0",
                                    source = "F(y; alpha, sigma) = 1 - exp(-(y / sigma)^alpha)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class A, class S>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const S& sigma) {
    using T = promoted_t<Y, A, S>;
    const T z = alpha * detail::log_scaled(y, sigma), ratio = y / sigma;
    return either<T>(
        y == infinity, [] { return T(1.0); },  //
        detail::is_plain_power(ratio, alpha, z), [&] { return T(-expm1(-pow(ratio, alpha))); },
        [&] { return T(apply<detail::gumbel_tail_rule<false>>(z)); });
  }

  using octets = detail::hazard_rest_octets<detail::power_hazard<1>>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<weibull_cdf_rule> weibull_cdf;

struct weibull_lcdf_rule : detail::weibull_rule {
  static constexpr std::string_view name = "weibull_lcdf", text = "Logarithm of weibull_cdf.",
                                    reference = "log(-expm1(-(y / sigma) ** alpha)) if y > 0 else -inf",
                                    source = "log F(y; alpha, sigma) = log(1 - exp(-(y / sigma)^alpha))";
  template <class P, class Y, class A, class S>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const S& sigma) {
    using T = promoted_t<Y, A, S>;
    return either<T>(
        y == infinity, [] { return T(0.0); }, [&] { return detail::log1m_exp_exp(T(alpha * detail::log_scaled(y, sigma))); });
  }

  using octets = detail::hazard_complement_octets<detail::power_hazard<1>>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<weibull_lcdf_rule> weibull_lcdf;

struct weibull_lccdf_rule : detail::weibull_rule {
  static constexpr std::string_view name = "weibull_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, with shape alpha and scale sigma.",
                                    reference = "-(y / sigma) ** alpha if y > 0 else 0",
                                    source = "log(1 - F(y; alpha, sigma)) = -(y / sigma)^alpha";
  static constexpr double outside = 0;
  template <class P, class Y, class A, class S>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const S& sigma) {
    using T = promoted_t<Y, A, S>;
    return either<T>(
        y == infinity, [] { return T(-infinity); }, [&] { return T(-detail::hazard_of<T>(y, alpha, sigma)); });
  }

  using octets = detail::hazard_octets<detail::power_hazard<1>>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<weibull_lccdf_rule> weibull_lccdf;

struct weibull_quantile : quantile_of<weibull_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& sigma) {
    return sigma * pow(-detail::log_above(is_upper, p), 1.0 / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of weibull_cdf.
inline constexpr quantile_function<weibull_quantile> weibull_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<weibull_quantile, true> weibull_cqf;

using weibull_lbetween_rule = log_between<weibull_lpdf_rule, weibull_lcdf_rule, weibull_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<weibull_lbetween_rule> weibull_lbetween;

/// Draws Weibull numbers with shape alpha and scale sigma.
template <class Alpha, class Sigma, class URBG>
auto weibull_rng(const Alpha& alpha, const Sigma& sigma, URBG& rng) {
  return detail::draws<weibull_lpdf_rule, double>(
      "weibull_rng",
      [&](detail::draw_place, double a, double s) {
        return std::exp(std::log(s) + std::log(detail::draw_exponential(rng)) / a);
      },
      alpha, sigma);
}

namespace rules {
using weibull_family = family<typelist<weibull_lpdf_rule, weibull_cdf_rule, weibull_lcdf_rule, weibull_lccdf_rule>,
                              typelist<weibull_quantile>, typelist<weibull_lbetween_rule>>;
}

}  // namespace agrad
