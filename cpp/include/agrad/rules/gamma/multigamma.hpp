// The logarithm of the multivariate gamma function: a sum of logarithms of gamma functions, half a unit apart; and what remains
// of it without its large part, for densities in which that cancels.
#pragma once

#include <agrad/rules/gamma/beta.hpp>
#include <agrad/rules/gamma/rests.hpp>

namespace agrad {

namespace detail {

/// The largest dimension, which bounds the number of terms.
inline constexpr double highest_dimension = 10000;

/// The derivative of the logarithm's sum over x - k / 2, k = 0 ... n - 1: polygamma functions of this order.
struct multi_polygamma_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "multi_polygamma";
  static double value(double order, double n, double x) {
    if (!(n >= 0 && n <= highest_dimension && x >= 0.5 * (n - 1))) return quiet_nan;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += polygamma(order, x - 0.5 * k);
    return sum;
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& n, const T& x, const T&) {
    return apply<multi_polygamma_rule>(order + 1.0, n, x);
  }
};

/// Returns the derivative of order `order` of the logarithm at x without n x log(x) - n x.
inline double multi_gamma_rest(double order, double n, double x) {
  if (!(n >= 0 && n <= highest_dimension && x > 0.5 * (n - 1) && order < highest_polygamma)) return quiet_nan;
  const int m = static_cast<int>(order);
  double sum = m == 0 ? 0.25 * log_pi * n * (n - 1) : 0;
  const double factorial = m < 3 ? 1 : std::tgamma(m - 1.0);  // (m - 2)!
  for (int k = 0; k < n; ++k) {
    const double half = 0.5 * k, below = x - half;
    sum += lgamma_rest(order, below);
    if (m == 0)
      sum += half + below * log_ratio(below, x) - half * std::log(x);
    else if (m == 1)
      sum += log_ratio(below, x);
    else if (k > 0)
      sum += (m % 2 == 0 ? factorial : -factorial) * inverse_powers(below, half)(m - 1);
  }
  return sum;
}

/// `multi_gamma_rest` of x, with derivatives by x; order and n are data.
struct multi_gamma_rest_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "multi_gamma_rest";
  static double value(double order, double n, double x) { return multi_gamma_rest(order, n, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& n, const T& x, const T&) {
    return apply<multi_gamma_rest_rule>(order + 1.0, n, x);
  }
};

}  // namespace detail

struct lmgamma_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "lmgamma",
                                    text = "Logarithm of the multivariate gamma function of dimension x at y >= (x - 1) / 2.",
                                    reference =
                                        "x * (x - 1) / 4 * log(pi) + fsum(loggamma(y - mpf(k) / 2) for k in range(int(x)))"
                                        " if isfinite(x) and y > (x - 1) / 2 else nan";
  static constexpr interval domain[] = {{1, detail::highest_dimension, true}, {0, infinity}};
  static double value(double x, double y) {
    if (!(x >= 1 && x <= detail::highest_dimension && x == std::floor(x) && y >= 0.5 * (x - 1))) return quiet_nan;
    double sum = 0.25 * detail::log_pi * x * (x - 1);
    for (int k = 0; k < x; ++k) sum += lgamma_rule::value(y - 0.5 * k);
    return sum;
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<detail::multi_polygamma_rule>(0.0, x, y);
  }
};
/// The dimension is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<lmgamma_rule, double, X> lmgamma(int dimension, const X& x) {
  return apply<lmgamma_rule>(static_cast<double>(dimension), x);
}

namespace rules {
using multigamma = typelist<lmgamma_rule>;
}

}  // namespace agrad
