// The inverse Gaussian distribution: of the time at which a Brownian motion with drift first reaches a level.
//
// The mean is mu, the variance mu^3 / lambda. The tails are in families/positive/inv_gaussian_tails.hpp.
#pragma once

#include <cmath>

#include <agrad/families/positive/inv_gaussian_tails.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the inverse Gaussian distribution have in common.
struct inv_gaussian_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::positive_finite}, {"lambda_", must_be::positive_finite, true}};
  template <class Y, class M, class L>
  static auto in_support(const Y& y, const M&, const L&) {
    return y > 0.0;
  }
  /// Returns a tail, or what it is at infinite y.
  template <class Tail, class T>
  static T tail(const T& y, const T& mu, const T& lambda, double at_infinity) {
    return either<T>(
        y == infinity, [&] { return T(at_infinity); }, [&] { return T(apply<Tail>(y, mu, lambda)); });
  }
};
}  // namespace detail

struct inv_gaussian_lpdf_rule : detail::inv_gaussian_rule {
  static constexpr std::string_view name = "inv_gaussian_lpdf", text = "Log density of y > 0 with mean mu and shape lambda.",
                                    reference =
                                        "log(lambda_ / (2 * pi * y ** 3)) / 2 - lambda_ * (y - mu) ** 2 / (2 * mu ** 2 * y)"
                                        " if 0 < y < inf else -inf",
                                    source =
                                        "Tweedie (1957), Annals of Mathematical Statistics 28:362: log f ="
                                        " log(lambda / (2 pi y^3)) / 2 - lambda (y - mu)^2 / (2 mu^2 y)";
  static constexpr std::string_view scipy = "invgauss(mu {positive and finite}): x - loc; mu * scale, scale";
  template <class Y, class M, class L>
  static auto in_support(const Y& y, const M&, const L&) {
    return y > 0.0 && y < infinity;
  }
  template <class Y, class M, class L>
  static auto prepare(const parts& included, const Y&, const M&, const L& lambda) {
    promoted_t<L> sum(included.constants() ? -detail::half_log_two_pi : 0.0);
    if (included.of({2})) sum += 0.5 * log(lambda);
    return sum;
  }
  template <class P, class Y, class M, class L>
  static auto term(const parts& included, const P& of_shape, const Y& y, const M& mu, const L& lambda) {
    using T = promoted_t<Y, M, L>;
    T sum = of_shape - apply<detail::inv_gaussian_exponent_rule>(y, mu, lambda);
    if (included.of({0})) sum -= 1.5 * log(y);
    return sum;
  }
};
/// Returns the sum of the inverse Gaussian log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Lambda>
auto inv_gaussian_lpdf(const Y& y, const Mu& mu, const Lambda& lambda) {
  return apply_probability<inv_gaussian_lpdf_rule, propto>(y, mu, lambda);
}

struct inv_gaussian_cdf_rule : detail::inv_gaussian_rule {
  static constexpr std::string_view name = "inv_gaussian_cdf",
                                    text = "Probability of a value up to y, with mean mu and shape lambda.",
                                    reference =
                                        "ncdf(sqrt(lambda_ / y) * (y / mu - 1)) + exp(2 * lambda_ / mu)"
                                        " * ncdf(-sqrt(lambda_ / y) * (y / mu + 1)) if y > 0 else 0",
                                    source =
                                        "Shuster (1968), Journal of the American Statistical Association 63:1514: F ="
                                        " Phi(r (y / mu - 1)) + exp(2 lambda / mu) Phi(-r (y / mu + 1)), r = sqrt(lambda / y)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class M, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda) {
    using T = promoted_t<Y, M, L>;
    return tail<detail::inv_gaussian_tail_rule<false, false>>(T(y), T(mu), T(lambda), 1);
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<inv_gaussian_cdf_rule> inv_gaussian_cdf;

struct inv_gaussian_lcdf_rule : detail::inv_gaussian_rule {
  static constexpr std::string_view name = "inv_gaussian_lcdf", text = "Logarithm of inv_gaussian_cdf.",
                                    reference =
                                        "log(ncdf(sqrt(lambda_ / y) * (y / mu - 1)) + exp(2 * lambda_ / mu)"
                                        " * ncdf(-sqrt(lambda_ / y) * (y / mu + 1))) if y > 0 else -inf",
                                    source = "log F, whose terms have the factor exp(-lambda (y - mu)^2 / (2 mu^2 y))";
  template <class P, class Y, class M, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda) {
    using T = promoted_t<Y, M, L>;
    return tail<detail::inv_gaussian_tail_rule<false, true>>(T(y), T(mu), T(lambda), 0);
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<inv_gaussian_lcdf_rule> inv_gaussian_lcdf;

struct inv_gaussian_lccdf_rule : detail::inv_gaussian_rule {
  static constexpr std::string_view name = "inv_gaussian_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with mean mu and shape lambda.",
                                    reference =
                                        "log(ncdf(-sqrt(lambda_ / y) * (y / mu - 1)) - exp(2 * lambda_ / mu)"
                                        " * ncdf(-sqrt(lambda_ / y) * (y / mu + 1))) if y > 0 else 0",
                                    source = "log(1 - F), a difference of Mills' ratios that is integrated";
  static constexpr double outside = 0;
  template <class P, class Y, class M, class L>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda) {
    using T = promoted_t<Y, M, L>;
    return tail<detail::inv_gaussian_tail_rule<true, true>>(T(y), T(mu), T(lambda), -infinity);
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<inv_gaussian_lccdf_rule> inv_gaussian_lccdf;

struct inv_gaussian_quantile : quantile_of<inv_gaussian_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& lambda) {
    return is_upper ? T(apply<detail::inv_gaussian_quantile_rule<true>>(p, mu, lambda))
                    : T(apply<detail::inv_gaussian_quantile_rule<false>>(p, mu, lambda));
  }
};
/// Returns the value up to which the probability is p: the inverse of inv_gaussian_cdf.
inline constexpr quantile_function<inv_gaussian_quantile> inv_gaussian_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<inv_gaussian_quantile, true> inv_gaussian_cqf;

using inv_gaussian_lbetween_rule = log_between<inv_gaussian_lpdf_rule, inv_gaussian_lcdf_rule, inv_gaussian_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<inv_gaussian_lbetween_rule> inv_gaussian_lbetween;

/// Draws inverse Gaussian numbers with mean mu and shape lambda: one of the two numbers at which the exponent of the density is
/// that of a normal number. Source: Michael, Schucany and Haas (1976), The American Statistician 30:88.
template <class Mu, class Lambda, class URBG>
auto inv_gaussian_rng(const Mu& mu, const Lambda& lambda, URBG& rng) {
  return detail::draws<inv_gaussian_lpdf_rule, double>(
      "inv_gaussian_rng",
      [&](detail::draw_place, double m, double l) {
        const double z = detail::draw_normal(rng), w = 0.5 * z * z * (m / l);
        const double factor = 1 + w + std::sqrt(w) * std::sqrt(w + 2);  // of the larger number, 1 / factor is the smaller one
        return open_unit_rng(rng) * (1 + 1 / factor) < 1 ? m / factor : m * factor;
      },
      mu, lambda);
}

namespace rules {
using inv_gaussian_family =
    family<typelist<inv_gaussian_lpdf_rule, inv_gaussian_cdf_rule, inv_gaussian_lcdf_rule, inv_gaussian_lccdf_rule>,
           typelist<inv_gaussian_quantile>, typelist<inv_gaussian_lbetween_rule>>;
}

}  // namespace agrad
