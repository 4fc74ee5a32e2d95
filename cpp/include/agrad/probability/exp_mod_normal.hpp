// The exponentially modified normal distribution, of the sum of a normal and an exponential variable: density and distribution
// function.
//
// With z = (y - mu) / sigma and a = lambda sigma the density is lambda / 2 exp(a^2 / 2 - a z) erfc(v / sqrt(2)), v = a - z.
// Which factors are combined depends on the sign of v and, where the density is almost normal, on the size of a.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/probability/normal_octets.hpp>
#include <agrad/rules/normal_moments.hpp>

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
                                                   {"sigma", must_be::positive_finite, true},
                                                   {"lambda_", must_be::positive_finite, true}};
};

/// Returns the wanted ones of the derivatives of the probability with respect to d, sigma and lambda.
inline std::array<double, 3> exp_mod_normal_slopes(const std::array<bool, 3>& wanted, double d, double sigma, double lambda) {
  const double z = d / sigma, a = lambda * sigma;
  const bool is_below = z < a;
  const double none = wanted[0] || wanted[1] ? shifted_normal_moment(0, z, a) : 0;
  const double first = wanted[2] || (wanted[1] && is_below) ? shifted_normal_moment(1, z, a) : 0;
  const double inverse = wanted[1] && !is_below ? shifted_normal_moment(-1, z, a) : 0;
  return {lambda * none, lambda * (is_below ? first - z * none : inverse - a * none), sigma * first};
}

/// Returns the derivative of the probability over lambda with respect to arguments `first` and `second` of d and sigma. It has
/// a form for each side of z = a in which nothing cancels, the same for both orders of differentiation.
template <int first, int second, class T>
T exp_mod_normal_bend(const T& z, const T& a, const T& sigma) {
  const auto moment = [&](double n) { return T(apply<shifted_normal_moment_rule>(n, z, a)); };
  const auto over_sigma = [&](const auto& below, const auto& above) { return T(either<T>(z < a, below, above) / sigma); };
  if constexpr (second == 0)
    return over_sigma([&] { return T(moment(1) - z * moment(0)); }, [&] { return T(moment(-1) - a * moment(0)); });
  else if constexpr (first == 0)
    return over_sigma([&] { return T(z * z * moment(0) - (z + a) * moment(1)); },
                      [&] { return T(a * a * moment(0) - (z + a) * moment(-1)); });
  else
    return over_sigma(
        [&] { return T(z * moment(0) * (1.0 - z * z) + z * (2.0 * z + a) * moment(1) - 2.0 * (z + a) * moment(2)); },
        [&] { return T((z * z + a * (z + a)) * moment(-1) - a * (1.0 + a * a) * moment(0)); });
}

/// The derivative of the probability with respect to argument J of d, sigma and lambda.
template <int J>
struct exp_mod_normal_slope_rule : rule<3> {
  static constexpr auto letters = with_digits<J>("exp_mod_normal_slope");
  static constexpr std::string_view name = letters.data();
  static double value(double d, double sigma, double lambda) {
    return std::get<J>(exp_mod_normal_slopes({J == 0, J == 1, J == 2}, d, sigma, lambda));
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& d, const T& sigma, const T& lambda, const T&) {
    constexpr int first = I < J ? I : J, second = I < J ? J : I;
    const T z = d / sigma, a = lambda * sigma;
    const auto moment = [&](double n) { return T(apply<shifted_normal_moment_rule>(n, z, a)); };
    const auto sides = [&](const auto& below, const auto& above) { return either<T>(z < a, below, above); };
    if constexpr (second < 2)
      return lambda * exp_mod_normal_bend<first, second>(z, a, sigma);
    else if constexpr (first == 0)
      return sides([&] { return T(2.0 * moment(2) - z * moment(1)); }, [&] { return T(moment(0) - a * moment(1)); });
    else if constexpr (first == 1)
      return sides([&] { return T((1.0 + z * z) * moment(1) - 2.0 * (z + a) * moment(2)); },
                   [&] { return T(moment(-1) - 2.0 * a * moment(0) + a * a * moment(1)); });
    else
      return -2.0 * either<T>(
                        a > 1e100, [&] { return T(inv_sqrt_two_pi * apply<bell_rule>(z) / sigma / lambda / lambda / lambda); },
                        [&] { return T(sigma * sigma * moment(2)); });
  }
};

/// The probability of a value up to the distance d from mu.
struct exp_mod_normal_probability_rule : rule<3> {
  static constexpr std::string_view name = "exp_mod_normal_probability";
  static double value(double d, double sigma, double lambda) {
    const double z = d / sigma, a = lambda * sigma;
    if (z < 0) return inv_sqrt_two_pi * exp_of_square(z, -0.5) * (a * mean_normal_moment(1, 0, -z, a));
    return a * shifted_normal_integral(0, z, a);
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double d, double sigma,
                                 double lambda) {
    slopes = exp_mod_normal_slopes(wanted, d, sigma, lambda);
    return value(d, sigma, lambda);
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& d, const T& sigma, const T& lambda, const T&) {
    return apply<exp_mod_normal_slope_rule<I>>(d, sigma, lambda);
  }
};

/// Returns whether all of the normal variable is below d - lambda sigma^2, to all digits of the probability and its
/// derivatives, as it is beyond 40 standard deviations.
template <class T>
auto is_exponential(const T& z, const T& a) {
  return z > 40.0 + a;
}
/// Returns what d is reduced by the normal variable to, where the distribution is exponential.
template <class T>
T exponential_distance(const T& d, const T& sigma, const T& lambda) {
  return d - 0.5 * (lambda * sigma) * sigma;
}

/// Returns the log density at the distance d from mu.
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
template <class Y, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_cdf(const Y& y, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return apply_probability<exp_mod_normal_cdf_rule>(y, mu, sigma, lambda);
}

namespace rules {
using exp_mod_normal_distribution = typelist<exp_mod_normal_lpdf_rule, exp_mod_normal_cdf_rule>;
}

}  // namespace agrad
