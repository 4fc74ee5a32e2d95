// The quantile of the skew normal distribution with xi = 0 and omega = 1, as an internal rule.
#pragma once

#include <agrad/probability/skew_normal_cdf.hpp>
#include <agrad/rules/probit.hpp>
#include <agrad/rules/tail_inverse.hpp>

namespace agrad::detail {

/// Returns the z up to which the probability is p <= 1/2. Newton's method for its logarithm, which is concave in z, starts from
/// the quantile of a normal variable that falls as fast as the tail.
inline double skew_normal_tail_inverse(double p, double alpha) {
  const double below_0 = alpha > 0 ? inv_pi * std::atan(1 / alpha) : 1;
  const double start = ndtri(p) / (p < below_0 && alpha > 0 ? std::hypot(1, alpha) : 1);
  const double log_p = std::log(p);
  const auto at = [&](double z) {
    const double log_tail = skew_normal_log_probability(z, alpha);
    const double log_density = 0.5 * std::log(2 * inv_pi) - 0.5 * z * z + log_ndtr(alpha * z);
    return tail_excess{log_tail - log_p, std::exp(log_density - log_tail)};
  };
  return inverse_of_tail(true, -infinity, start, infinity, at, [](double z, double step) { return z + step; });
}

/// The z up to which the probability is p, or beyond which with is_upper. The derivatives are those of an implicit function:
/// with the density 2 phi(z) Phi(alpha z), that with respect to alpha is the slope of log_ndtr at alpha z, over 1 + alpha^2.
template <bool is_upper>
struct skew_normal_quantile_rule : rule<2> {
  static constexpr std::string_view name = is_upper ? "skew_normal_upper_quantile" : "skew_normal_lower_quantile";
  static double value(double p, double alpha) {
    if (!(p >= 0 && p <= 1 && std::abs(alpha) < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : -infinity;
    const bool is_left = (p <= 0.5) != is_upper;  // the upper tail is the lower one of -z and -alpha
    const double z = skew_normal_tail_inverse(p <= 0.5 ? p : 1 - p, is_left ? alpha : -alpha);
    return is_left ? z : -z;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& alpha, const T& z) {
    const T slope = sqrt_half_pi * exp(0.5 * (z * z) - log_ndtr(alpha * z));
    return is_upper ? T(-slope) : slope;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& alpha, const T& z) {
    return either<T>(
        abs(z) < infinity,
        [&] {
          const T w = alpha * z;
          return T(log_ndtr_rule::derivative(wrt<0>{}, w, w) / (1.0 + alpha * alpha));
        },
        [] { return T(0.0); });
  }
};

}  // namespace agrad::detail
