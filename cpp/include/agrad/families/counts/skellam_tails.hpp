// Tails of the Skellam distribution as doubles: by the trapezoidal rule for Cauchy's integral.
//
// The probability of k or more is the mean over the circle |w| = rho > 1 of G(w) w^-k / (1 - 1 / w), where G is the generating
// function of the masses. Through the saddle point rho = m1 / mu1 (families/tails/skellam.hpp) the integrand falls as a normal
// density of variance 1 / r, and at w = rho exp(x), x = tau + i theta, the logarithm of G w^-k is r (cosh x - 1) + k (sinh x -
// x) less the deviance of k, of which nothing cancels. Near the mean the circle keeps a distance of one deviation from the pole
// at 1. The error is about exp(-40) with a hundred points, whatever the rates are.
// Read first: families/tails/skellam.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/families/tails/skellam.hpp>
#include <agrad/rules/bessel/bessel_modified.hpp>

namespace agrad::detail {

/// Returns sin(x) - x.
inline double sine_rest(double x) {
  if (std::abs(x) > 0.5) return std::sin(x) - x;
  const double square = x * x;
  double sum = 0;
  for (int k = 6; k >= 1; --k) sum = -(1 + sum) * square / (2 * k * (2 * k + 1));
  return sum * x;
}

/// Returns the logarithm of the probability of k or more, k not far below the mean.
inline double log_skellam_from(double k, double mu1, double mu2) {
  constexpr double least_exponent = 40, deviations = 9;
  const double r = std::hypot(k, 2 * (std::sqrt(mu1) * std::sqrt(mu2)));
  const double distance = skellam_share_rule<true>::value(k, mu1, mu2);
  const double log_share = distance < 1 ? std::log1p(distance) : std::log(0.5 * (r + k)) - std::log(mu1);
  const double tau = std::fmax(0, std::fmin(1, 1 / std::sqrt(r)) - log_share), u = log_share + tau;
  const double rise = 2 * std::sinh(0.5 * tau) * std::sinh(0.5 * tau), sine = std::sinh(tau);  // cosh(tau) - 1, sinh(tau)
  const double width = 2 * r > least_exponent ? 2 * std::asin(std::sqrt(0.5 * least_exponent / r)) : pi;
  // The residue at the pole, 1, is as large as the value at the mean. Far from the pole the error is that of a normal density.
  const double of_pole = least_exponent / u + 0.5 * r * std::fmin(u, deviations / std::sqrt(r));
  const double points = std::fmax(of_pole, deviations * std::sqrt(r) + least_exponent);  // on the whole circle
  const double step = 2 * pi / (2 * std::floor(0.5 * points) + 1), shrink = std::exp(-u), rest = -std::expm1(-u);
  double sum = 1 / rest;
  for (double j = 1; j * step < width; ++j) {
    const double theta = j * step, s = std::sin(theta), half = std::sin(0.5 * theta), fall = 2 * half * half;
    const double angle = r * sine * s + k * (rise * s + sine_rest(theta));
    const double real = shrink * fall + rest, imaginary = shrink * s;
    const double size = std::exp(-fall * (r * (1 + rise) + k * sine)) / (real * real + imaginary * imaginary);
    sum += 2 * size * (real * std::cos(angle) + imaginary * std::sin(angle));
  }
  return std::log(sum * step / (2 * pi)) + r * rise + k * sinh_rest(tau) - skellam_deviance_rule::value(k, mu1, mu2);
}

/// Returns the logarithm of the probability beyond n, from that up to n if this is the smaller one.
inline double log_skellam_beyond(double n, double mu1, double mu2) {
  if (n + 1 > mu1 - mu2) {
    const double value = log_skellam_from(n + 1, mu1, mu2);
    if (value < -log_2) return value;
  }
  return std::log1p(-std::exp(log_skellam_from(-n, mu2, mu1)));
}

/// Returns the logarithm of the probability of a value up to n, or beyond it.
inline double log_skellam_tail(double n, double mu1, double mu2, bool is_upper) {
  return is_upper ? log_skellam_beyond(n, mu1, mu2) : log_skellam_beyond(-n - 1, mu2, mu1);
}

}  // namespace agrad::detail
