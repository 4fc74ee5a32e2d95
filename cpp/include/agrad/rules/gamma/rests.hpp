// Rests: what remains of exp and lgamma without their large parts, as rules with derivatives of any order.
//
// Log densities consist of these, so that neither they nor their derivatives are differences of large numbers.
#pragma once

#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/incomplete_gamma.hpp>

namespace agrad::detail {

/// exp(x) - 1 - x.
struct exp_rest_rule : rule<1> {
  static constexpr std::string_view name = "exp_rest";
  static constexpr bool is_regular = true;
  static double value(double x) { return exp_rest(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return expm1(x);
  }
};

/// Below this an argument may have lost digits, or all of them, which its logarithm has.
inline constexpr double smallest_argument = 1e-290;

/// The argument b y of a function, for rules of b and y: with the product within the rule, mixed derivatives do not cancel.
struct product_argument {
  static constexpr bool is_quotient = false;
  template <class T>
  static T of(const T& b, const T& y) {
    return b * y;
  }
  template <class T>
  static T log_of(const T& b, const T& y) {
    return log(b) + log(y);
  }
  /// Returns the derivative with respect to y.
  template <class T>
  static T slope(const T& b, const T&) {
    return b;
  }
  /// Returns the argument, divided by its derivative with respect to y.
  template <class T>
  static T over_slope(const T& y) {
    return y;
  }
  /// Returns the derivative with respect to b.
  template <class T>
  static T factor(const T& y) {
    return y;
  }
};

/// The argument b / y, whose derivatives do not contain the square of y, which underflows.
struct quotient_argument {
  static constexpr bool is_quotient = true;
  template <class T>
  static T of(const T& b, const T& y) {
    return b / y;
  }
  template <class T>
  static T log_of(const T& b, const T& y) {
    return log(b) - log(y);
  }
  template <class T>
  static T slope(const T& b, const T& y) {
    return -(b / y) / y;
  }
  template <class T>
  static T over_slope(const T& y) {
    return -y;
  }
  template <class T>
  static T factor(const T& y) {
    return 1.0 / y;
  }
};

/// log(a / x) of an argument x of b and y.
template <class Argument>
struct log_ratio_of_rule : rule<3> {
  static constexpr std::string_view name = Argument::is_quotient ? "log_ratio_of_quotient" : "log_ratio_of_product";
  static double value(double a, double b, double y) {
    const double x = Argument::of(b, y);
    return x < smallest_argument ? std::log(a) - Argument::log_of(b, y) : log_ratio(a, x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T&, const T&, const T&) {
    return 1.0 / a;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& b, const T&, const T&) {
    return -1.0 / b;
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& y, const T&) {
    return -1.0 / Argument::over_slope(y);
  }
};

/// kl_div(a, x) of an argument x of b and y.
template <class Argument>
struct kl_div_of_rule : rule<3> {
  static constexpr std::string_view name = Argument::is_quotient ? "kl_div_of_quotient" : "kl_div_of_product";
  static double value(double a, double b, double y) {
    const double x = Argument::of(b, y);
    if (a > 0 && x < smallest_argument && b >= 0 && y >= 0) return a * (std::log(a) - Argument::log_of(b, y)) - a;
    return x == infinity ? infinity : kl_div_rule::value(a, x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& y, const T&) {
    return apply<log_ratio_of_rule<Argument>>(a, b, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& y, const T&) {
    return slope(a, T(Argument::of(b, y)), b, T(Argument::factor(y)));
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& y, const T&) {
    return slope(a, T(Argument::of(b, y)), T(Argument::over_slope(y)), T(Argument::slope(b, y)));
  }

 private:
  template <class T>
  static T slope(const T& a, const T& x, const T& over_slope, const T& slope) {
    return either<T>(
        x > 2.0 * a, [&] { return T(slope - a / over_slope); }, [&] { return T((x - a) / over_slope); });
  }
};

/// log(gamma(1 + x)) for x >= 0, with all digits near 0.
struct lgamma1p_rule : rule<1> {
  static constexpr std::string_view name = "lgamma1p";
  static double value(double x) { return x < 0.5 ? lgamma1p(x) : lgamma_rule::value(1 + x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return digamma(1.0 + x);
  }
};

/// 1 - exp(-exp(x)), or exp(-exp(x)). The slope is one exponential, whose own slope has all digits near x = 0, too.
template <bool is_upper>
struct gumbel_tail_rule : rule<1> {
  static constexpr std::string_view name = is_upper ? "gumbel_upper_tail" : "gumbel_lower_tail";
  static double value(double x) { return is_upper ? std::exp(-std::exp(x)) : -std::expm1(-std::exp(x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    const T density = exp(-1.0 - apply<exp_rest_rule>(x));
    return is_upper ? T(-density) : density;
  }
};

/// Returns the derivative of order n of log(gamma(x)) - x log(x) + x, for x > 0: Stirling's series, and for small x the
/// differences between x and x + 1, which have one sign for n > 0, so that their sum has all digits.
inline double lgamma_rest(double order, double x) {
  const int n = static_cast<int>(order);
  if (!(x > 0) || n > highest_polygamma) return quiet_nan;
  if (n == 0) return x < 10 ? lgamma_rule::value(x) - x * std::log(x) + x : 0.5 * std::log(two_pi / x) + stirling_rest(x);
  if (n == 1 && x < 4) return digamma(x) - std::log(x);  // which loses one digit at most
  double sum = 0, factorial = 1;                         // (n - 2)!
  for (int k = 2; k <= n - 2; ++k) factorial *= k;
  for (; x < 10 + n; x += 1) {
    if (n == 1)
      sum += log1p_rest(1 / x);
    else
      sum += factorial * ((n - 1) / std::pow(x, n) + std::expm1((1 - n) * std::log1p(1 / x)) / std::pow(x, n - 1));
  }
  sum += 0.5 * factorial_over_power(n - 1, x);
  double term = factorial_over_power(n, x);  // (2 k + n - 2)! / (2 k - 2)! / x^(2 k - 1 + n)
  for (int k = 1; k <= bernoulli_count; ++k) {
    sum += bernoulli[k - 1] * term / (2.0 * k * (2.0 * k - 1));
    term *= ((2.0 * k + n) / x) * ((2.0 * k + n - 1) / x) / (2.0 * k * (2.0 * k - 1));
  }
  return n % 2 == 1 ? -sum : sum;
}

struct lgamma_rest_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "lgamma_rest";
  static double value(double order, double x) { return lgamma_rest(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return apply<lgamma_rest_rule>(order + 1.0, x);
  }
};

}  // namespace agrad::detail
