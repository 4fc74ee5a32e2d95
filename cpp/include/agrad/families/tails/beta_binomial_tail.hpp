// The tails of the beta-binomial distribution, with derivatives of any order with respect to both shapes.
//
// The masses of k successes in N trials are in the ratio of weights C(N, k) (a)_k (b)_{N - k}, where (a)_k is a rising
// factorial. A tail is the sum of the weights on one side, divided by the sum of all. The weights are polynomials of a and b
// with positive coefficients: each follows from its neighbour by a factor (a + k) / (b + N - k - 1), and its Taylor
// coefficients with respect to a and b do so, too. The first weight of an interior count is the factor a b, which the weights
// of 0 and N have in part, so that nothing is divided by a small shape. Sums are scaled by powers of two, so that they neither
// underflow nor overflow.
#pragma once

#include <cmath>

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/beta.hpp>

namespace agrad::detail {

/// The most trials, whose masses are added in less than a second.
inline constexpr double most_trials = 8388607;  // 2^23 - 1

/// The highest order of derivatives with respect to one shape.
inline constexpr int highest_shape_order = 6;

/// The sum of a shape and a count, and what its rounding has lost (Knuth 1969, The Art of Computer Programming 2, section
/// 4.2.2). Over many counts the lost parts are the same, so that the errors of products of sums would add up.
struct shape_sum {
  double sum, lost;
  shape_sum(double shape, double count) : sum(shape + count) {
    const double of_count = sum - shape, of_shape = sum - of_count;
    lost = (shape - of_shape) + (count - of_count);
  }
};

/// Taylor coefficients with respect to two variables, times 2^exponent.
struct taylor_table {
  int rows = 1, cols = 1;  // one more than the orders
  double at[highest_shape_order + 1][highest_shape_order + 1] = {};
  int exponent = 0;

  static taylor_table constant(double value, int rows, int cols) {
    taylor_table t;
    t.rows = rows, t.cols = cols, t.at[0][0] = value;
    return t;
  }
  taylor_table transposed() const {
    taylor_table t = constant(0, cols, rows);
    t.exponent = exponent;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) t.at[j][i] = at[i][j];
    return t;
  }
  void scale(double factor, int power) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) at[i][j] *= factor;
    exponent += power;
  }
  /// Multiplies by (x + the first variable) / unit.
  void times_first(const shape_sum& x, double unit) {
    for (int i = rows; i-- > 0;)
      for (int j = 0; j < cols; ++j)
        at[i][j] = std::fma(x.sum, at[i][j], x.lost * at[i][j] + (i > 0 ? at[i - 1][j] : 0)) / unit;
  }
  /// Divides by x + the second variable.
  void over_second(const shape_sum& x) {
    const double lost = x.lost / x.sum;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        const double quotient = (at[i][j] - (j > 0 ? at[i][j - 1] : 0)) / x.sum;
        at[i][j] = quotient - lost * quotient;
      }
  }
  void add(const taylor_table& other) {
    if (other.at[0][0] == 0) return;
    if (at[0][0] == 0) *this = constant(0, rows, cols), exponent = other.exponent;
    if (other.exponent > exponent) scale(std::ldexp(1.0, exponent - other.exponent), other.exponent - exponent);
    const double factor = other.exponent == exponent ? 1 : std::ldexp(1.0, other.exponent - exponent);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) at[i][j] += factor * other.at[i][j];
  }
  double value(int i = 0, int j = 0) const { return std::ldexp(at[i][j], exponent); }
  /// Brings the first coefficient near 1.
  void normalise() {
    if (!(at[0][0] > 0) || at[0][0] == infinity) return;
    const int power = std::ilogb(at[0][0]);
    scale(std::ldexp(1.0, -power), power);
  }
};

/// Returns the quotient f / g.
inline taylor_table operator/(const taylor_table& f, const taylor_table& g) {
  taylor_table q = taylor_table::constant(0, f.rows, f.cols);
  q.exponent = f.exponent - g.exponent;
  for (int i = 0; i < f.rows; ++i)
    for (int j = 0; j < f.cols; ++j) {
      double sum = f.at[i][j];
      for (int k = 0; k <= i; ++k)
        for (int l = 0; l <= j; ++l) sum -= g.at[k][l] * q.at[i - k][j - l];
      q.at[i][j] = sum / g.at[0][0];
    }
  return q;
}

