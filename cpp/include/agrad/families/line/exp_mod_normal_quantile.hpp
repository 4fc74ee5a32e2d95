// The quantile of the exponentially modified normal distribution with mu = 0, as an internal rule.
#pragma once

#include <agrad/families/line/exp_mod_normal_parts.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/error/tail_inverse.hpp>

namespace agrad::detail {

/// Returns z at which the lower or upper tail of rate a is p <= 1/2.
inline double exp_mod_normal_tail_inverse(double p, double a, bool is_upper) {
  // Newton's method starts from the quantiles of the normal and the exponential variable whose sum it is about: from the larger
  // one in the upper tail, from their sum in the lower one. Only the second overflows, where the sum is as good as exponential.
  const double z = is_upper ? std::fmax(-ndtri(p), -std::log(p) / a) : ndtri(p) - std::log1p(-p) / a;
  if (z == infinity) return z;
  const auto at = [&](double y) {
    const double log_tail = is_upper ? exp_mod_normal_log_tail<true>(y, 1.0, a) : exp_mod_normal_log_tail<false>(y, 1.0, a);
    const double density = a * shifted_normal_moment(0, y, a);
    return tail_excess{log_tail - std::log(p), (is_upper ? -density : density) * std::exp(-log_tail)};
  };
  return inverse_of_tail(!is_upper, -infinity, z, infinity, at, [](double y, double step) { return y + step; });
}

/// Returns the z at which the lower or upper tail of rate a is p.
inline double exp_mod_normal_quantile_of(double p, double a, bool is_upper) {
  if (!(p >= 0 && p <= 1 && a > 0 && a < infinity)) return quiet_nan;
  if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : -infinity;
  return p <= 0.5 ? exp_mod_normal_tail_inverse(p, a, is_upper) : exp_mod_normal_tail_inverse(1 - p, a, !is_upper);
}

/// Returns the mean of the exponential variable, in units of sigma, if its sum with the normal one is v below a.
template <class T>
T exponential_mean(const T& v) {
  return apply<normal_tail_moment_rule>(1.0, v) / apply<normal_tail_moment_rule>(0.0, v);
}
/// Returns phi(w) / Phi(w), for w >= 0.
template <class T>
T inverse_normal_ratio(const T& w) {
  return inv_sqrt_two_pi * apply<bell_rule>(w) / ndtr(w);
}

/// The derivative of z by the probability p, or a times it: 1 / f, with the density f. The derivatives are total ones, with z
/// as the quantile of p and a, so that no parts cancel and no square of f occurs; by z itself there is none. That of 1 / f by a
/// consists of the variance of the exponential variable whose sum with the normal one is z, and is computed for z < a. That of
/// a / f consists of the slope of phi / Phi, and is computed for z >= a.
template <bool is_upper, bool is_times_a>
struct exp_mod_normal_quantile_slope_rule : rule<3> {
  static constexpr auto letters = with_digits<is_upper, is_times_a>("exp_mod_normal_quantile_slope");
  static constexpr std::string_view name = letters.data();
  static double value(double, double a, double z) {
    const double sign = is_upper ? -1 : 1;
    if (a > 2 * std::abs(z)) {  // a times the moment of order 0 hardly depends on a
      const double v = a - z, ratio = 1 - normal_tail_moment(1, v) + z * normal_tail_moment(0, v);
      return sign * (is_times_a ? a : 1) / (inv_sqrt_two_pi * std::exp(-0.5 * z * z) * ratio);
    }
    return sign / ((is_times_a ? 1 : a) * shifted_normal_moment(0, z, a));
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& a, const T& z, const T& value) {
    const T fall = either<T>(
        z < a, [&] { return T(z - exponential_mean(T(a - z))); }, [&] { return T(a - inverse_normal_ratio(T(z - a))); });
    return is_times_a ? T(value / a * fall * value) : T(value * fall * value);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& a, const T& z, const T& value) {
    if constexpr (is_times_a) {
      const T ratio = inverse_normal_ratio(T(z - a));
      return value / a * (ratio * (z - a + ratio));
    } else {
      const T mean = exponential_mean(T(a - z));
      const T square = 2.0 * apply<normal_tail_moment_rule>(2.0, a - z) / apply<normal_tail_moment_rule>(0.0, a - z);
      return -value / a * (square - mean * mean);
    }
  }
  template <class T>
  static double derivative(wrt<2>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
};

/// The x = sigma z of the exponential rate lambda = a / sigma. The derivatives are those of an implicit function, as those of
/// rules/special/quantiles.hpp: by sigma the mean of the normal variable whose sum with the exponential one is z, and by lambda
/// the mean of the exponential variable. As derivatives of z their large parts would cancel far above 0, where x hardly depends
/// on sigma.
template <bool is_upper>
struct exp_mod_normal_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "exp_mod_normal_upper_distance" : "exp_mod_normal_lower_distance";
  static double value(double p, double sigma, double lambda) {
    return sigma * exp_mod_normal_quantile_of(p, lambda * sigma, is_upper);
  }
  template <class T>
  static T derivative(wrt<0>, const T& p, const T& sigma, const T& lambda, const T& x) {
    const T z = x / sigma, a = lambda * sigma;
    return either<T>(
        !(abs(x) < infinity), [] { return T(is_upper ? -infinity : infinity); },                                //
        z < a, [&] { return T(sigma * apply<exp_mod_normal_quantile_slope_rule<is_upper, false>>(p, a, z)); },  //
        [&] { return T(apply<exp_mod_normal_quantile_slope_rule<is_upper, true>>(p, a, z) / lambda); });
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& sigma, const T& lambda, const T& x) {
    return either<T>(
        abs(x) < infinity, [&] { return normal_mean(T(x / sigma), T(lambda * sigma)); }, [&] { return T(x); });
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T& sigma, const T& lambda, const T& x) {
    const T z = x / sigma, a = lambda * sigma;
    return either<T>(
        !(abs(x) < infinity), [] { return T(0.0); }, z < a, [&] { return T(-sigma / lambda * exponential_mean(T(a - z))); },
        [&] { return T((sigma * normal_mean(z, a) - x) / lambda); });
  }

 private:
  /// Returns the mean of the normal variable, in units of sigma: that of the normal distribution around a below z.
  template <class T>
  static T normal_mean(const T& z, const T& a) {
    return either<T>(
        z < a, [&] { return T(z - exponential_mean(T(a - z))); }, [&] { return T(a - inverse_normal_ratio(T(z - a))); });
  }
};

}  // namespace agrad::detail
