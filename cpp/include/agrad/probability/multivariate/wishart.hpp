// Wishart and inverse Wishart distributions: of covariance matrices and of their Cholesky factors.
//
// Traces are sums of squares of triangular solutions: tr(S^-1 W) = |L_S^-1 L_W|^2.
#pragma once

#include <agrad/probability/multivariate/parts.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/multigamma.hpp>

namespace agrad {

namespace detail {

/// log of the multivariate gamma function of nu / 2, with the factor 2^(nu p / 2), for p > 0.
template <class W, class Nu>
auto wishart_norm(const Nu& nu, Eigen::Index p) {
  const int size = static_cast<int>(p);
  return W::each([size](const auto& x) { return lmgamma(size, 0.5 * x) + (0.5 * size * log_2) * x; }, nu);
}

/// The log density of a matrix with Cholesky factor `of`: a times half of its log determinant, plus b times half of that of
/// the scale, minus half of the squares, minus the norm.
template <class W, class Parts, class Nu, class S, class H, class G>
auto wishart_sum(const Parts& included, double sign, const Nu& nu, const S& squares, const H& half_log, const G& half_log_scale,
                 Eigen::Index p) {
  const double more = static_cast<double>(p + 1);
  const auto powers = W::each([=](const auto& x, const auto& h, const auto& g) { return (sign * x - more) * h - sign * x * g; },
                              nu, half_log, half_log_scale);
  const auto norm = W::part(
      included.of({1}) && p > 0, [&] { return wishart_norm<W>(nu, p); }, nu);
  return weighted<W>(1, powers, -0.5, squares, -1, norm);
}

/// The log Jacobian of L -> L L': p log 2 + sum of (p - i) log L_ii, rows i from 0.
template <class W, class L>
auto log_jacobian_of_square(const L& l) {
  const Eigen::Index p = l.rows();
  const Eigen::MatrixXd powers = Eigen::VectorXd::LinSpaced(p, static_cast<double>(p), 1);
  const auto term = [=](const auto& x, const auto& power) { return power * log(x) + log_2; };
  return W::sum(W::each(term, W::diagonal(l), powers));
}

/// Wishart and inverse Wishart log density of W = L_W L_W' with scale matrix L_S L_S'.
template <class W, class Parts, class A, class Nu, class S>
auto wishart_of_factors(const Parts& included, const A& l_w, const Nu& nu, const S& l_s) {
  const auto squares = W::sum(W::each(square_of{}, W::solve_lower(l_s, l_w)));
  return wishart_sum<W>(included, 1, nu, squares, log_diagonal<W>(l_w), log_diagonal<W>(l_s), l_w.rows());
}
template <class W, class Parts, class A, class Nu, class S>
auto inv_wishart_of_factors(const Parts& included, const A& l_w, const Nu& nu, const S& l_s) {
  const auto squares = W::sum(W::each(square_of{}, W::solve_lower(l_w, l_s)));
  return wishart_sum<W>(included, -1, nu, squares, log_diagonal<W>(l_w), log_diagonal<W>(l_s), l_w.rows());
}

}  // namespace detail

struct wishart_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "wishart_lpdf",
      text = "Log density of the matrix W with nu degrees of freedom and scale matrix Sigma.",
      source = "log f = ((nu - p - 1) log det W - tr(Sigma^-1 W) - nu log det Sigma - nu p log 2) / 2 - log Gamma_p(nu / 2)";
  static constexpr matrix_argument arguments[] = {{"W", 'p', 'p', must_be::positive_definite},
                                                  {"nu", '1', '1', must_be::degrees, 'p'},
                                                  {"Sigma", 'p', 'p', must_be::positive_definite}};
  template <class Words, class A, class Nu, class S>
  static auto log_density(const parts& included, const A& w, const Nu& nu, const S& sigma) {
    return detail::wishart_of_factors<Words>(included, Words::cholesky(w), nu, Words::cholesky(sigma));
  }
};
/// The log density of a symmetric positive definite matrix w, whose mean is nu sigma.
template <bool propto = false, class A, class Nu, class S>
auto wishart_lpdf(const A& w, const Nu& nu, const S& sigma) {
  return apply_multivariate<wishart_lpdf_rule, propto>(w, nu, sigma);
}

