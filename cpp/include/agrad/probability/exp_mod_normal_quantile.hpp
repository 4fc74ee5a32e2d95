// The quantile of the exponentially modified normal distribution with mu = 0 and sigma = 1, as an internal rule.
#pragma once

#include <agrad/probability/exp_mod_normal_tails.hpp>
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

/// The z at which the lower, or upper, tail of rate a is p. The derivatives are those of an implicit function, as those of
/// rules/quantiles.hpp.
template <bool is_upper>
struct exp_mod_normal_quantile_rule : rule<2> {
  static constexpr std::string_view name = is_upper ? "exp_mod_normal_upper_quantile" : "exp_mod_normal_lower_quantile";
  static double value(double p, double a) {
    if (!(p >= 0 && p <= 1 && a > 0 && a < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : -infinity;
    return p <= 0.5 ? exp_mod_normal_tail_inverse(p, a, is_upper) : exp_mod_normal_tail_inverse(1 - p, a, !is_upper);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& a, const T& z) {
    const T slope = 1.0 / (a * apply<shifted_normal_moment_rule>(0.0, z, a));
    return is_upper ? T(-slope) : slope;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& a, const T& z) {
    return either<T>(
        abs(z) < infinity,
        [&] { return T(-apply<shifted_normal_moment_rule>(1.0, z, a) / (a * apply<shifted_normal_moment_rule>(0.0, z, a))); },
        [] { return T(0.0); });
  }
};

}  // namespace agrad::detail
