// The logarithm of the modified Bessel function of the first kind, of real orders v >= -1, as a function of doubles, with all
// derivatives with respect to the order and the argument up to order 3.
//
// There are three formulas, none of which loses digits where it is used: the power series, whose terms are positive; for small
// orders Schlaefli's integral, because the derivative with respect to the order is far smaller than the parts it has by the
// series; and from hypot(v, z) = 30 on Debye's expansion (rules/bessel/bessel_modified.hpp). Each makes a table of the
// derivatives of a sum, whose logarithm follows by recurrences. Read next: rules/bessel/bessel_orders.hpp, the rules.
#pragma once

#include <cmath>

#include <agrad/rules/bessel/bessel_modified.hpp>
#include <agrad/rules/bessel/bessel_moments.hpp>
#include <agrad/rules/beta/beta_factor.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// The highest order of derivatives of the logarithm of the first kind.
inline constexpr int highest_log_bessel_derivative = 3;

/// Derivatives at[m][n] with respect to v and z, for m + n <= 3.
using bessel_table = beta_orders;

/// Turns derivatives of orders (m, n) with respect to v and log z into those with respect to v and z.
inline bessel_table by_argument(const bessel_table& of, double z) {
  bessel_table f = of;
  for (int m = 0; m <= 2; ++m) f.at[m][1] = of.at[m][1] / z;
  for (int m = 0; m <= 1; ++m) f.at[m][2] = (of.at[m][2] - of.at[m][1]) / z / z;
  f.at[0][3] = (of.at[0][3] - 3 * of.at[0][2] + 2 * of.at[0][1]) / z / z / z;
  return f;
}

/// The largest number of terms of the power series below hypot(v, z) = 30.
inline constexpr int bessel_series_terms = 128;

/// Returns the logarithm of the sum of (z^2 / 4)^k / (k! (v + 1) ... (v + k)) over k, for v > -1.
inline bessel_table log_bessel_series(double v, double z) {
  // Below z = 1 derivatives by z are those of the powers of z, which keep the digits of small numbers; above, derivatives by
  // log z are central moments.
  const bool is_small = z < 1;
  double term[bessel_series_terms] = {1}, slope[bessel_series_terms][3] = {};
  const double square = 0.25 * z * z;
  double sum = 1, mean = 0, mean_slope = 0;
  int count = 1;
  for (int k = 1; k < bessel_series_terms; ++k, ++count) {
    const double inverse = 1 / (v + k), factor = is_small && k == 1 ? 0.25 : square;
    term[k] = term[k - 1] * factor / k * inverse;  // over z^2 if small, so that a tiny z does not underflow
    slope[k][0] = slope[k - 1][0] + inverse;
    slope[k][1] = slope[k - 1][1] + inverse * inverse;
    slope[k][2] = slope[k - 1][2] + inverse * inverse * inverse;
    sum += term[k];
    mean += k * term[k];
    mean_slope += slope[k][0] * term[k];
    if (term[k] < 1e-19 * (is_small ? term[1] : sum)) break;
  }
  mean = is_small ? 0 : mean / sum;
  mean_slope = is_small ? 0 : mean_slope / sum;
  bessel_table f;
  for (int k = is_small ? 1 : 0; k < std::min(count + 1, bessel_series_terms); ++k) {
    const double by = slope[k][0] - mean_slope, n = 2 * (k - mean);
    const double of_order[] = {1, -by, by * by + slope[k][1], -by * (by * by + 3 * slope[k][1]) - 2 * slope[k][2]};
    const double power = 2.0 * k;
    const double of_argument[] = {is_small ? z * z : 1, is_small ? power * z : n, is_small ? power * (power - 1) : n * n,
                                  is_small ? power * (power - 1) * (power - 2) / z : n * n * n};
    for (int i = 0; i <= 3; ++i)
      for (int j = 0; i + j <= 3; ++j)
        f.at[i][j] += term[k] * of_order[i] * (is_small && k == 1 && j == 3 ? 0 : of_argument[j]);
  }
  const double rest = f.at[0][0];
  if (is_small) f.at[0][0] += 1;
  bessel_table g = log_orders(f, 3, 3);
  if (is_small) {
    g.at[0][0] = std::log1p(rest);
    return g;
  }
  g.at[1][0] -= mean_slope;
  g.at[0][1] += 2 * mean;
  return by_argument(g, z);
}

/// Computes the derivatives by the power series.
inline bessel_table log_bessel_by_series(double v, double z) {
  bessel_table g = log_bessel_series(v, z);
  const double log_half = std::log(0.5 * z), log_gamma = std::abs(v) <= 0.5 ? lgamma1p(v) : lgamma_rule::value(v + 1);
  g.at[0][0] += (v == 0 ? 0 : v * log_half) - log_gamma;
  g.at[1][0] += log_half - digamma(v + 1);
  g.at[0][1] += v / z;
  g.at[2][0] -= polygamma(1, v + 1);
  g.at[1][1] += 1 / z;
  g.at[0][2] -= v / z / z;
  g.at[3][0] -= polygamma(2, v + 1);
  g.at[1][2] -= 1 / z / z;
  g.at[0][3] += 2 * v / z / z / z;
  return g;
}

