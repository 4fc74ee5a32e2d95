// Lambert's function: the two real inverses of w exp(w).
//
// Both branches begin at x = -1/e with w = -1 and an infinite slope. Near that point 1 + w is the root of a series in the
// distance e x + 1, which is computed with twice the digits, so that the slope 1 / (exp(w) (1 + w)) has all digits, too.
#pragma once

#include <agrad/rules/error/scaled_error.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

namespace detail {

/// -1/e, rounded; the branches are -1 there.
inline constexpr double lambert_end = -0.367879441171442334;

/// Returns 1 + (r - 1) exp(r), the sum of (k - 1) r^k / k!.
inline double lambert_distance(double r) {
  if (std::abs(r) > 0.5) return 1 + (r - 1) * std::exp(r);
  double term = r, sum = 0;
  for (int k = 2; k < 20; ++k) {
    term *= r / k;
    sum += (k - 1) * term;
  }
  return sum;
}

/// Returns 1 + w, where e x + 1 = distance is small: sign is that of 1 + w. By Newton's method, from the first terms of the
/// series of w in the square root (Corless et al. 1996, equation 4.22).
inline double lambert_near_end(double distance, double sign) {
  const double p = sign * std::sqrt(2 * distance);
  double r = p * (1 + p * (-1.0 / 3 + p * (11.0 / 72)));
  if (r == 0) return 0;
  for (int i = 0; i < 8; ++i) {
    const double change = (lambert_distance(r) - distance) / (r * std::exp(r));
    r -= change;
    if (std::abs(change) < 1e-9 * std::abs(r)) break;  // the next change would be below the rounding
  }
  return r;
}

/// Returns w where w + log(|w|) = log(|x|): far from the ends of the branches.
inline double lambert_by_logarithm(double log_size) {
  double w = log_size - std::log(std::abs(log_size));
  for (int i = 0; i < 12; ++i) {
    const double change = (w - (log_size - std::log(std::abs(w)))) / (1 + 1 / w);
    w -= change;
    if (std::abs(change) < 1e-9 * std::abs(w)) break;
  }
  return w;
}

/// Returns the branch above -1 for x around 0, by Halley's method.
inline double lambert_around_zero(double x) {
  double w = std::log1p(x);
  for (int i = 0; i < 8; ++i) {
    const double rest = w - x * std::exp(-w), change = rest / (1 + w - 0.5 * (w + 2) * rest / (1 + w));
    w -= change;
    if (!(std::abs(change) > 1e-6 * std::abs(w))) break;
  }
  return w;
}

/// Returns w, or 1 + w with all digits, of the branch above or below -1.
inline double lambert(double x, bool is_upper, bool from_end) {
  if (!(x >= lambert_end && (is_upper || x <= 0))) return quiet_nan;
  if (x == infinity || (x == 0 && !is_upper)) return is_upper ? infinity : -infinity;
  constexpr double e = 2.718281828459045091, e_rest = 1.445646891729250158e-16;
  const double distance = std::fma(e, x, 1) + e_rest * x;
  if (distance < 0.3) {
    const double r = distance > 0 ? lambert_near_end(distance, is_upper ? 1 : -1) : 0;
    return from_end ? r : r - 1;
  }
  const double w = is_upper && x < 3 ? lambert_around_zero(x) : lambert_by_logarithm(std::log(std::abs(x)));
  return from_end ? 1 + w : w;
}

template <class T, class Rest>
T lambert_slope(const T& x, const Rest& rest) {
  return either<T>(
      abs(rest) < 2.0, [&] { return T(exp(1.0 - rest) / rest); }, [&] { return T((rest - 1.0) / (x * rest)); });
}

/// 1 + w.
template <bool is_upper>
struct lambert_rest_rule : rule<1> {
  static constexpr std::string_view name = is_upper ? "lambert_w0_rest" : "lambert_wm1_rest";
  static double value(double x) { return lambert(x, is_upper, true); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return lambert_slope(x, value);
  }
};

inline constexpr std::string_view lambert_source = "Corless et al. (1996), Advances in Computational Mathematics 5:329";

}  // namespace detail

struct lambert_w0_rule : rule<1> {
  static constexpr std::string_view name = "lambert_w0",
                                    text = "Upper branch of Lambert's function: the w >= -1 with w exp(w) = x.",
                                    reference = "lambertw(x).real", source = detail::lambert_source;
  static constexpr interval domain[] = {{detail::lambert_end, infinity}};
  static double value(double x) { return detail::lambert(x, true, false); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::lambert_slope(x, apply<detail::lambert_rest_rule<true>>(x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<lambert_w0_rule, X> lambert_w0(const X& x) {
  return apply<lambert_w0_rule>(x);
}

struct lambert_wm1_rule : rule<1> {
  static constexpr std::string_view name = "lambert_wm1",
                                    text = "Lower branch of Lambert's function: the w <= -1 with w exp(w) = x.",
                                    reference = "lambertw(x, -1).real if x < 0 else -inf if x == 0 else nan",
                                    source = detail::lambert_source;
  static constexpr interval domain[] = {{detail::lambert_end, 0}};
  static double value(double x) { return detail::lambert(x, false, false); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::lambert_slope(x, apply<detail::lambert_rest_rule<false>>(x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<lambert_wm1_rule, X> lambert_wm1(const X& x) {
  return apply<lambert_wm1_rule>(x);
}

namespace rules {
using lambert = typelist<lambert_w0_rule, lambert_wm1_rule>;
}

}  // namespace agrad
