// Draws of distributions on the whole line, on an interval, and of angles.
//
// Parameters are numbers or sequences, in the order of the density; the last argument is a generator of random bits. Conditions
// are those of the density. Read next: random/standard.hpp, the draws that these are made of.
#pragma once

#include <cmath>

#include <agrad/probability/cauchy.hpp>
#include <agrad/probability/double_exponential.hpp>
#include <agrad/probability/exp_mod_normal.hpp>
#include <agrad/probability/generalized_extreme_value.hpp>
#include <agrad/probability/gumbel.hpp>
#include <agrad/probability/logistic.hpp>
#include <agrad/probability/normal.hpp>
#include <agrad/probability/skew_double_exponential.hpp>
#include <agrad/probability/skew_normal.hpp>
#include <agrad/probability/student_t.hpp>
#include <agrad/probability/uniform.hpp>
#include <agrad/probability/von_mises.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

/// Draws a standard normal number.
template <class URBG>
double std_normal_rng(URBG& rng) {
  return detail::draw_normal(rng);
}

/// Draws normal numbers with mean mu and standard deviation sigma.
template <class Mu, class Sigma, class URBG>
auto normal_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<normal_lpdf_rule, double>(
      "normal_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_normal(rng); }, mu, sigma);
}

/// Draws numbers whose logarithms are normal with mean mu and standard deviation sigma.
template <class Mu, class Sigma, class URBG>
auto lognormal_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<lognormal_lpdf_rule, double>(
      "lognormal_rng", [&](detail::draw_place, double m, double s) { return std::exp(m + s * detail::draw_normal(rng)); }, mu,
      sigma);
}

/// Draws numbers of Student's t distribution with nu degrees of freedom, location mu and scale sigma.
template <class Nu, class Mu, class Sigma, class URBG>
auto student_t_rng(const Nu& nu, const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<student_t_lpdf_rule, double>(
      "student_t_rng",
      [&](detail::draw_place, double n, double m, double s) {
        const double z = detail::draw_normal(rng);
        return m + z * detail::draw_gamma_power(n / 2, n / 2, -0.5, s, rng);
      },
      nu, mu, sigma);
}

/// Draws Cauchy numbers with location mu and scale sigma.
template <class Mu, class Sigma, class URBG>
auto cauchy_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<cauchy_lpdf_rule, double>(
      "cauchy_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_cauchy(rng); }, mu, sigma);
}

/// Draws double exponential (Laplace) numbers with location mu and scale sigma: differences of exponential numbers.
template <class Mu, class Sigma, class URBG>
auto double_exponential_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<double_exponential_lpdf_rule, double>(
      "double_exponential_rng",
      [&](detail::draw_place, double m, double s) {
        const double above = detail::draw_exponential(rng);
        return m + s * (above - detail::draw_exponential(rng));
      },
      mu, sigma);
}

namespace detail {
/// The parameters of draws: where tau is 0 or 1, the density vanishes.
struct skew_double_exponential_draw {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite},
                                                   {"tau", must_be::inner_probability}};
};
}  // namespace detail

/// Draws skew double exponential numbers with location mu, scale sigma and probability tau of a number below mu.
template <class Mu, class Sigma, class Tau, class URBG>
auto skew_double_exponential_rng(const Mu& mu, const Sigma& sigma, const Tau& tau, URBG& rng) {
  return detail::draws<detail::skew_double_exponential_draw, double>(
      "skew_double_exponential_rng",
      [&](detail::draw_place, double m, double s, double t) {
        const double above = detail::draw_exponential(rng) / t;
        return m + 0.5 * s * (above - detail::draw_exponential(rng) / (1 - t));
      },
      mu, sigma, tau);
}

/// Draws Gumbel numbers with location mu and scale beta.
template <class Mu, class Beta, class URBG>
auto gumbel_rng(const Mu& mu, const Beta& beta, URBG& rng) {
  return detail::draws<gumbel_lpdf_rule, double>(
      "gumbel_rng", [&](detail::draw_place, double m, double b) { return m - b * std::log(detail::draw_exponential(rng)); }, mu,
      beta);
}

