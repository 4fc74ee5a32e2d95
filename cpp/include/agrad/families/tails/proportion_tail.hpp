// The logarithms of the tails of the beta distribution by mean and size, with derivatives by these.
//
// With the shapes a = mu kappa and b = (1 - mu) kappa, derivatives with respect to kappa and mu are sums over those with
// respect to a and b, which cancel where a shape is small: a tail is proportional to mu or to 1 - mu, whose logarithm is a term
// of its own here. What remains is smooth where both shapes are 0, and only there sums over a and b are taken.
// Read first: rules/beta/incomplete_beta.hpp, where the formulas of a and b are.
#pragma once

#include <agrad/rules/beta/betainc.hpp>
#include <agrad/rules/passing.hpp>

namespace agrad::detail {

/// The shapes of a point as mean and size; rest is 1 - mean.
struct proportion {
  double mean, rest, size;
  proportion mirrored() const { return {rest, mean, size}; }

  /// Returns f of the shapes as a function of size and mean, up to orders (m, n); f has all orders up to m + n together.
  beta_orders of(const beta_orders& f, int m, int n) const {
    constexpr double inverse_factorial[] = {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24};
    beta_orders of_a, of_b, power_a, result;
    of_a.at[1][0] = mean, of_a.at[0][1] = size, of_a.at[1][1] = 1;
    of_b.at[1][0] = rest, of_b.at[0][1] = -size, of_b.at[1][1] = -1;
    power_a.at[0][0] = 1;
    for (int i = 0; i <= m + n; ++i) {
      beta_orders power = power_a;
      for (int j = 0; i + j <= m + n; ++j) {
        const double weight = f.at[i][j] * inverse_factorial[i] * inverse_factorial[j];
        for (int s = 0; s <= m; ++s)
          for (int t = 0; t <= n; ++t) result.at[s][t] += passed(weight, power.at[s][t]);
        power = product(power, of_b, m, n);
      }
      power_a = product(power_a, of_a, m, n);
    }
    return result;
  }

 private:
  static beta_orders product(const beta_orders& f, const beta_orders& g, int m, int n) {
    beta_orders h;
    add_product(1, f, g, m, n, h);
    return h;
  }
};

/// Adds the derivatives of log(x) of an argument x, at[k] being that of order k.
template <class At>
void add_log_slopes(double x, int order, const At& at) {
  double slope = 1 / x;
  for (int k = 1; k <= order; ++k, slope *= -(k - 1) / x) at(k) += slope;
}

/// Returns the derivatives of the logarithm of gamma(1 + a + b) / (gamma(is_whole ? a : 1 + a) gamma(1 + b)), up to `order` in
/// all.
inline beta_orders proportion_gamma_slopes(double a, double b, bool is_whole, int order) {
  const double first = is_whole ? a : 1 + a, steps = is_whole ? 1 + b : b;
  beta_orders slopes;
  for (int i = 0; i <= order; ++i)
    for (int j = i == 0 ? 1 : 0; i + j <= order; ++j) {
      const double n = i + j - 1;
      slopes.at[i][j] = i > 0 && j > 0 ? polygamma(n, 1 + a + b)
                        : i > 0        ? -polygamma_difference(n, first, steps)
                                       : -polygamma_difference(n, 1 + b, a);
    }
  return slopes;
}

/// Returns the derivatives, by size and mean, of the slope by x of the log density.
inline beta_orders proportion_density_slope(const beta_point& p, const proportion& to, int k) {
  beta_orders slope = density_slope(p, k);
  const double of_a = slope.at[1][0], of_b = slope.at[0][1];
  slope.at[1][0] = to.mean * of_a + to.rest * of_b;
  slope.at[0][1] = to.size * (of_a - of_b);
  slope.at[1][1] = of_a - of_b;
  return slope;
}

/// Returns derivative (m, n, k) of the logarithm of a tail, for k > 0, from its slope by x; see log_tail_derivative.
inline double log_proportion_slope(const beta_point& p, const proportion& to, const beta_orders& hazard, double mean, int m,
                                   int n, int k) {
  beta_orders of[highest_beta_order + 1];
  of[0] = hazard;
  for (int s = 0; s + 1 < k; ++s)
    for (int t = 0; t <= s; ++t) {
      beta_orders bend = proportion_density_slope(p, to, s - t);
      for (int i = 0; i <= m; ++i)
        for (int j = 0; j <= n; ++j) bend.at[i][j] -= of[s - t].at[i][j];
      if (s == t && mean >= 0) bend.at[0][0] = -(mean + p.y - p.x) / p.x / p.y;
      add_product(binomial(s, t), of[t], bend, m, n, of[s + 1]);
    }
  return of[k - 1].at[m][n];
}

/// The tail below x, which is computed directly, as 1 - mean times the exponential of `sum`, up to orders (m, n).
struct proportion_tail {
  beta_tail tail;
  beta_orders sum, rest;  // rest is the logarithm of the tail's rest, of the shapes

