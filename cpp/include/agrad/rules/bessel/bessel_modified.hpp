// Modified Bessel functions: of the first kind of whole orders, of the second kind of real orders, with derivatives with
// respect to the order.
//
// The second kind is an integral of positive terms, and so are its derivatives, up to a sign; the trapezoidal rule is
// practically exact, because the integrand falls doubly exponentially. The first kind is its power series, and from |order|
// and |x| of 30 on its expansion in 1 / hypot(order, x), which holds for all orders alike.
#pragma once

#include <cmath>

#include <agrad/rules/passing.hpp>

namespace agrad {

namespace detail {

/// The number of terms of Debye's expansion, enough from hypot(order, x) = 30 on.
inline constexpr int debye_terms = 20;

/// at[k][j] is the coefficient of p^(k + 2 j) in U_k(p), by DLMF 10.41.9.
struct debye_table {
  double at[debye_terms + 1][debye_terms + 1] = {{1}};
  constexpr debye_table() {
    for (int k = 0; k < debye_terms; ++k) {
      for (int j = 0; j <= k; ++j) {
        const int m = k + 2 * j;
        at[k + 1][j] += at[k][j] * (0.5 * m + 0.125 / (m + 1));
        at[k + 1][j + 1] -= at[k][j] * (0.5 * m + 0.625 / (m + 3));
      }
    }
  }
};
inline constexpr debye_table debye;

/// Returns I_v(x) for v >= 0 and x >= 0. The exponents are long double, because their size multiplies their relative error.
inline double bessel_i(double v, double x) {
  if (x == 0 || x == infinity) return x == infinity ? x : v == 0 ? 1 : 0;
  const double r = std::hypot(v, x);
  if (r < 30) {
    const double square = 0.25 * x * x;
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-18 * sum; ++k) {
      term *= square / (k * (v + k));
      sum += term;
    }
    return std::pow(0.5 * x, v) / std::tgamma(v + 1) * sum;
  }
  const double p = v / r, square = p * p;
  double sum = 0;
  for (int k = debye_terms; k >= 0; --k) {
    double polynomial = 0;
    for (int j = k; j >= 0; --j) polynomial = polynomial * square + debye.at[k][j];
    sum = sum / r + polynomial;
  }
  const long double wide_v = v, wide_x = x, wide_r = std::hypot(wide_v, wide_x);
  const long double exponent = wide_r - (v == 0 ? 0 : wide_v * std::asinh(wide_v / wide_x));
  return static_cast<double>(std::exp(exponent) / std::sqrt(6.283185307179586476925286766559L * wide_r) * sum);
}

/// The largest order of the first kind, for which orders are exact whole numbers.
inline constexpr double highest_modified_order = 1e9;

/// Returns I_n(x) for whole n and any x.
inline double whole_bessel_i(double order, double x) {
  const double n = std::abs(order);
  if (!(n <= highest_modified_order && n == std::floor(n)) || std::isnan(x)) return quiet_nan;
  const double size = bessel_i(n, std::abs(x));
  return x < 0 && std::fmod(n, 2) != 0 ? -size : size;
}

/// The largest hypot(v, x) at which K_v(x), where it neither overflows nor underflows, has digits.
inline constexpr double highest_modified_radius = 1e12;

/// Returns sinh(u) - u.
inline double sinh_rest(double u) {
  if (std::abs(u) > 0.5) return std::sinh(u) - u;
  const double square = u * u;
  double sum = 0;
  for (int k = 6; k >= 1; --k) sum = (1 + sum) * square / (2 * k * (2 * k + 1));
  return sum * u;
}

/// Returns the integral over t > 0 of t^m cosh(t)^n f(v t) exp(-x cosh(t)), where f is cosh for even m and sinh for odd m, for
/// v >= 0 and x > 0. The terms are relative to the peak of exp(v t - x cosh(t)), at which sinh(t) = v / x.
inline double bessel_k_integral(int m, int n, double v, double x) {
  const long double wide_v = v, wide_x = x, wide_r = std::hypot(wide_v, wide_x);
  const long double wide_peak = std::asinh(wide_v / wide_x), wide_exponent = wide_v * wide_peak - wide_r;
  if (std::abs(wide_exponent) > 12000) return wide_exponent > 0 ? infinity : 0;  // whatever the terms are
  if (!(wide_r <= highest_modified_radius)) return quiet_nan;
  const double r = static_cast<double>(wide_r), peak = static_cast<double>(wide_peak);
  const double step = std::fmin(0.125, 0.45 / std::sqrt(r));
  const auto term_at = [&](double k) {
    const double t = k * step, u = t - peak, half = std::sinh(0.5 * u);
    // all are v t - x cosh(t) without its value at the peak, where the last would cancel close to it; cosh(t) may overflow
    // where x cosh(t) does not
    const double exponent = u > 600   ? r + v * u - 0.5 * std::exp(t - 600) * (x * 3.77302030092993e260)
                            : u > -1  ? -2 * r * half * half - v * sinh_rest(u)
                            : t > 600 ? r + v * u - r * std::exp(u)
                                      : r + v * u - x * std::cosh(t);
    double term = 0.5 * std::exp(exponent);
    term *= m % 2 == 0 ? 1 + std::exp(-2 * v * t) : -std::expm1(-2 * v * t);
    for (int i = 0; i < m; ++i) term *= t;
    if (n > 0 && term != 0) term *= std::pow(std::cosh(t), n);
    return k == 0 ? 0.5 * term : term;
  };
  const double first = std::floor(peak / step);
  double sum = 0;
  for (double k = first; k >= 0; k -= 1) {
    const double term = term_at(k);
    sum += term;
    if (k < first - 4 && term < 1e-18 * sum) break;
  }
  for (double k = first + 1;; k += 1) {
    const double term = term_at(k);
    sum += term;
    if (k > first + 4 && !(term > 1e-18 * sum)) break;
  }
  return static_cast<double>(std::exp(wide_exponent) * (sum * step));
}

/// Returns derivative (m, n) of K_v(x) with respect to v and x.
inline double bessel_k(int m, int n, double v, double x) {
  if (!(x >= 0) || std::isnan(v)) return quiet_nan;
  const double sign = (n % 2 != 0) != (m % 2 != 0 && v < 0) ? -1 : 1;
  if (m % 2 != 0 && v == 0) return 0;
  if (std::isinf(v)) return x < infinity ? sign * infinity : quiet_nan;
  if (x == 0 || x == infinity) return x == 0 ? sign * infinity : 0;
  return sign * bessel_k_integral(m, n, std::abs(v), x);
}

/// The highest order of derivatives of the second kind with respect to x; beyond it they are nan.
inline constexpr int highest_bessel_k_derivative = 3;

/// The derivative of K_v(x) of order n with respect to x and `order` with respect to v.
template <int n>
struct bessel_k_derivative_rule : rule<3>, data_arguments<0> {
  static constexpr auto letters = with_digits<n>("bessel_k_derivative");
  static constexpr std::string_view name = letters.data();
  static double value(double order, double v, double x) { return bessel_k(static_cast<int>(order), n, v, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& v, const T& x, const T&) {
    return apply<bessel_k_derivative_rule>(order + 1.0, v, x);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& v, const T& x, const T&) {
    if constexpr (n == highest_bessel_k_derivative)
      return T(quiet_nan);
    else
      return apply<bessel_k_derivative_rule<n + 1>>(order, v, x);
  }
};

}  // namespace detail

struct modified_bessel_first_kind_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "modified_bessel_first_kind",
                                    text = "Modified Bessel function of the first kind, of a whole order x, at y.",
                                    reference = "besseli(int(x), y) if fabs(y) < 1e5 else inf", ufunc = no_ufunc,
                                    source = "DLMF 10.25.2, 10.41.3 and 10.29.1";
  static constexpr interval domain[] = {{-infinity, infinity, true}, {}};
  static double value(double x, double y) { return detail::whole_bessel_i(x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return 0.5 * (apply<modified_bessel_first_kind_rule>(x - 1.0, y) + apply<modified_bessel_first_kind_rule>(x + 1.0, y));
  }
};
/// The order is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<modified_bessel_first_kind_rule, double, X> modified_bessel_first_kind(int order, const X& x) {
  return apply<modified_bessel_first_kind_rule>(static_cast<double>(order), x);
}

struct kv_rule : rule<2> {
  static constexpr std::string_view name = "kv", stan = "modified_bessel_second_kind",
                                    text = "Modified Bessel function of the second kind, of a real order x, at y.",
                                    reference = "bessel_k_of_order(x, y)", source = "DLMF 10.32.9 by the trapezoidal rule";
  static constexpr interval domain[] = {{}, {0, infinity}};
  static double value(double x, double y) { return detail::bessel_k(0, 0, x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return apply<detail::bessel_k_derivative_rule<0>>(1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<detail::bessel_k_derivative_rule<1>>(0.0, x, y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<kv_rule, X, Y> kv(const X& x, const Y& y) {
  return apply<kv_rule>(x, y);
}
/// Does the same as `kv`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<kv_rule, X, Y> modified_bessel_second_kind(const X& x, const Y& y) {
  return apply<kv_rule>(x, y);
}

namespace rules {
using bessel_modified = typelist<modified_bessel_first_kind_rule, kv_rule>;
}

}  // namespace agrad
