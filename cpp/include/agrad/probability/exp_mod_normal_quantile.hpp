// The quantile of the exponentially modified normal distribution with mu = 0, as an internal rule.
#pragma once

#include <agrad/probability/exp_mod_normal_tails.hpp>
#include <agrad/rules/probit.hpp>
#include <agrad/rules/tail_inverse.hpp>

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

/// The x = sigma z of the exponential rate lambda = a / sigma. The derivatives are those of an implicit function, as those of
/// rules/quantiles.hpp: by sigma the mean of the normal variable whose sum with the exponential one is z, and by lambda the
/// mean of the exponential variable. As derivatives of z their large parts would cancel far above 0, where x hardly depends on
/// sigma.
template <bool is_upper>
struct exp_mod_normal_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "exp_mod_normal_upper_distance" : "exp_mod_normal_lower_distance";
  static double value(double p, double sigma, double lambda) {
    return sigma * exp_mod_normal_quantile_of(p, lambda * sigma, is_upper);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& sigma, const T& lambda, const T& x) {
    const T z = x / sigma, a = lambda * sigma;
    const auto nearly_normal = [&] {  // where a times the moment of order 0 hardly depends on a
      const T v = a - z;
      const T ratio = 1.0 - apply<normal_tail_moment_rule>(1.0, v) + z * apply<normal_tail_moment_rule>(0.0, v);
      return T(sigma / (inv_sqrt_two_pi * apply<bell_rule>(z) * ratio));
    };
    const T slope = either<T>(a > 2.0 * abs(z), nearly_normal,
                              [&] { return T(1.0 / (lambda * apply<shifted_normal_moment_rule>(0.0, z, a))); });
    return is_upper ? T(-slope) : slope;
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
  /// Returns the mean of the exponential variable, in units of sigma, if its sum with the normal one is v below a.
  template <class T>
  static T exponential_mean(const T& v) {
    return apply<normal_tail_moment_rule>(1.0, v) / apply<normal_tail_moment_rule>(0.0, v);
  }
  /// Returns the mean of the normal variable, in units of sigma: that of the normal distribution around a below z.
  template <class T>
  static T normal_mean(const T& z, const T& a) {
    return either<T>(
        z < a, [&] { return T(z - exponential_mean(T(a - z))); },
        [&] { return T(a - inv_sqrt_two_pi * apply<bell_rule>(z - a) / ndtr(z - a)); });
  }
};

}  // namespace agrad::detail
