// The regularised incomplete beta function of doubles, its complement, their logarithms, and derivatives with respect to all
// three arguments.
//
// One tail is computed directly (rules/beta/beta_tail.hpp). The other tail is 1 minus this tail. The code is for the tail below
// x; the tail above x is that of the mirrored arguments b, a, 1 - x. Read next: rules/beta/betainc.hpp, the rules.
#pragma once

#include <array>
#include <cmath>
#include <utility>

#include <agrad/rules/beta/beta_tail.hpp>

namespace agrad::detail {

/// Returns the derivatives of the logarithm of the density x^(a - 1) y^(b - 1) / beta(a, b) of order k + 1 with respect to x,
/// times unit to that power.
inline beta_orders density_slope(const beta_point& p, int k, double unit = 1) {
  beta_orders slope;
  double of_a = unit / p.x, of_b = -unit / p.y;
  for (int i = 1; i <= k; ++i) of_a *= -i * (unit / p.x), of_b *= i * (unit / p.y);
  slope.at[0][0] = (p.a - 1) * of_a + (p.b - 1) * of_b;
  slope.at[1][0] = of_a;
  slope.at[0][1] = of_b;
  return slope;
}

/// Returns the density, or its derivative of order k with respect to x; with `is_divided` the density over a.
inline beta_orders density_orders(const beta_point& p, int m, int n, int k, bool is_divided) {
  const beta_scale power = power_over_beta(p);
  const bool is_tiny = !(power.value() > 1e-280);  // then powers of x go from the slopes to the exponent
  double value = power.value() / p.x / p.y;
  if (is_tiny) value = power.factor * std::exp(power.exponent - (k + 1) * p.log_x - p.log_y);
  beta_orders slopes = log_power_slopes(p, m, n), of[highest_beta_order + 1];
  if (is_divided) slopes.at[1][0] = log_series_slope(p);
  of[0] = exp_orders(is_divided ? value / p.a : value, slopes, m, n);
  for (int s = 0; s < k; ++s)
    for (int t = 0; t <= s; ++t)
      add_product(binomial(s, t), of[t], density_slope(p, s - t, is_tiny ? p.x : 1), m, n, of[s + 1]);
  return of[k];
}

/// Does the same for the logarithm of a tail, for k > 0. `hazard` is the derivative of the logarithm with respect to x. `mean`,
/// if not negative, has the second derivative without cancellation.
inline double log_tail_derivative(const beta_point& p, const beta_orders& hazard, double mean, int m, int n, int k) {
  beta_orders of[highest_beta_order + 1], bend[highest_beta_order + 1];
  of[0] = hazard;
  for (int s = 0; s + 1 < k; ++s) {
    bend[s] = density_slope(p, s);
    for (int i = 0; i <= m; ++i)
      for (int j = 0; j <= n; ++j) bend[s].at[i][j] -= of[s].at[i][j];
    if (s == 0 && mean >= 0) bend[0].at[0][0] = -(mean + p.y - p.x) / p.x / p.y;
    for (int t = 0; t <= s; ++t) add_product(binomial(s, t), of[t], bend[s - t], m, n, of[s + 1]);
  }
  return of[k - 1].at[m][n];
}

/// Returns derivative (m, n, k) of the logarithm of 1 minus the tail below x that is computed directly.
inline double log_complement_derivative(const beta_point& p, int m, int n, int k) {
  // For small a, both this tail and the density are proportional to a, which is divided out of mixed derivatives.
  const bool is_divided = m == 1 && n + k > 0 && p.a * (1 + 1 / p.b - p.log_x) < 3e-4;
  const double a = p.a;
  const beta_tail tail = direct_tail_below(p, is_divided ? 4 : m, n);
  if (m + n + k == 0) return tail_value(tail, true, true);
  beta_orders rest;
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j) rest.at[i][j] = i + j == 0 ? tail.complement : -tail.value.at[i][j];
  for (int j = 0; j <= n && is_divided; ++j) {  // the derivative of f / a from Taylor's series of f, which vanishes at a = 0
    rest.at[0][j] /= a;
    rest.at[1][j] = -tail.value.at[2][j] / 2 + a / 6 * tail.value.at[3][j] - a * a / 24 * tail.value.at[4][j];
  }
  beta_orders inverse = log_orders(rest, m, n);
  if (k == 0) return inverse.at[m][n];
  for (auto& row : inverse.at)
    for (double& entry : row) entry = -entry;
  const double factor = -1 / rest.at[0][0];
  const beta_orders hazard = exp_product(factor, inverse, density_orders(p, m, n, 0, is_divided), m, n);
  return log_tail_derivative(p, hazard, -1, m, n, k);
}

