// The multivariate normal distribution: by covariance, precision or Cholesky factor, of several outputs (Gaussian processes),
// and the Gaussian copula.
//
// All but the form by precision whiten the deviations by the Cholesky factor L of the covariance: z = L^-1 (y - mu).
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/rules/error/probit.hpp>

namespace agrad {

namespace detail {

/// Returns z with L z = (y - mu)', a column for each observation.
template <class W, class Y, class Mu, class L>
auto whitened(const Y& y, const Mu& mu, const L& l) {
  return W::solve_lower(l, W::transposed(W::each(difference_of{}, y, mu)));
}

template <class W, class Parts, class Y, class Mu, class L>
auto normal_of_factor(const Parts& included, const Y& y, const Mu& mu, const L& l) {
  const auto z = whitened<W>(y, mu, l);
  const auto squares = W::part(
      included.of({0, 1, 2}), [&] { return W::sum(W::each(square_of{}, z)); }, z);
  const auto half_log = W::part(
      included.of({2}), [&] { return log_diagonal<W>(l); }, l);
  const double n = static_cast<double>(z.cols()), p = static_cast<double>(z.rows());
  return weighted<W>(-0.5, squares, -n, half_log, included.constants() ? -n * p * half_log_two_pi : 0.0, one_number(1));
}

}  // namespace detail

struct multi_normal_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view name = "multi_normal_lpdf",
                                    text = "Log density of vectors y with means mu and covariance Sigma.",
                                    source = "log f = -(log det(2 pi Sigma) + (y - mu)' Sigma^-1 (y - mu)) / 2";
  static constexpr matrix_argument arguments[] = {
      {"y", 'n', 'p', must_be::finite}, {"mu", 'n', 'p', must_be::finite}, {"Sigma", 'p', 'p', must_be::positive_definite}};
  template <class W, class Y, class Mu, class S>
  static auto log_density(const parts& included, const Y& y, const Mu& mu, const S& sigma) {
    return detail::normal_of_factor<W>(included, y, mu, W::cholesky(sigma));
  }
};
/// Returns the sum of the multivariate normal log densities of y: the rows of a matrix, or one vector; so is mu.
template <bool propto = false, class Y, class Mu, class S>
auto multi_normal_lpdf(const Y& y, const Mu& mu, const S& sigma) {
  return apply_multivariate<multi_normal_lpdf_rule, propto>(y, mu, sigma);
}

struct multi_normal_cholesky_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view name = "multi_normal_cholesky_lpdf",
                                    text = "Log density of vectors y with means mu and covariance L L'.",
                                    source = "log f = -p log(2 pi) / 2 - sum log L_ii - |L^-1 (y - mu)|^2 / 2";
  static constexpr matrix_argument arguments[] = {
      {"y", 'n', 'p', must_be::finite}, {"mu", 'n', 'p', must_be::finite}, {"L", 'p', 'p', must_be::cholesky_factor}};
  template <class W, class Y, class Mu, class L>
  static auto log_density(const parts& included, const Y& y, const Mu& mu, const L& l) {
    return detail::normal_of_factor<W>(included, y, mu, l);
  }
};
/// Does the same with the Cholesky factor L of the covariance.
template <bool propto = false, class Y, class Mu, class L>
auto multi_normal_cholesky_lpdf(const Y& y, const Mu& mu, const L& l) {
  return apply_multivariate<multi_normal_cholesky_lpdf_rule, propto>(y, mu, l);
}

struct multi_normal_prec_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view name = "multi_normal_prec_lpdf",
                                    text =
                                        "Log density of vectors y with means mu and precision Omega, the inverse covariance.",
                                    source = "log f = (log det(Omega / (2 pi)) - (y - mu)' Omega (y - mu)) / 2";
  static constexpr matrix_argument arguments[] = {
      {"y", 'n', 'p', must_be::finite}, {"mu", 'n', 'p', must_be::finite}, {"Omega", 'p', 'p', must_be::positive_definite}};
  template <class W, class Y, class Mu, class O>
  static auto log_density(const parts& included, const Y& y, const Mu& mu, const O& omega) {
    const auto d = W::each(detail::difference_of{}, y, mu);
    const auto squares = W::part(
        included.of({0, 1, 2}), [&] { return W::sum(W::each(detail::product_of{}, W::product(d, omega), d)); }, omega);
    const auto half_log = W::part(
        included.of({2}), [&] { return detail::log_diagonal<W>(W::cholesky(omega)); }, omega);
    const double n = static_cast<double>(d.rows()), p = static_cast<double>(d.cols());
    return detail::weighted<W>(-0.5, squares, n, half_log, included.constants() ? -n * p * detail::half_log_two_pi : 0.0,
                               detail::one_number(1));
  }
};
/// Does the same with the precision matrix Omega, the inverse of the covariance.
template <bool propto = false, class Y, class Mu, class O>
auto multi_normal_prec_lpdf(const Y& y, const Mu& mu, const O& omega) {
  return apply_multivariate<multi_normal_prec_lpdf_rule, propto>(y, mu, omega);
}

