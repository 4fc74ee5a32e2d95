// The LKJ distribution: of correlation matrices, of their Cholesky factors, and of covariance matrices.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/rules/gamma/half_gamma.hpp>

namespace agrad {

namespace detail {

/// Returns the logarithm of the normalising constant for p rows: Lewandowski, Kurowicka and Joe (2009), equation 16.
template <class W, class Eta>
auto lkj_norm(const Eta& eta, Eigen::Index p) {
  const double rest = static_cast<double>(p - 1), constant = -0.25 * log_pi * rest * (rest + 1);
  return W::each([=](const auto& x) { return apply<half_gamma_steps_rule>(0.0, rest, x) + constant; }, eta);
}
template <class W, class Eta, class H>
auto lkj_of_log_determinant(bool with_norm, const Eta& eta, const H& half_log, Eigen::Index p) {
  const auto power = W::each([](const auto& e, const auto& h) { return 2.0 * (e - 1.0) * h; }, eta, half_log);
  return added<W>(power, W::part(
                             with_norm && p > 1, [&] { return lkj_norm<W>(eta, p); }, eta));
}

}  // namespace detail

struct lkj_corr_lpdf_rule : multivariate_rule<2> {
  static constexpr std::string_view name = "lkj_corr_lpdf", text = "Log density of the correlation matrix y with shape eta.",
                                    source = "Lewandowski, Kurowicka and Joe (2009): f = c(eta) det(y)^(eta - 1)";
  static constexpr matrix_argument arguments[] = {{"y", 'p', 'p', must_be::correlation_matrix},
                                                  {"eta", '1', '1', must_be::positive_finite}};
  template <class W, class Y, class Eta>
  static auto log_density(const parts& included, const Y& y, const Eta& eta) {
    return detail::lkj_of_log_determinant<W>(included.of({1}), eta, detail::log_diagonal<W>(W::cholesky(y)), y.rows());
  }
};
/// Returns the log density of a correlation matrix y.
template <bool propto = false, class Y, class Eta>
auto lkj_corr_lpdf(const Y& y, const Eta& eta) {
  return apply_multivariate<lkj_corr_lpdf_rule, propto>(y, eta);
}

struct lkj_corr_cholesky_lpdf_rule : multivariate_rule<2> {
  static constexpr std::string_view
      name = "lkj_corr_cholesky_lpdf",
      text = "Log density of the Cholesky factor L of a correlation matrix with shape eta.",
      source = "f = c(eta) prod over i of L_ii^(p - i + 2 eta - 2), rows i from 1: lkj_corr and the Jacobian of L L'";
  static constexpr matrix_argument arguments[] = {{"L", 'p', 'p', must_be::correlation_factor},
                                                  {"eta", '1', '1', must_be::positive_finite}};
  template <class W, class L, class Eta>
  static auto log_density(const parts& included, const L& l, const Eta& eta) {
    const Eigen::Index p = l.rows();
    Eigen::MatrixXd powers(p, 1);
    // The first row is 1 and has no Jacobian.
    for (Eigen::Index i = 0; i < p; ++i) powers(i, 0) = i == 0 ? 0.0 : static_cast<double>(p - 1 - i);
    const auto logs = W::each(detail::log_of{}, W::diagonal(l));
    const auto jacobian = W::sum(W::each(detail::product_of{}, logs, powers));
    return detail::added<W>(jacobian, detail::lkj_of_log_determinant<W>(included.of({1}), eta, W::sum(logs), p));
  }
};
/// Returns the log density of the Cholesky factor L of a correlation matrix.
template <bool propto = false, class L, class Eta>
auto lkj_corr_cholesky_lpdf(const L& l, const Eta& eta) {
  return apply_multivariate<lkj_corr_cholesky_lpdf_rule, propto>(l, eta);
}

struct lkj_cov_lpdf_rule : multivariate_rule<4> {
  static constexpr std::string_view
      name = "lkj_cov_lpdf",
      text = "Log density of standard deviations, lognormal with mu and sigma, and correlations, of the covariance matrix y.",
      source = "lognormal_lpdf(s, mu, sigma) + lkj_corr_lpdf(r, eta) with y = diag(s) r diag(s), without a Jacobian";
  static constexpr matrix_argument arguments[] = {{"y", 'p', 'p', must_be::positive_definite},
                                                  {"mu", '1', 'p', must_be::finite, '1', shorthand::number},
                                                  {"sigma", '1', 'p', must_be::positive_finite, '1', shorthand::number},
                                                  {"eta", '1', '1', must_be::positive_finite}};
  template <class W, class Y, class Mu, class S, class Eta>
  static auto log_density(const parts& included, const Y& y, const Mu& mu, const S& sigma, const Eta& eta) {
    const auto log_scale = W::each([](const auto& v) { return 0.5 * log(v); }, W::transposed(W::diagonal(y)));
    const auto term = [](const auto& x, const auto& m, const auto& s) {
      using T = promoted_t<decltype(x), decltype(m), decltype(s)>;
      const T z = (x - m) / s;
      return T(-0.5 * z * z - log(s) - x);
    };
    const auto scales = W::sum(W::each(term, log_scale, mu, sigma));
    const auto all = W::sum(log_scale);
    const auto half_log = W::each(detail::difference_of{}, detail::log_diagonal<W>(W::cholesky(y)), all);
    const double constant = included.constants() ? -static_cast<double>(y.rows()) * detail::half_log_two_pi : 0.0;
    return detail::added<W>(scales, detail::one_number(constant),
                            detail::lkj_of_log_determinant<W>(included.of({3}), eta, half_log, y.rows()));
  }
};
/// Returns the log density of the standard deviations and correlations of a covariance matrix y; no density of y itself. One
/// number mu or sigma is that of all deviations.
template <bool propto = false, class Y, class Mu, class S, class Eta>
auto lkj_cov_lpdf(const Y& y, const Mu& mu, const S& sigma, const Eta& eta) {
  return apply_multivariate<lkj_cov_lpdf_rule, propto>(y, mu, sigma, eta);
}

namespace rules {
using lkj_distribution = typelist<lkj_corr_lpdf_rule, lkj_corr_cholesky_lpdf_rule, lkj_cov_lpdf_rule>;
}

}  // namespace agrad
