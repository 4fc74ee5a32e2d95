// Density average: the integral of a density over a short interval, by a rule that tells whether it has all digits.
//
// The rule is applied in a coordinate in which a density is smooth for each value of its shapes: a power of y is an exponential
// function of log(y), and y^a (1 - y)^b behaves like exponential functions of the log odds on both sides.
#pragma once

#include <cstddef>

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gauss_legendre.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

/// The coordinate y itself. The longest interval is one in which the rule has also the digits of derivatives with respect to
/// parameters, if it has those of the density. Here these derivatives change where the density does.
struct line_coordinate {
  static constexpr double longest = infinity;
  template <class T>
  static T length(const T& lower, const T& upper) {
    return upper - lower;
  }
  /// Returns the number at a share of the length.
  template <class T>
  static T at(const T& lower, const T& length, double share) {
    return lower + share * length;
  }
  /// Returns the logarithm of the derivative of y with respect to the coordinate.
  template <class T>
  static T log_slope(const T&) {
    return T(0.0);
  }
};
/// The coordinate log(y) of positive numbers.
struct log_coordinate {
  static constexpr double longest = infinity;
  template <class T>
  static T length(const T& lower, const T& upper) {
    return either<T>(
        upper < 2.0 * lower, [&] { return T(log1p((upper - lower) / lower)); }, [&] { return T(log(upper) - log(lower)); });
  }
  template <class T>
  static T at(const T& lower, const T& length, double share) {
    return lower * exp(share * length);
  }
  template <class T>
  static T log_slope(const T& y) {
    return log(y);
  }
};
/// The coordinate log(y) for densities whose derivative by a scale may grow like y or 1 / y where the density is flat.
struct steep_log_coordinate : log_coordinate {
  static constexpr double longest = 4;
};
/// The coordinate log(y / (1 - y)) of numbers between 0 and 1. A derivative by a shape is log(y) or log(1 - y), with a
/// singularity at i pi.
struct log_odds_coordinate {
  static constexpr double longest = 3;
  template <class T>
  static T length(const T& lower, const T& upper) {
    const T odds = lower * (1.0 - upper);
    return either<T>(
        upper - lower < odds, [&] { return T(log1p((upper - lower) / odds)); }, [&] { return T(logit(upper) - logit(lower)); });
  }
  template <class T>
  static T at(const T& lower, const T& length, double share) {
    const T part = lower * exp(share * length);
    return part / (1.0 - lower + part);
  }
  template <class T>
  static T log_slope(const T& y) {
    return log(y) + log1m(y);
  }
};

/// Returns Legendre's polynomial of a degree at t, by Bonnet's recursion.
constexpr double legendre(int of_degree, double t) {
  double before = 1, value = t;
  for (int k = 1; k < of_degree; ++k) {
    const double next = ((2 * k + 1) * t * value - k * before) / (k + 1);
    before = value;
    value = next;
  }
  return value;
}

/// The average of a density over an interval by Gauss and Legendre's rule with eight points.
template <class T>
struct density_average {
  static constexpr std::size_t middle = 3;  // the place of the node before the middle

  T at;                   // the log density at the point before the middle; the others are relative to the density there
  T average{0.0};         // of the density
  T even{0.0}, odd{0.0};  // its coefficients of Legendre's polynomials of degrees 6 and 7

  /// log_density(t) is the logarithm at the place t between -1 and 1.
  template <class LogDensity>
  explicit density_average(const LogDensity& log_density) : at(log_density(-gauss_nodes_8[middle])) {
    for (std::size_t k = 0; k <= middle; ++k) {
      const T before = k == middle ? T(1.0) : T(exp(log_density(-gauss_nodes_8[k]) - at)),
              after = exp(log_density(gauss_nodes_8[k]) - at);
      const T sum = before + after;
      average += 0.5 * gauss_weights_8[k] * sum;
      even += 6.5 * gauss_weights_8[k] * legendre(6, gauss_nodes_8[k]) * sum;
      odd += 7.5 * gauss_weights_8[k] * legendre(7, gauss_nodes_8[k]) * (after - before);
    }
  }
  /// Returns whether the average is right to all digits. The rule's error is of degree 16: where the coefficients of degrees 6
  /// and 7 are below 2e-6, that of degree 16 is below 1e-15 for poles at any distance, and smaller for exponentials.
  auto is_smooth() const { return abs(even) + abs(odd) < 2e-6 * average; }
  /// Returns the logarithm of the integral over an interval of this length.
  T log_integral(const T& length) const { return at + log(length) + log(average); }
};

}  // namespace agrad::detail
