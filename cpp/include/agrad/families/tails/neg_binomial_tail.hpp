// The tails of the negative binomial distribution with a mean and a precision, with derivatives up to order 2, as doubles.
//
// The probability of more than n is the integral over the mean m from 0 to mu of g(m), where g(m) dm, with w = m / (phi + m),
// is w^n (1 - w)^(phi - 1) dw / beta(n + 1, phi). At a fixed mean, the derivative of log g with respect to the precision phi
// is of the order 1 / phi^2, while those of the incomplete beta function, which the tail is, are of the order 1 / phi and
// would cancel. So the derivative is taken inside the integral, as a difference from its value at mu, which has one sign. Of
// small counts, the value and first derivatives are sums of masses. Read next: families/tails/neg_binomial_sums.hpp, the sums;
// rules/beta/incomplete_beta.hpp, the integral; families/tails/neg_binomial.hpp, the rules.
#pragma once

#include <agrad/families/tails/neg_binomial_sums.hpp>
#include <agrad/rules/beta/incomplete_beta.hpp>

namespace agrad::detail {

/// Returns the derivatives of log(gamma(z) / gamma(phi)) - a log(phi) with z = phi + a, without the parts that log(z / phi)
/// gives, for the orders 1 and 2.
inline double precision_constant(int order, double a, double phi) {
  const double z = phi + a;
  if (phi < 10) {
    if (order == 1) return digamma_difference(phi, z, a) - std::log1p(a / phi);
    return a / phi / z - polygamma_difference(1, phi, a);
  }
  if (order == 1) return digamma_difference_rest(phi, z, a);
  const double u = 1 / phi, v = 1 / z, squares = a * u * v * (u + v);
  double sum = 0.5 * squares, difference = a * u * v, power = v;
  for (int k = 1; k <= bernoulli_count; ++k) {
    difference = u * u * difference + power * squares;
    power *= v * v;
    sum += bernoulli[k - 1] * difference;
  }
  return -sum;
}

/// Returns a derivative of the probability of more than 0, or of 0, which is `below`, or of its logarithm, for i + j = 1 or 2.
/// The logarithm L of the probability of 0 is -phi log(1 + mu / phi); all others are functions of L.
inline double derivative_beyond_0(double below, double mu, double phi, bool is_above, bool is_log, int i, int j) {
  double slope = is_above ? -below : below, bend = 1;  // the derivative with respect to L, and the next one divided by it
  if (is_log && !is_above) slope = 1, bend = 0;
  if (is_log && is_above) {
    const double odds = below > 0.5 ? 1 / std::expm1(phi * std::log1p(mu / phi)) : below / (1 - below);
    slope = -odds, bend = 1 + odds;
  }
  // Derivatives of L with respect to phi are proportional to mu, and are divided by this share, which may be tiny.
  const double sum = phi + mu, share = mu / sum, of_mu = -phi / sum;
  const double of_phi = share < 1e-100 ? -0.5 * share : -log1p_rest(-share) / share;
  if (i + j == 1) return i == 1 ? slope * of_mu : slope * share * of_phi;
  if (i == 2) return slope * (phi / sum / sum + bend * of_mu * of_mu);
  if (i == 1) return slope * share * (bend * of_mu * of_phi - 1 / sum);
  return slope * share * (share / phi + bend * share * of_phi * of_phi);
}

/// Returns the tail of numbers that have short sums.
AGRAD_NEVER_INLINE inline neg_binomial_tail<double> short_tail(double n, double mu, double phi, bool is_above, bool is_log) {
  return short_neg_binomial_tail(neg_binomial_start(mu, phi), n, mu, phi, is_above, is_log);
}

/// Returns derivative (i, j) with respect to mu and phi of the probability of more than n, or of at most n, or of its
/// logarithm, for i + j <= 2. For phi < 1, mu is such that the probability of more than n is the one to compute directly.
inline double neg_binomial_tail_derivative(double n, double mu, double phi, bool is_above, bool is_log, int i, int j) {
  if (!(n >= 0 && mu > 0 && phi > 0 && n < infinity && mu < infinity && phi < infinity)) return quiet_nan;
  if (n == 0 && i + j > 0) {  // the parts of the slope below cancel where mu is small beside phi
    const double below = neg_binomial_tail_derivative(n, mu, phi, false, false, 0, 0);
    return derivative_beyond_0(below, mu, phi, is_above, is_log, i, j);
  }
  if (i + j < 2 && has_short_sums(n, mu, phi)) {
    const neg_binomial_tail<double> tail = short_tail(n, mu, phi, is_above, is_log);
    return i == 1 ? tail.of_mean : j == 1 ? tail.of_precision : tail.value;
  }
  const double a = n + 1, total = a + phi, mean_sum = phi + mu;
  beta_point p(a, phi, mu / mean_sum);
  p.y = phi / mean_sum, p.log_x = -std::log1p(phi / mu), p.log_y = -std::log1p(mu / phi);
  p.excess = phi / mean_sum * (a - mu);
  const bool is_first = phi < 1 || p.excess >= 0;  // whether the integral is that from 0 to mu
  const beta_point q = is_first ? p : p.mirrored();
  const double at_mu = (a - mu) / mean_sum;
  const double constant = precision_constant(1, a, phi), constant_slope = precision_constant(2, a, phi);
  const double rest_at_mu = std::abs(at_mu) < 0.5 ? log1p_rest(at_mu) : at_mu - (std::log(total) - std::log(mean_sum));
  const double slope = constant - rest_at_mu;  // of log g at mu
  double sum = 0, difference = 0, square = 0, bend = 0, mean = 0;
  each_node_below(q, i + j == 0, [&](double v, double rest, double term) {
    const double growth = is_first ? rest - q.x * v : q.y * v + rest;  // log((phi + m) / (phi + mu))
    const double fall = std::expm1(-growth), here = at_mu + (1 + at_mu) * fall;
    const double step = -(exp_rest(-growth) + at_mu * fall);
    sum += term, difference += term * step, square += term * step * step;
    bend += term * (constant_slope + here * here / total);
    mean -= term * std::expm1(-q.y * v - rest);
  });
  difference /= sum, square /= sum, bend /= sum, mean *= total * q.x / sum;
  const beta_scale scale = power_over_beta(q);
  const double sign = is_first ? 1 : -1, mass = scale.value() * sum, log_slope = slope + difference;
  if (is_log && is_first == is_above) {
    const double hazard = 1 / mu / sum;
    if (i == 0)
      return j == 0 ? scale.log_value() + std::log(sum) : j == 1 ? log_slope : bend + (square - difference * difference);
    return i == 2 ? -hazard / mu * (mean + sign) : j == 0 ? sign * hazard : -sign * hazard * difference;
  }
  const double side = is_first == is_above ? 1 : -1, density = (is_above ? 1 : -1) * scale.value() / mu;
  const double value = side > 0 ? mass : 1 - mass, first = side * mass * log_slope;
  const double second = side * mass * (square + slope * (2 * difference + slope) + bend);
  const double of_mu_twice = density * (p.excess - 1) / mu, of_both = density * slope;
  if (!is_log) return i == 0 ? (j == 0 ? value : j == 1 ? first : second) : i == 2 ? of_mu_twice : j == 0 ? density : of_both;
  if (i == 0 && j == 0) return std::log1p(-mass);
  if (i == 0) return j == 1 ? first / value : second / value - first / value * (first / value);
  if (i == 2) return of_mu_twice / value - density / value * (density / value);
  return j == 0 ? density / value : of_both / value - density / value * (first / value);
}

}  // namespace agrad::detail