/// Returns derivative (m, n, k) with respect to a, b and x of the tail below x, or above x, or of its logarithm, where all is
/// finite.
inline double inner_beta_derivative(const beta_point& p, bool is_upper, bool is_log, int m, int n, int k) {
  if (!is_log && k > 0) return (is_upper ? -1 : 1) * density_orders(p, m, n, k - 1, false).at[m][n];
  if (!is_lower_direct(p)) {  // mirrored, where derivatives with respect to x change their sign
    const double mirrored = inner_beta_derivative(p.mirrored(), !is_upper, is_log, n, m, k);
    return k % 2 == 1 ? -mirrored : mirrored;
  }
  if (is_upper && is_log) return log_complement_derivative(p, m, n, k);
  const beta_tail tail = direct_tail_below(p, m, n, is_log && k > 1);
  if (m + n + k == 0) return tail_value(tail, is_upper, is_log);
  if (is_upper) return -tail.value.at[m][n];
  if (!is_log) return tail.value.at[m][n];
  if (k == 0) return tail.slopes.at[m][n] + log_orders(tail.rest, m, n).at[m][n];
  const double hazard = std::exp(tail.log_hazard.at[0][0]) / p.x / p.y;
  return log_tail_derivative(p, exp_orders(hazard, tail.log_hazard, m, n), tail.mean, m, n, k);
}

/// Returns the tail below x, or above x, or its logarithm, with the wanted ones of the first derivatives, from one series.
inline double short_beta_slopes(const beta_point& p, const beta_scale& scale, bool is_upper, bool is_log,
                                const std::array<bool, 3>& wanted, std::array<double, 3>& slopes) {
  const beta_series rest = positive_series_below<true>(p);
  const double power = scale.value(), below = power * rest.sum, above = 1 - below;
  const double factor = is_log ? (is_upper ? -1 / above : 1 / below) : is_upper ? -1 : 1;
  slopes = {wanted[0] ? factor * below * (log_power_slope(p) + rest.of_a / rest.sum) : 0,
            wanted[1] ? factor * below * (log_power_slope(p.mirrored()) + rest.of_b / rest.sum) : 0,
            wanted[2] ? factor * (power / p.x / p.y) : 0};
  return tail_value(below, above, is_log && !is_upper ? scale.log_value() + std::log(rest.sum) : 0, is_upper, is_log);
}

/// Returns a tail or its logarithm, with the wanted ones of the first derivatives with respect to a, b and x from one integral.
/// That of a tail by x is the density of the point that is not mirrored.
inline double inner_beta_slopes(const beta_point& p, bool is_upper, bool is_log, const std::array<bool, 3>& wanted,
                                std::array<double, 3>& slopes) {
  if (!is_lower_direct(p)) {
    const std::array<bool, 3> of_mirrored{wanted[1], wanted[0], wanted[2]};
    const double value = inner_beta_slopes(p.mirrored(), !is_upper, is_log, of_mirrored, slopes);
    std::swap(slopes[0], slopes[1]);
    slopes[2] = !wanted[2] ? 0 : is_log ? -slopes[2] : inner_beta_derivative(p, is_upper, false, 0, 0, 1);
    return value;
  }
  if (has_short_series(p)) {
    const beta_scale scale = power_over_beta(p);
    if (scale.value() > 1e-280) return short_beta_slopes(p, scale, is_upper, is_log, wanted, slopes);
  }
  const int m = wanted[0], n = wanted[1];
  const beta_tail tail = direct_tail_below(p, m, n);
  slopes = {};
  if (is_log && !is_upper) {
    const beta_orders logarithm = log_orders(tail.rest, m, n);
    if (wanted[0]) slopes[0] = tail.slopes.at[1][0] + logarithm.at[1][0];
    if (wanted[1]) slopes[1] = tail.slopes.at[0][1] + logarithm.at[0][1];
    if (wanted[2]) slopes[2] = std::exp(tail.log_hazard.at[0][0]) / p.x / p.y;
  } else {
    const double factor = is_upper ? (is_log ? -1 / tail.complement : -1) : 1;
    slopes = {factor * tail.value.at[1][0], factor * tail.value.at[0][1], 0};
    if (wanted[2]) slopes[2] = factor * density_orders(p, 0, 0, 0, false).at[0][0];
  }
  if (m + n > 0) return inner_beta_derivative(p, is_upper, is_log, 0, 0, 0);  // by fewer nodes, and the same in every engine
  return tail_value(tail, is_upper, is_log);
}

