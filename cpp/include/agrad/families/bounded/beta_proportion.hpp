// The beta distribution of a mean and a precision.
#pragma once

#include <cmath>
#include <limits>

#include <agrad/families/shared/gamma_parts.hpp>
#include <agrad/families/shared/shape_quantiles.hpp>
#include <agrad/families/tails/proportion_tail.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

struct beta_proportion_lpdf_rule : probability_rule<3> {
  static constexpr std::string_view
      name = "beta_proportion_lpdf",
      text = "Log density of theta between 0 and 1 with mean mu and precision kappa.",
      reference =
          "((mu * kappa - 1) * log(theta) if mu * kappa != 1 else 0)"
          " + (((1 - mu) * kappa - 1) * log(1 - theta) if (1 - mu) * kappa != 1 else 0)"
          " - (loggamma(mu * kappa) + loggamma((1 - mu) * kappa) - loggamma(kappa)) if 0 <= theta <= 1 else -inf",
      source =
          "log f(theta; mu, kappa) = (a - 1) log(theta) + (b - 1) log(1 - theta) - betaln(a, b) with a = mu kappa and"
          " b = (1 - mu) kappa; for large kappa as deviances, Loader (2000)";
  static constexpr density_argument arguments[] = {
      {"theta", must_be::not_nan}, {"mu", must_be::inner_probability, true}, {"kappa", must_be::positive_finite, true}};
  template <class Y, class M, class K>
  static auto in_support(const Y& theta, const M&, const K&) {
    return theta >= 0 && theta <= 1;
  }
  template <class P, class Y, class M, class K>
  static auto term(const parts& included, const P&, const Y& theta, const M& mu, const K& kappa) {
    using T = promoted_t<Y, M, K>;
    const promoted_t<M, K> a = mu * kappa, b = (1.0 - mu) * kappa;
    const auto powers = [&] { return T(xlogy(a - 1.0, theta) + xlog1py(b - 1.0, -theta)); };
    if (!included.of({1, 2})) return powers();
    // For large kappa the derivative with respect to kappa is small, and the deviances do not cancel. For small kappa the
    // logarithms of a and b are sums.
    return either<T>(
        kappa < 20 || theta == 0 || theta == 1,
        [&] {
          const T rests = lgamma(1.0 + kappa) - lgamma(1.0 + a) - lgamma(1.0 + b);
          return T(powers() + rests + log(kappa) + log(mu) + log1m(mu));
        },
        a < 1, [&] { return T(small_shape(theta, 1.0 - theta, log(theta), log1m(theta), mu, 1.0 - mu, kappa)); }, b < 1,
        [&] { return T(small_shape(1.0 - theta, theta, log1m(theta), log(theta), 1.0 - mu, mu, kappa)); },
        [&] {
          const T rests = detail::lgamma_rest_of(kappa) - detail::lgamma_rest_of(a) - detail::lgamma_rest_of(b);
          return T(rests - kappa * (kl_div(mu, theta) + kl_div(1.0 - mu, 1.0 - theta)) - log(theta) - log1m(theta));
        });
  }
  /// Returns the log density at x = 1 - y for a large kappa and a small shape a = p kappa, with q = 1 - p: the deviance of a
  /// is written out, because gamma(a) is nearly 1 / a, and of lgamma(kappa) - lgamma(b) the parts that are linear in a cancel.
  template <class Y, class L, class M, class K>
  static auto small_shape(const Y& x, const Y& y, const L& log_x, const L& log_y, const M& p, const M& q, const K& kappa) {
    using T = promoted_t<Y, M, K>;
    const promoted_t<M, K> a = p * kappa;
    const T rests = detail::lgamma_rest_of(kappa) - detail::lgamma_rest_of(q * kappa) - lgamma(1.0 + a);
    return T(rests + log(kappa) + log(p) + a * (log(kappa) + log_x) - kappa * (kl_div(q, y) + x) - log_x - log_y);
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 4> prepare(const parts& included, const each<S>& x) {
      const S a = x[1] * x[2], b = (1.0 - x[1]) * x[2];
      const S constant = apply<lgamma_rule>(x[2]) - apply<lgamma_rule>(a) - apply<lgamma_rule>(b);
      return {apply<digamma_rule>(a), apply<digamma_rule>(b), apply<digamma_rule>(x[2]),
              included.of({1, 2}) ? constant : S(0.0)};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-50, 1.0) && within(x[1], 0.02, 0.98) && within(x[2], 0.1, 64);
    }
    template <class S>
    static S term(const std::array<S, 4>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S rest = 1.0 - x[0], mu_rest = 1.0 - x[1], log_y = log(x[0]), log_rest = log1p(-x[0]);
      const S a = x[1] * x[2] - 1.0, b = mu_rest * x[2] - 1.0, of_a = log_y - prepared[0], of_b = log_rest - prepared[1];
      slope[0] = a / x[0] - b / rest;
      slope[1] = x[2] * (of_a - of_b);
      slope[2] = prepared[2] + x[1] * of_a + mu_rest * of_b;
      return prepared[3] + a * log_y + b * log_rest;
    }
  };
};
/// Returns the sum of the beta log densities of theta with means mu; see normal_lpdf.
template <bool propto = false, class Theta, class Mu, class Kappa>
auto beta_proportion_lpdf(const Theta& theta, const Mu& mu, const Kappa& kappa) {
  return apply_probability<beta_proportion_lpdf_rule, propto>(theta, mu, kappa);
}