/// Returns the coefficients of the logarithm of g, all but the first.
inline taylor_table log_slopes(const taylor_table& g) {
  taylor_table log = taylor_table::constant(0, g.rows, g.cols);
  for (int i = 0; i < g.rows; ++i)
    for (int j = 0; j < g.cols; ++j) {
      if (i + j == 0) continue;
      double sum = (i > 0 ? i : j) * g.at[i][j];  // of g times the derivative of its logarithm with respect to one variable
      for (int k = 0; k <= i; ++k)
        for (int l = 0; l <= j; ++l)
          if (k + l > 0) sum -= g.at[k][l] * (i > 0 ? i - k : j - l) * log.at[i - k][j - l];
      log.at[i][j] = sum / ((i > 0 ? i : j) * g.at[0][0]);
    }
  return log;
}

/// The weights of the counts beyond k, without the factor a b where 0 < k < N, divided by the weight of k.
struct beta_binomial_side {
  taylor_table inner, end;  // of the counts below N, and of N, without the factor a

  beta_binomial_side(double k, double N, double a, double b, int rows, int cols)
      : inner(taylor_table::constant(0, rows, cols)), end(taylor_table::constant(0, rows, cols)) {
    constexpr int step = 400;
    // The weights rise from k to k + 1 where this is positive, and so to the end if it is at the end, too.
    const auto rise = [&](double at) { return at * (2 - a - b) + N * (a - 1) + 1 - b; };
    const bool may_stop = rise(N - 1) <= 0;
    taylor_table weight = taylor_table::constant(1, rows, cols);
    for (; k < N - 1; k += 1) {
      weight.times_first({a, k}, (k + 1) / (N - k));
      weight.over_second({b, N - k - 1});
      if (weight.at[0][0] > 1e120) {
        weight.scale(std::ldexp(1.0, -step), step);
        inner.scale(std::ldexp(1.0, -step), 0);
        inner.exponent = weight.exponent;
      } else if (weight.at[0][0] < 1e-120 && inner.at[0][0] == 0) {
        weight.scale(std::ldexp(1.0, step), -step);
      }
      if (inner.at[0][0] == 0) inner.exponent = weight.exponent;
      inner.add(weight);
      if (may_stop && rise(k) <= 0 && weight.at[0][0] * (N - k) < 1e-19 * inner.at[0][0]) return;
    }
    end = weight;
    end.times_first({a, N - 1}, N);
  }
};

/// The weights of at most n successes without the factor (b + v) / unit_b, and of more without the factor (a + u) / unit_a.
struct beta_binomial_sums {
  double a, b, unit_a = std::fmax(a, 1), unit_b = std::fmax(b, 1);
  taylor_table lower, upper;

  beta_binomial_sums(double n, double N, double shape_a, double shape_b, int rows, int cols)
      : a(shape_a), b(shape_b), lower(taylor_table::constant(0, rows, cols)), upper(lower) {
    if (N == 1) {
      upper.at[0][0] = 1 / unit_b, lower.at[0][0] = 1 / unit_a;
      return;
    }
    const double middle = std::fmax(n, 1);  // 0 < middle < N
    const beta_binomial_side above(middle, N, a, b, rows, cols), below(N - middle, N, b, a, cols, rows);
    lower = below.end.transposed(), upper = above.end;
    lower.scale(1 / unit_a, 0), upper.scale(1 / unit_b, 0);
    taylor_table inner = below.inner.transposed();
    inner.add(taylor_table::constant(1, rows, cols));
    upper.add(times_b(above.inner));
    if (n == 0)
      upper.add(times_b(inner));
    else
      lower.add(times_a(inner));
    lower.normalise(), upper.normalise();
  }
  taylor_table times_a(taylor_table t) const {
    t.times_first({a, 0}, unit_a);
    return t;
  }
  taylor_table times_b(const taylor_table& t) const {
    taylor_table transposed = t.transposed();
    transposed.times_first({b, 0}, unit_b);
    return transposed.transposed();
  }
};

