// The tail of the beta distribution that is computed directly: the one that does not hold the peak of the integrand, by
// rules/beta/beta_integral.hpp.
//
// The code is for the tail below x. Its logarithm and the derivatives of that are finite where the tail underflows, because no
// part of them contains its value. Read next: rules/beta/incomplete_beta.hpp, both tails with all derivatives.
#pragma once

#include <cmath>

#include <agrad/rules/beta/beta_integral.hpp>

namespace agrad::detail {

/// The tail below x that is computed directly: scale times rest. `scale` has the derivatives of the logarithm of the scale.
struct beta_tail {
  beta_scale scale;
  beta_orders slopes, rest, value;
  double complement, log_value;
  beta_orders log_hazard;  // of x y times the derivative of the logarithm of the tail with respect to x
  double mean = -1;        // of the integral, if computed
};

inline beta_tail direct_tail_below(const beta_point& p, int m, int n, bool with_mean = false) {
  beta_tail tail;
  const double a = p.a;
  if (a >= 1) {
    beta_integral integral;
    const bool is_short = has_short_series(p);
    if (!is_short || m + n > 1 || with_mean) integral = integral_below(p, m, n, with_mean);
    if (is_short) {
      const beta_series series = m + n == 0 ? positive_series_below<false>(p) : positive_series_below<true>(p);
      integral.value.at[0][0] = series.sum;
      if (m > 0) integral.value.at[1][0] = series.of_a;
      if (n > 0) integral.value.at[0][1] = series.of_b;
    }
    tail.scale = power_over_beta(p);
    tail.slopes = log_power_slopes(p, m, n);
    tail.rest = integral.value;
    if (with_mean) tail.mean = integral.mean;
    tail.value =
        p.b < 1 && n > 0
            ? times_b(p.b, exp_product(tail.scale.value() / p.b, without_b(p, tail.slopes, p.log_y, n), tail.rest, m, n))
            : exp_product(tail.scale.value(), tail.slopes, tail.rest, m, n);
    tail.complement = 1 - tail.value.at[0][0];
    tail.log_value = tail.scale.log_value() + std::log(tail.rest.at[0][0]);
    tail.log_hazard = log_orders(tail.rest, m, n);
    for (auto& row : tail.log_hazard.at)
      for (double& entry : row) entry = -entry;
    return tail;
  }
  const beta_orders sum = series_below(p, m, n);
  const double log_scale = a * p.log_x - log_a_beta(a, p.b);
  tail.scale = {1, log_scale};
  tail.slopes = log_series_slopes(p, m, n);
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j) tail.rest.at[i][j] = a * sum.at[i][j] + (i > 0 ? i * sum.at[i - 1][j] : i + j == 0 ? 1 : 0);
  const double scale = std::exp(log_scale);
  tail.value = p.b < a && n > 0 ? times_b(p.b, exp_product(scale / p.b, without_b(p, tail.slopes, 0, n), tail.rest, m, n))
                                : exp_product(scale, tail.slopes, tail.rest, m, n);
  tail.complement = -std::expm1(log_scale) - scale * a * sum.at[0][0];
  if (!(tail.value.at[0][0] > 0.5)) tail.complement = 1 - tail.value.at[0][0];
  tail.log_value = tail.value.at[0][0] > 0.5 ? std::log1p(-tail.complement) : log_scale + std::log1p(a * sum.at[0][0]);
  const beta_orders log_rest = log_orders(tail.rest, m, n);
  double factorial = 1;
  for (int i = 0; i <= m; ++i) {
    if (i > 1) factorial *= 1 - i;
    for (int j = 0; j <= n; ++j) {
      const double power = j > 0 ? 0 : i == 0 ? std::log(a) : factorial / std::pow(a, i);
      tail.log_hazard.at[i][j] = power + (i > 0 ? 0 : j == 0 ? p.b * p.log_y : j == 1 ? p.log_y : 0) - log_rest.at[i][j];
    }
  }
  return tail;
}

/// Returns whether the tail below x is the one to compute directly.
inline bool is_lower_direct(const beta_point& p) {
  if (p.a >= 1 && p.b >= 1) return p.excess >= 0;
  if (p.a < 1 && p.b < 1) return p.x <= 0.5;
  const double total = p.a + p.b;
  return p.a < 1 ? p.x <= (p.a + 1) / (total + 1) : p.y > (p.b + 1) / (total + 1);
}

/// Returns the tail below x, or that above x, or its logarithm, from the three numbers that have the digits of all.
inline double tail_value(double below, double complement, double log_below, bool is_upper, bool is_log) {
  if (!is_log) return is_upper ? complement : below;
  if (!is_upper) return log_below;
  return below < 0.5 ? std::log1p(-below) : std::log(complement);
}
inline double tail_value(const beta_tail& tail, bool is_upper, bool is_log) {
  return tail_value(tail.value.at[0][0], tail.complement, tail.log_value, is_upper, is_log);
}

}  // namespace agrad::detail
