// The skew double exponential distribution, or asymmetric Laplace distribution.
//
// Below mu the probability falls with the rate 2 (1 - tau) / sigma, above mu with the rate 2 tau / sigma.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// What the functions of the skew double exponential distribution have in common.
struct skew_double_exponential_rule : probability_rule<4> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite, true},
                                                   {"tau", must_be::probability, true}};
};

/// Return 1 - q exp(-w) for w = p x >= 0 and q = 1 - p, and its logarithm: where p is small, the sum of the positive numbers
/// 1 - exp(-w) and p exp(-w), or for the logarithm p times a sum, so that log(p) is separate from x.
template <class T>
T complement_of_tail(const T& p, const T& q, const T& x) {
  const T w = p * x;
  return either<T>(
      p < 0.5, [&] { return T(p * exp(-w) - expm1(-w)); }, [&] { return T(1.0 - q * exp(-w)); });
}
template <class T>
T log_complement_of_tail(const T& p, const T& q, const T& x) {
  const T w = p * x, tail = q * exp(-w);
  return either<T>(
      tail < 0.5, [&] { return T(log1m(tail)); }, [&] { return T(log(p) + log(exp(-w) + x * exprel(-w))); });
}

/// Formulas for octets of the logarithm of F, or with the sign -1 of 1 - F, which is F of -z and 1 - tau.
template <int Sign>
struct skew_laplace_octets : octet_formulas<4> {
  template <class S>
  static std::array<S, 3> prepare(const parts&, const each<S>& x) {
    const S p = share(x[3]);
    return {1.0 / x[2], 1.0 / p, log(p)};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[2], 1e-50, 1e50) && abs(x[0] - x[1]) < 300.0 * x[2] && within(x[3], 0.05, 0.95);
  }
  template <class S>
  static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    const S p = share(x[3]), q = 1.0 - p, twice = 2.0 * Sign * (x[0] - x[1]) * prepared[0];
    const auto is_below = twice < 0.0;
    const S e = exp(chosen(is_below, 0.0, -p * twice)), tail = q * e, rest = 1.0 - tail;
    slope[0] = 2.0 * Sign * chosen(is_below, q, p * tail / rest) * prepared[0];
    slope[1] = -slope[0];
    slope[2] = -0.5 * Sign * twice * slope[0];
    slope[3] = Sign * chosen(is_below, prepared[1] - twice, (e + twice * tail) / rest);
    return chosen(is_below, prepared[2] + q * twice, log1p(-tail));
  }

 private:
  template <class S>
  static S share(const S& tau) {
    return Sign > 0 ? tau : 1.0 - tau;
  }
};

/// Formulas for the distribution function.
struct skew_laplace_cdf_octets : skew_laplace_octets<1> {
  template <class S>
  static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    const S p = x[3], q = 1.0 - p, twice = 2.0 * (x[0] - x[1]) * prepared[0];
    const auto is_below = twice < 0.0;
    const S e = exp(chosen(is_below, q * twice, -p * twice));
    slope[0] = 2.0 * p * q * e * prepared[0];
    slope[1] = -slope[0];
    slope[2] = -0.5 * twice * slope[0];
    slope[3] = e + twice * e * chosen(is_below, -p, q);
    return chosen(is_below, p * e, 1.0 - q * e);
  }
};

}  // namespace detail

struct skew_double_exponential_lpdf_rule : detail::skew_double_exponential_rule {
  static constexpr std::string_view
      name = "skew_double_exponential_lpdf",
      text = "Skew double exponential log density of y with location mu, scale sigma and skewness tau.",
      reference = "log(2 * tau * (1 - tau) / sigma) - 2 * (tau if y > mu else 1 - tau) * fabs(y - mu) / sigma",
      source = "log f = log(2 tau (1 - tau) / sigma) - 2 (tau if y > mu, else 1 - tau) |y - mu| / sigma";
  static constexpr std::string_view scipy =
      "laplace_asymmetric(kappa {positive and finite}): x; loc, 2 * scale / (kappa + 1 / kappa), kappa**2 / (1 + kappa**2)";
  template <class Y, class M, class S, class K>
  static auto in_support(const Y& y, const M&, const S&, const K&) {
    return abs(y) < infinity;
  }
  template <class Y, class M, class S, class K>
  static auto prepare(const parts& included, const Y&, const M&, const S& sigma, const K& tau) {
    promoted_t<S, K> sum(included.constants() ? detail::log_2 : 0.0);
    if (included.of({2})) sum -= log(sigma);
    if (included.of({3})) sum += log(tau) + log1m(tau);
    return sum;
  }
  template <class P, class Y, class M, class S, class K>
  static auto term(const parts&, const P& of_scale, const Y& y, const M& mu, const S& sigma, const K& tau) {
    using T = promoted_t<Y, M, S, K>;
    const T z = (y - mu) / sigma;
    const T slope = either<T>(
        z > 0.0, [&] { return T(tau); }, [&] { return T(1.0 - tau); });
    return of_scale - 2.0 * slope * abs(z);
  }

