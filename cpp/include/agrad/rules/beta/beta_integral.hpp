// The integral of the incomplete beta function without its factor, and its series, as doubles.
//
// With u = log(t / (1 - t)) the integrand is t^a (1 - t)^b: it has one peak, at t = a / (a + b), and no singular end. Divided
// by its value at x, it falls from 1 to exp(-42) on the side away from the peak, and a derivative with respect to a or b is one
// more factor log(t / x) or log((1 - t) / (1 - x)), of one sign. So nothing cancels in the tail on that side, and as many
// Gauss-Legendre nodes are enough for all a and b, however large, if a >= 1. For a < 1, where the integral is nearly 1 / a, a
// power series has the rest. Read next: rules/beta/beta_tail.hpp, which composes these.
#pragma once

#include <cmath>

#include <agrad/rules/beta/beta_factor.hpp>
#include <agrad/rules/gamma/incomplete_gamma.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// Returns log(y + x e^w) - y w for x + y = 1, the cumulant function of a Bernoulli variable about its mean, without
/// cancellation.
inline double bernoulli_rest(double x, double y, double w) {
  if (y <= x) {
    const double v = y * std::expm1(w);
    return w < 0.7 && v < 0.7 ? y * exp_rest(w) - log1p_rest(v) : std::log1p(v) - y * w;
  }
  const double v = x * std::expm1(-w);
  return w < 0.7 ? x * exp_rest(-w) - log1p_rest(v) : std::log1p(v) + x * w;
}

/// Does the same where few digits of the result are needed.
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

/// Returns the end of the integral: the exponent there is about -42.
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

/// Calls use(w, rest, term) for each node of the integral of the divided integrand below x, for a >= 1 and x below the peak:
/// the integral is the sum of the terms; rest is bernoulli_rest(w), or, if `is_rough`, a close number.
template <class Use>
void each_node_below(const beta_point& p, bool is_rough, const Use& use) {
  const double x = p.x, y = p.y, d = p.excess, total = p.a + p.b, end = deepest_below(p);
  const auto integrate = [&](const auto& rest_at) {
    const bool is_long = end > 8;  // then the integrand is not close to one function of w / end
    const double cuts[] = {0, (is_long ? 0.08 : 0.3) * end, (is_long ? 0.3 : 1) * end, end};
    for (int panel = 0; panel < (is_long ? 3 : 2); ++panel) {
      const double half = 0.5 * (cuts[panel + 1] - cuts[panel]);
      for (int i = 0; i < 20; ++i) {
        const int k = i < 10 ? i : i - 10;
        const double w = cuts[panel] + half * (i < 10 ? 1 - gauss_nodes_20[k] : 1 + gauss_nodes_20[k]), rest = rest_at(w);
        use(w, rest, gauss_weights_20[k] * half * std::exp(-d * w - total * rest));
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

/// Returns whether the series below is the faster way to the same integral and its first derivatives.
inline bool has_short_series(const beta_point& p) { return p.a >= 1 && p.a + p.b < 40 && p.x < 0.7; }

/// The integral as a series of positive terms (DLMF 8.17.8), and its derivatives with respect to a and b, if wanted: a term is
/// multiplied by the derivatives of its logarithm, of which each has one sign for all terms.
struct beta_series {
  double sum, of_a = 0, of_b = 0;
};
template <bool with_slopes>
beta_series positive_series_below(const beta_point& p) {
  double term = 1 / p.a, by_a = -term, by_b = 0;
  beta_series of{term, term * by_a, 0};
  for (double k = 0; term > 1e-17 * of.sum; k += 1) {
    const double top = p.a + p.b + k, bottom = p.a + 1 + k;
    of.sum += term *= p.x * top / bottom;
    if constexpr (with_slopes) {
      const double inverse = 1 / (top * bottom);
      of.of_a += term * (by_a += (1 - p.b) * inverse);
      of.of_b += term * (by_b += bottom * inverse);
    }
  }
  return of;
}

/// Returns the sum of (1 - b)_k x^k / (k! (a + k)) over k > 0 with derivatives: for a < 1 the tail below x is
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

}  // namespace agrad::detail
