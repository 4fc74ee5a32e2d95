// Parts of the exponentially modified normal distribution, as internal rules and expressions.
//
// With z = (y - mu) / sigma and a = lambda sigma the density is lambda / 2 exp(a^2 / 2 - a z) erfc(v / sqrt(2)), v = a - z.
// Which factors are combined depends on the sign of v and, where the density is almost normal, on the size of a.
//
// With z = (y - mu) / sigma and a = lambda sigma, the complement is Phi(-z) + exp(a^2 / 2 - a z) Phi(z - a), a sum of positive
// terms. Below z = 0 the distribution function is phi(z) times a difference of Mills' ratios, and above it a times an integral,
// which are rules of their own. Each of the two probabilities is computed from the other only where the other one is smaller.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/shared/normal_octets.hpp>
#include <agrad/families/shared/powers.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/error/normal_moments.hpp>
#include <agrad/rules/gamma/rests.hpp>
#include <agrad/rules/links.hpp>

namespace agrad::detail {

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

}  // namespace agrad::detail
