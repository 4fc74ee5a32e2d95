// Functions around 0 whose derivatives vanish there: exp(x) - 1 - x, log(cosh(x)), and densities whose derivatives contain
// them.
//
// A derivative such as 1 - exp(-z) must not be computed from a sum of slopes, which would cancel where the density has its
// mode.
#pragma once

#include <agrad/rules/hyperbolic.hpp>
#include <agrad/rules/links.hpp>

namespace agrad::detail {

/// exp(x) - 1 - x.
struct expm1_rest_rule : rule<1> {
  static constexpr std::string_view name = "expm1_rest";
  static constexpr bool is_regular = true;
  static double value(double x) {
    if (std::abs(x) > 1) return std::expm1(x) - x;
    double sum = 0.5, term = 0.5;
    for (int k = 3; std::abs(term) > 1e-18; ++k) sum += term *= x / k;
    return x * x * sum;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return expm1(x);
  }
};

/// log(cosh(x)).
struct log_cosh_rule : rule<1> {
  static constexpr std::string_view name = "log_cosh";
  static constexpr bool is_regular = true;
  static double value(double x) {
    const double size = std::abs(x);
    if (size > 1) return size - log_2 + std::log1p(std::exp(-2 * size));
    const double s = std::sinh(0.5 * size);
    return std::log1p(2 * s * s);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return tanh(x);
  }
};

/// The logistic function again, with the slope as one exponential: the derivative of the product of two logistic functions
/// would cancel at 0.
struct logistic_probability_rule : rule<1> {
  static constexpr std::string_view name = "logistic_probability";
  static double value(double x) { return inv_logit_rule::value(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 0.25 * exp(-2.0 * apply<log_cosh_rule>(0.5 * x));
  }
};

/// exp(-exp(-x)), for the same reason.
struct gumbel_probability_rule : rule<1> {
  static constexpr std::string_view name = "gumbel_probability";
  static double value(double x) { return std::exp(-std::exp(-x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return exp(-1.0 - apply<expm1_rest_rule>(-x));
  }
};

}  // namespace agrad::detail
