// The quantile of the von Mises distribution on [-pi, pi], as an internal rule.
#pragma once

#include <algorithm>

#include <agrad/probability/von_mises_cdf.hpp>
#include <agrad/rules/probit.hpp>
#include <agrad/rules/tail_inverse.hpp>

namespace agrad::detail {

/// Returns the angle up to which the probability is p <= 1/2, for mu between -pi and pi: by Newton's method from the quantile
/// of the uniform or of the normal distribution that the one of a small or large kappa is close to.
inline double von_mises_tail_inverse(double p, double mu, double kappa) {
  const double log_goal = std::log(p) + std::log(2 * pi * bessel_i_moment(0, kappa));
  const double start = kappa < 1 ? -pi + 2 * pi * p : mu + ndtri(p) / std::sqrt(kappa);
  const auto at = [&](double y) {
    const double log_arc = log_arc_rule::value(y, mu, kappa), s = std::sin(0.5 * (y - mu));
    return tail_excess{log_arc - log_goal, std::exp(-2 * kappa * (s * s) - log_arc) * (y + pi)};
  };
  const auto move = [](double y, double step) { return y + (y + pi) * std::expm1(step); };
  return inverse_of_tail(true, -pi, std::clamp(start, -3.14, 3.14), pi, at, move);
}

/// Minus the derivative of the probability p of the arc from -pi to y with respect to kappa, over the density at y: the
/// derivative of y where p is constant.
template <class T>
T von_mises_drift(const T& p, const T& y, const T& mu, const T& kappa) {
  const T excess = apply<arc_integral_rule<1>>(y, mu, kappa) - 2.0 * pi * p * apply<bessel_i_moment_rule>(1.0, kappa);
  return T(excess * exp(kappa * arc_height<true>(y, mu)));
}

/// The angle up to which, or beyond which, the probability is p. The derivatives are those of an implicit function, that with
/// respect to kappa from the smaller one of both arcs.
template <bool is_upper>
struct von_mises_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "von_mises_upper_quantile" : "von_mises_lower_quantile";
  static double value(double p, double mu, double kappa) {
    if (!(p >= 0 && p <= 1 && std::abs(mu) <= pi && kappa >= 0 && kappa < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? pi : -pi;
    const bool is_left = (p <= 0.5) != is_upper;  // the upper arc is the lower one of -y and -mu
    const double y = von_mises_tail_inverse(p <= 0.5 ? p : 1 - p, is_left ? mu : -mu, kappa);
    return is_left ? y : -y;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& mu, const T& kappa, const T& y) {
    const T slope = 2.0 * pi * apply<bessel_i_moment_rule>(0.0, kappa) * exp(kappa * arc_height<true>(y, mu));
    return is_upper ? T(-slope) : slope;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& mu, const T& kappa, const T& y) {
    return -expm1(kappa * arc_ascent(y, mu));
  }
  template <class T>
  static T derivative(wrt<2>, const T& p, const T& mu, const T& kappa, const T& y) {
    const auto below = [&](const T& share) { return von_mises_drift(share, y, mu, kappa); };
    const auto above = [&](const T& share) { return T(-von_mises_drift(share, T(-y), T(-mu), kappa)); };
    return either<T>(
        p == 0 || p == 1, [] { return T(0.0); },                   //
        p <= 0.5, [&] { return is_upper ? above(p) : below(p); },  //
        [&] { return is_upper ? below(T(1.0 - p)) : above(T(1.0 - p)); });
  }
};

}  // namespace agrad::detail
