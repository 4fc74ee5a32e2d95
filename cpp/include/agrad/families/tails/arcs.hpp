// Arcs: the integral of exp(-kappa v) over an arc of a circle and its logarithm, with what their derivatives need, for the von
// Mises distribution; v = 1 - cos(u - mu), over u from -pi to y.
//
// Derivatives are densities at the ends as shares of the integral, means of differences from the ends and central moments. All
// of these are integrals of one sign of their own (families/tails/arc_integral.hpp); differences of moments would cancel in the
// tails.
#pragma once

#include <agrad/families/tails/arc_integral.hpp>
#include <agrad/rules/bessel/bessel_moments.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad::detail {

/// Derivatives with respect to kappa are computed up to this order; those beyond are nan.
inline constexpr int highest_arc_order = 6;

/// The same angle between -pi and pi.
struct reduced_angle_rule : rule<1> {
  static constexpr std::string_view name = "reduced_angle";
  static double value(double x) { return std::abs(x) <= pi ? x : std::atan2(std::sin(x), std::cos(x)); }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&) {
    return 1.0;
  }
};

/// Locations up to this size have at most 5/6 of the circle's integral before the mode, so that the rest has its digits.
inline constexpr double widest_side = 2;

/// Returns an end of the arc as an angle from mu on.
template <bool is_end, class T>
T arc_end(const T& y, const T& mu) {
  if constexpr (is_end)
    return y - mu;
  else
    return -pi - mu;
}
/// Returns v at an end.
template <bool is_end, class T>
T arc_height(const T& y, const T& mu) {
  const T s = sin(0.5 * arc_end<is_end>(y, mu));
  return 2.0 * (s * s);
}
/// Returns the rise of v from the start to the end of the arc.
template <class T>
T arc_ascent(const T& y, const T& mu) {
  return 2.0 * (sin(0.5 * (y - pi) - mu) * sin(0.5 * (y + pi)));
}

/// The integral of v^K exp(-kappa v).
template <int K>
struct arc_integral_rule : rule<3> {
  static constexpr auto letters = with_digits<K>("arc_integral");
  static constexpr std::string_view name = letters.data();
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    return of.integrals(power<K>)[0] * std::exp(-kappa * arc_rise(0.0, of.peak));
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>&, double y, double mu, double kappa) {
    slopes = {derivative(wrt<0>{}, y, mu, kappa, 0.0), derivative(wrt<1>{}, y, mu, kappa, 0.0), quiet_nan};
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    const double at_peak = std::exp(-kappa * arc_rise(0.0, of.peak));
    const std::array<double, 2> both = of.integrals(power<K>, power<K + 1>);
    if (K < highest_arc_order) slopes[2] = -both[1] * at_peak;
    return both[0] * at_peak;
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T&) {
    const T v = arc_height<true>(y, mu);
    T weighted = exp(-kappa * v);
    for (int k = 0; k < K; ++k) weighted = weighted * v;
    return weighted;
  }
  /// Returns the difference of v^K exp(-kappa v) between both ends. Where their densities are close, it consists of the
  /// differences of the powers and of the densities.
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T&) {
    const T rise = arc_ascent(y, mu), begin = arc_height<false>(y, mu), end = arc_height<true>(y, mu);
    const T at_begin = exp(-kappa * begin), at_end = exp(-kappa * end);
    T powers(0.0), power_of_begin(1.0), power_of_end(1.0);  // powers: end^K - begin^K over end - begin
    for (int k = 0; k < K; ++k) {
      powers = powers * end + power_of_begin;
      power_of_begin = power_of_begin * begin, power_of_end = power_of_end * end;
    }
    const auto of_close = [&] { return T(-at_begin * (rise * powers + power_of_end * expm1(-kappa * rise))); };
    if constexpr (K == 0)
      return either<T>(rise >= 0, of_close, [&] { return T(at_end * expm1(kappa * rise)); });
    else
      return either<T>(abs(kappa * rise) < 0.5, of_close, [&] { return T(power_of_begin * at_begin - power_of_end * at_end); });
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    if constexpr (K < highest_arc_order)
      return -apply<arc_integral_rule<K + 1>>(y, mu, kappa);
    else
      return T(quiet_nan);
  }

 private:
  template <int N>
  static octet power(const octet& u, const octet&, const octet&) {
    return integer_power(arc_rise(0.0, u), N);
  }
};

