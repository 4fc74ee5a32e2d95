// The Gumbel distribution.
#pragma once

#include <cmath>

#include <agrad/families/shared/hazard_octets.hpp>
#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/tails/centred.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/gamma/quotients.hpp>

namespace agrad {

namespace detail {
/// What the functions of the Gumbel distribution have in common.
struct gumbel_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"beta", must_be::positive_finite, true}};
};

struct gumbel_hazard : scaled_distance_octets {
  template <class S>
  static auto suits(const each<S>& x) {
    return suits_distance(x, 100);
  }
  template <class S>
  static S hazard(const std::array<S, 1>& prepared, const each<S>& x, each<S>& slope) {
    const S z = (x[0] - x[1]) * prepared[0], h = exp_inside(-z);
    write_slopes(-h, z, prepared[0], slope);
    return h;
  }
};
}  // namespace detail

struct gumbel_lpdf_rule : detail::gumbel_rule {
  static constexpr std::string_view name = "gumbel_lpdf", text = "Gumbel log density of y with location mu and scale beta.",
                                    reference = "-log(beta) - (y - mu) / beta - exp((mu - y) / beta)",
                                    source = "log f = -log beta - z - exp(-z) with z = (y - mu) / beta";
  static constexpr std::string_view scipy = "gumbel_r: x; loc, scale | gumbel_l: -x; -loc, scale";
  template <class Y, class M, class B>
  static auto in_support(const Y& y, const M&, const B&) {
    return abs(y) < infinity;
  }
  template <class Y, class M, class B>
  static auto prepare(const parts& included, const Y&, const M&, const B& beta) {
    return detail::log_density_of_scale<2>(included, 0.0, beta);
  }
  template <class P, class Y, class M, class B>
  static auto term(const parts&, const P& of_scale, const Y& y, const M& mu, const B& beta) {
    return of_scale - 1.0 - apply<detail::expm1_rest_rule>((mu - y) / beta);
  }

  struct octets : detail::location_scale_octets<gumbel_lpdf_rule> {
    template <class S>
    static auto suits(const each<S>& x) {
      return suits_exponential(x, 600);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S z = (x[0] - x[1]) * prepared[0], e = detail::exp_inside(-z), rest = 1.0 - e;
      slope[1] = rest * prepared[0];
      slope[0] = -slope[1];
      slope[2] = (z * rest - 1.0) * prepared[0];
      return prepared[1] - z - e;
    }
  };
};
/// Returns the sum of the Gumbel log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Beta>
auto gumbel_lpdf(const Y& y, const Mu& mu, const Beta& beta) {
  return apply_probability<gumbel_lpdf_rule, propto>(y, mu, beta);
}

struct gumbel_cdf_rule : detail::gumbel_rule {
  static constexpr std::string_view name = "gumbel_cdf",
                                    text = "Probability of a value up to y, with location mu and scale beta.",
                                    reference = "exp(-exp((mu - y) / beta))", source = "F = exp(-exp(-(y - mu) / beta))";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class B>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const B& beta) {
    using T = promoted_t<Y, M, B>;
    const T z = (y - mu) / beta;
    return detail::with_limits(z, 0, 1, [&] { return T(apply<detail::gumbel_probability_rule>(z)); });
  }

  using octets = detail::hazard_tail_octets<detail::gumbel_hazard>;
};
/// Returns the product of the Gumbel probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<gumbel_cdf_rule> gumbel_cdf;

struct gumbel_lcdf_rule : detail::gumbel_rule {
  static constexpr std::string_view name = "gumbel_lcdf", text = "Logarithm of gumbel_cdf.",
                                    reference = "-exp((mu - y) / beta)", source = "log F = -exp(-(y - mu) / beta)";
  template <class P, class Y, class M, class B>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const B& beta) {
    using T = promoted_t<Y, M, B>;
    const T z = (y - mu) / beta;
    return detail::with_limits(z, -infinity, 0, [&] { return T(-exp(-z)); });
  }

  using octets = detail::hazard_octets<detail::gumbel_hazard>;
};
/// Returns the sum of the logarithms of the Gumbel probabilities of values up to y.
inline constexpr probability_function<gumbel_lcdf_rule> gumbel_lcdf;

struct gumbel_lccdf_rule : detail::gumbel_rule {
  static constexpr std::string_view name = "gumbel_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with location mu and scale beta.",
                                    reference = "log(-expm1(-exp((mu - y) / beta)))",
                                    source = "log(1 - F) = log(1 - exp(-t)) = log t + log((1 - exp(-t)) / t), t = exp(-z)";
  template <class P, class Y, class M, class B>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const B& beta) {
    using T = promoted_t<Y, M, B>;
    const T z = (y - mu) / beta;
    const auto formula = [&] {
      return either<T>(
          z > 0.0, [&] { return T(log(exprel(-exp(-z))) - z); }, [&] { return T(log1m_exp(-exp(-z))); });
    };
    return detail::with_limits(z, 0, -infinity, formula);
  }

  using octets = detail::hazard_complement_octets<detail::gumbel_hazard>;
};
/// Returns the sum of the logarithms of the Gumbel probabilities of values beyond y.
inline constexpr probability_function<gumbel_lccdf_rule> gumbel_lccdf;

struct gumbel_quantile : quantile_of<gumbel_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& beta) {
    return mu - beta * log(-detail::log_below(is_upper, p));
  }
};
/// Returns the value up to which the probability is p: the inverse of gumbel_cdf.
inline constexpr quantile_function<gumbel_quantile> gumbel_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<gumbel_quantile, true> gumbel_cqf;

using gumbel_lbetween_rule = log_between<gumbel_lpdf_rule, gumbel_lcdf_rule, gumbel_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<gumbel_lbetween_rule> gumbel_lbetween;

/// Draws Gumbel numbers with location mu and scale beta.
template <class Mu, class Beta, class URBG>
auto gumbel_rng(const Mu& mu, const Beta& beta, URBG& rng) {
  return detail::draws<gumbel_lpdf_rule, double>(
      "gumbel_rng", [&](detail::draw_place, double m, double b) { return m - b * std::log(detail::draw_exponential(rng)); }, mu,
      beta);
}

namespace rules {
using gumbel_family = family<typelist<gumbel_lpdf_rule, gumbel_cdf_rule, gumbel_lcdf_rule, gumbel_lccdf_rule>,
                             typelist<gumbel_quantile>, typelist<gumbel_lbetween_rule>>;
}

}  // namespace agrad
