// Differences of logarithms of gamma functions, without their large parts or as a whole, for log masses of counts.
//
// With B(x) = lgamma(x) - x log(x) + x and b = B', a log mass is a deviance, which has the large parts, and differences of B.
// Both differences and derivatives are sums of differences of the series' terms, so that no digits are lost if a step is far
// smaller or far larger than x. The functions of doubles come first, then the rules, all of which are internal.
// Read next: families/tails/count_deviance.hpp, the large parts.
#pragma once

#include <agrad/rules/gamma/beta.hpp>

namespace agrad {

namespace detail {

/// Returns log(1 + y / x) for y >= 0, also if the quotient overflows.
inline double log1p_quotient(double y, double x) {
  const double ratio = y / x;
  return ratio < infinity ? std::log1p(ratio) : std::log(y) - std::log(x);
}

/// Returns b's derivative of order n at x, minus that at x + y, for positive x and y; b(x) = digamma(x) - log(x). y may be
/// infinite.
inline double binet_difference(double order, double x, double y) {
  if (!(order >= 0 && order < highest_polygamma && x >= 0 && y >= 0)) return quiet_nan;
  const int n = static_cast<int>(order);
  if (x == infinity) return 0;
  const double factorial = std::tgamma(n + 1.0);
  const auto difference = [&](int k) { return -std::expm1(-k * log1p_quotient(y, x)) / std::pow(x, k); };
  if (x < 10 + n) {
    if (n == 0 && y == infinity) return digamma(x) - std::log(x);
    const double leading = n == 0 ? -log1p_quotient(y, x) : (n % 2 == 0 ? -factorial : factorial) / n * difference(n);
    return polygamma_difference(order, x, y) - leading;
  }
  double sum = 0.5 * factorial * difference(n + 1), weight = factorial * (n + 1);
  for (int k = 1; k <= bernoulli_count; ++k) {
    sum += bernoulli[k - 1] * weight / 2 * difference(2 * k + n);
    weight *= (2.0 * k + n) * (2.0 * k + n + 1) / ((2.0 * k + 1) * (2.0 * k + 2));
  }
  return n % 2 == 0 ? -sum : sum;
}

/// Returns B(x) - B(x + 1) = (x + 1) log(1 + 1 / x) - 1.
inline double binet_step(double x) {
  const double u = 1 / x;
  if (!(u < infinity)) return -std::log(x) - 1;
  return u > 1 ? (1 + x) * std::log1p(u) - 1 : u - (1 + u) * (log1p_rest(u) / u);
}

/// Returns stirling_rest(x + y) - stirling_rest(x) for x >= 10, also for a small y.
inline double stirling_rest_step(double x, double y) {
  if (y > 0.01 * x) return stirling_rest(x + y) - stirling_rest(x);
  const double step = -std::log1p(y / x);
  double sum = 0;
  for (int k = bernoulli_count; k > 0; --k)
    sum += stirling_coefficient(k) * std::expm1((2 * k - 1) * step) / std::pow(x, 2 * k - 1);
  return sum;
}

/// Returns B(x + y) - B(x).
inline double rising_rest(double x, double y) {
  if (!(x >= 0 && y >= 0)) return quiet_nan;
  if (y == 0 || x == infinity) return 0;
  double sum = 0;
  for (; x < 10; x += 1) sum += binet_step(x + y) - binet_step(x);
  return sum - 0.5 * std::log1p(y / x) + stirling_rest_step(x, y);
}

/// Returns log(gamma(1 + x)) - x log(x) + x, which is 0 at 0.
inline double factorial_rest(double x) {
  if (!(x > 0)) return x == 0 ? 0 : quiet_nan;
  if (x >= 10) return 0.5 * std::log(two_pi * x) + stirling_rest(x);
  return (x < 0.5 ? lgamma1p(x) : lgamma_rule::value(1 + x)) - x * std::log(x) + x;
}

/// Returns log(gamma(x + y)) - log(gamma(x)).
inline double log_rising_factorial(double x, double y) {
  if (!(x >= 0 && y >= 0)) return quiet_nan;
  if (y == 0) return 0;
#ifdef __GLIBC__
  // long double keeps the digits of the difference; without it the sum below has fewer near the root
  if (y > 0.1 && x + y < 100) {
    int sign;
    const long double wide = x;
    return static_cast<double>(lgammal_r(wide + y, &sign) - lgammal_r(wide, &sign));
  }
#endif
  double sum = 0;
  for (; x < 10; x += 1) sum -= log1p_quotient(y, x);
  return sum + y * std::log(x) + ((x + y) * std::log1p(y / x) - y) + rising_rest(x, y);
}

/// Returns, with f(z) = z^-k, f(x) - f(x + y) - f(x + z) + f(x + y + z), a sum of positive terms.
inline double second_difference(double x, double y, double z, int k) {
  const double mixed = std::log1p((y / x) * (z / (x + y + z)));
  const double below = -k * std::log1p(y / x);
  const double first = k * mixed < 600 ? std::exp(below) * std::expm1(k * mixed) : std::exp(below + k * mixed);
  const double parts = first + std::expm1(-k * std::log1p(z / x)) * std::expm1(-k * std::log1p(y / (x + z)));
  return parts / std::pow(x, k);
}

/// Returns, with f = polygamma(n, .), f(x + z) - f(x) - f(x + y + z) + f(x + y).
inline double polygamma_second_difference(int n, double x, double y, double z) {
  if (!(x >= 0 && y >= 0 && z >= 0)) return quiet_nan;
  if (y == 0 || z == 0) return 0;
  if (x == 0) return n % 2 == 0 ? infinity : -infinity;
  const double factorial = std::tgamma(n + 1.0);
  double sum = 0;
  for (; x < 10 + n; x += 1) sum += factorial * second_difference(x, y, z, n + 1);
  sum += n == 0 ? std::log1p((y / x) * (z / (x + y + z))) : factorial / n * second_difference(x, y, z, n);
  sum += 0.5 * factorial * second_difference(x, y, z, n + 1);
  double weight = factorial * (n + 1);
  for (int k = 1; k <= bernoulli_count; ++k) {
    sum += bernoulli[k - 1] * weight / 2 * second_difference(x, y, z, 2 * k + n);
    weight *= (2.0 * k + n) * (2.0 * k + n + 1) / ((2.0 * k + 1) * (2.0 * k + 2));
  }
  return n % 2 == 0 ? sum : -sum;
}

/// Returns, with f = log(gamma(.)), f(x + z) - f(x) - f(x + y + z) + f(x + y), which is not positive and symmetric in y and z.
inline double log_rising_ratio(double x, double y, double z) {
  if (!(x >= 0 && y >= 0 && z >= 0)) return quiet_nan;
  if (y > z) std::swap(y, z);
  if (y == 0) return 0;
  double sum = 0;
  for (; x < 10; x += 1) sum += log1p_quotient(y * (z / (x + y + z)), x);
  sum += 0.5 * std::log1p((y / x) * (z / (x + y + z))) + y * std::log1p(z / (x + y));
  if (y < x)
    sum += x * log1p_rest(y / x) - (x + z) * log1p_rest(y / (x + z));
  else
    sum += (x + z) * std::log1p(y / (x + z)) - x * std::log1p(y / x);
  for (int k = bernoulli_count; k > 0; --k)
    sum += bernoulli[k - 1] / (2.0 * k * (2.0 * k - 1)) * second_difference(x, y, z, 2 * k - 1);
  return -sum;
}

struct binet_difference_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "binet_difference";
  static double value(double order, double x, double y) { return binet_difference(order, x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T& y, const T&) {
    return apply<binet_difference_rule>(order + 1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& x, const T& y, const T&) {
    return -apply<binet_difference_rule>(order + 1.0, x + y, infinity);
  }
};

struct rising_rest_rule : rule<2> {
  static constexpr std::string_view name = "rising_rest";
  static double value(double x, double y) { return rising_rest(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return -apply<binet_difference_rule>(0.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<binet_difference_rule>(0.0, x + y, infinity);
  }
};

struct factorial_rest_rule : rule<1> {
  static constexpr std::string_view name = "factorial_rest";
  static double value(double x) { return factorial_rest(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return either<T>(
        x < 1, [&] { return T(digamma(1.0 + x) - log(x)); },
        [&] { return T(1.0 / x + apply<binet_difference_rule>(0.0, x, infinity)); });
  }
};

/// The second derivative of log_rising_ratio with respect to x.
struct rising_ratio_curvature_rule : rule<3> {
  static constexpr std::string_view name = "rising_ratio_curvature";
  static double value(double x, double y, double z) { return polygamma_second_difference(1, x, y, z); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(2.0, x + y, z) - apply<polygamma_difference_rule>(2.0, x, z);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(2.0, x + y, z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(2.0, x + z, y);
  }
};

/// The derivative of log_rising_ratio with respect to x.
struct rising_ratio_slope_rule : rule<3> {
  static constexpr std::string_view name = "rising_ratio_slope";
  static double value(double x, double y, double z) { return polygamma_second_difference(0, x, y, z); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return apply<rising_ratio_curvature_rule>(x, y, z);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(1.0, x + y, z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(1.0, x + z, y);
  }
};

struct log_rising_ratio_rule : rule<3> {
  static constexpr std::string_view name = "log_rising_ratio";
  static double value(double x, double y, double z) { return log_rising_ratio(x, y, z); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return apply<rising_ratio_slope_rule>(x, y, z);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(0.0, x + y, z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return apply<polygamma_difference_rule>(0.0, x + z, y);
  }
};

}  // namespace detail

}  // namespace agrad
