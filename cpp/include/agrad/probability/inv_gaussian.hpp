// The inverse Gaussian distribution: of the time at which a Brownian motion with drift first reaches a level.
//
// The mean is mu, the variance mu^3 / lambda. The tails are in probability/inv_gaussian_tails.hpp.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/inv_gaussian_tails.hpp>

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
template <class Y, class Mu, class Lambda>
auto inv_gaussian_cdf(const Y& y, const Mu& mu, const Lambda& lambda) {
  return apply_probability<inv_gaussian_cdf_rule>(y, mu, lambda);
}

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
template <class Y, class Mu, class Lambda>
auto inv_gaussian_lcdf(const Y& y, const Mu& mu, const Lambda& lambda) {
  return apply_probability<inv_gaussian_lcdf_rule>(y, mu, lambda);
}

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
template <class Y, class Mu, class Lambda>
auto inv_gaussian_lccdf(const Y& y, const Mu& mu, const Lambda& lambda) {
  return apply_probability<inv_gaussian_lccdf_rule>(y, mu, lambda);
}

namespace rules {
using inv_gaussian_distribution =
    typelist<inv_gaussian_lpdf_rule, inv_gaussian_cdf_rule, inv_gaussian_lcdf_rule, inv_gaussian_lccdf_rule>;
}

}  // namespace agrad
