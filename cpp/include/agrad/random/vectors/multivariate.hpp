// Draws of vectors, of covariance and correlation matrices, and of Cholesky factors of these.
//
// Matrices are drawn by their Cholesky factors, entry by entry; what only a factor's product has is never factorised again.
// Read next: random/vectors/checks.hpp, the checks of matrices.
#pragma once

#include <cmath>
#include <vector>

#include <agrad/constraints/matrices.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/random/vectors/checks.hpp>

namespace agrad {

namespace detail {

/// Returns mu + factor scale z for a lower triangular scale and standard normal z.
template <class URBG>
random_vector draw_vector(const random_vector& mu, const random_matrix& scale, double factor, URBG& rng) {
  random_vector z(mu.size()), y = mu;
  for (Eigen::Index i = 0; i < mu.size(); ++i) {
    z[i] = factor * draw_normal(rng);
    for (Eigen::Index k = 0; k <= i; ++k) y[i] += scale(i, k) * z[k];
  }
  return y;
}

/// Whether a parameter is a sequence of vectors.
template <class X>
inline constexpr bool is_vectors = false;
template <class X, class A>
inline constexpr bool is_vectors<std::vector<X, A>> = !std::is_arithmetic_v<X>;

/// Draws a vector for the location, or one for each of several locations; factor() is drawn for each.
template <class Mu, class Factor, class URBG>
auto draw_vectors(std::string_view function, const Mu& mu, const random_matrix& scale, const Factor& factor, URBG& rng) {
  const auto one = [&](const auto& location) {
    const random_vector m = checked_vector(function, "mu", must_be::finite, location);
    check_size(function, "mu", static_cast<std::size_t>(m.size()), static_cast<std::size_t>(scale.rows()),
               "the number of rows of the scale matrix");
    const double f = factor();
    return draw_vector(m, scale, f, rng);
  };
  if constexpr (is_vectors<Mu>) {
    std::vector<random_vector> y;
    for (const auto& location : mu) y.push_back(one(location));
    return y;
  } else {
    return one(mu);
  }
}

template <class Mu, class URBG>
auto draw_multi_normal(std::string_view function, const Mu& mu, const random_matrix& scale, URBG& rng) {
  return draw_vectors(
      function, mu, scale, [] { return 1.0; }, rng);
}
template <class Mu, class URBG>
auto draw_multi_student_t(std::string_view function, double nu, const Mu& mu, const random_matrix& scale, URBG& rng) {
  check(function, "nu", nu, must_be::positive_finite);
  return draw_vectors(
      function, mu, scale, [&] { return draw_gamma_power(nu / 2, nu / 2, -0.5, 1, rng); }, rng);
}

/// Draws the Cholesky factor of a Wishart matrix with the unit matrix as scale.
/// Source: Bartlett (1933), Proceedings of the Royal Society of Edinburgh 53:260.
template <class URBG>
random_matrix draw_standard_wishart(std::string_view function, double nu, Eigen::Index n, URBG& rng) {
  check(function, "nu", nu, must_be::positive_finite);
  if (AGRAD_UNLIKELY(!(nu > static_cast<double>(n - 1))))
    throw DomainError(
        sentence(function, "nu", -1, nu, "greater than " + std::to_string(n - 1), "the number of rows of the matrices less 1"));
  random_matrix a = random_matrix::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) a(i, j) = draw_normal(rng);
    a(i, i) = draw_gamma_power((nu - static_cast<double>(i)) / 2, 0.5, 0.5, 1, rng);
  }
  return a;
}

template <class URBG>
random_matrix draw_wishart(std::string_view function, double nu, const random_matrix& scale, URBG& rng) {
  const random_matrix a = draw_standard_wishart(function, nu, scale.rows(), rng);
  random_matrix l = random_matrix::Zero(a.rows(), a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      for (Eigen::Index k = j; k <= i; ++k) l(i, j) += scale(i, k) * a(k, j);
  return l;
}

/// Draws the Cholesky factor of an inverse Wishart matrix: (u u')^-1 has the factor u'^-1 if u is upper triangular, so l u' =
/// scale.
template <class URBG>
random_matrix draw_inv_wishart(std::string_view function, double nu, const random_matrix& scale, URBG& rng) {
  const random_matrix a = draw_standard_wishart(function, nu, scale.rows(), rng);
  const Eigen::Index last = a.rows() - 1;
  const auto u = [&](Eigen::Index i, Eigen::Index j) { return a(last - i, last - j); };
  random_matrix l = random_matrix::Zero(a.rows(), a.rows());
  for (Eigen::Index i = 0; i <= last; ++i)
    for (Eigen::Index j = i; j >= 0; --j) {
      double rest = scale(i, j);
      for (Eigen::Index k = j + 1; k <= i; ++k) rest -= l(i, k) * u(j, k);
      l(i, j) = rest / u(j, j);
    }
  return l;
}

/// Draws the Cholesky factor of a correlation matrix, row by row: a length below 1, a direction, and what the length leaves.
/// Source: Lewandowski, Kurowicka and Joe (2009), Journal of Multivariate Analysis 100:1989, section 3.2.
template <class URBG>
random_matrix draw_lkj(std::string_view function, count_t n, double eta, URBG& rng) {
  check(function, "eta", eta, must_be::positive_finite);
  if (AGRAD_UNLIKELY(n < 1))
    throw DomainError(sentence(function, "K", -1, static_cast<long long>(n), "a whole number, positive"));
  const Eigen::Index size = n;
  random_matrix l = random_matrix::Zero(size, size);
  l(0, 0) = 1;
  for (Eigen::Index i = 1; i < size; ++i) {
    const beta_pair squares = draw_beta(0.5 * static_cast<double>(i), eta + 0.5 * static_cast<double>(size - 1 - i), rng);
    double norm = 0;
    for (Eigen::Index j = 0; j < i; ++j) l(i, j) = draw_normal(rng), norm += l(i, j) * l(i, j);
    for (Eigen::Index j = 0; j < i; ++j) l(i, j) *= std::sqrt(squares.share / norm);
    l(i, i) = std::sqrt(squares.rest);
  }
  return l;
}

}  // namespace detail

