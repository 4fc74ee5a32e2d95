// Draws of distributions of positive numbers, and of numbers between 0 and 1.
//
// Parameters are numbers or sequences, in the order of the density; the last argument is a generator of random bits. Draws
// beyond the range of doubles are 0 or infinite. Read next: random/standard.hpp, the draws that these are made of.
#pragma once

#include <cmath>

#include <agrad/probability/beta.hpp>
#include <agrad/probability/beta_proportion.hpp>
#include <agrad/probability/chi_square.hpp>
#include <agrad/probability/exponential.hpp>
#include <agrad/probability/frechet.hpp>
#include <agrad/probability/gamma.hpp>
#include <agrad/probability/generalized_pareto.hpp>
#include <agrad/probability/half_cauchy.hpp>
#include <agrad/probability/half_normal.hpp>
#include <agrad/probability/inv_chi_square.hpp>
#include <agrad/probability/inv_gamma.hpp>
#include <agrad/probability/inv_gaussian.hpp>
#include <agrad/probability/loglogistic.hpp>
#include <agrad/probability/pareto.hpp>
#include <agrad/probability/pareto_type_2.hpp>
#include <agrad/probability/rayleigh.hpp>
#include <agrad/probability/scaled_inv_chi_square.hpp>
#include <agrad/probability/weibull.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

/// Draws exponential numbers with rate beta.
template <class Beta, class URBG>
auto exponential_rng(const Beta& beta, URBG& rng) {
  return detail::draws<exponential_lpdf_rule, double>(
      "exponential_rng", [&](detail::draw_place, double b) { return detail::draw_exponential(rng) / b; }, beta);
}

/// Draws gamma numbers with shape alpha and rate beta.
template <class Alpha, class Beta, class URBG>
auto gamma_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<gamma_lpdf_rule, double>(
      "gamma_rng", [&](detail::draw_place, double a, double b) { return detail::draw_gamma_power(a, b, 1, 1, rng); }, alpha,
      beta);
}

/// Draws chi-square numbers with nu degrees of freedom.
template <class Nu, class URBG>
auto chi_square_rng(const Nu& nu, URBG& rng) {
  return detail::draws<chi_square_lpdf_rule, double>(
      "chi_square_rng", [&](detail::draw_place, double n) { return detail::draw_gamma_power(n / 2, 0.5, 1, 1, rng); }, nu);
}

/// Draws numbers whose reciprocals are gamma numbers with shape alpha and rate beta.
template <class Alpha, class Beta, class URBG>
auto inv_gamma_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<inv_gamma_lpdf_rule, double>(
      "inv_gamma_rng", [&](detail::draw_place, double a, double b) { return detail::draw_gamma_power(a, b, -1, 1, rng); },
      alpha, beta);
}

/// Draws numbers whose reciprocals are chi-square numbers with nu degrees of freedom.
template <class Nu, class URBG>
auto inv_chi_square_rng(const Nu& nu, URBG& rng) {
  return detail::draws<inv_chi_square_lpdf_rule, double>(
      "inv_chi_square_rng", [&](detail::draw_place, double n) { return detail::draw_gamma_power(n / 2, 0.5, -1, 1, rng); }, nu);
}

/// Draws nu s^2 divided by chi-square numbers with nu degrees of freedom.
template <class Nu, class S, class URBG>
auto scaled_inv_chi_square_rng(const Nu& nu, const S& s, URBG& rng) {
  return detail::draws<scaled_inv_chi_square_lpdf_rule, double>(
      "scaled_inv_chi_square_rng",
      [&](detail::draw_place, double n, double scale) {
        const double root = detail::draw_gamma_power(n / 2, n / 2, -0.5, scale, rng);
        return root * root;
      },
      nu, s);
}

/// Draws Weibull numbers with shape alpha and scale sigma.
template <class Alpha, class Sigma, class URBG>
auto weibull_rng(const Alpha& alpha, const Sigma& sigma, URBG& rng) {
  return detail::draws<weibull_lpdf_rule, double>(
      "weibull_rng",
      [&](detail::draw_place, double a, double s) {
        return std::exp(std::log(s) + std::log(detail::draw_exponential(rng)) / a);
      },
      alpha, sigma);
}

/// Draws Fréchet numbers with shape alpha and scale sigma.
template <class Alpha, class Sigma, class URBG>
auto frechet_rng(const Alpha& alpha, const Sigma& sigma, URBG& rng) {
  return detail::draws<frechet_lpdf_rule, double>(
      "frechet_rng",
      [&](detail::draw_place, double a, double s) {
        return std::exp(std::log(s) - std::log(detail::draw_exponential(rng)) / a);
      },
      alpha, sigma);
}

