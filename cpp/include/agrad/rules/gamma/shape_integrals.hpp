// Shape integrals: log(1 + xi z) / xi and its derivatives, smooth where the shape xi passes 0.
//
// The integrals G_n(d, sigma, xi) of s^n / (sigma + xi s)^(n + 1) over [0, d] have the integrand at d as derivative by d, this
// times -d / sigma by sigma, and -(n + 1) G_(n + 1) by xi; G_0 is the logarithm of 1 + xi z, z = d / sigma, over xi. No two of
// these derivatives cancel. With u = xi z, G_n is z^(n + 1) times the integral of t^n / (1 + u t)^(n + 1) over [0, 1].
#pragma once

#include <cmath>
#include <limits>

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/power.hpp>

namespace agrad::detail {

/// Returns the integral of t^n / (1 + u t)^(n + 1) over [0, 1], u > -1: near 0 a series in u / (1 + u), of which no terms
/// cancel (DLMF 15.8.1), elsewhere the recurrence in n upwards.
inline double shape_moment(int n, double u) {
  if (!(u > -1)) return u == -1 ? infinity : std::numeric_limits<double>::quiet_NaN();
  if (u == infinity) return 0;
  if (n == 0) return u == 0 ? 1 : std::log1p(u) / u;
  if (u > -1.0 / 3 && u < 1) {
    const double w = u / (1 + u);
    double power = 1, sum = 0;
    for (int k = 0; std::abs(power) > 1e-18; ++k, power *= w) sum += power / (n + 1 + k);
    return sum * std::pow(1 + u, -(n + 1));
  }
  double moment = std::log1p(u) / u;
  for (int k = 1; k <= n; ++k) moment = (moment - std::pow(1 + u, -k) / k) / u;
  return moment;
}

struct shape_moment_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "shape_moment";
  static double value(double order, double u) { return shape_moment(static_cast<int>(order), u); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& u, const T&) {
    return -(order + 1.0) * apply<shape_moment_rule>(order + 1.0, u);
  }
};

/// G_n(d, sigma, xi), of the order n.
struct shape_integral_rule : rule<4>, data_arguments<0> {
  static constexpr std::string_view name = "shape_integral";
  static double value(double order, double d, double sigma, double xi) {
    const int n = static_cast<int>(order);
    const double z = d / sigma;
    return std::pow(z, n + 1) * shape_moment(n, xi * z);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& d, const T& sigma, const T& xi, const T&) {
    return power(order, d, sigma, xi);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& d, const T& sigma, const T& xi, const T&) {
    return -(d / sigma) * power(order, d, sigma, xi);
  }
  template <class T>
  static T derivative(wrt<3>, const T& order, const T& d, const T& sigma, const T& xi, const T&) {
    return -(order + 1.0) * apply<shape_integral_rule>(order + 1.0, d, sigma, xi);
  }

 private:
  /// Returns the integrand at d.
  template <class T>
  static T power(const T& order, const T& d, const T& sigma, const T& xi) {
    const T end = sigma + xi * d;
    return either<T>(
        order == 0.0, [&] { return T(1.0 / end); }, [&] { return T(pow(d / end, order) / end); });
  }
};

/// Returns log(1 + xi d / sigma) / xi, and d / sigma where xi is 0.
template <class T>
T shaped_log(const T& d, const T& sigma, const T& xi) {
  return apply<shape_integral_rule>(T(0.0), d, sigma, xi);
}

/// Returns the inverse of the logarithm, (exp(xi e) - 1) / xi, also for infinite e.
template <class T>
T shaped_exp(const T& e, const T& xi) {
  return either<T>(
      abs(e) < infinity, [&] { return T(e * exprel(xi * e)); },  //
      xi * e < 0.0, [&] { return T(-1.0 / xi); }, [&] { return T(e); });
}

}  // namespace agrad::detail
