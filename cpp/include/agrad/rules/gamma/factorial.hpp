// Binomial coefficients and the logarithms of factorial powers, for real arguments; factorial powers of a whole number of
// factors.
//
// The logarithms are differences of logarithms of gamma functions, computed as differences (rules/gamma/gamma_rest.hpp), as are
// their derivatives. A factorial power is a polynomial in x, and so are its derivatives.
#pragma once

#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad {

namespace detail {

/// Returns log(gamma(1 + y + z) / (gamma(1 + y) gamma(1 + z))) for abs(y) + abs(z) < 1/2, a multiple of y z: the series of
/// lgamma1p with (y + z)^k - y^k - z^k = y z q in place of powers.
inline double lchoose_near_zero(double y, double z) {
  double q = 0, sum = 0, y_power = 1, z_power = 1;
  for (const double& c : lgamma1p_series) {
    if (&c != lgamma1p_series) {
      q = &c == lgamma1p_series + 1 ? 2 : (y + z) * q + y_power + z_power;
      sum += c * q;
      y_power *= y;
      z_power *= z;
    }
  }
  return std::log1p(y * z / (1 + y + z)) + y * z * sum;
}

inline double lchoose(double x, double y) {
  const double rest = x - y, smaller = std::fmin(y, rest);
  if (!(y > -1 && rest > -1) || x == infinity) return quiet_nan;
  if (y >= 0 && rest >= 0) return -log_rising_ratio(1, y, rest);
  if (std::abs(y) + std::abs(rest) < 0.5) return lchoose_near_zero(y, rest);
  if (smaller > -0.5) return -log_rising_factorial(1 + x, -smaller) - lgamma1p(smaller);
  return -std::log1p(x) - betaln(1 + y, 1 + rest);
}

inline double choose(double x, double y) {
  const double rest = x - y, smaller = rest < y && std::floor(rest) == rest ? rest : y;
  if (!(y > -1 && rest > -1) || x == infinity) return quiet_nan;
  if (std::floor(smaller) != smaller || smaller > 1100) return std::exp(lchoose(x, y));
  double product = 1;
  for (int k = 1; k <= smaller && product < infinity; ++k) product = product * (x - smaller + k) / k;
  if (product < infinity) return std::floor(x) == x && product < 9e15 ? std::rint(product) : product;
  return std::exp(lchoose(x, y));
}

/// The largest number of factors of a factorial power: products and their derivatives are then within long double's range, or
/// all of their terms have one sign.
inline constexpr double most_factors = 1000;

/// Returns the derivative of order `order` of x (x + step) ... (x + (n - 1) step), from the product's Taylor series in x. The
/// wide exponents of long double let a factor near 0 come after many large ones.
inline double factorial_power(int order, double x, double n, int step) {
  constexpr int highest = 4;
  if (!(n >= 0 && n <= most_factors && n == std::floor(n)) || order > highest || std::isnan(x)) return quiet_nan;
  long double series[highest + 1] = {1}, at = x;
  for (int k = 0; k < n; ++k, at += step) {
    for (int i = order; i > 0; --i) series[i] = series[i] * at + series[i - 1];
    series[0] *= at;
  }
  for (int i = 2; i <= order; ++i) series[order] *= i;
  return static_cast<double>(series[order]);
}

/// A derivative of a rising or falling factorial with respect to x; beyond the highest order derivatives are nan.
template <int step>
struct factorial_power_rule : rule<3>, data_arguments<0, 2> {
  static constexpr std::string_view name = step > 0 ? "rising_power" : "falling_power";
  static double value(double order, double x, double n) { return factorial_power(static_cast<int>(order), x, n, step); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T& n, const T&) {
    return apply<factorial_power_rule>(order + 1.0, x, n);
  }
};

/// What rising and falling factorials have in common.
template <int step>
struct factorial_power_base : rule<2>, data_arguments<1> {
  static constexpr interval domain[] = {{}, {0, most_factors, true}};
  static double value(double x, double n) { return factorial_power(0, x, n, step); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& n, const T&) {
    return apply<factorial_power_rule<step>>(1.0, x, n);
  }
  using data_arguments::derivative;
};

}  // namespace detail

struct rising_factorial_rule : detail::factorial_power_base<1> {
  static constexpr std::string_view name = "rising_factorial",
                                    text = "Rising factorial x (x + 1) ... (x + y - 1) of a whole number y of factors.",
                                    reference = "fprod(x + k for k in range(int(y))) if isfinite(y) else nan", ufunc = no_ufunc;
};
/// The number of factors is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<rising_factorial_rule, X, double> rising_factorial(const X& x, int n) {
  return apply<rising_factorial_rule>(x, static_cast<double>(n));
}