  struct octets : octet_formulas<4> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S of_scale = skew_double_exponential_lpdf_rule::prepare(included, x[0], x[1], x[2], x[3]);
      return {1.0 / x[2], of_scale, 1.0 / x[3] - 1.0 / (1.0 - x[3])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0] - x[1], -1e50, 1e50) && within(x[2], 1e-50, 1e50) && within(x[3], 1e-50, 1.0);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S z = (x[0] - x[1]) * prepared[0], weight = 2.0 * chosen(z > 0.0, x[3], 1.0 - x[3]);
      slope[1] = chosen(z > 0.0, weight, chosen(z < 0.0, -weight, 0.0)) * prepared[0];
      slope[0] = -slope[1];
      slope[2] = (weight * abs(z) - 1.0) * prepared[0];
      slope[3] = prepared[2] - 2.0 * z;
      return prepared[1] - weight * abs(z);
    }
  };
};
/// Returns the sum of the skew double exponential log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma, class Tau>
auto skew_double_exponential_lpdf(const Y& y, const Mu& mu, const Sigma& sigma, const Tau& tau) {
  return apply_probability<skew_double_exponential_lpdf_rule, propto>(y, mu, sigma, tau);
}

struct skew_double_exponential_cdf_rule : detail::skew_double_exponential_rule {
  static constexpr std::string_view
      name = "skew_double_exponential_cdf",
      text = "Probability of a value up to y, with location mu, scale sigma and skewness tau.",
      reference = "tau * exp(2 * (1 - tau) * (y - mu) / sigma) if y < mu else 1 - (1 - tau) * exp(2 * tau * (mu - y) / sigma)",
      source = "F = tau exp(2 (1 - tau) z) for z = (y - mu) / sigma < 0, else 1 - (1 - tau) exp(-2 tau z)";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S, class K>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const K& tau) {
    using T = promoted_t<Y, M, S, K>;
    const T z = (y - mu) / sigma, p(tau), q = 1.0 - p;
    const auto formula = [&] {
      return either<T>(
          z < 0.0, [&] { return T(p * exp(2.0 * q * z)); }, [&] { return detail::complement_of_tail(p, q, T(2.0 * z)); });
    };
    return detail::with_limits(z, 0, 1, formula);
  }

  using octets = detail::skew_laplace_cdf_octets;
};
/// Returns the product of the skew double exponential probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<skew_double_exponential_cdf_rule> skew_double_exponential_cdf;

struct skew_double_exponential_lcdf_rule : detail::skew_double_exponential_rule {
  static constexpr std::string_view
      name = "skew_double_exponential_lcdf",
      text = "Logarithm of skew_double_exponential_cdf.",
      reference =
          "log(tau) + 2 * (1 - tau) * (y - mu) / sigma if y < mu"
          " else log1p(-(1 - tau) * exp(2 * tau * (mu - y) / sigma))",
      source = "log F = log tau + 2 (1 - tau) z for z = (y - mu) / sigma < 0, else log(1 - (1 - tau) exp(-2 tau z))";
  template <class P, class Y, class M, class S, class K>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const K& tau) {
    using T = promoted_t<Y, M, S, K>;
    const T z = (y - mu) / sigma, p(tau), q = 1.0 - p;
    const auto formula = [&] {
      return either<T>(
          z < 0.0, [&] { return T(log(p) + 2.0 * q * z); }, [&] { return detail::log_complement_of_tail(p, q, T(2.0 * z)); });
    };
    return detail::with_limits(z, -infinity, 0, formula);
  }

  using octets = detail::skew_laplace_octets<1>;
};
/// Returns the sum of the logarithms of the skew double exponential probabilities of values up to y.
inline constexpr probability_function<skew_double_exponential_lcdf_rule> skew_double_exponential_lcdf;

