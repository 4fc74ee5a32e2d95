// Factorial powers, binomial coefficients, and their logarithms, for real arguments.
//
// The logarithms are differences of logarithms of gamma functions, computed as differences (rules/gamma_rest.hpp), as are their
// derivatives.
#pragma once

#include <agrad/rules/gamma_rest.hpp>

namespace agrad {

namespace detail {

inline double lchoose(double x, double y) {
  const double rest = x - y;
  if (!(y > -1 && rest > -1) || x == infinity) return quiet_nan;
  if (y >= 0 && rest >= 0) return -log_rising_ratio(1, y, rest);
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

}  // namespace detail

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
applied<log_rising_factorial_rule, X, Y> log_rising_factorial(const X& x, const Y& y) {
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
  static double value(double x, double y) { return detail::log_rising_factorial(x - y + 1, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return -apply<detail::polygamma_difference_rule>(0.0, x - y + 1.0, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return digamma(x - y + 1.0);
  }
};
template <class X, class Y>
applied<log_falling_factorial_rule, X, Y> log_falling_factorial(const X& x, const Y& y) {
  return apply<log_falling_factorial_rule>(x, y);
}

struct lchoose_rule : rule<2> {
  static constexpr std::string_view name = "lchoose",
                                    text = "Logarithm of the binomial coefficient of x over y, for -1 < y < x + 1.",
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
applied<lchoose_rule, X, Y> lchoose(const X& x, const Y& y) {
  return apply<lchoose_rule>(x, y);
}

struct choose_rule : rule<2> {
  static constexpr std::string_view name = "choose", text = "Binomial coefficient of x over y, for -1 < y < x + 1.",
                                    reference = "binomial(x, y) if -1 < y < x + 1 else nan", ufunc = "binom";
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
applied<choose_rule, X, Y> choose(const X& x, const Y& y) {
  return apply<choose_rule>(x, y);
}

namespace rules {
using factorial = typelist<log_rising_factorial_rule, log_falling_factorial_rule, lchoose_rule, choose_rule>;
}

}  // namespace agrad