struct wishart_cholesky_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "wishart_cholesky_lpdf",
      text = "Log density of the Cholesky factor L_W of a matrix with nu degrees of freedom and scale matrix L_S L_S'.",
      source = "wishart_lpdf(L_W L_W', nu, L_S L_S') + p log 2 + sum (p - i + 1) log L_W_ii, rows i from 1";
  static constexpr matrix_argument arguments[] = {{"L_W", 'p', 'p', must_be::cholesky_factor},
                                                  {"nu", '1', '1', must_be::degrees, 'p'},
                                                  {"L_S", 'p', 'p', must_be::cholesky_factor}};
  template <class W, class A, class Nu, class S>
  static auto log_density(const parts& included, const A& l_w, const Nu& nu, const S& l_s) {
    return detail::added<W>(detail::wishart_of_factors<W>(included, l_w, nu, l_s), detail::log_jacobian_of_square<W>(l_w));
  }
};
/// The log density of the Cholesky factor of a matrix with a Wishart distribution.
template <bool propto = false, class A, class Nu, class S>
auto wishart_cholesky_lpdf(const A& l_w, const Nu& nu, const S& l_s) {
  return apply_multivariate<wishart_cholesky_lpdf_rule, propto>(l_w, nu, l_s);
}

struct inv_wishart_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "inv_wishart_lpdf",
      text = "Inverse Wishart log density of the matrix W with nu degrees of freedom and scale matrix Sigma.",
      source = "log f = (nu log det Sigma - (nu + p + 1) log det W - tr(Sigma W^-1) - nu p log 2) / 2 - log Gamma_p(nu / 2)";
  static constexpr matrix_argument arguments[] = {{"W", 'p', 'p', must_be::positive_definite},
                                                  {"nu", '1', '1', must_be::degrees, 'p'},
                                                  {"Sigma", 'p', 'p', must_be::positive_definite}};
  template <class Words, class A, class Nu, class S>
  static auto log_density(const parts& included, const A& w, const Nu& nu, const S& sigma) {
    return detail::inv_wishart_of_factors<Words>(included, Words::cholesky(w), nu, Words::cholesky(sigma));
  }
};
/// The log density of a matrix w whose inverse has a Wishart distribution with the inverse of sigma.
template <bool propto = false, class A, class Nu, class S>
auto inv_wishart_lpdf(const A& w, const Nu& nu, const S& sigma) {
  return apply_multivariate<inv_wishart_lpdf_rule, propto>(w, nu, sigma);
}

struct inv_wishart_cholesky_lpdf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "inv_wishart_cholesky_lpdf",
      text = "Inverse Wishart log density of the Cholesky factor L_W, with nu degrees of freedom and scale matrix L_S L_S'.",
      source = "inv_wishart_lpdf(L_W L_W', nu, L_S L_S') + p log 2 + sum (p - i + 1) log L_W_ii, rows i from 1";
  static constexpr matrix_argument arguments[] = {{"L_W", 'p', 'p', must_be::cholesky_factor},
                                                  {"nu", '1', '1', must_be::degrees, 'p'},
                                                  {"L_S", 'p', 'p', must_be::cholesky_factor}};
  template <class W, class A, class Nu, class S>
  static auto log_density(const parts& included, const A& l_w, const Nu& nu, const S& l_s) {
    return detail::added<W>(detail::inv_wishart_of_factors<W>(included, l_w, nu, l_s), detail::log_jacobian_of_square<W>(l_w));
  }
};
/// The log density of the Cholesky factor of a matrix with an inverse Wishart distribution.
template <bool propto = false, class A, class Nu, class S>
auto inv_wishart_cholesky_lpdf(const A& l_w, const Nu& nu, const S& l_s) {
  return apply_multivariate<inv_wishart_cholesky_lpdf_rule, propto>(l_w, nu, l_s);
}

namespace rules {
using wishart_distribution =
    typelist<wishart_lpdf_rule, wishart_cholesky_lpdf_rule, inv_wishart_lpdf_rule, inv_wishart_cholesky_lpdf_rule>;
}

}  // namespace agrad
