// The factor x^a (1 - x)^b / beta(a, b) of the incomplete beta function, and the arithmetic of functions with derivatives with
// respect to a and b, as doubles.
//
// For large a and b the powers and the beta function cancel: what remains is the deviance of x from a / (a + b), in terms
// of the excess a - (a + b) x, which is computed with twice the digits.
#pragma once

#include <cmath>

#include <agrad/rules/gamma/beta.hpp>

namespace agrad::detail {

/// The highest order of derivatives with respect to a, b and x together.
inline constexpr int highest_beta_order = 4;

/// A function of a and b: at[i][j] is its derivative of order i with respect to a and j with respect to b.
struct beta_orders {
  double at[highest_beta_order + 1][highest_beta_order + 1] = {};
};

inline double binomial(int n, int k) {
  constexpr double table[highest_beta_order + 1][highest_beta_order + 1] = {
      {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
  return table[n][k];
}

/// Adds weight times the product of f and g to h, by Leibniz' rule, up to orders (m, n).
inline void add_product(double weight, const beta_orders& f, const beta_orders& g, int m, int n, beta_orders& h) {
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j)
      for (int p = 0; p <= i; ++p)
        for (int q = 0; q <= j; ++q) h.at[i][j] += weight * binomial(i, p) * binomial(j, q) * f.at[p][q] * g.at[i - p][j - q];
}

/// Returns derivative (i, j) of f = exp(g) without the part f times derivative (i, j) of g.
inline double exp_order_rest(const beta_orders& f, const beta_orders& g, int i, int j) {
  double sum = 0;
  const int on_a = i > 0 ? 1 : 0, on_b = 1 - on_a;  // one derivative of f is f times that of g
  for (int p = 0; p <= i - on_a; ++p)
    for (int q = 0; q <= j - on_b; ++q)
      if (p + on_a < i || q + on_b < j)
        sum += binomial(i - on_a, p) * binomial(j - on_b, q) * g.at[p + on_a][q + on_b] * f.at[i - on_a - p][j - on_b - q];
  return sum;
}

/// Returns the function `value` with these derivatives of its logarithm.
inline beta_orders exp_orders(double value, const beta_orders& slopes, int m, int n) {
  beta_orders f;
  f.at[0][0] = value;
  for (int i = 0; i <= m; ++i)
    for (int j = i == 0 ? 1 : 0; j <= n; ++j) f.at[i][j] = exp_order_rest(f, slopes, i, j) + value * slopes.at[i][j];
  return f;
}

/// Returns the logarithm of f.
inline beta_orders log_orders(const beta_orders& f, int m, int n) {
  beta_orders g;
  g.at[0][0] = std::log(f.at[0][0]);
  for (int i = 0; i <= m; ++i)
    for (int j = i == 0 ? 1 : 0; j <= n; ++j) g.at[i][j] = (f.at[i][j] - exp_order_rest(f, g, i, j)) / f.at[0][0];
  return g;
}

/// Returns the derivatives up to (m, n) of rest times the function `value` with these derivatives of its logarithm.
inline beta_orders exp_product(double value, const beta_orders& slopes, const beta_orders& rest, int m, int n) {
  beta_orders f;
  add_product(1, exp_orders(value, slopes, m, n), rest, m, n, f);
  return f;
}

/// Returns a - (a + b) x, with all digits of its terms.
inline double beta_excess(double a, double b, double x) {
  const double u = a * x, u_rest = std::fma(a, x, -u), v = b * x, v_rest = std::fma(b, x, -v);
  const double first = a - u, first_back = a - first, first_rest = (a - (first + first_back)) + (first_back - u);
  const double second = first - v, second_back = first - second,
               second_rest = (first - (second + second_back)) + (second_back - v);
  return second + (first_rest + second_rest - u_rest - v_rest);
}

/// The arguments of the incomplete beta function and of its mirror image, which has b, a and 1 - x.
struct beta_point {
  double a, b, x, y, log_x, log_y, excess;  // excess is a y - b x

  beta_point(double a_, double b_, double x_)
      : a(a_), b(b_), x(x_), y(1 - x_), log_x(std::log(x_)), log_y(std::log1p(-x_)), excess(beta_excess(a_, b_, x_)) {}
  beta_point mirrored() const {
    beta_point p(*this);
    p.a = b, p.b = a, p.x = y, p.y = x, p.log_x = log_y, p.log_y = log_x, p.excess = -excess;
    return p;
  }
  /// Returns log((a + b) x / a).
  double log_ratio_x() const { return std::abs(excess) < 0.5 * a ? std::log1p(-excess / a) : log_x + std::log1p(b / a); }
  /// Returns a (u - log(1 + u)) for 1 + u = (a + b) x / a.
  double deviance_x() const {
    return std::abs(excess) < 0.5 * a ? a * log1p_rest(-excess / a) : -excess - a * (log_x + std::log1p(b / a));
  }
};

/// factor times exp(exponent).
struct beta_scale {
  double factor = 1, exponent = 0;
  double value() const { return factor * std::exp(exponent); }
  double log_value() const { return std::log(factor) + exponent; }
};

/// Returns x^a y^b / beta(a, b).
inline beta_scale power_over_beta(const beta_point& p) {
  const double a = p.a, b = p.b, total = a + b;
  if (a >= 10 && b >= 10) {
    const double rests = stirling_rest(total) - stirling_rest(a) - stirling_rest(b);
    return {std::sqrt(a / total * b / two_pi), rests - p.deviance_x() - p.mirrored().deviance_x()};
  }
  if (a < 10 && b < 10)
    return {a * (b / total) * std::tgamma(1 + total) / (std::tgamma(1 + a) * std::tgamma(1 + b)), a * p.log_x + b * p.log_y};
  if (a >= 10) return power_over_beta(p.mirrored());
  const double rests = stirling_rest(total) - stirling_rest(b);
  const double exponent = a * (p.log_x + std::log(total)) - a + b * p.mirrored().log_ratio_x();
  return {a / std::tgamma(1 + a) * std::sqrt(b / total), exponent + rests};
}

/// Returns stirling_rest(x) - stirling_rest(x + y) for x and x + y >= 10.
inline double stirling_rest_difference(double x, double y) {
  const double u = 1 / x, v = 1 / (x + y), squares = y * u * v * (u + v);  // u^2 - v^2
  double difference = y * u * v, power = v, sum = 0;
  for (int k = 1; k <= bernoulli_count; ++k) {
    sum += bernoulli[k - 1] / (2.0 * k * (2.0 * k - 1)) * difference;
    difference = u * u * difference + power * squares;
    power *= v * v;
  }
  return sum;
}

/// Returns digamma(z) - digamma(x) for positive x, with z = x + y, for x >= 9 without the logarithm of z / x.
inline double digamma_difference_rest(double x, double z, double y) {
  const double u = 1 / x, v = 1 / z, squares = y * u * v * (u + v);
  double difference = squares, power = v * v, sum = 0.5 * y * u * v;
  for (int k = 1; k <= bernoulli_count; ++k) {
    sum += bernoulli[k - 1] / (2.0 * k) * difference;
    difference = u * u * difference + power * squares;
    power *= v * v;
  }
  return sum;
}
inline double digamma_difference(double x, double z, double y) {
  double head = 0;
  for (; x < 10; x += 1, z += 1) head += y / (x * z);
  return head + std::log1p(y / x) + digamma_difference_rest(x, z, y);
}

/// Returns log(a beta(a, b)) for a < 1, with the digits of a small a.
inline double log_a_beta(double a, double b) {
  double product = 0;  // of (b + a) / b and so on, minus 1
  for (; b < 10; b += 1) product += (1 + product) * (a / b);
  const double u = a / b;
  const double difference = b * log1p_rest(u) + 0.5 * std::log1p(u) - a * (std::log(b) + std::log1p(u));
  const double of_a = a <= 0.5 ? lgamma1p(a) : lgamma_rule::value(1 + a);
  return of_a + std::log1p(product) + (difference + stirling_rest_difference(b, a));
}

/// Returns log(x) + digamma(a + b) - digamma(a).
inline double log_power_slope(const beta_point& p) {
  if (p.a < 10) return p.log_x + digamma_difference(p.a, p.a + p.b, p.b);
  return p.log_ratio_x() + digamma_difference_rest(p.a, p.a + p.b, p.b);
}

/// Returns the derivatives of the logarithm of x^a y^b / beta(a, b).
inline beta_orders log_power_slopes(const beta_point& p, int m, int n) {
  beta_orders slopes;
  if (m > 0) slopes.at[1][0] = log_power_slope(p);
  if (n > 0) slopes.at[0][1] = log_power_slope(p.mirrored());
  for (int i = 0; i <= m; ++i) {
    for (int j = 0; j <= n; ++j) {
      if (i + j < 2) continue;
      const double order = i + j - 1;
      slopes.at[i][j] = j == 0   ? -polygamma_difference(order, p.a, p.b)
                        : i == 0 ? -polygamma_difference(order, p.b, p.a)
                                 : polygamma(order, p.a + p.b);
    }
  }
  return slopes;
}

/// Returns log(x) + digamma(a + b) - digamma(1 + a).
inline double log_series_slope(const beta_point& p) { return p.log_x + digamma_difference(1 + p.a, p.a + p.b, p.b - 1); }

/// Returns the derivatives of the logarithm of x^a / (a beta(a, b)).
inline beta_orders log_series_slopes(const beta_point& p, int m, int n) {
  const double total = p.a + p.b;
  beta_orders slopes;
  if (m > 0) slopes.at[1][0] = log_series_slope(p);
  if (n > 0) slopes.at[0][1] = digamma_difference(p.b, total, p.a);
  for (int i = 0; i <= m; ++i) {
    for (int j = 0; j <= n; ++j) {
      if (i + j < 2) continue;
      const double order = i + j - 1;
      slopes.at[i][j] = j == 0   ? polygamma(order, total) - polygamma(order, 1 + p.a)
                        : i == 0 ? -polygamma_difference(order, p.b, p.a)
                                 : polygamma(order, total);
    }
  }
  return slopes;
}

/// Returns those derivatives of the logarithm of f / b, for f = x^a y^b / beta(a, b), or for f = x^a / (a beta(a, b)) with
/// log_y = 0.
inline beta_orders without_b(const beta_point& p, beta_orders slopes, double log_y, int n) {
  slopes.at[0][1] = log_y + digamma_difference(1 + p.b, p.a + p.b, p.a - 1);
  for (int j = 2; j <= n; ++j) slopes.at[0][j] = polygamma(j - 1, p.a + p.b) - polygamma(j - 1, 1 + p.b);
  return slopes;
}

/// Returns b f.
inline beta_orders times_b(double b, const beta_orders& f) {
  beta_orders g;
  for (int i = 0; i <= highest_beta_order; ++i)
    for (int j = 0; j <= highest_beta_order; ++j) g.at[i][j] = b * f.at[i][j] + (j > 0 ? j * f.at[i][j - 1] : 0);
  return g;
}

}  // namespace agrad::detail