/// Computes the derivatives close to v = -1, where the first term of the series vanishes, from the orders v + 1 and v + 2 (DLMF
/// 10.29.1).
inline bessel_table log_bessel_by_recurrence(double v, double z) {
  const bessel_table here = log_bessel_by_series(v + 1, z), next = log_bessel_by_series(v + 2, z);
  bessel_table slopes;
  for (int i = 0; i <= 3; ++i)
    for (int j = 0; i + j <= 3; ++j) slopes.at[i][j] = next.at[i][j] - here.at[i][j];
  // z I_v / I_{v + 1} is 2 (v + 1) + z I_{v + 2} / I_{v + 1}
  const bessel_table ratio = exp_orders(std::exp(slopes.at[0][0]), slopes, 3, 3);
  bessel_table f;
  for (int i = 0; i <= 3; ++i)
    for (int j = 0; i + j <= 3; ++j) f.at[i][j] = z * ratio.at[i][j] + (j > 0 ? j * ratio.at[i][j - 1] : 0);
  f.at[0][0] += 2 * (v + 1);
  f.at[1][0] += 2;
  bessel_table g = log_orders(f, 3, 3);
  for (int i = 0; i <= 3; ++i)
    for (int j = 0; i + j <= 3; ++j) g.at[i][j] += here.at[i][j];
  g.at[0][0] -= std::log(z);
  g.at[0][1] -= 1 / z;
  g.at[0][2] += 1 / z / z;
  g.at[0][3] -= 2 / z / z / z;
  return g;
}

/// Computes the derivatives by Schlaefli's integral (DLMF 10.32.4), for small v and 2 < z < 30.
inline bessel_table log_bessel_by_integral(double v, double z) {
  bessel_table f, second;  // of exp(-z) I_v(z), and of the second integral
  const auto integrate = [](double from, double to, const auto& add) {
    const double half = 0.5 * (to - from);
    for (int i = 0; i < 32; ++i) {
      const double node = i < 16 ? -gauss_nodes[i] : gauss_nodes[31 - i];
      add(from + half * (1 + node), half * gauss_weights[i < 16 ? i : 31 - i]);
    }
  };
  const auto on_circle = [&](double t, double weight) {
    const double half = std::sin(0.5 * t), fall = -2 * half * half, c = std::cos(v * t), s = std::sin(v * t);
    const double of_order[] = {c, -t * s, -t * t * c, t * t * t * s};
    double density = weight * inv_pi * std::exp(z * fall);
    for (int j = 0; j <= 3; ++j, density *= fall)
      for (int i = 0; i + j <= 3; ++i) f.at[i][j] += density * of_order[i];
  };
  integrate(0, 0.25 * pi, on_circle);
  integrate(0.25 * pi, pi, on_circle);
  const double end = std::acosh(1 + 45 / z);
  const auto beyond = [&](double t, double weight) {
    const double half = std::sinh(0.5 * t), rise = -2 * half * half;
    double density = weight * std::exp(z * (rise - 2) - v * t);
    for (int j = 0; j <= 3; ++j, density *= rise - 2) {
      double power = density;
      for (int i = 0; i + j <= 3; ++i, power *= -t) second.at[i][j] += power;
    }
  };
  integrate(0, 0.5 * end, beyond);
  integrate(0.5 * end, end, beyond);
  const double s = std::sin(pi * v), c = std::cos(pi * v);
  bessel_table factor;
  factor.at[0][0] = s * inv_pi;
  factor.at[1][0] = c;
  factor.at[2][0] = -pi * s;
  factor.at[3][0] = -pi * pi * c;
  add_product(-1, factor, second, 3, 3, f);
  bessel_table g = log_orders(f, 3, 3);
  g.at[0][0] += z;
  g.at[0][1] += 1;
  return g;
}

