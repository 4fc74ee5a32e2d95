// The exponentially modified normal distribution, of the sum of a normal and an exponential variable.
#pragma once

#include <agrad/families/line/exp_mod_normal_quantile.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

struct exp_mod_normal_lpdf_rule : detail::exp_mod_normal_rule {
  static constexpr std::string_view
      name = "exp_mod_normal_lpdf",
      text = "Log density of y, the sum of a normal variable (mu, sigma) and an exponential variable of rate lambda.",
      reference =
          "log(lambda_ / 2) + lambda_ * (mu - y) + (lambda_ * sigma) ** 2 / 2"
          " + log(erfc((lambda_ * sigma - (y - mu) / sigma) / sqrt(2)))",
      source =
          "log f = log(lambda / 2) + lambda (2 mu + lambda sigma^2 - 2 y) / 2"
          " + log erfc((mu + lambda sigma^2 - y) / (sqrt(2) sigma))";
  static constexpr std::string_view scipy = "exponnorm(K {positive and finite}): x; loc, scale, 1 / (K * scale)";
  template <class Y, class M, class S, class L>
  static auto in_support(const Y& y, const M&, const S&, const L&) {
    return abs(y) < infinity;
  }
  template <class P, class Y, class M, class S, class L>
  static auto term(const parts& included, const P&, const Y& y, const M& mu, const S& sigma, const L& lambda) {
    using T = promoted_t<Y, M, S, L>;
    T sum = detail::exp_mod_normal_density(T(y - mu), T(sigma), T(lambda));
    if (!included.constants()) sum += detail::log_2;
    if (!included.of({3})) sum -= log(lambda);
    return sum;
  }

  struct octets : octet_formulas<4> {
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      const S of_rate = included.of({3}) ? S(log(x[3])) : S(0.0);
      return {1.0 / x[2], included.constants() ? of_rate : S(of_rate + detail::log_2)};
    }
    /// For larger a the density is almost normal, and the derivative with respect to lambda cancels.
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[2], 1e-50, 1e50) && within(x[2] * x[3], 1e-6, 10) && abs(x[0] - x[1]) < 1e4 * x[2];
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S inverse = prepared[0], z = (x[0] - x[1]) * inverse, a = x[2] * x[3], v = a - z;
      const S scaled = detail::scaled_ndtr(v), bell = detail::normal_bell(v), rest = 1.0 - scaled * bell;
      const auto is_below = v > 0.0;
      const S tail = chosen(is_below, scaled, rest), per_tail = 1.0 / tail;
      // The normal density at v over the tail, and the derivative of the tail's logarithm where v > 0.
      const S of_tail = detail::inv_sqrt_two_pi * chosen(is_below, 1.0, bell) * per_tail;
      const S by_v = chosen(is_below, -detail::normal_tail_integral(v) * per_tail, v - of_tail);
      const S log_tail = log(tail) - chosen(is_below, 0.0, ((rest - 1.0) + scaled * bell) * per_tail);
      slope[0] = inverse * chosen(is_below, -z - by_v, of_tail - a);
      slope[1] = -slope[0];
      slope[2] = inverse * chosen(is_below, z * z + (z + a) * by_v, a * a - (z + a) * of_tail);
      slope[3] = 1.0 / x[3] + x[2] * by_v;
      return prepared[1] + log_tail + chosen(is_below, -0.5 * (z * z), a * (0.5 * a - z));
    }
  };
};
/// Returns the sum of the exponentially modified normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return apply_probability<exp_mod_normal_lpdf_rule, propto>(y, mu, sigma, lambda);
}

struct exp_mod_normal_cdf_rule : detail::exp_mod_normal_rule {
  static constexpr std::string_view
      name = "exp_mod_normal_cdf",
      text = "Probability of a value up to y, of the sum of a normal (mu, sigma) and an exponential variable of rate lambda.",
      reference =
          "ncdf((y - mu) / sigma) - exp(lambda_ * (mu - y) + (lambda_ * sigma) ** 2 / 2)"
          " * ncdf((y - mu) / sigma - lambda_ * sigma)",
      source = "F = Phi(z) - exp(a^2 / 2 - a z) Phi(z - a) with z = (y - mu) / sigma, a = lambda sigma";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const L& lambda) {
    using T = promoted_t<Y, M, S, L>;
    const T d = y - mu, scale(sigma), rate(lambda);
    return detail::with_limits(d, 0, 1, [&] {
      return either<T>(
          detail::is_exponential(T(d / scale), T(rate * scale)),
          [&] { return T(-expm1(-rate * detail::exponential_distance(d, scale, rate))); },
          [&] { return T(apply<detail::exp_mod_normal_probability_rule>(d, scale, rate)); });
    });
  }
};
/// Returns the product of the exponentially modified normal probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<exp_mod_normal_cdf_rule> exp_mod_normal_cdf;