struct skew_double_exponential_lccdf_rule : detail::skew_double_exponential_rule {
  static constexpr std::string_view
      name = "skew_double_exponential_lccdf",
      text = "Logarithm of the probability of a value beyond y, with location mu, scale sigma and skewness tau.",
      reference =
          "log1p(-tau * exp(2 * (1 - tau) * (y - mu) / sigma)) if y < mu"
          " else log1p(-tau) + 2 * tau * (mu - y) / sigma",
      source = "log(1 - F) = log(1 - tau exp(2 (1 - tau) z)) for z = (y - mu) / sigma < 0, else log(1 - tau) - 2 tau z";
  template <class P, class Y, class M, class S, class K>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const K& tau) {
    using T = promoted_t<Y, M, S, K>;
    const T z = (y - mu) / sigma, p(tau), q = 1.0 - p;
    const auto formula = [&] {
      return either<T>(
          z < 0.0, [&] { return detail::log_complement_of_tail(q, p, T(-2.0 * z)); },
          [&] { return T(log1m(p) - 2.0 * p * z); });
    };
    return detail::with_limits(z, 0, -infinity, formula);
  }

  using octets = detail::skew_laplace_octets<-1>;
};
/// Returns the sum of the logarithms of the skew double exponential probabilities of values beyond y.
inline constexpr probability_function<skew_double_exponential_lccdf_rule> skew_double_exponential_lccdf;

struct skew_double_exponential_quantile : quantile_of<skew_double_exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& tau) {
    // tau is the probability below mu, and `near` that of the side where the quantiles of small p are.
    const T rest = 1.0 - tau, near = is_upper ? rest : tau, far = is_upper ? tau : rest;
    // near - p, which counts near mu, from a difference that is exact there.
    const auto from_rest = [&] {
      return either<T>(
          p > 0.5, [&] { return T((1.0 - p) - tau); }, [&] { return T(rest - p); });
    };
    const T excess = is_upper ? from_rest() : T(tau - p);
    const auto is_far_out = 2.0 * p < near;
    const auto is_in_near = excess > 0.0;
    const auto is_beside = -2.0 * excess < far;
    const T x = either<T>(
        is_far_out, [&] { return T(apply<detail::log_ratio_rule>(p, near) / far); },  //
        is_in_near, [&] { return T(log1p(-excess / near) / far); },                   //
        is_beside, [&] { return T(-log1p(excess / far) / near); },
        [&] { return T(apply<detail::log_ratio_rule>(far, T(1.0 - p)) / near); });
    return mu + 0.5 * sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of skew_double_exponential_cdf.
inline constexpr quantile_function<skew_double_exponential_quantile> skew_double_exponential_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<skew_double_exponential_quantile, true> skew_double_exponential_cqf;

using skew_double_exponential_lbetween_rule =
    kinked_log_between<skew_double_exponential_lpdf_rule, skew_double_exponential_lcdf_rule,
                       skew_double_exponential_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<skew_double_exponential_lbetween_rule> skew_double_exponential_lbetween;

namespace detail {
/// The parameters of draws: where tau is 0 or 1, the density vanishes.
struct skew_double_exponential_draw {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite},
                                                   {"tau", must_be::inner_probability}};
};
}  // namespace detail

/// Draws skew double exponential numbers with location mu, scale sigma and probability tau of a number below mu.
template <class Mu, class Sigma, class Tau, class URBG>
auto skew_double_exponential_rng(const Mu& mu, const Sigma& sigma, const Tau& tau, URBG& rng) {
  return detail::draws<detail::skew_double_exponential_draw, double>(
      "skew_double_exponential_rng",
      [&](detail::draw_place, double m, double s, double t) {
        const double above = detail::draw_exponential(rng) / t;
        return m + 0.5 * s * (above - detail::draw_exponential(rng) / (1 - t));
      },
      mu, sigma, tau);
}

namespace rules {
using skew_double_exponential_family =
    family<typelist<skew_double_exponential_lpdf_rule, skew_double_exponential_cdf_rule, skew_double_exponential_lcdf_rule,
                    skew_double_exponential_lccdf_rule>,
           typelist<skew_double_exponential_quantile>, typelist<skew_double_exponential_lbetween_rule>>;
}

}  // namespace agrad
