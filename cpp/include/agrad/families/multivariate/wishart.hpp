// Wishart and inverse Wishart distributions: of covariance matrices and of their Cholesky factors.
//
// Traces are sums of squares of triangular solutions: tr(S^-1 W) = |L_S^-1 L_W|^2.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/multigamma.hpp>

namespace agrad {

namespace detail {

/// x^2 where the mark is 1, otherwise 0.
struct marked_square_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "marked_square";
  static double value(double mark, double x) { return mark * (x * x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& mark, const T& x, const T&) {
    return 2.0 * mark * x;
  }
};

/// Ones below the diagonal.
inline Eigen::MatrixXd strictly_lower(Eigen::Index p) {
  return Eigen::MatrixXd::Ones(p, p).triangularView<Eigen::StrictlyLower>();
}

/// Returns the log density of a matrix with Cholesky factor l_w, from the lower triangular quotient m of two factors: l_w and
/// that of the scale, or the other way round. With nu log det m m' - tr m m', and with the large part of the gamma function,
/// each entry of the diagonal has the deviance of nu / 2 from half of its square.
template <class W, class Parts, class M, class Nu, class L>
auto wishart_of_quotient(const Parts& included, const M& m, const Nu& nu, const L& l_w) {
  const Eigen::Index p = l_w.rows();
  const double more = static_cast<double>(p + 1);
  const bool with_norm = included.of({1}) && p > 0;
  const auto power = [with_norm](const auto& x, const auto& of) {
    using T = promoted_t<decltype(x), decltype(of)>;
    const T half_square = 0.5 * (x * x);
    return with_norm ? T(-kl_div(0.5 * of, half_square)) : T(of * log(x) - half_square);
  };
  const auto powers = W::sum(W::each(power, W::diagonal(m), nu));
  const auto square = [](const auto& mark, const auto& x) { return apply<marked_square_rule>(mark, x); };
  const auto squares = W::sum(W::each(square, strictly_lower(p), m));
  const auto norm = W::part(
      with_norm,
      [&] {
        return W::each([p](const auto& x) { return apply<multi_gamma_rest_rule>(0.0, static_cast<double>(p), 0.5 * x); }, nu);
      },
      nu);
  return added<W>(weighted<W>(1, powers, -0.5, squares, -more, log_diagonal<W>(l_w)), multiple<W>(-1, norm));
}

/// Returns the log Jacobian of L -> L L': p log 2 + sum of (p - i) log L_ii, rows i from 0.
template <class W, class L>
auto log_jacobian_of_square(const L& l) {
  const Eigen::Index p = l.rows();
  const Eigen::MatrixXd powers = Eigen::VectorXd::LinSpaced(p, static_cast<double>(p), 1);
  const auto term = [=](const auto& x, const auto& power) { return power * log(x) + log_2; };
  return W::sum(W::each(term, W::diagonal(l), powers));
}

/// Returns the Wishart and inverse Wishart log density of W = L_W L_W' with scale matrix L_S L_S'.
template <class W, class Parts, class A, class Nu, class S>
auto wishart_of_factors(const Parts& included, const A& l_w, const Nu& nu, const S& l_s) {
  return wishart_of_quotient<W>(included, W::solve_lower(l_s, l_w), nu, l_w);
}
template <class W, class Parts, class A, class Nu, class S>
auto inv_wishart_of_factors(const Parts& included, const A& l_w, const Nu& nu, const S& l_s) {
  return wishart_of_quotient<W>(included, W::solve_lower(l_w, l_s), nu, l_w);
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
/// Returns the log density of a symmetric positive definite matrix w, whose mean is nu sigma.
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
/// Returns the log density of the Cholesky factor of a matrix with a Wishart distribution.
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
/// Returns the log density of a matrix w whose inverse has a Wishart distribution with the inverse of sigma.
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
/// Returns the log density of the Cholesky factor of a matrix with an inverse Wishart distribution.
template <bool propto = false, class A, class Nu, class S>
auto inv_wishart_cholesky_lpdf(const A& l_w, const Nu& nu, const S& l_s) {
  return apply_multivariate<inv_wishart_cholesky_lpdf_rule, propto>(l_w, nu, l_s);
}

namespace rules {
using wishart_distribution =
    typelist<wishart_lpdf_rule, wishart_cholesky_lpdf_rule, inv_wishart_lpdf_rule, inv_wishart_cholesky_lpdf_rule>;
}

}  // namespace agrad