struct falling_factorial_rule : detail::factorial_power_base<-1> {
  static constexpr std::string_view name = "falling_factorial",
                                    text = "Falling factorial x (x - 1) ... (x - y + 1) of a whole number y of factors.",
                                    reference = "fprod(x - k for k in range(int(y))) if isfinite(y) else nan", ufunc = no_ufunc;
};
/// The number of factors is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<falling_factorial_rule, X, double> falling_factorial(const X& x, int n) {
  return apply<falling_factorial_rule>(x, static_cast<double>(n));
}

struct log_rising_factorial_rule : rule<2> {
  static constexpr std::string_view name = "log_rising_factorial",
                                    text = "Logarithm of the rising factorial x (x + 1) ... (x + y - 1) of y factors.",
                                    reference = "loggamma(x + y) - loggamma(x) if y != 0 else 0", ufunc = no_ufunc,
                                    source = "Stirling's series of differences, DLMF 5.11.1";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::log_rising_factorial(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return -apply<detail::polygamma_difference_rule>(0.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return digamma(x + y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_rising_factorial_rule, X, Y> log_rising_factorial(const X& x, const Y& y) {
  return apply<log_rising_factorial_rule>(x, y);
}

struct log_falling_factorial_rule : rule<2> {
  static constexpr std::string_view name = "log_falling_factorial",
                                    text =
                                        "Logarithm of the falling factorial x (x - 1) ... (x - y + 1) of y <= x + 1 factors.",
                                    reference =
                                        "loggamma(x + 1) - loggamma(x - y + 1) if y < x + 1 else -inf if y == x + 1 else nan",
                                    ufunc = no_ufunc, source = "log_rising_factorial from x - y + 1";
  static constexpr interval domain[] = {{-1, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::log_rising_factorial(x < 1 ? (x + 1) - y : (x - y) + 1, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return -apply<detail::polygamma_difference_rule>(0.0, lowest(x, y), y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return digamma(lowest(x, y));
  }

 private:
  /// Returns the last factor, from the difference that loses no digits.
  template <class T>
  static T lowest(const T& x, const T& y) {
    return either<T>(
        x < 1, [&] { return T(x + 1.0 - y); }, [&] { return T(x - y + 1.0); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_falling_factorial_rule, X, Y> log_falling_factorial(const X& x, const Y& y) {
  return apply<log_falling_factorial_rule>(x, y);
}

struct lchoose_rule : rule<2> {
  static constexpr std::string_view name = "lchoose",
                                    text = "Logarithm of the binomial coefficient of x over y, for x > -1 and -1 < y < x + 1.",
                                    reference =
                                        "loggamma(x + 1) - loggamma(y + 1) - loggamma(x - y + 1) if -1 < y < x + 1 else nan",
                                    ufunc = no_ufunc, source = "Stirling's series of differences, DLMF 5.11.1";
  static double value(double x, double y) { return detail::lchoose(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return either<T>(
        y >= 0, [&] { return T(-apply<detail::polygamma_difference_rule>(0.0, x - y + 1.0, y)); },
        [&] { return T(apply<detail::polygamma_difference_rule>(0.0, x + 1.0, -y)); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x >= 2.0 * y, [&] { return T(-apply<detail::polygamma_difference_rule>(0.0, y + 1.0, x - 2.0 * y)); },
        [&] { return T(apply<detail::polygamma_difference_rule>(0.0, x - y + 1.0, 2.0 * y - x)); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<lchoose_rule, X, Y> lchoose(const X& x, const Y& y) {
  return apply<lchoose_rule>(x, y);
}

struct choose_rule : rule<2> {
  static constexpr std::string_view name = "choose", text = "Binomial coefficient of x over y, for x > -1 and -1 < y < x + 1.",
                                    reference = "binomial(x, y) if -1 < y < x + 1 and x > -1 else nan", ufunc = no_ufunc;
  static double value(double x, double y) { return detail::choose(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return value * lchoose_rule::derivative(wrt<0>(), x, y, value);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return value * lchoose_rule::derivative(wrt<1>(), x, y, value);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<choose_rule, X, Y> choose(const X& x, const Y& y) {
  return apply<choose_rule>(x, y);
}

namespace rules {
using factorial = typelist<rising_factorial_rule, falling_factorial_rule, log_rising_factorial_rule, log_falling_factorial_rule,
                           lchoose_rule, choose_rule>;
}

}  // namespace agrad
