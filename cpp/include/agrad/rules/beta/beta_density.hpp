// The log density of the beta distribution as one function, whose value and derivatives need different formulas.
//
// The value is a sum of deviances, because x log(t) + y log(1 - t) - betaln(x, y) cancels for large x and y. So do its
// derivatives by x and y, which are logarithms of 1 plus the relative distance of t from the mean, and rests of digamma; their
// own derivatives are differences of few terms, for which the rules of betaln keep all digits.
#pragma once

#include <agrad/rules/beta/beta_factor.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/links.hpp>

namespace agrad::detail {

/// Returns (x - 1) log(t) + (y - 1) log(1 - t) - betaln(x, y) for positive, finite x and y and t in [0, 1] (Loader 2000).
inline double beta_log_density(double x, double y, double t) {
  if (!(x >= 10 && y >= 10 && t > 0 && t < 1))
    return xlogy_rule::value(x - 1, t) + xlog1py_rule::value(y - 1, -t) - betaln(x, y);
  const double n = x + y, rests = stirling_rest(n) - stirling_rest(x) - stirling_rest(y);
  const double deviances = kl_div_rule::value(x, n * t) + kl_div_rule::value(y, n * (1 - t));
  return 0.5 * std::log(x / two_pi * (y / n)) + rests - deviances - std::log(t) - std::log1p(-t);
}

/// Returns log(t) + digamma(x + y) - digamma(x). For a small y the difference of rests would cancel.
inline double beta_slope(double x, double y, double t) {
  const double u = x >= 10 && y >= 1 ? -beta_excess(x, y, t) / x : infinity;
  if (!(u > -0.5 && u < 1)) return std::log(t) - polygamma_difference(0, x, y);
  return std::log1p(u) + (digamma_rest(x) - digamma_rest(x + y));
}
/// Returns log(1 - t) + digamma(x + y) - digamma(y).
inline double beta_other_slope(double x, double y, double t) {
  const double u = y >= 10 && x >= 1 ? beta_excess(x, y, t) / y : infinity;
  if (!(u > -0.5 && u < 1)) return std::log1p(-t) - polygamma_difference(0, y, x);
  return std::log1p(u) + (digamma_rest(y) - digamma_rest(x + y));
}

struct beta_slope_rule : rule<3> {
  static constexpr std::string_view name = "beta_slope";
  static double value(double x, double y, double t) { return beta_slope(x, y, t); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&, const T&) {
    return -apply<polygamma_difference_rule>(1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&, const T&) {
    return trigamma(x + y);
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& t, const T&) {
    return 1.0 / t;
  }
};

struct beta_other_slope_rule : rule<3> {
  static constexpr std::string_view name = "beta_other_slope";
  static double value(double x, double y, double t) { return beta_other_slope(x, y, t); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&, const T&) {
    return trigamma(x + y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&, const T&) {
    return -apply<polygamma_difference_rule>(1.0, y, x);
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& t, const T&) {
    return -1.0 / (1.0 - t);
  }
};

struct beta_log_density_rule : rule<3> {
  static constexpr std::string_view name = "beta_log_density";
  static double value(double x, double y, double t) { return beta_log_density(x, y, t); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& t, const T&) {
    return apply<beta_slope_rule>(x, y, t);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& t, const T&) {
    return apply<beta_other_slope_rule>(x, y, t);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& t, const T&) {
    return either<T>(
        t == 0 && x == 1, [&] { return T((1.0 - y) / (1.0 - t)); }, t == 1 && y == 1, [&] { return T((x - 1.0) / t); },
        [&] { return T((x - 1.0) / t - (y - 1.0) / (1.0 - t)); });
  }
};

}  // namespace agrad::detail
