// The logistic distribution.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/tails/centred.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// Returns the logarithm of the probability of a value up to z, with location 0 and scale 1.
template <class T>
T log_logistic_up_to(const T& z) {
  return with_limits(z, -infinity, 0, [&] { return T(log_inv_logit(z)); });
}

/// `log_logistic_up_to` of Sign z.
template <int Sign>
struct standard_log_logistic {
  static constexpr double limit = 700;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S up_to = Sign * z, e = exp(-abs(z)), beyond = chosen(up_to < 0.0, 1.0, e);
    slope = Sign * beyond / (1.0 + e);
    return chosen(up_to < 0.0, up_to, 0.0) - log1p(e);
  }
};
template <int Sign>
using log_logistic_octets = standardised_octets<standard_log_logistic<Sign>>;
}  // namespace detail

struct logistic_lpdf_rule : detail::location_scale_density {
  static constexpr std::string_view
      name = "logistic_lpdf",
      text = "Logistic log density of y with location mu and scale sigma.",
      reference = "-log(sigma) - fabs(y - mu) / sigma - 2 * log1p(exp(-fabs(y - mu) / sigma))",
      source = "log f = -log sigma - z - 2 log(1 + exp(-z)) = -log(4 sigma) - 2 log cosh(z / 2) with z = (y - mu) / sigma";
  static constexpr std::string_view scipy = "logistic: x; loc, scale";
  template <class Y, class M, class S>
  static auto prepare(const parts& included, const Y&, const M&, const S& sigma) {
    return detail::log_density_of_scale<2>(included, -2.0 * detail::log_2, sigma);
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const M& mu, const S& sigma) {
    return of_scale - 2.0 * apply<detail::log_cosh_rule>(0.5 * ((y - mu) / sigma));
  }

  struct octets : detail::location_scale_octets<logistic_lpdf_rule> {
    template <class S>
    static auto suits(const each<S>& x) {
      return suits_exponential(x, 700);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S z = (x[0] - x[1]) * prepared[0], size = abs(z), e = exp(-size), above = 1.0 + e;
      const S signed_share = chosen(z < 0.0, e - 1.0, 1.0 - e) / above;
      slope[1] = signed_share * prepared[0];
      slope[0] = -slope[1];
      slope[2] = (z * signed_share - 1.0) * prepared[0];
      return prepared[1] - (size - 2.0 * detail::log_2) - 2.0 * log1p(e);
    }
  };
};
/// Returns the sum of the logistic log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma>
auto logistic_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<logistic_lpdf_rule, propto>(y, mu, sigma);
}

struct logistic_cdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "logistic_cdf",
                                    text = "Probability of a value up to y, with location mu and scale sigma.",
                                    reference = "1 / (1 + exp((mu - y) / sigma))",
                                    source = "F(y; mu, sigma) = 1 / (1 + exp(-(y - mu) / sigma))";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    const T z = (y - mu) / sigma;
    return detail::with_limits(z, 0, 1, [&] { return T(apply<detail::logistic_probability_rule>(z)); });
  }
};
/// Returns the product of the logistic probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<logistic_cdf_rule> logistic_cdf;

struct logistic_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "logistic_lcdf", text = "Logarithm of logistic_cdf.",
                                    reference = "-log1p(exp((mu - y) / sigma))",
                                    source = "log F(y; mu, sigma) = -log(1 + exp(-(y - mu) / sigma))";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::log_logistic_up_to(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::log_logistic_octets<1>;
};
/// Returns the sum of the logarithms of the logistic probabilities of values up to y.
inline constexpr probability_function<logistic_lcdf_rule> logistic_lcdf;

struct logistic_lccdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "logistic_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, with location mu and scale sigma.",
                                    reference = "-log1p(exp((y - mu) / sigma))",
                                    source = "log(1 - F(y; mu, sigma)) = -log(1 + exp((y - mu) / sigma))";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::log_logistic_up_to(promoted_t<Y, M, S>((mu - y) / sigma));
  }

  using octets = detail::log_logistic_octets<-1>;
};
/// Returns the sum of the logarithms of the logistic probabilities of values beyond y.
inline constexpr probability_function<logistic_lccdf_rule> logistic_lccdf;

struct logistic_quantile : quantile_of<logistic_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return mu + sigma * detail::log_odds_below(is_upper, p);
  }
};
/// Returns the value up to which the probability is p: the inverse of logistic_cdf.
inline constexpr quantile_function<logistic_quantile> logistic_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<logistic_quantile, true> logistic_cqf;

using logistic_lbetween_rule = log_between<logistic_lpdf_rule, logistic_lcdf_rule, logistic_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<logistic_lbetween_rule> logistic_lbetween;

/// Draws logistic numbers with location mu and scale sigma.
template <class Mu, class Sigma, class URBG>
auto logistic_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<logistic_lpdf_rule, double>(
      "logistic_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_logistic(rng); }, mu, sigma);
}

namespace rules {
using logistic_family = family<typelist<logistic_lpdf_rule, logistic_cdf_rule, logistic_lcdf_rule, logistic_lccdf_rule>,
                               typelist<logistic_quantile>, typelist<logistic_lbetween_rule>>;
}

}  // namespace agrad