/// Draws generalized Pareto numbers from mu on with scale sigma and shape xi.
template <class Mu, class Sigma, class Xi, class URBG>
auto generalized_pareto_rng(const Mu& mu, const Sigma& sigma, const Xi& xi, URBG& rng) {
  return detail::draws<generalized_pareto_lpdf_rule, double>(
      "generalized_pareto_rng",
      [&](detail::draw_place, double m, double s, double x) {
        return m + s * detail::shaped_exp(detail::draw_exponential(rng), x);
      },
      mu, sigma, xi);
}

/// Draws the sizes of normal numbers with mean 0 and standard deviation sigma.
template <class Sigma, class URBG>
auto half_normal_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<half_normal_lpdf_rule, double>(
      "half_normal_rng", [&](detail::draw_place, double s) { return s * std::abs(detail::draw_normal(rng)); }, sigma);
}

/// Draws the sizes of Cauchy numbers with location 0 and scale sigma.
template <class Sigma, class URBG>
auto half_cauchy_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<half_cauchy_lpdf_rule, double>(
      "half_cauchy_rng", [&](detail::draw_place, double s) { return s * std::abs(detail::draw_cauchy(rng)); }, sigma);
}

/// Draws inverse Gaussian numbers with mean mu and shape lambda: one of the two numbers at which the exponent of the density is
/// that of a normal number. Source: Michael, Schucany and Haas (1976), The American Statistician 30:88.
template <class Mu, class Lambda, class URBG>
auto inv_gaussian_rng(const Mu& mu, const Lambda& lambda, URBG& rng) {
  return detail::draws<inv_gaussian_lpdf_rule, double>(
      "inv_gaussian_rng",
      [&](detail::draw_place, double m, double l) {
        const double z = detail::draw_normal(rng), w = 0.5 * z * z * (m / l);
        const double factor = 1 + w + std::sqrt(w) * std::sqrt(w + 2);  // of the larger number, 1 / factor is the smaller one
        return open_unit_rng(rng) * (1 + 1 / factor) < 1 ? m / factor : m * factor;
      },
      mu, lambda);
}

/// Draws Rayleigh numbers with scale sigma.
template <class Sigma, class URBG>
auto rayleigh_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<rayleigh_lpdf_rule, double>(
      "rayleigh_rng", [&](detail::draw_place, double s) { return s * std::sqrt(2 * detail::draw_exponential(rng)); }, sigma);
}

/// Draws log-logistic numbers with scale alpha and shape beta.
template <class Alpha, class Beta, class URBG>
auto loglogistic_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<loglogistic_lpdf_rule, double>(
      "loglogistic_rng",
      [&](detail::draw_place, double a, double b) { return std::exp(std::log(a) + detail::draw_logistic(rng) / b); }, alpha,
      beta);
}

/// Draws Pareto numbers from y_min on with shape alpha.
template <class YMin, class Alpha, class URBG>
auto pareto_rng(const YMin& y_min, const Alpha& alpha, URBG& rng) {
  return detail::draws<pareto_lpdf_rule, double>(
      "pareto_rng",
      [&](detail::draw_place, double least, double a) { return least * std::exp(detail::draw_exponential(rng) / a); }, y_min,
      alpha);
}

/// Draws Pareto numbers of the second type (Lomax) from mu on with scale lambda and shape alpha.
template <class Mu, class Lambda, class Alpha, class URBG>
auto pareto_type_2_rng(const Mu& mu, const Lambda& lambda_, const Alpha& alpha, URBG& rng) {
  return detail::draws<pareto_type_2_lpdf_rule, double>(
      "pareto_type_2_rng",
      [&](detail::draw_place, double m, double l, double a) { return m + l * std::expm1(detail::draw_exponential(rng) / a); },
      mu, lambda_, alpha);
}

/// Draws beta numbers with shapes alpha and beta.
template <class Alpha, class Beta, class URBG>
auto beta_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_lpdf_rule, double>(
      "beta_rng", [&](detail::draw_place, double a, double b) { return detail::draw_beta(a, b, rng).share; }, alpha, beta);
}

/// Draws beta numbers with mean mu and precision kappa: of shapes mu kappa and (1 - mu) kappa.
template <class Mu, class Kappa, class URBG>
auto beta_proportion_rng(const Mu& mu, const Kappa& kappa, URBG& rng) {
  return detail::draws<beta_proportion_lpdf_rule, double>(
      "beta_proportion_rng",
      [&](detail::draw_place, double m, double k) {
        const double precision = std::fmax(k, 1e-100);
        return detail::draw_beta(std::fmax(m * precision, std::numeric_limits<double>::min()), (1 - m) * precision, rng).share;
      },
      mu, kappa);
}

}  // namespace agrad