/// Returns the value at the ends of the domain; derivatives with respect to a and b are those of the limit.
inline double outer_beta_derivative(double a, double b, double x, bool is_upper, bool is_log, int m, int n, int k) {
  const bool is_one = a == 0 || x == 1 || b == infinity, is_zero = b == 0 || x == 0 || a == infinity;
  if (is_one == is_zero) {  // no limit; at the ends of x the value is that of a distribution function, as SciPy has it
    if (m + n + k > 0 || (x != 0 && x != 1) || a == b) return quiet_nan;
    return (x == 1) == is_upper ? (is_log ? -infinity : 0) : (is_log ? 0 : 1);
  }
  if (m + n + k == 0) return is_one == is_upper ? (is_log ? -infinity : 0) : (is_log ? 0 : 1);
  if (x != 0 && x != 1) return 0;
  if (k == 0) {
    if (!is_log || is_one != is_upper) return 0;
    const bool by_base = (x == 0 ? n : m) == 0;  // the tail is proportional to x^a / (a beta(a, b))
    if (by_base && (x == 0 ? m : n) == 1) return -infinity;
    const beta_point p(a, b, 0.5);
    return x == 0 ? log_series_slopes(p, m, n).at[m][n] : log_series_slopes(p.mirrored(), n, m).at[n][m];
  }
  const double shape = x == 0 ? a : b, other = x == 0 ? b : a, sign = is_upper ? -1 : 1;
  if (is_log && is_one == is_upper) return k % 2 == 1 ? sign * infinity : -infinity;
  if (m + n > 0) return shape > 1 ? 0 : quiet_nan;
  if (k == 1) return shape > 1 ? 0 : shape < 1 ? sign * infinity : sign * other;
  if (k > 2) return quiet_nan;
  const double slope = shape > 2 ? 0 : shape == 2 ? other * (other + 1) : shape == 1 ? -other * (other - 1) : infinity;
  const double second = (x == 0 ? sign : -sign) * (shape < 1 ? -slope : slope);
  return is_log && shape == 1 ? second - other * other : second;  // the slope of the tail, which is 1, is other or -other
}

/// Returns the tail where a + b overflows: a step at the mean.
inline double steep_beta_tail(double a, double b, double x, bool is_upper, bool is_log, int order) {
  const double mean = 0.5 * a / (0.5 * a + 0.5 * b), half = a == b ? 0.5 : quiet_nan;
  if (order > 0) return x == mean ? quiet_nan : 0;
  const double tail = x == mean ? half : (x < mean) == is_upper ? 1 : 0;
  return is_log ? std::log(tail) : tail;
}

/// Returns derivative (m, n, k) with respect to a, b and x of I_x(a, b) or of 1 - I_x(a, b), or of its logarithm.
inline double beta_tail_derivative(double a, double b, double x, bool is_upper, bool is_log, int m, int n, int k) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return quiet_nan;
  if (a == 0 || b == 0 || x == 0 || x == 1 || a == infinity || b == infinity)
    return outer_beta_derivative(a, b, x, is_upper, is_log, m, n, k);
  double& shape = is_upper ? a : b;  // the tail is proportional to a tiny shape, and rounded once only where that is scaled
  if (!is_log && m + n + k == 0 && shape < 1e-290 && (is_upper ? b : a) > 1e-200) {
    shape = std::ldexp(shape, 200);
    return std::ldexp(inner_beta_derivative(beta_point(a, b, x), is_upper, is_log, m, n, k), -200);
  }
  if (a + b == infinity) return steep_beta_tail(a, b, x, is_upper, is_log, m + n + k);
  return inner_beta_derivative(beta_point(a, b, x), is_upper, is_log, m, n, k);
}

/// Does the same, with the wanted ones of the first derivatives.
inline double beta_tail_slopes(double a, double b, double x, bool is_upper, bool is_log, const std::array<bool, 3>& wanted,
                               std::array<double, 3>& slopes) {
  if (a > 1e-200 && b > 1e-200 && x > 0 && x < 1 && a + b < infinity)
    return inner_beta_slopes(beta_point(a, b, x), is_upper, is_log, wanted, slopes);
  const auto of = [&](int m, int n, int k) { return beta_tail_derivative(a, b, x, is_upper, is_log, m, n, k); };
  slopes = {wanted[0] ? of(1, 0, 0) : 0, wanted[1] ? of(0, 1, 0) : 0, wanted[2] ? of(0, 0, 1) : 0};
  return of(0, 0, 0);
}

}  // namespace agrad::detail