  proportion_tail(const beta_point& p, const proportion& to, int m, int n, bool with_mean)
      : tail(direct_tail_below(p, m + n, m + n, with_mean)), rest(log_orders(tail.rest, m + n, m + n)) {
    beta_orders of_shapes = proportion_gamma_slopes(p.a, p.b, p.a >= 1, m + n);
    for (int i = 0; i <= m + n; ++i)
      for (int j = 0; i + j <= m + n; ++j) of_shapes.at[i][j] += rest.at[i][j];
    of_shapes.at[1][0] += p.log_x;
    if (p.a >= 1) of_shapes.at[0][1] += p.log_y;
    sum = to.of(of_shapes, m, n);
  }
  /// Returns the derivatives of the tail.
  beta_orders value(const proportion& to, int m, int n) const {
    beta_orders value = exp_orders(tail.value.at[0][0] / to.rest, sum, m, n);
    for (int i = 0; i <= m; ++i)
      for (int j = n; j >= 0; --j) value.at[i][j] = to.rest * value.at[i][j] - (j > 0 ? j * value.at[i][j - 1] : 0);
    return value;
  }
};

/// Returns derivative (m, n, k) with respect to size, mean and x of the logarithm of the tail below x that is computed
/// directly.
inline double log_proportion_below(const beta_point& p, const proportion& to, int m, int n, int k) {
  const proportion_tail below(p, to, m, n, k > 1);
  if (k == 0) return below.sum.at[m][n] - (m == 0 ? factorial_over_power(n - 1, to.rest) : 0);
  beta_orders of_shapes;
  for (int i = 0; i <= m + n; ++i)
    for (int j = 0; i + j <= m + n; ++j) of_shapes.at[i][j] = -below.rest.at[i][j];
  if (p.a < 1) of_shapes.at[0][1] += p.log_y;
  beta_orders hazard = to.of(of_shapes, m, n);
  if (p.a < 1) {
    add_log_slopes(to.size, m, [&](int i) -> double& { return hazard.at[i][0]; });
    add_log_slopes(to.mean, n, [&](int j) -> double& { return hazard.at[0][j]; });
  }
  const double slope = std::exp(below.tail.log_hazard.at[0][0]) / p.x / p.y;
  return log_proportion_slope(p, to, exp_orders(slope, hazard, m, n), below.tail.mean, m, n, k);
}

/// Does the same for 1 minus this tail.
inline double log_proportion_complement(const beta_point& p, const proportion& to, int m, int n, int k) {
  // For a small mean, both this tail and the density are proportional to it, which is divided out of mixed derivatives.
  // The terms of Taylor's series are as many as there are orders.
  const bool is_divided = n == 1 && m + k > 0 && p.a * (1 + 1 / p.b - p.log_x) < (m == 0 ? 3e-4 : 1e-5);
  const int of_mean = is_divided ? highest_beta_order - m : n;
  const proportion_tail direct(p, to, m, of_mean, false);
  const beta_orders below = direct.value(to, m, of_mean);
  beta_orders above;
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j) above.at[i][j] = i + j == 0 ? direct.tail.complement : -below.at[i][j];
  for (int i = 0; i <= m && is_divided; ++i) {  // the derivative of f / mean from Taylor's series of f, which vanishes at 0
    above.at[i][0] /= to.mean;
    above.at[i][1] = -below.at[i][2] / 2 + to.mean / 6 * below.at[i][3] - to.mean * to.mean / 24 * below.at[i][4];
  }
  const beta_orders log_above = log_orders(above, m, n);
  if (k == 0) return log_above.at[m][n];
  beta_orders density = proportion_gamma_slopes(p.a, p.b, false, m + n);
  density.at[1][0] += p.log_x, density.at[0][1] += p.log_y;
  beta_orders hazard = to.of(density, m, n);
  add_log_slopes(to.size, m, [&](int i) -> double& { return hazard.at[i][0]; });
  if (!is_divided) add_log_slopes(to.mean, n, [&](int j) -> double& { return hazard.at[0][j]; });
  for (int j = 1; j <= n; ++j) hazard.at[0][j] -= factorial_over_power(j - 1, to.rest);
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j) hazard.at[i][j] -= log_above.at[i][j];
  const double slope = -density_orders(p, 0, 0, 0, false).at[0][0] / direct.tail.complement;
  return log_proportion_slope(p, to, exp_orders(slope, hazard, m, n), -1, m, n, k);
}