/// Returns the logarithm of Debye's series over sqrt(2 pi r), where r = hypot(v, z), in derivatives with respect to v / r and
/// log z.
inline bessel_table log_debye_sum(double p, double share, double r) {
  // rho is hypot(v, z)^2 / r^2 and q is v^2 / hypot(v, z)^2 as v and z move; their derivatives:
  bessel_table rho, log_rho, numerator, inverse, q;
  rho.at[0][0] = 1, rho.at[1][0] = 2 * p, rho.at[2][0] = 2;
  for (int j = 1; j <= 3; ++j) rho.at[0][j] = std::ldexp(share, j);  // share is z^2 / r^2
  log_rho = log_orders(rho, 3, 3);
  numerator.at[0][0] = p * p, numerator.at[1][0] = 2 * p, numerator.at[2][0] = 2;
  bessel_table slopes;
  for (int i = 0; i <= 3; ++i)
    for (int j = 0; i + j <= 3; ++j) slopes.at[i][j] = -log_rho.at[i][j];
  inverse = exp_orders(1, slopes, 3, 3);
  add_product(1, numerator, inverse, 3, 3, q);
  for (auto& row : slopes.at)
    for (double& entry : row) entry *= 0.5;
  bessel_table power = exp_orders(1 / r, slopes, 3, 3), power_k, sum;  // 1 / hypot(v, z) and its powers
  power_k.at[0][0] = 1;
  sum.at[0][0] = 1;
  q.at[0][0] = 0;  // its change alone
  double bound = 1;
  for (int k = 1; k <= debye_terms && bound > 1e-18; ++k) {
    bound *= 0.5 * k / r;
    bessel_table next;
    add_product(1, power_k, power, 3, 3, next);
    power_k = next;
    double c[4] = {};  // the polynomial's Taylor coefficients
    for (int j = k; j >= 0; --j) {
      for (int i = 3; i >= 1; --i) c[i] = c[i] * p * p + c[i - 1];
      c[0] = c[0] * p * p + debye.at[k][j];
    }
    bessel_table polynomial;
    for (int i = 3; i >= 0; --i) {
      bessel_table product;
      add_product(1, polynomial, q, 3, 3, product);
      polynomial = product;
      polynomial.at[0][0] += c[i];
    }
    add_product(1, polynomial, power_k, 3, 3, sum);
  }
  bessel_table g = log_orders(sum, 3, 3);
  for (int i = 0; i <= 3; ++i)
    for (int j = 0; i + j <= 3; ++j) g.at[i][j] -= 0.25 * log_rho.at[i][j];
  g.at[0][0] -= 0.5 * std::log(two_pi * r);
  return g;
}

/// Computes the derivatives by Debye's expansion (DLMF 10.41.3), from hypot(v, z) = 30 on.
inline bessel_table log_bessel_by_expansion(double v, double z) {
  const double r = std::hypot(v, z), p = v / r, s = z / r;
  bessel_table g = log_debye_sum(p, s * s, r);
  for (int j = 0; j <= 3; ++j)
    for (int i = 1; i + j <= 3; ++i)
      for (int k = 0; k < i; ++k) g.at[i][j] /= r;
  g = by_argument(g, z);
  const double angle = v > 1e8 * z ? std::log(2 * (v / r)) + std::log(r) - std::log(z) : std::asinh(v / z);
  g.at[0][0] += r - v * angle;
  g.at[1][0] -= angle;
  g.at[0][1] += r / z;
  g.at[2][0] -= 1 / r;
  g.at[1][1] += p / z;
  g.at[0][2] -= p * (v / z / z);
  g.at[3][0] += p / r / r;
  g.at[2][1] += s / r / r;
  g.at[1][2] -= p / z / z + p / r / r;
  g.at[0][3] += p * v * (2 / z / z / z + 1 / (z * r) / r);
  if (std::abs(v) < 0.01) {  // the expansion is even but for the order's odd part, which falls as exp(-2 z)
    const double fall = std::exp(-2 * z), scaled = i0e(z), by_argument_of_both = fall / (z * scaled * scaled);
    g.at[1][0] -= fall * bessel_k_moment(0, z) / scaled;
    g.at[1][1] += by_argument_of_both;
    g.at[1][2] -= (1 / z + 2 * (i1e(z) / scaled)) * by_argument_of_both;
  }
  return g;
}

/// Returns all derivatives of log I_v(z) up to order 3, for v >= -1 and z > 0.
inline bessel_table log_bessel_table(double v, double z) {
  if (std::hypot(v, z) >= 30) return log_bessel_by_expansion(v, z);
  if (z > 2 && v * v < z) return log_bessel_by_integral(v, z);
  return v < -0.5 ? log_bessel_by_recurrence(v, z) : log_bessel_by_series(v, z);
}

/// Returns derivative (m, n) of log I_v(z) with respect to v and z. At z = 0 derivatives are those of the limit.
inline double log_bessel_derivative(int m, int n, double v, double z) {
  if (!(v >= -1 && z >= 0)) return quiet_nan;
  if (v == infinity) return m + n == 0 && z < infinity ? -infinity : quiet_nan;
  if (z == infinity) return m + n == 0 ? z : m == 0 && n == 1 ? 1 : 0;
  if (z > 0) return log_bessel_table(v, z).at[m][n];
  const double power = v == -1 ? 1 : v;  // I_v is about z to this power
  if (m == 0 && power == 0) return n == 2 ? 0.5 : 0;
  if (m == 0) return (power > 0) == (n % 2 == 1) ? infinity : -infinity;
  if (m == 1) return v == -1 || n == 1 ? infinity : -infinity;
  return n == 0 && v > -1 ? -polygamma(m - 1, v + 1) : v > -1 ? 0 : quiet_nan;
}

}  // namespace agrad::detail