struct exp_mod_normal_lcdf_rule : detail::exp_mod_normal_rule {
  static constexpr std::string_view name = "exp_mod_normal_lcdf", text = "Logarithm of exp_mod_normal_cdf.",
                                    reference =
                                        "log(ncdf((y - mu) / sigma) - exp(lambda_ * (mu - y) + (lambda_ * sigma) ** 2 / 2)"
                                        " * ncdf((y - mu) / sigma - lambda_ * sigma))",
                                    source = "log F(y; mu, sigma, lambda); DLMF 7.8 for Mills' ratio";
  template <class P, class Y, class M, class S, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const L& lambda) {
    using T = promoted_t<Y, M, S, L>;
    const T d = y - mu, scale(sigma), rate(lambda);
    return detail::with_limits(d, -infinity, 0, [&] { return detail::exp_mod_normal_log_tail<false>(d, scale, rate); });
  }

  using octets = detail::exp_mod_normal_tail_octets<false>;
};
/// Returns the sum of the logarithms of the exponentially modified normal probabilities of values up to y.
inline constexpr probability_function<exp_mod_normal_lcdf_rule> exp_mod_normal_lcdf;

struct exp_mod_normal_lccdf_rule : detail::exp_mod_normal_rule {
  static constexpr std::string_view
      name = "exp_mod_normal_lccdf",
      text =
          "Logarithm of the probability of a value beyond y, of the sum of a normal (mu, sigma) and an exponential variable of"
          " rate lambda.",
      reference =
          "log(ncdf((mu - y) / sigma) + exp(lambda_ * (mu - y) + (lambda_ * sigma) ** 2 / 2)"
          " * ncdf((y - mu) / sigma - lambda_ * sigma))",
      source = "log(1 - F(y; mu, sigma, lambda))";
  template <class P, class Y, class M, class S, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma, const L& lambda) {
    using T = promoted_t<Y, M, S, L>;
    const T d = y - mu, scale(sigma), rate(lambda);
    return detail::with_limits(d, 0, -infinity, [&] { return detail::exp_mod_normal_log_tail<true>(d, scale, rate); });
  }

  using octets = detail::exp_mod_normal_tail_octets<true>;
};
/// Returns the sum of the logarithms of the exponentially modified normal probabilities of values beyond y.
inline constexpr probability_function<exp_mod_normal_lccdf_rule> exp_mod_normal_lccdf;

struct exp_mod_normal_quantile : quantile_of<exp_mod_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& lambda) {
    return mu + (is_upper ? T(apply<detail::exp_mod_normal_quantile_rule<true>>(p, sigma, lambda))
                          : T(apply<detail::exp_mod_normal_quantile_rule<false>>(p, sigma, lambda)));
  }
};
/// Returns the value up to which the probability is p: the inverse of exp_mod_normal_cdf.
inline constexpr quantile_function<exp_mod_normal_quantile> exp_mod_normal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<exp_mod_normal_quantile, true> exp_mod_normal_cqf;

using exp_mod_normal_lbetween_rule = log_between<exp_mod_normal_lpdf_rule, exp_mod_normal_lcdf_rule, exp_mod_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<exp_mod_normal_lbetween_rule> exp_mod_normal_lbetween;

/// Draws sums of a normal number (mu, sigma) and an exponential number of rate lambda.
template <class Mu, class Sigma, class Lambda, class URBG>
auto exp_mod_normal_rng(const Mu& mu, const Sigma& sigma, const Lambda& lambda_, URBG& rng) {
  return detail::draws<exp_mod_normal_lpdf_rule, double>(
      "exp_mod_normal_rng",
      [&](detail::draw_place, double m, double s, double l) {
        const double normal = m + s * detail::draw_normal(rng);
        return normal + detail::draw_exponential(rng) / l;
      },
      mu, sigma, lambda_);
}

namespace rules {
using exp_mod_normal_family =
    family<typelist<exp_mod_normal_lpdf_rule, exp_mod_normal_cdf_rule, exp_mod_normal_lcdf_rule, exp_mod_normal_lccdf_rule>,
           typelist<exp_mod_normal_quantile>, typelist<exp_mod_normal_lbetween_rule>>;
}

}  // namespace agrad
