// The beta function and its logarithm, for positive arguments.
//
// Values are Stirling's formula with the large parts cancelled analytically; derivatives are differences of polygamma
// functions, which are summed as differences, so that no digits are lost if one argument is far smaller than the other.
#pragma once

#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/stirling.hpp>

namespace agrad {

namespace detail {

/// The differences a^k - b^k for a = 1 / x and b = 1 / (x + y), x and y positive. They are products of a - b and of sums of
/// positive numbers, so that no digits are lost if y is small.
class inverse_powers {
 public:
  inverse_powers(double x, double y) : a_(1 / x), b_(1 / (x + y)), first_((y < infinity ? y / (x + y) : 1) * a_) {}

  /// Returns the difference for the exponent k.
  double operator()(int k) const {
    double sum = k > 0 ? 1 : 0, power = 1;
    for (int i = 1; i < k; ++i) power *= b_, sum = sum * a_ + power;
    return first_ * sum;
  }
  /// Returns the sum of weight(i) times the difference for the exponent k + 2 i over i from 1 to count.
  template <class Weight>
  double sum_of_every_second(int k, int count, const Weight& weight) const {
    double quotient = 0, power = 1, sum = 0;  // (a^k - b^k) / (a - b), and b^k
    for (int i = 0; i < k; ++i) quotient = quotient * a_ + power, power *= b_;
    for (int i = 1; i <= count; ++i) {
      quotient = quotient * (a_ * a_) + power * (a_ + b_), power *= b_ * b_;
      sum += weight(i) * quotient;
    }
    return first_ * sum;
  }

 private:
  double a_, b_, first_;
};

/// Returns polygamma(n, x) - polygamma(n, x + y) for positive x and y, each term of its series as a difference.
inline double polygamma_difference(double order, double x, double y) {
  if (!(order >= 0 && order <= highest_polygamma && x >= 0 && y >= 0)) return quiet_nan;
  const int n = static_cast<int>(order), sign = n % 2 == 0 ? -1 : 1;
  if (x == 0) return sign * infinity;
  if (y == 0) return sign * 0.0;
  double head = 0;
  for (; x < 10 + n; x += 1) head += inverse_powers(x, y)(n + 1);
  const inverse_powers difference(x, y);
  const double factorial = n < 2 ? 1 : std::tgamma(n + 1.0);
  double tail = n == 0 ? std::log1p(y / x) : factorial / n * difference(n);
  tail += 0.5 * factorial * difference(n + 1);
  double factor = factorial * (n + 1) / 2;  // (2 k + n - 1)! / (2 k)!
  tail += difference.sum_of_every_second(n, bernoulli_count, [&](int k) {
    const double weight = bernoulli[k - 1] * factor;
    factor *= (2.0 * k + n) * (2.0 * k + n + 1) / ((2.0 * k + 1) * (2.0 * k + 2));
    return weight;
  });
  return sign * (factorial * head + tail);
}

/// Returns log(gamma(b)) - log(gamma(a + b)) for b >= 10.
inline double lgamma_difference(double a, double b) {
  const double u = a / b;
  return b * log1p_rest(u) + 0.5 * std::log1p(u) - a * (std::log(b) + std::log1p(u)) +
         (stirling_rest(b) - stirling_rest(a + b));
}

inline double betaln(double x, double y) {
  if (std::isnan(x) || std::isnan(y) || x < 0 || y < 0) return quiet_nan;
  const double a = x < y ? x : y, b = x < y ? y : x;
  if (a == 0) return infinity;
  if (std::isinf(b)) return -infinity;
  if (a >= 10) {
    const double rests = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return 0.5 * std::log(two_pi / b) + rests - (a - 0.5) * std::log1p(b / a) - b * std::log1p(a / b);
  }
  if (b >= 10) return lgamma_rule::value(a) + lgamma_difference(a, b);
  if (a < 1e-300) return std::log1p(a / b) - std::log(a);
  return std::log(std::tgamma(a) * (std::tgamma(b) / std::tgamma(a + b)));
}

inline double beta(double x, double y) {
  if (!(x > 1e-300 && y > 1e-300 && x + y < 50)) return std::exp(betaln(x, y));
  double factor = 1;  // for the recursion to arguments at which tgamma is accurate, by DLMF 5.12.1 and gamma's recurrence
  for (; x > 2; x -= 1) factor *= (x - 1) / (x + y - 1);
  for (; y > 2; y -= 1) factor *= (y - 1) / (x + y - 1);
  return factor * std::tgamma(x) * (std::tgamma(y) / std::tgamma(x + y));
}

struct polygamma_difference_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "polygamma_difference";
  static double value(double order, double x, double y) { return polygamma_difference(order, x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T& y, const T&) {
    return apply<polygamma_difference_rule>(order + 1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& x, const T& y, const T&) {
    return -apply<polygamma_rule>(order + 1.0, x + y);
  }
};

}  // namespace detail

struct betaln_rule : rule<2> {
  static constexpr std::string_view name = "betaln", stan = "lbeta",
                                    text = "Logarithm of the beta function, for positive arguments.",
                                    reference = "loggamma(x) + loggamma(y) - loggamma(x + y)",
                                    source = "Stirling's series, DLMF 5.11.1; derivatives by DLMF 5.15.9 of differences";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::betaln(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return apply<detail::polygamma_difference_rule>(0.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<detail::polygamma_difference_rule>(0.0, y, x);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<betaln_rule, X, Y> betaln(const X& x, const Y& y) {
  return apply<betaln_rule>(x, y);
}
/// Does the same as `betaln`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<betaln_rule, X, Y> lbeta(const X& x, const Y& y) {
  return apply<betaln_rule>(x, y);
}

struct beta_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "beta", text = "Beta function, for positive arguments.",
                                    reference = "exp(loggamma(x) + loggamma(y) - loggamma(x + y))";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::beta(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return value * apply<detail::polygamma_difference_rule>(0.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return value * apply<detail::polygamma_difference_rule>(0.0, y, x);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<beta_rule, X, Y> beta(const X& x, const Y& y) {
  return apply<beta_rule>(x, y);
}

namespace rules {
using beta = typelist<betaln_rule, beta_rule>;
}

}  // namespace agrad
