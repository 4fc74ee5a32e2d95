// The ratio of gamma functions whose arguments differ by 1/2, on the logarithmic scale and without its large part.
//
// lgamma(x + 1/2) - lgamma(x) - log(x) / 2 falls like -1 / (8 x), while its parts grow: the sum of its parts and the sums of
// their derivatives would cancel for large x. Differences over several halves are sums of it.
#pragma once

#include <agrad/rules/gamma/gamma.hpp>

namespace agrad::detail {

/// Returns derivative n of lgamma(x + 1/2) - lgamma(x) - log(x) / 2 for x > 0: the asymptotic series in 1 / x (DLMF 5.11.8 with
/// B_k(1/2) = (2^(1 - k) - 1) B_k), after steps by which x grows; each step has the sign of the result.
inline double half_gamma_ratio(double order, double x) {
  if (!(x > 0)) return quiet_nan;
  if (x == infinity) return 0;
  const int n = static_cast<int>(order);
  const double factorial = n > 2 ? std::tgamma(n) : 1, sign = n % 2 == 0 ? -1 : 1;
  double head = 0, product = 0;  // a product of factors above 1, less 1
  for (; x < 12 + n; x += 1) {
    if (n == 0)
      product += (1 + product) * (0.25 / (x * (x + 1)));
    else if (n == 1)
      head += 0.5 / (x * (x + 1) * (2 * x + 1));
    else
      head += sign * factorial * (0.5 * std::pow(x, -n) + 0.5 * std::pow(x + 1, -n) - std::pow(x + 0.5, -n));
  }
  if (n == 0) head = -0.5 * std::log1p(product);
  const double inverse_square = 1 / (x * x);
  // The factor (2 k + n - 2)! / (2 k - 2)! / x^(2 k - 1 + n), and 2^(1 - 2 k).
  double power = n == 0 ? 1 / x : n == 1 ? inverse_square : n * factorial * std::pow(x, -(n + 1));
  double tail = 0, half = 0.5;
  for (int k = 1; k <= bernoulli_count; ++k) {
    tail += (half - 2) * bernoulli[k - 1] / ((2 * k - 1.0) * (2 * k)) * power;
    power *= (n + 2 * k - 1.0) * (n + 2.0 * k) / ((2 * k - 1.0) * (2.0 * k)) * inverse_square;
    half /= 4;
  }
  return head + (n % 2 == 0 ? tail : -tail);
}

struct half_gamma_ratio_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "half_gamma_ratio";
  static double value(double order, double x) { return half_gamma_ratio(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return apply<half_gamma_ratio_rule>(order + 1.0, x);
  }
};

/// Returns derivative n of lgamma(x + count / 2) - lgamma(x) - (count / 2) log(x) for x > 0 and whole numbers `count`: those of
/// the logarithms of 1 + k / x for the steps k by 1, or 1/2 more each where one step of 1/2 is before them.
inline double half_gamma_rise(double order, double count, double x) {
  if (!(x > 0) || order > highest_polygamma) return quiet_nan;
  if (x == infinity) return 0;
  const int n = static_cast<int>(order);
  const double whole = std::floor(0.5 * count), half = 0.5 * count - whole;
  const double large = n == 0 ? 1 : (n % 2 == 0 ? -1 : 1) * factorial_over_power(n - 1, x);
  double sum = half > 0 ? half_gamma_ratio(order, x) : 0;
  for (double k = half; k < whole; k += 1) {
    const double step = std::log1p(k / x);
    sum += n == 0 ? step : large * std::expm1(-n * step);
  }
  return sum;
}

/// `half_gamma_rise` of x, with derivatives by x; order and count are data.
struct half_gamma_rise_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "half_gamma_rise";
  static double value(double order, double count, double x) { return half_gamma_rise(order, count, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& count, const T& x, const T&) {
    return apply<half_gamma_rise_rule>(order + 1.0, count, x);
  }
};

/// Returns derivative n of the sum of lgamma(x + rest / 2) - lgamma(x + k / 2) over k = 0 ... rest - 1, for whole numbers
/// `rest`: for large x from steps of 1/2, each of which is in the differences of all k before it.
inline double half_gamma_steps(double order, double rest, double x) {
  if (!(x > 0) || order > highest_polygamma) return quiet_nan;
  const int n = static_cast<int>(order);
  double sum = 0;
  if (x < 32) {
    const auto part = [&](double y) { return n == 0 ? lgamma_rule::value(y) : polygamma(order - 1, y); };
    for (int k = 0; k < rest; ++k) sum += part(x + 0.5 * k);
    return rest * part(x + 0.5 * rest) - sum;
  }
  const double sign = n == 0 || n % 2 == 1 ? 1 : -1;
  for (int k = 0; k < rest; ++k) {
    const double y = x + 0.5 * k, large = n == 0 ? std::log(y) : factorial_over_power(n - 1, y);  // but for the sign
    sum += (k + 1) * (half_gamma_ratio(order, y) + 0.5 * sign * large);
  }
  return sum;
}

/// `half_gamma_steps` of x, with derivatives by x; order and rest are data.
struct half_gamma_steps_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "half_gamma_steps";
  static double value(double order, double rest, double x) { return half_gamma_steps(order, rest, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& rest, const T& x, const T&) {
    return apply<half_gamma_steps_rule>(order + 1.0, rest, x);
  }
};

}  // namespace agrad::detail