namespace detail {

/// Returns the log density of outputs, the rows of y; output d has the covariance L L' / w_d.
template <class W, class Parts, class Y, class L, class V>
auto gp_of_factor(const Parts& included, const Y& y, const L& l, const V& w) {
  const auto z = W::solve_lower(l, W::transposed(y));
  const auto squares = W::part(
      included.of({0, 1, 2}), [&] { return W::sum(W::each(product_of{}, W::each(square_of{}, z), w)); }, z);
  const auto half_log = W::part(
      included.of({1}), [&] { return log_diagonal<W>(l); }, l);
  const auto scales = W::part(
      included.of({2}), [&] { return W::sum(W::each(log_of{}, w)); }, w);
  const double outputs = static_cast<double>(y.rows()), p = static_cast<double>(y.cols());
  const double constant = included.constants() ? -outputs * p * half_log_two_pi : 0.0;
  return added<W>(weighted<W>(-0.5, squares, -outputs, half_log, 0.5 * p, scales), one_number(constant));
}

}  // namespace detail

struct multi_gp_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view name = "multi_gp_lpdf",
                                    text = "Log density of the rows of y, Gaussian processes with covariances Sigma / w.",
                                    source = "the sum of multi_normal_lpdf(y_d, 0, Sigma / w_d) over rows d";
  static constexpr matrix_argument arguments[] = {{"y", 'd', 'p', must_be::finite},
                                                  {"Sigma", 'p', 'p', must_be::positive_definite},
                                                  {"w", '1', 'd', must_be::positive_finite}};
  template <class W, class Y, class S, class V>
  static auto log_density(const parts& included, const Y& y, const S& sigma, const V& w) {
    return detail::gp_of_factor<W>(included, y, W::cholesky(sigma), w);
  }
};
/// Returns the sum of the log densities of the rows of y, with means 0 and covariances Sigma / w.
template <bool propto = false, class Y, class S, class V>
auto multi_gp_lpdf(const Y& y, const S& sigma, const V& w) {
  return apply_multivariate<multi_gp_lpdf_rule, propto>(y, sigma, w);
}

struct multi_gp_cholesky_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view name = "multi_gp_cholesky_lpdf",
                                    text = "Log density of the rows of y, Gaussian processes with covariances L L' / w.",
                                    source = "the sum of multi_normal_cholesky_lpdf(y_d, 0, L / sqrt(w_d)) over rows d";
  static constexpr matrix_argument arguments[] = {
      {"y", 'd', 'p', must_be::finite}, {"L", 'p', 'p', must_be::cholesky_factor}, {"w", '1', 'd', must_be::positive_finite}};
  template <class W, class Y, class L, class V>
  static auto log_density(const parts& included, const Y& y, const L& l, const V& w) {
    return detail::gp_of_factor<W>(included, y, l, w);
  }
};
/// Does the same with the Cholesky factor L.
template <bool propto = false, class Y, class L, class V>
auto multi_gp_cholesky_lpdf(const Y& y, const L& l, const V& w) {
  return apply_multivariate<multi_gp_cholesky_lpdf_rule, propto>(y, l, w);
}

struct multi_normal_cholesky_copula_lpdf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "multi_normal_cholesky_copula_lpdf",
                                    text = "Log density of the Gaussian copula at vectors u of probabilities.",
                                    source = "log c = log f(z; 0, L L') - sum log f(z_i; 0, 1) at z = ndtri(u)";
  static constexpr matrix_argument arguments[] = {{"u", 'n', 'p', must_be::inner_probability},
                                                  {"L", 'p', 'p', must_be::correlation_factor}};
  template <class W, class U, class L>
  static auto log_density(const parts& included, const U& u, const L& l) {
    const auto x = W::each([](const auto& p) { return ndtri(p); }, u);
    const auto z = W::solve_lower(l, W::transposed(x));
    const auto squares = W::part(
        included.of({0, 1}), [&] { return W::sum(W::each(detail::square_of{}, z)); }, z);
    const auto margins = W::part(
        included.of({0}), [&] { return W::sum(W::each(detail::square_of{}, x)); }, x);
    const auto half_log = W::part(
        included.of({1}), [&] { return detail::log_diagonal<W>(l); }, l);
    return detail::weighted<W>(-0.5, squares, 0.5, margins, -static_cast<double>(u.rows()), half_log);
  }
};
/// Returns the sum of the log densities of the Gaussian copula with the Cholesky factor L of its correlation matrix.
template <bool propto = false, class U, class L>
auto multi_normal_cholesky_copula_lpdf(const U& u, const L& l) {
  return apply_multivariate<multi_normal_cholesky_copula_lpdf_rule, propto>(u, l);
}

namespace rules {
using multi_normal_distribution =
    typelist<multi_normal_lpdf_rule, multi_normal_cholesky_lpdf_rule, multi_normal_prec_lpdf_rule, multi_gp_lpdf_rule,
             multi_gp_cholesky_lpdf_rule, multi_normal_cholesky_copula_lpdf_rule>;
}

}  // namespace agrad
