// The mass and the tails of the beta-negative-binomial distribution. The tails have derivatives to third order with respect to
// r, alpha and beta.
//
// With independent gamma variables G of the shapes a = n + 1, b = alpha, c = r, d = beta, more than n failures are the event
// G_a G_b < G_c G_d, and at most n failures the opposite one, which has the same form with the pairs exchanged. Its probability
// U(a, b) is W(a, b) b + U(a + 1, b), as a sum of masses over the count, and because a and b are interchangeable also
// W(a, b) a + U(a, b + 1), where W is a product of gamma functions with rational ratios. So U is a sum of positive terms along
// any path of unit steps. Along the one that increases the smaller of a and b the terms fall at least exponentially after about
// sqrt(c d) steps, while the sum over one of them alone may fall like a power. The logarithm of the product of two gamma
// variables has a log-concave density, so that the tail beyond its mean is below 1 - 1/e: that tail is the one to sum.
#pragma once

#include <cmath>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/families/tails/shape_series.hpp>
#include <agrad/families/tails/table_deviance.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad::detail {

/// Returns the log mass. Its large parts are the deviance of the table with the rows n, r and beta, alpha; with the rests of
/// Stirling's formulas added, no large numbers cancel. If n is 0 or alpha is small, it is a sum of logarithms of ratios of
/// rising factorials, which are not large.
template <class N, class R, class A, class B>
auto beta_neg_binomial_log_mass(const probability_rule<4>::parts& included, const N& n, const R& r, const A& alpha,
                                const B& beta) {
  using T = promoted_t<N, R, A, B>;
  using ratio = log_rising_ratio_rule;
  using rising = rising_rest_rule;
  const auto is_first = r < beta;  // r and beta are interchangeable
  const T smaller = either<T>(
      is_first, [&] { return T(r); }, [&] { return T(beta); });
  const T larger = either<T>(
      is_first, [&] { return T(beta); }, [&] { return T(r); });
  const auto of_small_alpha = [&] {
    const T least = either<T>(
        smaller < alpha, [&] { return smaller; }, [&] { return T(alpha); });
    const T other = either<T>(
        smaller < alpha, [&] { return T(alpha); }, [&] { return smaller; });
    const T weight = either<T>(  // log(gamma(least + n) / (n! gamma(least)))
        least < 1, [&] { return T(apply<ratio>(least, 1.0 - least, n)); },
        [&] { return T(-apply<ratio>(1.0, least - 1.0, n)); });
    return T(apply<ratio>(larger, alpha, n) + apply<ratio>(other, least, n) + apply<ratio>(alpha + n, smaller, larger) +
             weight);
  };
  const auto general = [&] {
    T sum(apply<rising>(r, n) + apply<rising>(beta, n) + apply<rising>(alpha, smaller) -
          apply<rising>(alpha + larger, smaller + n));
    if (included.constants()) sum -= apply<factorial_rest_rule>(n);
    return T(sum - n * apply<table_deviance_rule>(r / n, beta / n, alpha / n));
  };
  const auto of_zero = [&] { return T(apply<ratio>(alpha, beta, r)); };
  if (included.propto) return either<T>(n == 0, of_zero, general);
  return either<T>(n == 0, of_zero, alpha < 10, of_small_alpha, general);
}

/// The largest shape, and one more than the largest count. Sums have up to some sqrt((r + 1) (beta + 1)) or
/// sqrt((n + 2) (alpha + 1)) terms, which take up to some seconds; where all shapes are so large, errors are 2e-11 of the
/// value, but below 1e-13 for shapes up to 1e7.
inline constexpr double largest_gamma_shape = 1e12;

/// A probability: the exponential of a series, times a series of positive numbers, times some of the shapes themselves. The
/// series have another constant factor than the probability.
struct probability_series {
  double log_value;
  shape_series exponent, factor;
  unsigned factors = 0;  // bits of the shapes that are factors
  double shapes[shape_orders::shapes] = {};