/// Draws a normal vector with mean mu and covariance matrix sigma; several means (std::vector of vectors) give as many vectors.
template <class Mu, class URBG>
auto multi_normal_rng(const Mu& mu, const Eigen::Ref<const Eigen::MatrixXd>& sigma, URBG& rng) {
  constexpr std::string_view name = "multi_normal_rng";
  return detail::draw_multi_normal(name, mu, detail::checked_factor(name, "Sigma", sigma, false), rng);
}

/// Does the same with the Cholesky factor l of the covariance matrix.
template <class Mu, class URBG>
auto multi_normal_cholesky_rng(const Mu& mu, const Eigen::Ref<const Eigen::MatrixXd>& l, URBG& rng) {
  constexpr std::string_view name = "multi_normal_cholesky_rng";
  return detail::draw_multi_normal(name, mu, detail::checked_factor(name, "L", l, true), rng);
}

/// Draws a vector of Student's t distribution with nu degrees of freedom, location mu and scale matrix sigma; several locations
/// give as many vectors.
template <class Mu, class URBG>
auto multi_student_t_rng(double nu, const Mu& mu, const Eigen::Ref<const Eigen::MatrixXd>& sigma, URBG& rng) {
  constexpr std::string_view name = "multi_student_t_rng";
  return detail::draw_multi_student_t(name, nu, mu, detail::checked_factor(name, "Sigma", sigma, false), rng);
}

/// Does the same with the Cholesky factor l of the scale matrix.
template <class Mu, class URBG>
auto multi_student_t_cholesky_rng(double nu, const Mu& mu, const Eigen::Ref<const Eigen::MatrixXd>& l, URBG& rng) {
  constexpr std::string_view name = "multi_student_t_cholesky_rng";
  return detail::draw_multi_student_t(name, nu, mu, detail::checked_factor(name, "L", l, true), rng);
}

/// Draws a Wishart matrix with nu degrees of freedom and scale matrix sigma.
template <class URBG>
Eigen::MatrixXd wishart_rng(double nu, const Eigen::Ref<const Eigen::MatrixXd>& sigma, URBG& rng) {
  constexpr std::string_view name = "wishart_rng";
  return detail::square_of_factor(detail::draw_wishart(name, nu, detail::checked_factor(name, "Sigma", sigma, false), rng));
}

/// Draws the Cholesky factor of a Wishart matrix, by the Cholesky factor l_s of the scale matrix.
template <class URBG>
Eigen::MatrixXd wishart_cholesky_rng(double nu, const Eigen::Ref<const Eigen::MatrixXd>& l_s, URBG& rng) {
  constexpr std::string_view name = "wishart_cholesky_rng";
  return detail::draw_wishart(name, nu, detail::checked_factor(name, "L_S", l_s, true), rng);
}

/// Draws an inverse Wishart matrix with nu degrees of freedom and scale matrix sigma.
template <class URBG>
Eigen::MatrixXd inv_wishart_rng(double nu, const Eigen::Ref<const Eigen::MatrixXd>& sigma, URBG& rng) {
  constexpr std::string_view name = "inv_wishart_rng";
  return detail::square_of_factor(detail::draw_inv_wishart(name, nu, detail::checked_factor(name, "Sigma", sigma, false), rng));
}

/// Draws the Cholesky factor of an inverse Wishart matrix, by the Cholesky factor l_s of the scale matrix.
template <class URBG>
Eigen::MatrixXd inv_wishart_cholesky_rng(double nu, const Eigen::Ref<const Eigen::MatrixXd>& l_s, URBG& rng) {
  constexpr std::string_view name = "inv_wishart_cholesky_rng";
  return detail::draw_inv_wishart(name, nu, detail::checked_factor(name, "L_S", l_s, true), rng);
}

/// Draws a k x k correlation matrix with density proportional to det^(eta - 1).
template <class URBG>
Eigen::MatrixXd lkj_corr_rng(count_t k, double eta, URBG& rng) {
  Eigen::MatrixXd matrix = detail::square_of_factor(detail::draw_lkj("lkj_corr_rng", k, eta, rng));
  matrix.diagonal().setOnes();
  return matrix;
}

/// Draws the Cholesky factor of such a matrix.
template <class URBG>
Eigen::MatrixXd lkj_corr_cholesky_rng(count_t k, double eta, URBG& rng) {
  return detail::draw_lkj("lkj_corr_cholesky_rng", k, eta, rng);
}

}  // namespace agrad
