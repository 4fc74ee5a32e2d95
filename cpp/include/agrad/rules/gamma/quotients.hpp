// Quotients whose numerator and denominator vanish at the same point: exprel, boxcox, sinc.
//
// The plain formulas of the derivatives would cancel there. The derivatives of exprel are integrals of t^n exp(x t) over
// [0, 1], those of sinc have a Taylor series; each is a rule with an order, and a derivative raises the order by one.
#pragma once

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

namespace detail {

/// Returns the integral of t^n exp(x t) over [0, 1]: a series of positive terms (Kummer's for x < 0), or the recurrence in n
/// upwards for large x.
inline double exprel_moment(double order, double x) {
  const int n = static_cast<int>(order);
  if (std::abs(x) > 20 + n) {
    const double e = std::exp(x);
    if (e == infinity) return e;
    double moment = std::expm1(x) / x;
    for (int k = 1; k <= n; ++k) moment = (e - k * moment) / x;
    return moment;
  }
  double sum = 1.0 / (n + 1), term = 1;
  if (x < 0) {
    term = sum;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= -x / (n + 1 + k);
    return std::exp(x) * sum;
  }
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= x / k;
    sum += term / (n + 1 + k);
  }
  return x == x ? sum : x;
}

struct exprel_moment_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "exprel_moment";
  static double value(double order, double x) { return exprel_moment(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return apply<exprel_moment_rule>(order + 1.0, x);
  }
};

/// Returns derivative n of sin(pi x); the argument is reduced exactly.
inline double sin_pi_derivative(int n, double x) {
  const double r = std::remainder(x, 2.0);  // in [-1, 1]
  if (std::isnan(r)) return r;
  const int quarters = static_cast<int>(std::rint(2 * r)), turn = (quarters + n + 4) % 4;
  const double rest = pi * (r - 0.5 * quarters);
  const double size = turn % 2 == 0 ? std::sin(rest) : std::cos(rest);
  return std::pow(pi, n) * (turn < 2 ? size : -size);
}

/// Returns derivative n of sin(pi x) / (pi x): by the recurrence in n upwards, or by Taylor's series near 0.
inline double sinc_derivative(double order, double x) {
  const int n = static_cast<int>(order);
  if (!(std::abs(x) < infinity)) return std::isnan(x) ? x : 0;
  if (std::abs(x) > 0.5 + 0.4 * n) {
    double here = sin_pi_derivative(0, x) / (pi * x);
    for (int k = 1; k <= n; ++k) here = (sin_pi_derivative(k, x) / pi - k * here) / x;
    return here;
  }
  // Powers x^(2 k) have the coefficients (-1)^k pi^(2 k) / (2 k + 1)!.
  double coefficient = 1, sum = 0;
  for (int k = 0; k < 20 + n; ++k) {
    const int power = 2 * k - n;
    if (power >= 0) {
      double falling = coefficient;
      for (int j = 0; j < n; ++j) falling *= 2 * k - j;
      sum += falling * std::pow(x, power);
    }
    coefficient *= -pi * pi / ((2 * k + 2) * (2 * k + 3));
  }
  return sum;
}

struct sinc_derivative_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "sinc_derivative";
  static double value(double order, double x) { return sinc_derivative(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return apply<sinc_derivative_rule>(order + 1.0, x);
  }
};

/// Returns exp(x) - 1 over x.
inline double exprel(double x) {
  if (x == 0) return 1;
  if (x > 700) return std::exp(0.5 * x) / x * std::exp(0.5 * x);
  return std::expm1(x) / x;
}

}  // namespace detail

struct exprel_rule : rule<1> {
  static constexpr std::string_view name = "exprel", text = "(exp(x) - 1) / x, and 1 where x is 0.",
                                    reference = "expm1(x) / x if x != 0 else 1";
  static constexpr bool is_regular = true;
  static double value(double x) { return x == infinity ? x : detail::exprel(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return apply<detail::exprel_moment_rule>(1.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<exprel_rule, X> exprel(const X& x) {
  return apply<exprel_rule>(x);
}

struct boxcox_rule : rule<2> {
  static constexpr std::string_view name = "boxcox", text = "Box-Cox transformation (x^y - 1) / y, and log(x) where y is 0.",
                                    reference = "expm1(y * log(x)) / y if y != 0 else log(x)";
  static constexpr interval domain[] = {{0, infinity}, {}};
  static double value(double x, double y) {
    const double log_x = std::log(x), z = y * log_x;
    if (std::abs(y) < 1e-19) return log_x;
    if (std::abs(z) < 1) return std::expm1(z) / y;
    if (z > 709) return std::copysign(std::exp(z - std::log(std::abs(y))), y);
    return std::isnan(z) ? z : (std::pow(x, y) - 1) / y;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return pow(x, y - 1.0);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    const T log_x = log(x), z = y * log_x;
    return either<T>(
        abs(z) < 1, [&] { return T(log_x * log_x * apply<detail::exprel_moment_rule>(1.0, z)); },
        [&] { return T(pow(x, y) * (log_x - 1.0 / y) / y + 1.0 / (y * y)); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<boxcox_rule, X, Y> boxcox(const X& x, const Y& y) {
  return apply<boxcox_rule>(x, y);
}

struct sinc_rule : rule<1> {
  static constexpr std::string_view name = "sinc", text = "sin(pi x) / (pi x), and 1 where x is 0.",
                                    reference = "sin(pi * x) / (pi * x) if x != 0 else 1";
  static constexpr bool is_regular = true;
  static double value(double x) {
    if (std::isinf(x)) return quiet_nan;
    return x == 0 ? 1 : detail::sin_pi_derivative(0, x) / (detail::pi * x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return apply<detail::sinc_derivative_rule>(1.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<sinc_rule, X> sinc(const X& x) {
  return apply<sinc_rule>(x);
}

namespace rules {
using quotients = typelist<exprel_rule, boxcox_rule, sinc_rule>;
}

}  // namespace agrad