  bool has(int v) const { return (factors >> v & 1U) != 0; }
  /// Returns the coefficients of the logarithm, all but the first.
  shape_series log_slopes() const {
    shape_series slopes = factor.log_slopes();
    slopes.add(exponent);
    for (int i = 1; i < slopes.size(); ++i) {
      const int v = slopes.orders->first_of(i), order = slopes.orders->of[i][v];
      if (has(v) && slopes.orders->total(i) == order) slopes.at[i] -= std::pow(-1 / shapes[v], order) / order;
    }
    return slopes;
  }
  /// Returns the coefficients divided by the value.
  shape_series shares() const {
    shape_series share = exponent.exp_shares(), sum = factor, product(*share.orders);
    sum.over(factor.at[0], 0);
    product.add_product(share, sum, 1);
    for (int v = 0; v < shape_orders::shapes; ++v)
      if (has(v)) product.times(shapes[v], 1U << v), product.over(shapes[v], 0);
    return product;
  }
};

/// Returns derivative n of digamma at x + u and x + v, minus that at x + 1 and at x + y + u + v. No large parts cancel.
inline double gamma_ratio_slope(int n, double x, double y, double u, double v) {
  const double smaller = std::fmin(u, v), larger = std::fmax(u, v);
  const double near =
      smaller < 1 ? polygamma_difference(n, x + smaller, 1 - smaller) : -polygamma_difference(n, x + 1, smaller - 1);
  return near + polygamma_difference(n, x + larger, y + smaller);
}

/// The probability that G_a G_b < G_c G_d, where the mean of log(G_a G_b) is the larger one.
class gamma_product_tail {
 public:
  gamma_product_tail(double a, double b, double c, double d) : a_(a), b_(b), c_(c), d_(d) {}

  probability_series operator()(const shape_orders& to) const {
    probability_series result{0, shape_series(to), sum_of_steps(to), shape_bits::c | shape_bits::d, {a_, b_, c_, d_}};
    result.log_value = log_weight() + std::log(result.factor.at[0]);
    for (int i = 1; i < to.size; ++i) result.exponent.at[i] = log_weight_slope(to.of[i]) / to.factorials(i);
    return result;
  }

 private:
  /// Returns the logarithm of W, a log mass of the count a without the factor b.
  double log_weight() const {
    const double count = std::fmax(a_, b_), alpha = std::fmin(a_, b_);
    return beta_neg_binomial_log_mass(probability_rule<4>::parts{}, count, c_, alpha, d_) - std::log(alpha);
  }

  /// Returns the derivative of log(W / (c d)), from log(gamma) at the sums of one of a, b and one of c, d, minus that at a + 1,
  /// b + 1, c + 1, d + 1 and the sum of all. No large parts cancel.
  double log_weight_slope(const int (&of)[shape_orders::shapes]) const {
    const int n = of[0] + of[1] + of[2] + of[3] - 1;
    const auto is_of = [&](unsigned variables) {
      for (unsigned v = 0; v < 4; ++v)
        if (of[v] > 0 && (variables >> v & 1U) == 0) return false;
      return true;
    };
    double slope = 0;
    if (is_of(shape_bits::a))
      slope = gamma_ratio_slope(n, a_, b_, c_, d_);
    else if (is_of(shape_bits::b))
      slope = gamma_ratio_slope(n, b_, a_, c_, d_);
    else if (is_of(shape_bits::c))
      slope = gamma_ratio_slope(n, c_, d_, a_, b_);
    else if (is_of(shape_bits::d))
      slope = gamma_ratio_slope(n, d_, c_, a_, b_);
    else if (is_of(shape_bits::a | shape_bits::c))
      slope = polygamma_difference(n, a_ + c_, b_ + d_);
    else if (is_of(shape_bits::a | shape_bits::d))
      slope = polygamma_difference(n, a_ + d_, b_ + c_);
    else if (is_of(shape_bits::b | shape_bits::c))
      slope = polygamma_difference(n, b_ + c_, a_ + d_);
    else if (is_of(shape_bits::b | shape_bits::d))
      slope = polygamma_difference(n, b_ + d_, a_ + c_);
    else
      slope = -polygamma(n, a_ + b_ + c_ + d_);
    return slope;
  }

