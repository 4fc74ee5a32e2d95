// The exponentially modified normal distribution: logarithms of the distribution function and of its complement.
//
// With z = (y - mu) / sigma and a = lambda sigma, the complement is Phi(-z) + exp(a^2 / 2 - a z) Phi(z - a), a sum of positive
// terms. Below z = 0 the distribution function is phi(z) times a difference of Mills' ratios, and above it a times an integral,
// which are rules of their own. Each of the two probabilities is computed from the other only where the other one is smaller.
#pragma once

#include <agrad/probability/exp_mod_normal.hpp>
#include <agrad/probability/powers.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/rests.hpp>

namespace agrad {

namespace detail {

/// Returns the logarithm of the complement. `decay` is lambda (y - mu), which is a z: its derivatives do not cancel where z is
/// large. For z > 0 what the two terms have in common is taken out: they are of the order z^2, and their difference counts.
template <class T>
T exp_mod_normal_log_complement(const T& z, const T& a, const T& decay) {
  const auto mills_ratio = [](const T& x) { return T(apply<normal_tail_moment_rule>(0.0, x)); };
  const T normal = -0.5 * (z * z) - half_log_two_pi, over = z - a;
  return either<T>(
      z <= 0, [&] { return T(log_sum_exp(log_ndtr(-z), log(mills_ratio(-over)) + normal)); },  //
      a > z, [&] { return T(normal + log(mills_ratio(z) + mills_ratio(-over))); },
      [&] {
        const T of_exponential = log_ndtr(over);
        const T log_ratio = log(mills_ratio(z)) - half_log_two_pi - 0.5 * (over * over) - of_exponential;
        return T(of_exponential - (decay - 0.5 * (a * a)) + log1p_exp(log_ratio));
      });
}

/// Derivative J of the probability over lambda, for d >= 0: its logarithm has a slope by sigma that may be many orders of
/// magnitude less than its parts.
template <int J>
struct exp_mod_normal_share_slope_rule : rule<3> {
  static constexpr auto letters = with_digits<J>("exp_mod_normal_share_slope");
  static constexpr std::string_view name = letters.data();
  static double value(double d, double sigma, double lambda) {
    if (J == 2) return -sigma * (sigma * shifted_normal_integral(1, d / sigma, lambda * sigma));
    return std::get<J>(exp_mod_normal_slopes({J == 0, J == 1, false}, d, sigma, lambda)) / lambda;
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& d, const T& sigma, const T& lambda, const T&) {
    constexpr int first = I < J ? I : J, second = I < J ? J : I;
    const T z = d / sigma, a = lambda * sigma;
    const auto moment = [&](double n) { return T(apply<shifted_normal_moment_rule>(n, z, a)); };
    if constexpr (second < 2)
      return exp_mod_normal_bend<first, second>(z, a, sigma);
    else if constexpr (first == 0)
      return -sigma * moment(1);
    else if constexpr (first == 1)
      return sigma *
             either<T>(
                 z < a, [&] { return T(z * moment(1) - 2.0 * moment(2)); }, [&] { return T(a * moment(1) - moment(0)); });
    else
      return 2.0 * sigma * (sigma * (sigma * apply<shifted_normal_integral_rule>(2.0, z, a)));
  }
};

/// The probability over lambda, for d >= 0.
struct exp_mod_normal_share_rule : rule<3> {
  static constexpr std::string_view name = "exp_mod_normal_share";
  static double value(double d, double sigma, double lambda) {
    return sigma * shifted_normal_integral(0, d / sigma, lambda * sigma);
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& d, const T& sigma, const T& lambda, const T&) {
    return apply<exp_mod_normal_share_slope_rule<I>>(d, sigma, lambda);
  }
};

/// Returns the logarithm of the distribution function, with the factor a or lambda outside for small a and for z >= 0. Far
/// below 0 Mills' ratio is a reciprocal to all digits, and has no powers that underflow.
template <class T>
T exp_mod_normal_log_probability(const T& d, const T& sigma, const T& lambda) {
  const T z = d / sigma, a = lambda * sigma, normal = -0.5 * (z * z) - half_log_two_pi;
  const auto log_a = [&] { return T(-apply<log_ratio_of_rule<product_argument>>(1.0, lambda, sigma)); };
  return either<T>(
      z >= 0, [&] { return T(log(lambda) + log(apply<exp_mod_normal_share_rule>(d, sigma, lambda))); },  //
      z < -1e9, [&] { return T(normal + log_a() - log(-z) - log(a - z)); },                              //
      a < 0.2 * (1.0 - z), [&] { return T(normal + log_a() + log(apply<mean_normal_moment_rule>(1.0, -z, a))); },
      [&] { return T(normal + log(apply<normal_tail_moment_loss_rule>(0.0, -z, a))); });
}

/// Returns the logarithm of the distribution function, or of its complement, at the distance d from mu.
template <bool is_upper, class T>
T exp_mod_normal_log_tail(const T& d, const T& sigma, const T& lambda) {
  const T z = d / sigma, a = lambda * sigma;
  const auto exponential = [&] {
    const T distance = exponential_distance(d, sigma, lambda);
    return is_upper ? T(-lambda * distance) : log1m_exp_product<T>(lambda, distance, T(log(distance)));
  };
  const auto from_both = [&] {
    const T below = exp_mod_normal_log_probability(d, sigma, lambda);
    return either<T>(
        below < -log_2, [&] { return is_upper ? T(log1p(-apply<exp_mod_normal_probability_rule>(d, sigma, lambda))) : below; },
        [&] {
          const T above = exp_mod_normal_log_complement(z, a, T(lambda * d));
          return is_upper ? above : T(log1m_exp(above));
        });
  };
  return either<T>(is_exponential(z, a), exponential, from_both);
}

/// Formulas for octets of the logarithm of the distribution function F, or of its complement. The one that is a product without
/// subtraction from 1, F below z = 0 and the complement above, is exp(exponent) * direct; the other one is 1 less this product.
template <bool is_upper>
struct exp_mod_normal_tail_octets : octet_formulas<4> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[2]};
  }
  /// For smaller a, F is the difference of nearly equal numbers.
  template <class S>
  static auto suits(const each<S>& x) {
    const S d = x[0] - x[1], a = x[2] * x[3];
    return within(x[2], 1e-50, 1e50) && within(d, -40.0 * x[2], 40.0 * x[2]) && a < 10.0 && a > 0.05 &&
           a * x[2] > 0.05 * (x[2] - d);
  }
  template <class S>
  static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    const S z = (x[0] - x[1]) * prepared[0], a = x[2] * x[3], v = a - z;
    const S mills = scaled_ndtr(z), shifted = scaled_ndtr(v), bell = normal_bell(v);
    const auto is_negative = z < 0.0;
    const auto is_below = v > 0.0;
    const S exponent = chosen(is_below, -0.5 * (z * z), a * (0.5 * a - z));
    // The normal density at z, and the derivative of F over a, both without the factor exp(exponent).
    const S normal = chosen(is_below, inv_sqrt_two_pi, inv_sqrt_two_pi * bell);
    const S density = chosen(is_below, shifted, 1.0 - shifted * bell);
    const S above = chosen(is_below, shifted + mills, density + mills * bell);
    const S direct = chosen(is_negative, mills - shifted, above);
    const S factor = exp(exponent), small = factor * direct, other = 1.0 - small;
    const S log_direct = exponent + log(direct), log_other = log(other) - ((other - 1.0) + small) / other;
    const S of_direct = 1.0 / direct, of_other = factor / other;
    const S scale = is_upper ? -chosen(is_negative, of_other, of_direct) : chosen(is_negative, of_direct, of_other);
    const S by_a = chosen(is_below, normal_tail_integral(v), normal - v * density);
    slope[0] = scale * a * density * prepared[0];
    slope[1] = -slope[0];
    slope[2] = scale * a * (normal - a * density) * prepared[0];
    slope[3] = scale * by_a * x[2];
    return is_upper ? chosen(is_negative, log_other, log_direct) : chosen(is_negative, log_direct, log_other);
  }
};

}  // namespace detail

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
template <class Y, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_lcdf(const Y& y, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return apply_probability<exp_mod_normal_lcdf_rule>(y, mu, sigma, lambda);
}

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
template <class Y, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_lccdf(const Y& y, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return apply_probability<exp_mod_normal_lccdf_rule>(y, mu, sigma, lambda);
}

namespace rules {
using exp_mod_normal_cdfs = typelist<exp_mod_normal_lcdf_rule, exp_mod_normal_lccdf_rule>;
}

}  // namespace agrad
