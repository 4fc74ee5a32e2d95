// Tails and quantiles of the inverse Gaussian distribution, as internal rules.
//
// With r = sqrt(lambda / y), a = r (y / mu - 1) and b = r (y / mu + 1) the probabilities up to y and beyond it are phi(a) times
// the sum m(-a) + m(b), or the difference m(a) - m(b), where m is Mills' ratio, m(v) = Phi(-v) / phi(v): exp(2 lambda / mu), by
// which the second term is usually multiplied, does not occur, and the difference is the integral of its derivative. With the
// share k = 2 r (y / mu) m(b) the derivatives of the probability up to y are the density times 1, -k y / mu and
// -(1 - k) y / lambda, so that nothing cancels in these.
#pragma once

#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/either.hpp>
#include <agrad/rules/error/normal_moments.hpp>
#include <agrad/rules/error/tail_inverse.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/special/quantile_slopes.hpp>

namespace agrad::detail {

/// Returns y / mu - 1.
template <class T>
T inv_gaussian_distance(const T& y, const T& mu) {
  return either<T>(
      abs(y - mu) < 0.5 * mu, [&] { return T((y - mu) / mu); }, [&] { return T(y / mu - 1.0); });
}

/// The exponent a^2 / 2, whose derivatives have no part that falls out of the others.
struct inv_gaussian_exponent_rule : rule<3> {
  static constexpr std::string_view name = "inv_gaussian_exponent";
  static double value(double y, double mu, double lambda) {
    const double distance = inv_gaussian_distance(y, mu);
    return 0.5 * lambda * (distance * (distance / y));
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& lambda, const T&) {
    return 0.5 * lambda *
           either<T>(
               abs(y - mu) < 0.5 * mu, [&] { return T((y - mu) / mu / mu * ((y + mu) / y / y)); },
               [&] { return T(inv_square(mu) - inv_square(y)); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& lambda, const T&) {
    return (mu - y) / mu / mu * (lambda / mu);
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& lambda, const T& value) {
    return value / lambda;
  }
};

/// The numbers r, a and b.
template <class T>
struct inv_gaussian_place {
  T y, mu, lambda, r, a, b;

  inv_gaussian_place(const T& at, const T& mean, const T& shape)
      : y(at), mu(mean), lambda(shape), r(sqrt(lambda) / sqrt(y)), a(inv_gaussian_distance(y, mu) * r), b(r * (y / mu + 1.0)) {}

  /// Returns whether the tail is computed by itself, and not as what the other one lacks from 1.
  auto is_direct(bool is_upper) const { return is_upper ? a >= 0.0 || b <= 1.0 : a < 0.0 && b > 1.0; }
  /// Returns the tail divided by phi(a).
  T over_density(bool is_upper) const {
    if (is_upper) return apply<normal_tail_moment_loss_rule>(T(0.0), a, T(2.0 * r));
    return moment(0, T(-a)) + moment(0, b);
  }
  /// Returns the logarithm of y times the density.
  T log_mass() const { return log(inv_sqrt_two_pi * r) - 0.5 * (a * a); }
  /// Returns the share k, and 1 - k.
  T of_mu() const { return 2.0 * (r * (y / mu)) * moment(0, b); }
  T of_lambda() const { return moment(1, b) - a * moment(0, b); }

 private:
  static T moment(double n, const T& v) { return apply<normal_tail_moment_rule>(T(n), v); }
};

/// The probability up to y, or beyond it, or its logarithm.
template <bool is_upper, bool is_log>
struct inv_gaussian_tail_rule : rule<3> {
  static constexpr auto letters = with_digits<is_upper, is_log>("inv_gaussian_tail");
  static constexpr std::string_view name = letters.data();
  static double value(double y, double mu, double lambda) {
    const inv_gaussian_place<double> at(y, mu, lambda);
    if (std::isnan(at.a) || std::isnan(at.b))
      return y == infinity ? (is_log ? std::log(1.0 - is_upper) : 1.0 - is_upper) : quiet_nan;
    if (at.is_direct(is_upper)) {
      const double share = inv_sqrt_two_pi * at.over_density(is_upper);
      return is_log ? std::log(share) - 0.5 * (at.a * at.a) : share * exp_of_square(at.a, -0.5);
    }
    const double rest = inv_gaussian_tail_rule<!is_upper, false>::value(y, mu, lambda);
    return is_log ? std::log1p(-rest) : 1 - rest;
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& y, const T& mu, const T& lambda, const T& value) {
    const inv_gaussian_place<T> at(y, mu, lambda);
    const T mass = is_upper ? T(-share_of_mass(at, value)) : share_of_mass(at, value);  // which has moved with log y
    if constexpr (I == 0)
      return mass / y;
    else
      return I == 1 ? T(-mass / mu * at.of_mu()) : T(-mass / lambda * at.of_lambda());
  }

 private:
  /// Returns y times the density, divided by the tail if the rule is its logarithm.
  template <class T>
  static T share_of_mass(const inv_gaussian_place<T>& at, const T& value) {
    if constexpr (!is_log)
      return inv_sqrt_two_pi * at.r * apply<bell_rule>(at.a);
    else
      return either<T>(
          at.is_direct(is_upper), [&] { return T(at.r / at.over_density(is_upper)); },
          [&] { return T(exp(at.log_mass() - value)); });
  }
};

/// Returns y up to which, or beyond which, the probability is p <= 1/2. Newton's method in log y starts from the quantile of
/// the limit of large mu and, in the upper tail, of an exponential one.
inline double inv_gaussian_tail_inverse(double p, double mu, double lambda, bool is_upper) {
  const double log_p = std::log(p), z = ndtri(0.5 * p);
  double start = std::fmin(mu, lambda / (z * z));
  if (is_upper) start = std::fmin(mu * (1 - 2 * (mu / lambda) * log_p), inv_pi * lambda / p / (0.5 * p));
  const auto at = [&](double y) {
    const double log_tail = is_upper ? inv_gaussian_tail_rule<true, true>::value(y, mu, lambda)
                                     : inv_gaussian_tail_rule<false, true>::value(y, mu, lambda);
    const double slope = std::exp(inv_gaussian_place<double>(y, mu, lambda).log_mass() - log_tail);
    return tail_excess{log_tail - log_p, is_upper ? -slope : slope};
  };
  const auto move = [](double y, double step) { return y + y * std::expm1(step); };
  return inverse_of_tail(!is_upper, 0, std::fmin(start, 1e300), infinity, at, move);
}

/// The y up to which, or with is_upper beyond which, the probability is p; derivatives are those of the implicit function.
template <bool is_upper>
struct inv_gaussian_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "inv_gaussian_upper_quantile" : "inv_gaussian_lower_quantile";
  static double value(double p, double mu, double lambda) {
    if (!(p >= 0 && p <= 1 && mu > 0 && lambda > 0)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : 0;
    return p <= 0.5 ? inv_gaussian_tail_inverse(p, mu, lambda, is_upper)
                    : inv_gaussian_tail_inverse(1 - p, mu, lambda, !is_upper);
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T&, const T& mu, const T& lambda, const T& y) {
    const inv_gaussian_place<T> at(y, mu, lambda);
    const auto is_inside = y > 0 && y < infinity;
    if constexpr (I == 0)
      return either<T>(
          is_inside, [&] { return T((is_upper ? -y : y) * exp(-at.log_mass())); },
          [] { return T(is_upper ? -infinity : infinity); });
    else
      return slope_inside<T>(is_inside, [&] { return I == 1 ? T(y / mu * at.of_mu()) : T(y / lambda * at.of_lambda()); });
  }
};

}  // namespace agrad::detail