  /// Returns the sum of the terms along the path, divided by W.
  shape_series sum_of_steps(const shape_orders& to) const {
    shape_series sum(to), weight(to, 1), loss(to);
    double a = a_, b = b_;
    const double long_tail = 50 + 8 * std::sqrt((c_ + 1) * (d_ + 1));
    interrupt_pace pace;
    for (;;) {
      pace.step();
      const bool steps_a = a < b;
      shape_series term = weight;
      term.times(steps_a ? b : a, steps_a ? shape_bits::b : shape_bits::a);
      sum.add(term);
      if (term.at[0] * long_tail < 1e-22 * sum.at[0] || !(sum.at[0] < infinity)) return sum;
      // Where a increases, W falls by the share ((a + 1) (b + 1) - (c - 1) (d - 1)) / ((a + 1) (a + b + c + d)).
      const double x = (steps_a ? a : b) + 1;
      loss = shape_series(to, 1);
      shape_series other = loss;
      loss.times(a + 1, shape_bits::a), loss.times(b + 1, shape_bits::b);
      other.times(c_ - 1, shape_bits::c), other.times(d_ - 1, shape_bits::d);
      loss.add(other, -1);
      loss.over(x, steps_a ? shape_bits::a : shape_bits::b),
          loss.over(a + b + c_ + d_, shape_bits::a | shape_bits::b | shape_bits::c | shape_bits::d);
      const shape_series before = weight;
      weight.add_product(before, loss, -1);
      (steps_a ? a : b) += 1;
    }
  }

  double a_, b_, c_, d_;
};

/// The most failures of which the masses are added one by one.
inline constexpr double few_failures = 15;

/// Returns the probability of at most n failures for few of them: the mass of none, times a sum of ratios. Where alpha is
/// small, second derivatives of the probability are far smaller than its share 1 / alpha^2, those of its logarithm than squares
/// of first ones; so alpha is a factor, `has_alpha`, for the former alone.
inline probability_series few_failures_share(double n, double r, double alpha, double beta, const shape_orders& to,
                                             bool has_alpha) {
  const double all = alpha + beta + r;
  probability_series result{0, shape_series(to), shape_series(to, 1), has_alpha ? shape_bits::b : 0, {n + 1, alpha, r, beta}};
  shape_series ratio = result.factor;
  for (double k = 0; k < n; k += 1) {
    ratio.times(r + k, shape_bits::c), ratio.times(beta + k, shape_bits::d);
    ratio.over(k + 1, 0), ratio.over(all + k, shape_bits::b | shape_bits::c | shape_bits::d);
    result.factor.add(ratio);
  }
  result.log_value = log_rising_ratio(alpha, beta, r) + std::log(result.factor.at[0]);
  for (int i = 1; i < to.size; ++i) {
    const int by_alpha = to.of[i][1], by_r = to.of[i][2], by_beta = to.of[i][3], order = by_alpha + by_r + by_beta - 1;
    if (by_r > 0 && by_beta > 0)
      result.exponent.at[i] = -polygamma(order, all);
    else if (by_r > 0)
      result.exponent.at[i] = polygamma_difference(order, alpha + r, beta);
    else if (by_beta > 0)
      result.exponent.at[i] = polygamma_difference(order, alpha + beta, r);
    else if (has_alpha)
      result.exponent.at[i] = gamma_ratio_slope(order, alpha, 0, r, beta);
    else
      result.exponent.at[i] = polygamma_second_difference(order, alpha, beta, r);
    result.exponent.at[i] /= to.factorials(i);
  }
  return result;
}

