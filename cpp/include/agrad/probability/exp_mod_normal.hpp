// The exponentially modified normal distribution, of the sum of a normal and an exponential variable: density.
//
// With z = (y - mu) / sigma and a = lambda sigma the density is lambda / 2 exp(a^2 / 2 - a z) erfc(v / sqrt(2)), v = a - z. Which
// factors are combined depends on the sign of v and, where the density is almost normal, on the size of a.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/rules/probit.hpp>

namespace agrad {

namespace detail {

/// log(x erfcx(x)) for x > 0, which tends to a constant.
struct log_times_erfcx_rule : rule<1> {
  static constexpr std::string_view name = "log_times_erfcx";
  static double value(double x) { return std::log(x * erfcx(x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 4.0 * apply<scaled_ierfc_rule>(2.0, x) / (x * erfcx(x));
  }
};

/// What the functions of the exponentially modified normal distribution have in common. The name lambda is a keyword of Python.
struct exp_mod_normal_rule : probability_rule<4> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite},
                                                   {"lambda_", must_be::positive_finite}};
};

/// The log density at the distance d from mu.
template <class T>
T exp_mod_normal_density(const T& d, const T& sigma, const T& lambda) {
  const T z = d / sigma, a = lambda * sigma, v = a - z;
  const auto beyond = [&] { return T(log(lambda) - lambda * d + 0.5 * (a * a) + log_ndtr(-v)); };
  const auto nearly_normal = [&] {
    const T factor = apply<log_times_erfcx_rule>(inv_sqrt_2 * v) - log1p(-z / a);
    return T(factor - log(sigma) - 0.5 * (z * z) - 0.5 * log_2);
  };
  const auto below = [&] { return T(log(lambda) - log_2 - 0.5 * (z * z) + log(erfcx(inv_sqrt_2 * v))); };
  return either<T>(v <= 0.0, beyond, a > 1.0 && abs(z) < 0.5 * a, nearly_normal, below);
}

}  // namespace detail

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
};
/// Sum of the exponentially modified normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return apply_probability<exp_mod_normal_lpdf_rule, propto>(y, mu, sigma, lambda);
}

namespace rules {
using exp_mod_normal_distribution = typelist<exp_mod_normal_lpdf_rule>;
}

}  // namespace agrad