/// Whether the arc from -pi to y is integrated: 1, or 0 where the arc from y to pi is smaller or as good.
struct arc_side_rule : rule<3> {
  static constexpr std::string_view name = "arc_side";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return 0;
    if (std::abs(mu) < widest_side) return y < mu ? 1 : 0;
    const arc of(y, mu, kappa);
    return of.log_of(of.integral()) < std::log(pi * bessel_i_moment(0, kappa)) ? 1 : 0;
  }
  template <int I, class T>
  static double derivative(wrt<I>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
};

/// exp(-kappa v) at an end as a share of the integral.
template <bool is_end>
struct arc_share_rule;
/// The share at the start minus the share at the end: the relative growth of the integral with mu.
struct arc_turn_rule;
/// kappa times the difference: sin u at an end minus the mean of sin u.
template <bool is_end>
struct arc_sine_rule;
/// The mean of v minus v at an end.
template <bool is_end>
struct arc_excess_rule;
/// The mean of v for K = 1, its central moment of order K above.
template <int K>
struct arc_moment_rule;

/// The logarithm of the integral of exp(-kappa v).
struct log_arc_rule : rule<3> {
  static constexpr std::string_view name = "log_arc";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    return of.log_of(of.integral());
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>&, double y, double mu, double kappa);
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T&) {
    return apply<arc_share_rule<true>>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T&) {
    return apply<arc_turn_rule>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    return -apply<arc_moment_rule<1>>(y, mu, kappa);
  }
};

template <bool is_end>
struct arc_share_rule : rule<3> {
  static constexpr std::string_view name = is_end ? "arc_share_end" : "arc_share_begin";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    return of.share_at(is_end ? of.end : of.begin, of.integral());
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T& value) {
    if constexpr (is_end)
      return -value * (apply<arc_sine_rule<true>>(y, mu, kappa) + apply<arc_share_rule<false>>(y, mu, kappa));
    else
      return -value * apply<arc_share_rule<true>>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T& value) {
    return value * apply<arc_sine_rule<is_end>>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T& value) {
    return value * apply<arc_excess_rule<is_end>>(y, mu, kappa);
  }
};

/// What the end adds to the mean of a function as y grows, with a change of sign, and what both ends add as mu grows.
template <template <bool> class Difference, bool is_end, class T>
T arc_flow(const T& y, const T& mu, const T& kappa) {
  return apply<arc_share_rule<is_end>>(y, mu, kappa) * apply<Difference<is_end>>(y, mu, kappa);
}
template <template <bool> class Difference, class T>
T arc_flow(const T& y, const T& mu, const T& kappa) {
  return arc_flow<Difference, true>(y, mu, kappa) - arc_flow<Difference, false>(y, mu, kappa);
}

struct arc_turn_rule : rule<3> {
  static constexpr std::string_view name = "arc_turn";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    return of_integral(of, y, mu, of.integral());
  }
  /// Returns the value from the integral.
  static double of_integral(const arc& of, double y, double mu, double integral) {
    const double rise = of.kappa * arc_ascent(y, mu);
    return rise >= 0 ? -of.share_at(of.begin, integral) * std::expm1(-rise) : of.share_at(of.end, integral) * std::expm1(rise);
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T&) {
    return arc_flow<arc_sine_rule, true>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T&) {
    return -arc_flow<arc_sine_rule>(y, mu, kappa);
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    return -arc_flow<arc_excess_rule>(y, mu, kappa);
  }
};

inline double log_arc_rule::value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>&, double y, double mu,
                                             double kappa) {
  slopes = {quiet_nan, quiet_nan, quiet_nan};
  if (!is_arc(y, kappa)) return quiet_nan;
  const arc of(y, mu, kappa);
  double integral;
  const double mean = of.mean([&](const auto&... at) { return of.above_peak(at...); }, integral);
  slopes = {of.share_at(of.end, integral), arc_turn_rule::of_integral(of, y, mu, integral), -(arc_rise(0.0, of.peak) + mean)};
  return of.log_of(integral);
}