/// Returns derivative (m, n, k) with respect to size, mean and x of the logarithm of the tail below x, or above x; not the
/// value.
inline double log_proportion_derivative(const beta_point& p, const proportion& to, bool is_upper, int m, int n, int k) {
  if (is_lower_direct(p)) return is_upper ? log_proportion_complement(p, to, m, n, k) : log_proportion_below(p, to, m, n, k);
  const beta_point q = p.mirrored();
  const proportion of = to.mirrored();
  const double mirrored = is_upper ? log_proportion_below(q, of, m, n, k) : log_proportion_complement(q, of, m, n, k);
  return (n + k) % 2 == 1 ? -mirrored : mirrored;
}

/// Derivative (m, n, k) with respect to size, mean and x of the logarithm of a tail of the beta distribution.
template <bool is_upper, int m, int n, int k>
struct proportion_tail_rule : rule<3> {
  static constexpr auto letters = with_digits<m, n, k>(is_upper ? "proportion_upper_tail" : "proportion_lower_tail");
  static constexpr std::string_view name = letters.data();
  static double value(double size, double mean, double x) {
    const proportion to{mean, 1 - mean, size};
    const double a = mean * size, b = to.rest * size;
    if (m + n + k == 0 || !(a > 0 && b > 0 && x > 0 && x < 1 && size < infinity)) {
      beta_orders of_shapes;
      for (int i = 0; i <= m + n; ++i)
        for (int j = 0; i + j <= m + n; ++j) of_shapes.at[i][j] = beta_tail_derivative(a, b, x, is_upper, true, i, j, k);
      return to.of(of_shapes, m, n).at[m][n];
    }
    return log_proportion_derivative(beta_point(a, b, x), to, is_upper, m, n, k);
  }
  /// The slopes of a tail of shapes that are not both small are those by the shapes, of one integral.
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double size, double mean,
                                 double x) {
    if (m + n + k == 0 && size > 1) {
      std::array<double, 3> of_shapes;
      const bool of_first = wanted[0] || wanted[1];
      const double tail =
          beta_tail_slopes(mean * size, (1 - mean) * size, x, is_upper, true, {of_first, of_first, wanted[2]}, of_shapes);
      slopes = {mean * of_shapes[0] + (1 - mean) * of_shapes[1], size * (of_shapes[0] - of_shapes[1]), of_shapes[2]};
      return tail;
    }
    slopes.fill(quiet_nan);
    if constexpr (m + n + k < highest_beta_derivative)
      slopes = {wanted[0] ? proportion_tail_rule<is_upper, m + 1, n, k>::value(size, mean, x) : 0,
                wanted[1] ? proportion_tail_rule<is_upper, m, n + 1, k>::value(size, mean, x) : 0,
                wanted[2] ? proportion_tail_rule<is_upper, m, n, k + 1>::value(size, mean, x) : 0};
    return value(size, mean, x);
  }
  template <int I, class T>
  static auto derivative(wrt<I>, const T& size, const T& mean, const T& x, const T&) {
    if constexpr (m + n + k == highest_beta_derivative)
      return T(quiet_nan);
    else
      return apply<proportion_tail_rule<is_upper, m + (I == 0), n + (I == 1), k + (I == 2)>>(size, mean, x);
  }
};

}  // namespace agrad::detail