/// Returns derivative (i, j, k) with respect to r, alpha and beta of the probability of at most n failures, or of more, or of
/// its logarithm.
inline double beta_neg_binomial_tail(double n, double r, double alpha, double beta, bool is_upper, bool is_log, int i, int j,
                                     int k) {
  const auto is_inside = [](double shape) { return shape > 0 && shape <= largest_gamma_shape; };
  if (!(n >= 0 && is_inside(n + 1) && is_inside(r) && is_inside(alpha) && is_inside(beta))) return quiet_nan;
  if (i + j + k > highest_tail_order) return quiet_nan;
  const shape_orders none({0, 0, 0, 0}), to({0, j, i, k}), exchanged({i, k, 0, j});
  const auto sum_of = [&](bool upper, bool with_derivative) {
    if (upper) return gamma_product_tail(n + 1, alpha, r, beta)(with_derivative ? to : none);
    const bool has_alpha = (is_upper || !is_log) && alpha < std::fmin(1, std::fmin(r, beta));
    if (n <= few_failures) return few_failures_share(n, r, alpha, beta, with_derivative ? to : none, has_alpha);
    return gamma_product_tail(r, beta, n + 1, alpha)(with_derivative ? exchanged : none);
  };
  const bool is_value = i + j + k == 0;
  bool sums_upper = digamma(n + 1) + digamma(alpha) > digamma(r) + digamma(beta);
  // Second derivatives of a logarithm may be far smaller than the parts that those of its complement consist of.
  if (is_log && !is_value && is_upper != sums_upper && sum_of(sums_upper, false).log_value > -4) sums_upper = is_upper;
  const bool is_sum = is_upper == sums_upper;
  const probability_series sum = sum_of(sums_upper, !is_value);
  const double factorials = to.factorials(to.size - 1), value = std::exp(sum.log_value);
  if (is_value) {
    if (is_log) return is_sum ? sum.log_value : std::log1p(-value);
    return is_sum ? value : 1 - value;
  }
  if (is_log && is_sum) return factorials * sum.log_slopes().last();
  const shape_series shares = sum.shares();
  if (!is_log) return (is_sum ? factorials : -factorials) * (value * shares.last());
  shape_series complement(*shares.orders, 1);
  complement.add(shares, -value);
  return factorials * complement.log_slopes().last();
}

/// The probability of at most n failures, or of more, or its logarithm. The first argument holds the count and the orders of
/// derivatives: 64 n + 16 i + 4 j + k, below 2^53.
template <bool is_upper, bool is_log>
struct beta_neg_binomial_tail_rule : rule<4>, data_arguments<0> {
  static constexpr double unit = 64;
  static constexpr std::string_view name = is_upper ? is_log ? "log_beta_neg_binomial_upper" : "beta_neg_binomial_upper"
                                           : is_log ? "log_beta_neg_binomial_lower"
                                                    : "beta_neg_binomial_lower";
  static double value(double counts, double r, double alpha, double beta) {
    const double n = std::floor(counts / unit);
    if (!(n >= 0 && n < largest_gamma_shape)) return quiet_nan;
    const int orders = static_cast<int>(counts - n * unit);
    return beta_neg_binomial_tail(n, r, alpha, beta, is_upper, is_log, orders / 16, orders / 4 % 4, orders % 4);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& counts, const T& r, const T& alpha, const T& beta, const T&) {
    return apply<beta_neg_binomial_tail_rule>(counts + 16.0, r, alpha, beta);
  }
  template <class T>
  static T derivative(wrt<2>, const T& counts, const T& r, const T& alpha, const T& beta, const T&) {
    return apply<beta_neg_binomial_tail_rule>(counts + 4.0, r, alpha, beta);
  }
  template <class T>
  static T derivative(wrt<3>, const T& counts, const T& r, const T& alpha, const T& beta, const T&) {
    return apply<beta_neg_binomial_tail_rule>(counts + 1.0, r, alpha, beta);
  }
};

}  // namespace agrad::detail
