// The log density of the beta distribution as one function, whose value and derivatives need different formulas.
//
// The value is a sum of deviances, because x log(t) + y log(1 - t) - betaln(x, y) cancels for large x and y; its derivatives
// are differences of few terms, for which the rules of betaln keep all digits.
#pragma once

#include <agrad/rules/beta.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/links.hpp>

namespace agrad::detail {

/// (x - 1) log(t) + (y - 1) log(1 - t) - betaln(x, y) for positive, finite x and y and t in [0, 1] (Loader 2000).
inline double beta_log_density(double x, double y, double t) {
  if (!(x >= 10 && y >= 10 && t > 0 && t < 1))
    return xlogy_rule::value(x - 1, t) + xlog1py_rule::value(y - 1, -t) - betaln(x, y);
  const double n = x + y, rests = stirling_rest(n) - stirling_rest(x) - stirling_rest(y);
  const double deviances = kl_div_rule::value(x, n * t) + kl_div_rule::value(y, n * (1 - t));
  return 0.5 * std::log(x / two_pi * (y / n)) + rests - deviances - std::log(t) - std::log1p(-t);
}

struct beta_log_density_rule : rule<3> {
  static constexpr std::string_view name = "beta_log_density";
  static double value(double x, double y, double t) { return beta_log_density(x, y, t); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& t, const T&) {
    return log(t) - apply<polygamma_difference_rule>(0.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& t, const T&) {
    return log1m(t) - apply<polygamma_difference_rule>(0.0, y, x);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& t, const T&) {
    return either<T>(
        t == 0 && x == 1, [&] { return T(1.0 - y); }, t == 1 && y == 1, [&] { return T(x - 1.0); },
        [&] { return T((x - 1.0) / t - (y - 1.0) / (1.0 - t)); });
  }
};

}  // namespace agrad::detail