/// Returns derivative (i, j) with respect to a and b of the probability of at most n of N successes, or of more, or of its
/// logarithm.
inline double beta_binomial_tail(double n, double N, double a, double b, bool is_upper, bool is_log, int i, int j) {
  const bool is_inside = n >= 0 && n < N && N <= most_trials && a > 0 && b > 0 && a < infinity && b < infinity;
  if (!is_inside || i > highest_shape_order || j > highest_shape_order) return quiet_nan;
  const beta_binomial_sums sums(n, N, a, b, i + 1, j + 1);
  const taylor_table lower = sums.times_b(sums.lower), upper = sums.times_a(sums.upper);
  taylor_table all = lower;
  all.add(upper);
  const taylor_table share = (is_upper ? upper : lower) / all, rest = (is_upper ? lower : upper) / all;
  const double of_share = share.value(), of_rest = rest.value();
  double factorials = 1;
  for (int k = 2; k <= i; ++k) factorials *= k;
  for (int k = 2; k <= j; ++k) factorials *= k;
  if (!is_log) {
    if (i + j == 0) return of_share < 0.5 ? of_share : 1 - of_rest;
    return factorials * (of_share < 0.5 ? share.value(i, j) : -rest.value(i, j));
  }
  if (of_share < 0.5) {
    if (i + j == 0) return std::log(share.at[0][0]) + share.exponent * log_2;
    // The sum of all weights is a rising factorial of a + b, over one of a and one of b, so that mixed derivatives of its
    // logarithm do not cancel. Nor do those by one shape where the share's slope is large, of which they lose the square.
    const double of_all = polygamma_difference(i + j - 1, a + b, N), middle = std::fmax(n, 1);
    if (i > 0 && j > 0) return factorials * log_slopes(is_upper ? sums.upper : sums.lower).at[i][j] + of_all;
    const taylor_table of_log_share = log_slopes(share), of_log_sum = log_slopes(is_upper ? upper : lower);
    const auto square = [&](const taylor_table& t) { return std::pow(t.at[i > 0][j > 0], 2); };
    if (i + j == 1 || N == 1 || !(square(of_log_sum) + std::abs(of_all) < 0.25 * square(of_log_share)))
      return factorials * of_log_share.at[i][j];
    const double of_first =
        i > 0 ? polygamma_difference(i - 1, a + 1, middle - 1) : polygamma_difference(j - 1, b + 1, N - middle - 1);
    return factorials * of_log_sum.at[i][j] - of_first + of_all;
  }
  if (i + j == 0) return std::log1p(-of_rest);
  taylor_table complement = rest;
  complement.scale(-std::ldexp(1.0, rest.exponent), -rest.exponent);
  complement.at[0][0] += 1;
  return factorials * log_slopes(complement).at[i][j];
}

/// The probability of at most n of N successes, or of more, or its logarithm. A rule of four has no straight code, so the first
/// holds the counts and the order of derivatives: 64 (2^23 N + n) + 8 i + j, below 2^52.
template <bool is_upper, bool is_log>
struct beta_binomial_tail_rule : rule<3>, data_arguments<0> {
  static constexpr double unit = 64, unit_of_trials = unit * (most_trials + 1);
  static constexpr std::string_view name = is_upper ? is_log ? "log_beta_binomial_upper" : "beta_binomial_upper"
                                           : is_log ? "log_beta_binomial_lower"
                                                    : "beta_binomial_lower";
  template <class N, class S>
  static auto counts(const N& n, const S& size) {
    return unit_of_trials * size + unit * n;
  }
  static double value(double counts, double a, double b) {
    const double N = std::floor(counts / unit_of_trials), n = std::floor((counts - N * unit_of_trials) / unit);
    if (!(N >= 0 && N <= most_trials)) return quiet_nan;
    const int order = static_cast<int>(counts - N * unit_of_trials - n * unit);
    return beta_binomial_tail(n, N, a, b, is_upper, is_log, order / 8, order % 8);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& counts, const T& a, const T& b, const T&) {
    return apply<beta_binomial_tail_rule>(counts + 8.0, a, b);
  }
  template <class T>
  static T derivative(wrt<2>, const T& counts, const T& a, const T& b, const T&) {
    return apply<beta_binomial_tail_rule>(counts + 1.0, a, b);
  }
};

}  // namespace agrad::detail
