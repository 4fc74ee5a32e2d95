// Rests: what remains of exp and lgamma without their large parts, as rules with derivatives of any order.
//
// Log densities consist of these, so that neither they nor their derivatives are differences of large numbers.
#pragma once

#include <agrad/rules/entropy.hpp>
#include <agrad/rules/gamma.hpp>
#include <agrad/rules/incomplete_gamma.hpp>

namespace agrad::detail {

/// exp(x) - 1 - x.
struct exp_rest_rule : rule<1> {
  static constexpr std::string_view name = "exp_rest";
  static double value(double x) { return exp_rest(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return expm1(x);
  }
};

/// kl_div(a, b y). With the product within the rule, mixed derivatives of b and y do not cancel.
struct kl_div_of_product_rule : rule<3> {
  static constexpr std::string_view name = "kl_div_of_product";
  static double value(double a, double b, double y) { return b * y == infinity ? infinity : kl_div_rule::value(a, b * y); }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& y, const T&) {
    return apply<log_ratio_rule>(a, b * y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& y, const T&) {
    return slope(a, b, y);
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& y, const T&) {
    return slope(a, y, b);
  }

 private:
  template <class T>
  static T slope(const T& a, const T& b, const T& y) {
    return either<T>(
        b * y > 2.0 * a, [&] { return T(y - a / b); }, [&] { return T((b * y - a) / b); });
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

/// The derivative of order n of log(gamma(x)) - x log(x) + x, for x > 0: Stirling's series, and for small x the differences
/// between x and x + 1, which have one sign for n > 0, so that their sum has all digits.
inline double lgamma_rest(double order, double x) {
  const int n = static_cast<int>(order);
  if (!(x > 0) || n > highest_polygamma) return quiet_nan;
  if (n == 0) return x < 10 ? lgamma_rule::value(x) - x * std::log(x) + x : 0.5 * std::log(two_pi / x) + stirling_rest(x);
  double sum = 0, factorial = 1;  // (n - 2)!
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

struct lgamma_rest_rule : rule<2> {
  static constexpr std::string_view name = "lgamma_rest";
  static double value(double order, double x) { return lgamma_rest(order, x); }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&) {
    return 0.0;
  }
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return apply<lgamma_rest_rule>(order + 1.0, x);
  }
};

}  // namespace agrad::detail