namespace detail {
/// What the distribution functions have in common.
struct beta_proportion_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"theta", must_be::not_nan}, {"mu", must_be::inner_probability}, {"kappa", must_be::positive_finite}};
  /// Returns the logarithm of the probability of values up to theta, or beyond it.
  template <bool is_upper, class Y, class M, class K>
  static auto log_tail(const Y& theta, const M& mu, const K& kappa) {
    using T = promoted_t<Y, M, K>;
    return either<T>(
        !(theta > 0), [&] { return T(is_upper ? 0 : -infinity); }, !(theta < 1), [&] { return T(is_upper ? -infinity : 0); },
        [&] { return T(apply<proportion_tail_rule<is_upper, 0, 0, 0>>(kappa, mu, theta)); });
  }
};
}  // namespace detail

struct beta_proportion_lcdf_rule : detail::beta_proportion_cdf_base {
  static constexpr std::string_view
      name = "beta_proportion_lcdf",
      text = "Logarithm of the probability of a value up to theta, of mean mu and precision kappa.",
      reference =
          "(log(betainc(mu * kappa, (1 - mu) * kappa, 0, theta, regularized=True)) if theta < 1 else 0)"
          " if theta > 0 else -inf",
      source = "log I_theta(mu kappa, (1 - mu) kappa)";
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P&, const Y& theta, const M& mu, const K& kappa) {
    return log_tail<false>(theta, mu, kappa);
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to theta, with means mu and precisions kappa.
inline constexpr probability_function<beta_proportion_lcdf_rule> beta_proportion_lcdf;

struct beta_proportion_lccdf_rule : detail::beta_proportion_cdf_base {
  static constexpr std::string_view
      name = "beta_proportion_lccdf",
      text = "Logarithm of the probability of a value beyond theta, of mean mu and precision kappa.",
      reference =
          "(log(betainc(mu * kappa, (1 - mu) * kappa, theta, 1, regularized=True)) if theta < 1 else -inf)"
          " if theta > 0 else 0",
      source = "log(1 - I_theta(mu kappa, (1 - mu) kappa))";
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P&, const Y& theta, const M& mu, const K& kappa) {
    return log_tail<true>(theta, mu, kappa);
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond theta, with means mu and precisions kappa.
inline constexpr probability_function<beta_proportion_lccdf_rule> beta_proportion_lccdf;

struct beta_proportion_quantile : quantile_of<beta_proportion_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& kappa) {
    return detail::beta_quantile_of(is_upper, p, T(mu * kappa), T((1.0 - mu) * kappa));
  }
};
/// Returns the value up to which the probability is p: the inverse of beta_proportion_cdf.
inline constexpr quantile_function<beta_proportion_quantile> beta_proportion_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<beta_proportion_quantile, true> beta_proportion_cqf;

using beta_proportion_lbetween_rule =
    log_between<beta_proportion_lpdf_rule, beta_proportion_lcdf_rule, beta_proportion_lccdf_rule, detail::log_odds_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<beta_proportion_lbetween_rule> beta_proportion_lbetween;

/// Draws beta numbers with mean mu and precision kappa: of shapes mu kappa and (1 - mu) kappa.
template <class Mu, class Kappa, class URBG>
auto beta_proportion_rng(const Mu& mu, const Kappa& kappa, URBG& rng) {
  return detail::draws<beta_proportion_lpdf_rule, double>(
      "beta_proportion_rng",
      [&](detail::draw_place, double m, double k) {
        const double precision = std::fmax(k, 1e-100);
        return detail::draw_beta(std::fmax(m * precision, std::numeric_limits<double>::min()), (1 - m) * precision, rng).share;
      },
      mu, kappa);
}

namespace rules {
using beta_proportion_family =
    family<typelist<beta_proportion_lpdf_rule, beta_proportion_lcdf_rule, beta_proportion_lccdf_rule>,
           typelist<beta_proportion_quantile>, typelist<beta_proportion_lbetween_rule>>;
}

}  // namespace agrad