/// Draws generalized extreme values with location mu, scale sigma and shape xi.
template <class Mu, class Sigma, class Xi, class URBG>
auto generalized_extreme_value_rng(const Mu& mu, const Sigma& sigma, const Xi& xi, URBG& rng) {
  return detail::draws<generalized_extreme_value_lpdf_rule, double>(
      "generalized_extreme_value_rng",
      [&](detail::draw_place, double m, double s, double x) {
        return m + s * detail::shaped_exp(-std::log(detail::draw_exponential(rng)), x);
      },
      mu, sigma, xi);
}

/// Draws logistic numbers with location mu and scale sigma.
template <class Mu, class Sigma, class URBG>
auto logistic_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<logistic_lpdf_rule, double>(
      "logistic_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_logistic(rng); }, mu, sigma);
}

/// Draws skew normal numbers with location xi, scale omega and shape alpha.
template <class Xi, class Omega, class Alpha, class URBG>
auto skew_normal_rng(const Xi& xi, const Omega& omega, const Alpha& alpha, URBG& rng) {
  return detail::draws<skew_normal_lpdf_rule, double>(
      "skew_normal_rng",
      [&](detail::draw_place, double x, double o, double a) {
        const double norm = std::hypot(1.0, a), positive = std::abs(detail::draw_normal(rng));
        return x + o * (a / norm * positive + detail::draw_normal(rng) / norm);
      },
      xi, omega, alpha);
}

/// Draws sums of a normal number (mu, sigma) and an exponential number of rate lambda.
template <class Mu, class Sigma, class Lambda, class URBG>
auto exp_mod_normal_rng(const Mu& mu, const Sigma& sigma, const Lambda& lambda_, URBG& rng) {
  return detail::draws<exp_mod_normal_lpdf_rule, double>(
      "exp_mod_normal_rng",
      [&](detail::draw_place, double m, double s, double l) {
        const double normal = m + s * detail::draw_normal(rng);
        return normal + detail::draw_exponential(rng) / l;
      },
      mu, sigma, lambda_);
}

/// Draws uniform numbers between alpha and beta, alpha < beta.
template <class Alpha, class Beta, class URBG>
auto uniform_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<uniform_lpdf_rule, double>(
      "uniform_rng",
      [&](detail::draw_place place, double a, double b) {
        if (!(a < b))
          detail::fail_draw("uniform_rng", "beta", b, "greater than alpha", place, "alpha is " + detail::to_text(a));
        const double u = open_unit_rng(rng);
        return std::fmin(std::fmax(a * (1 - u) + b * u, a), b);
      },
      alpha, beta);
}

namespace detail {
/// Draws an angle from -pi to pi with the density proportional to exp(-2 kappa sin(angle / 2)^2): a wrapped Cauchy angle with
/// the best scale is accepted by the ratio of densities, by the square of the sine, in which nothing cancels. A normal number
/// takes its place where the sine is the angle to all digits.
/// Source: Best and Fisher (1979), Applied Statistics 28:152.
template <class URBG>
double draw_von_mises(double kappa, URBG& rng) {
  if (kappa >= 1e16) return draw_normal(rng) / std::sqrt(kappa);
  const double root = std::hypot(1.0, 2 * kappa), q = 2 * kappa + 4 * kappa * kappa / (1 + root);
  const double best = q > 0 ? 2 * kappa / ((1 + root) * q) : 0;  // where the ratio is largest
  for (;;) {
    const double t = draw_cauchy(rng) / std::sqrt(1 + q), s = t * t / (1 + t * t);
    const double log_ratio = -2 * kappa * (s - best) + std::log1p(q * s) - std::log1p(q * best);
    if (log_ratio + draw_exponential(rng) >= 0) return 2 * std::atan(t);
  }
}
}  // namespace detail

/// Draws von Mises angles, from mu - pi to mu + pi, with location mu and concentration kappa.
template <class Mu, class Kappa, class URBG>
auto von_mises_rng(const Mu& mu, const Kappa& kappa, URBG& rng) {
  return detail::draws<von_mises_lpdf_rule, double>(
      "von_mises_rng", [&](detail::draw_place, double m, double k) { return m + detail::draw_von_mises(k, rng); }, mu, kappa);
}

}  // namespace agrad
