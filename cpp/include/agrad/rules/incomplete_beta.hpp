// The regularised incomplete beta function of doubles, its complement, their logarithms, and derivatives with respect to all three
// arguments.
//
// With u = log(t / (1 - t)) the integrand is t^a (1 - t)^b: it has its one peak at t = a / (a + b) and no singular end. Divided by
// its value at x, it falls from 1 to exp(-42) on the side away from the peak, and a derivative with respect to a or b is one more
// factor log(t / x) or log((1 - t) / (1 - x)), of one sign. So nothing cancels in the tail on that side, and as many
// Gauss-Legendre nodes are enough for all a and b >= 1, however large. For a < 1, where the integral is nearly 1 / a, a
// power series has the rest. The other tail is 1 minus this tail, or this tail of the mirrored arguments b, a, 1 - x.
// Read next: rules/beta_factor.hpp, the factor and the arithmetic of functions with derivatives; rules/betainc.hpp, the rules.
#pragma once

#include <cmath>

#include <agrad/rules/beta_factor.hpp>
#include <agrad/rules/incomplete_gamma.hpp>

namespace agrad::detail {

/// log(y + x e^w) - y w for x + y = 1, the cumulant function of a Bernoulli variable about its mean, without cancellation.
inline double bernoulli_rest(double x, double y, double w) {
  if (y <= x) {
    const double v = y * std::expm1(w);
    return w < 0.7 && v < 0.7 ? y * exp_rest(w) - log1p_rest(v) : std::log1p(v) - y * w;
  }
  const double v = x * std::expm1(-w);
  return w < 0.7 ? x * exp_rest(-w) - log1p_rest(v) : std::log1p(v) + x * w;
}

/// The same where few digits of it are needed.
inline double bernoulli_rest_plain(double x, double y, double w) {
  return y <= x ? std::log1p(y * std::expm1(w)) - y * w : std::log1p(x * std::expm1(-w)) + x * w;
}

/// The first coefficients of Taylor's series of bernoulli_rest in w, without w^2; for w <= 0.6.
struct bernoulli_series {
  static constexpr int count = 16;
  double coefficient[count];
  bernoulli_series(double x, double y) {
    double s[count + 1] = {y, x * y};  // of y e^w / (x + y e^w), whose derivative is s (1 - s)
    for (int k = 1; k < count; ++k) {
      double sum = (x - y) * s[k];
      for (int i = 1; i < k; ++i) sum -= s[i] * s[k - i];
      s[k + 1] = sum / (k + 1);
    }
    for (int k = 0; k < count; ++k) coefficient[k] = s[k + 1] / (k + 2);
  }
  double operator()(double w) const { return w * w * horner(coefficient, w); }
};

/// The end of the integral: the exponent there is about -42.
inline double deepest_below(const beta_point& p) {
  constexpr double deepest = 42;
  const double x = p.x, y = p.y, d = p.excess, total = p.a + p.b;
  double end = 2 * deepest / (d + std::sqrt(d * d + 2 * deepest * total * x * y));
  for (int i = 0; i < 40; ++i) {  // Newton's method
    const double shrunk = x * std::exp(-end), slope = p.a - total * shrunk / (y + shrunk);
    const double over = total < 1e10 ? p.a * end + total * std::log(y + shrunk) - deepest
                                     : d * end + total * bernoulli_rest_plain(x, y, end) - deepest;
    if (std::abs(over) < 2) break;
    end -= over / slope;
  }
  return end;
}

/// Calls use(w, rest, term) for each node of the integral of the divided integrand below x, for a >= 1 and x below the peak: the
/// integral is the sum of the terms; rest is bernoulli_rest(w), or, if `is_rough`, a close number.
template <class Use>
void each_node_below(const beta_point& p, bool is_rough, const Use& use) {
  constexpr double nodes[] = {0.9931285991850949, 0.9639719272779138, 0.912234428251326,  0.8391169718222188,
                              0.7463319064601508, 0.636053680726515,  0.5108670019508271, 0.37370608871541955,
                              0.2277858511416451, 0.07652652113349734};
  constexpr double weights[] = {0.017614007139152118, 0.04060142980038694, 0.06267204833410907, 0.08327674157670475,
                                0.10193011981724044,  0.11819453196151841, 0.13168863844917664, 0.14209610931838204,
                                0.14917298647260374,  0.15275338713072584};
  const double x = p.x, y = p.y, d = p.excess, total = p.a + p.b, end = deepest_below(p);
  const auto integrate = [&](const auto& rest_at) {
    const bool is_long = end > 8;  // then the integrand is not close to one function of w / end
    const double cuts[] = {0, (is_long ? 0.08 : 0.3) * end, (is_long ? 0.3 : 1) * end, end};
    for (int panel = 0; panel < (is_long ? 3 : 2); ++panel) {
      const double half = 0.5 * (cuts[panel + 1] - cuts[panel]);
      for (int i = 0; i < 20; ++i) {
        const int k = i < 10 ? i : i - 10;
        const double w = cuts[panel] + half * (i < 10 ? 1 - nodes[k] : 1 + nodes[k]), rest = rest_at(w);
        use(w, rest, weights[k] * half * std::exp(-d * w - total * rest));
      }
    }
  };
  if (total < 200 && p.a * end < 300 && is_rough)
    integrate([&](double w) { return std::log(y + x * std::exp(-w)) + x * w; });
  else if (end < 0.6)
    integrate(bernoulli_series(x, y));
  else if (total * (x < y ? x : y) * end < 100)
    integrate([&](double w) { return bernoulli_rest_plain(x, y, w); });
  else
    integrate([&](double w) { return bernoulli_rest(x, y, w); });
}

/// That integral with derivatives with respect to a and b up to orders (m, n).
struct beta_integral {
  beta_orders value;
  double mean = 0;  // of (a + b) (x - t), if wanted
};
inline beta_integral integral_below(const beta_point& p, int m, int n, bool with_mean) {
  beta_integral sum;
  const double x = p.x, y = p.y;
  each_node_below(p, m + n == 0, [&](double w, double rest, double column) {
    if (with_mean) sum.mean -= column * std::expm1(-y * w - rest);
    for (int s = 0; s <= m; ++s, column *= -y * w - rest) {
      double term = column;
      for (int t = 0; t <= n; ++t, term *= x * w - rest) sum.value.at[s][t] += term;
    }
  });
  sum.mean *= (p.a + p.b) * x / sum.value.at[0][0];
  return sum;
}

/// The sum of (1 - b)_k x^k / (k! (a + k)) over k > 0 with derivatives: for a < 1 the tail below x is
/// x^a / (a beta(a, b)) (1 + a sum) (DLMF 8.17.7).
inline beta_orders series_below(const beta_point& p, int m, int n) {
  beta_orders sum;
  double power[highest_beta_order + 1] = {1};  // (1 - b)_k x^k / k! with derivatives with respect to b
  for (int k = 1; k < 2000; ++k) {
    bool is_small = true;
    for (int t = n; t >= 0; --t) {
      power[t] = ((k - p.b) * power[t] - (t > 0 ? t * power[t - 1] : 0)) * (p.x / k);
      double term = power[t] / (p.a + k);
      for (int s = 0; s <= m; ++s, term *= -s / (p.a + k)) {
        sum.at[s][t] += term;
        is_small = is_small && std::abs(term) <= 1e-17 * std::abs(sum.at[s][t]);
      }
    }
    if (is_small) break;
  }
  return sum;
}

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
    const beta_integral integral = integral_below(p, m, n, with_mean);
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

/// Whether the tail below x is the one to compute directly.
inline bool is_lower_direct(const beta_point& p) {
  if (p.a >= 1 && p.b >= 1) return p.excess >= 0;
  if (p.a < 1 && p.b < 1) return p.x <= 0.5;
  const double total = p.a + p.b;
  return p.a < 1 ? p.x <= (p.a + 1) / (total + 1) : p.y > (p.b + 1) / (total + 1);
}

/// The derivatives of the logarithm of the density x^(a - 1) y^(b - 1) / beta(a, b) of order k + 1 with respect to x.
inline beta_orders density_slope(const beta_point& p, int k) {
  beta_orders slope;
  double of_a = 1 / p.x, of_b = -1 / p.y;
  for (int i = 1; i <= k; ++i) of_a *= -i / p.x, of_b *= i / p.y;
  slope.at[0][0] = (p.a - 1) * of_a + (p.b - 1) * of_b;
  slope.at[1][0] = of_a;
  slope.at[0][1] = of_b;
  return slope;
}

/// The density, or its derivative of order k with respect to x; with `is_divided` the density over a.
inline beta_orders density_orders(const beta_point& p, int m, int n, int k, bool is_divided) {
  const beta_scale power = power_over_beta(p);
  double value = power.value() / p.x / p.y;
  if (!(power.value() > 1e-280)) value = power.factor * std::exp(power.exponent - p.log_x - p.log_y);
  beta_orders slopes = log_power_slopes(p, m, n), of[highest_beta_order + 1];
  if (is_divided) slopes.at[1][0] = log_series_slope(p);
  of[0] = exp_orders(is_divided ? value / p.a : value, slopes, m, n);
  for (int s = 0; s < k; ++s)
    for (int t = 0; t <= s; ++t) add_product(binomial(s, t), of[t], density_slope(p, s - t), m, n, of[s + 1]);
  return of[k];
}

/// The same of the logarithm of a tail, for k > 0. `hazard` is the derivative of the logarithm with respect to x. `mean`, if not
/// negative, has the second derivative without cancellation.
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

/// Derivative (m, n, k) of the logarithm of 1 minus the tail below x that is computed directly.
inline double log_complement_derivative(const beta_point& p, int m, int n, int k) {
  // For small a, both this tail and the density are proportional to a, which is divided out of mixed derivatives.
  const bool is_divided = m == 1 && n + k > 0 && p.a * (1 + 1 / p.b - p.log_x) < 3e-4;
  const double a = p.a;
  const beta_tail tail = direct_tail_below(p, is_divided ? 4 : m, n);
  if (m + n + k == 0) return tail.value.at[0][0] < 0.5 ? std::log1p(-tail.value.at[0][0]) : std::log(tail.complement);
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

/// Derivative (m, n, k) with respect to a, b and x of the tail below x, or above x, or of its logarithm, where all is finite.
inline double inner_beta_derivative(const beta_point& p, bool is_upper, bool is_log, int m, int n, int k) {
  if (!is_log && k > 0) return (is_upper ? -1 : 1) * density_orders(p, m, n, k - 1, false).at[m][n];
  if (!is_lower_direct(p)) {  // mirrored, where derivatives with respect to x change their sign
    const double mirrored = inner_beta_derivative(p.mirrored(), !is_upper, is_log, n, m, k);
    return k % 2 == 1 ? -mirrored : mirrored;
  }
  if (is_upper && is_log) return log_complement_derivative(p, m, n, k);
  const beta_tail tail = direct_tail_below(p, m, n, is_log && k > 1);
  if (is_upper) return m + n == 0 ? tail.complement : -tail.value.at[m][n];
  if (!is_log) return tail.value.at[m][n];
  if (k == 0) return m + n == 0 ? tail.log_value : tail.slopes.at[m][n] + log_orders(tail.rest, m, n).at[m][n];
  const double hazard = std::exp(tail.log_hazard.at[0][0]) / p.x / p.y;
  return log_tail_derivative(p, exp_orders(hazard, tail.log_hazard, m, n), tail.mean, m, n, k);
}

/// The value at the ends of the domain; derivatives with respect to a and b are those of the limit.
inline double outer_beta_derivative(double a, double b, double x, bool is_upper, bool is_log, int m, int n, int k) {
  const bool is_one = a == 0 || x == 1 || b == infinity, is_zero = b == 0 || x == 0 || a == infinity;
  if (is_one == is_zero) return quiet_nan;
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
  return quiet_nan;
}

/// Derivative (m, n, k) with respect to a, b and x of I_x(a, b) or of 1 - I_x(a, b), or of its logarithm.
inline double beta_tail_derivative(double a, double b, double x, bool is_upper, bool is_log, int m, int n, int k) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return quiet_nan;
  if (a == 0 || b == 0 || x == 0 || x == 1 || a == infinity || b == infinity)
    return outer_beta_derivative(a, b, x, is_upper, is_log, m, n, k);
  return inner_beta_derivative(beta_point(a, b, x), is_upper, is_log, m, n, k);
}

}  // namespace agrad::detail