template <bool is_end>
struct arc_sine_rule : rule<3> {
  static constexpr std::string_view name = is_end ? "arc_sine_end" : "arc_sine_begin";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    const double quarter_on = (is_end ? of.end : of.begin) + 0.5 * pi;
    return kappa * of.mean([&](const octet&, const octet& from_begin, const octet& from_end) {
      return -arc_rise(quarter_on, is_end ? from_end : from_begin);  // sin u at the end less sin u elsewhere
    });
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T&) {
    const T flow = -arc_flow<arc_sine_rule, true>(y, mu, kappa);
    if constexpr (is_end)
      return flow + kappa * cos(y - mu);
    else
      return flow;
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T&) {
    return arc_flow<arc_sine_rule>(y, mu, kappa) - kappa * cos(arc_end<is_end>(y, mu));
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    return arc_flow<arc_excess_rule>(y, mu, kappa) + sin(arc_end<is_end>(y, mu));
  }
};

template <bool is_end>
struct arc_excess_rule : rule<3> {
  static constexpr std::string_view name = is_end ? "arc_excess_end" : "arc_excess_begin";
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    return of.mean([&](const octet&, const octet& from_begin, const octet& from_end) {
      return is_end ? arc_rise(of.end, from_end) : arc_rise(of.begin, from_begin);
    });
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T&) {
    const T flow = -arc_flow<arc_excess_rule, true>(y, mu, kappa);
    if constexpr (is_end)
      return flow - sin(y - mu);
    else
      return flow;
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T&) {
    return arc_flow<arc_excess_rule>(y, mu, kappa) + sin(arc_end<is_end>(y, mu));
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    return -apply<arc_moment_rule<2>>(y, mu, kappa);
  }
};

template <int K>
struct arc_moment_rule : rule<3> {
  static constexpr auto letters = with_digits<K>("arc_moment");
  static constexpr std::string_view name = letters.data();
  static double value(double y, double mu, double kappa) {
    if (!is_arc(y, kappa)) return quiet_nan;
    const arc of(y, mu, kappa);
    const auto above_peak = [&](const auto&... at) { return of.above_peak(at...); };
    const double mean = of.mean(above_peak);
    if (K == 1) return arc_rise(0.0, of.peak) + mean;
    return of.mean([&](const auto&... at) { return integer_power(of.above_peak(at...) - mean, K); });
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& mu, const T& kappa, const T& value) {
    const T at_end = apply<arc_share_rule<true>>(y, mu, kappa) * above_mean<true>(y, mu, kappa, value);
    return without_flow(y, mu, kappa, at_end, T(-arc_flow<arc_excess_rule, true>(y, mu, kappa)));
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& mu, const T& kappa, const T& value) {
    const T at_ends = apply<arc_share_rule<false>>(y, mu, kappa) * above_mean<false>(y, mu, kappa, value) -
                      apply<arc_share_rule<true>>(y, mu, kappa) * above_mean<true>(y, mu, kappa, value);
    return without_flow(y, mu, kappa, at_ends, arc_flow<arc_excess_rule>(y, mu, kappa));
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& mu, const T& kappa, const T&) {
    if constexpr (K >= highest_arc_order)
      return T(quiet_nan);
    else if constexpr (K <= 2)
      return -apply<arc_moment_rule<K + 1>>(y, mu, kappa);
    else
      return K * (apply<arc_moment_rule<2>>(y, mu, kappa) * apply<arc_moment_rule<K - 1>>(y, mu, kappa)) -
             apply<arc_moment_rule<K + 1>>(y, mu, kappa);
  }

 private:
  /// Returns the power of v less its mean at an end, above the moment.
  template <bool is_end, class T>
  static T above_mean(const T& y, const T& mu, const T& kappa, const T& moment) {
    const T distance = -apply<arc_excess_rule<is_end>>(y, mu, kappa);
    if constexpr (K == 1) return distance;
    T power = distance;
    for (int k = 1; k < K; ++k) power = power * distance;
    return power - moment;
  }
  /// Returns the derivative of a central moment: the derivative from the ends minus the part due to the mean's derivative
  /// `flow`.
  template <class T>
  static T without_flow(const T& y, const T& mu, const T& kappa, const T& at_ends, const T& flow) {
    if constexpr (K > 2)
      return at_ends - K * (apply<arc_moment_rule<K - 1>>(y, mu, kappa) * flow);
    else
      return at_ends;
  }
};

}  // namespace agrad::detail
