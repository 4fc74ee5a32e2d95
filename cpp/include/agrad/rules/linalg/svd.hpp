// Singular values and vectors in thin form, by one-sided Jacobi rotations: accurate also for small singular values.
//
// In the basis of the singular vectors the derivative is a symmetric matrix divided by the gaps s_j - s_i, as for eigenvectors,
// and an antisymmetric matrix divided by the sums s_j + s_i.
#pragma once

#include <Eigen/SVD>
#include <algorithm>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/spectrum.hpp>

namespace agrad {
namespace linalg {

struct svd_factors {
  matrix_map u, s, v;
};

template <class Room, class In>
svd_factors factor_svd(std::string_view function, Room& room, const In& a) {
  const Index k = std::min(a.rows(), a.cols());
  const svd_factors f{room.matrix(a.rows(), k), room.matrix(k, 1), room.matrix(a.cols(), k)};
  if (is_filled<Room> || k == 0) return f;
  if (AGRAD_UNLIKELY(!a.allFinite())) throw DomainError(agrad::detail::sentence(function, "a", -1, "not finite", "finite"));
  const Eigen::JacobiSVD<MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  matrix_map(f.u) = svd.matrixU();
  matrix_map(f.s) = svd.singularValues();
  matrix_map(f.v) = svd.matrixV();
  return f;
}

struct svd_rule : rule<1, 3> {
  static constexpr std::string_view name = "svd", text = "Thin U, singular values s, descending, and V with U diag(s) V' = a.",
                                    source = "Townsend 2016, with the limits of rules/linalg/spectrum.hpp";
  shapes results_of(const shape& a) const {
    const Index k = std::min(a.rows, a.cols);
    return {{{a.rows, k}, {k, 1}, {a.cols, k}}};
  }
  template <class Room, class In>
  svd_factors prepare(Room& room, const In& a) const {
    return factor_svd(name, room, a);
  }
  template <class In, class Out>
  void value(const svd_factors& f, const In&, Out u, Out s, Out v) const {
    u = f.u;
    s = f.s;
    v = f.v;
  }
  template <class In>
  void adjoint(const svd_factors&, const In& a, const In& u, const In& s, const In& v, const In* u_bar, const In* s_bar,
               const In* v_bar, block* a_bar) const {
    const Index k = s.rows();
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(k);
    if (s_bar != nullptr) weights = s_bar->col(0);
    MatrixXd of_u = MatrixXd::Zero(k, k), of_v = of_u, inner = weights.asDiagonal();
    if (u_bar != nullptr) of_u.noalias() = u.transpose() * *u_bar;
    if (v_bar != nullptr) of_v.noalias() = v.transpose() * *v_bar;
    if (u_bar != nullptr || v_bar != nullptr)
      inner = spectral_quotients(name, of_u + of_v, s, weights, true) + over_sums(of_u - of_v, s);
    const MatrixXd half = u * inner;
    a_bar->noalias() += half * v.transpose();
    if (u_bar != nullptr && a.rows() > k) {
      const MatrixXd rest = *u_bar - u * of_u;
      a_bar->noalias() += over_values(rest, s) * v.transpose();
    }
    if (v_bar != nullptr && a.cols() > k) {
      const MatrixXd rest = *v_bar - v * of_v;
      a_bar->noalias() += u * over_values(rest, s).transpose();
    }
  }
  template <class A, class U, class S, class V, class D>
  auto tangent(wrt<0>, const svd_factors&, const nothing&, const A& a, const U& u, const S& s, const V& v, const D& da) const {
    const auto inner = product<true>(u, product(da, v));
    const auto even = symmetric_part(inner), odd = linalg::apply(symmetric_part_rule(-1), inner);
    check_resolved(name, primal(even), primal(s), true);
    const auto over_gap = entrywise(reciprocal_gaps(s, -1), even), over_sum = entrywise(reciprocal_gaps(s, 1), odd);
    D du = product(u, plus(over_gap, over_sum)), dv = product(v, minus(over_gap, over_sum));
    const double smallest = s.rows() == 0 ? 1 : primal(s)(s.rows() - 1, 0);
    if (a.rows() != a.cols() && AGRAD_UNLIKELY(smallest == 0)) fail_zero(s.rows() - 1, smallest);
    const auto inverse = linalg::apply(reciprocal_rule(0), s);
    if (a.rows() > a.cols()) du = plus(du, scaled_columns(minus(product(da, v), product(u, inner)), inverse));
    if (a.rows() < a.cols())
      dv = plus(dv, scaled_columns(minus(product<true>(da, u), product<false, true>(v, inner)), inverse));
    return std::array<D, 3>{du, diagonal(inner), dv};
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail_zero(Index j, double value) {
    throw DomainError(agrad::detail::sentence(name, "a", -1, "of deficient rank",
                                              "of full rank where singular vectors are differentiated",
                                              "singular value " + std::to_string(j) + " is " + agrad::detail::to_text(value)));
  }
  /// (x - x') / 2 divided by the sums of two singular values.
  template <class In>
  static MatrixXd over_sums(const MatrixXd& x, const In& s) {
    MatrixXd y = MatrixXd::Zero(x.rows(), x.cols());
    const double zero = recognised_zero * x.cwiseAbs().maxCoeff(), smallest = smallest_gap(s);
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < j; ++i) {
        const double difference = x(i, j) - x(j, i), sum = s(i, 0) + s(j, 0);
        if (std::abs(difference) <= zero) continue;
        if (AGRAD_UNLIKELY(sum <= smallest)) fail_zero(j, s(j, 0));
        y(i, j) = 0.5 * difference / sum;
        y(j, i) = -y(i, j);
      }
    }
    return y;
  }
  /// Columns divided by singular values.
  template <class In>
  static MatrixXd over_values(MatrixXd x, const In& s) {
    const double zero = recognised_zero * x.cwiseAbs().maxCoeff();
    for (Index j = 0; j < x.cols(); ++j) {
      if (AGRAD_UNLIKELY(s(j, 0) <= smallest_gap(s))) {
        if (x.col(j).cwiseAbs().maxCoeff() > zero) fail_zero(j, s(j, 0));
        x.col(j).setZero();
      } else {
        x.col(j) /= s(j, 0);
      }
    }
    return x;
  }
};

struct singular_values_rule : rule<1> {
  static constexpr std::string_view name = "singular_values", text = "Singular values of a matrix, descending.",
                                    source = "Giles 2008, section 3.2", numpy = "svd";
  using through = svd_rule;
  static constexpr int through_result = 1;
  shapes results_of(const shape& a) const { return {{{std::min(a.rows, a.cols), 1}}}; }
  template <class Room, class In>
  svd_factors prepare(Room& room, const In& a) const {
    return factor_svd(name, room, a);
  }
  template <class In, class Out>
  void value(const svd_factors& f, const In&, Out s) const {
    s = f.s;
  }
  template <class In>
  void adjoint(const svd_factors& f, const In&, const In&, const In* s_bar, block* a_bar) const {
    const MatrixXd half = f.u * s_bar->col(0).asDiagonal();
    a_bar->noalias() += half * f.v.transpose();
  }
  template <class Vectors, class A, class S, class D>
  auto tangent(wrt<0>, const svd_factors&, const Vectors& usv, const A&, const S&, const D& da) const {
    return diagonal(product<true>(usv[0], product(da, usv[2])));
  }
};

}  // namespace linalg

/// The results of `svd`: `u` (m x k), `s` (k, descending), `v` (n x k), k = min(m, n).
template <class Matrix, class Vector>
struct svd_result {
  Matrix u;
  Vector s;
  Matrix v;
};

/// Thin singular value decomposition of an m x n matrix: a = u diag(s) v'. The vectors are subject to the same conditions as
/// those of `symmetric_eigen`; a rectangular matrix must be of full rank if its vectors are differentiated (else DomainError).
template <class A, class = linalg::if_matrices<A>>
auto svd(const A& a) {
  auto y = linalg::apply(linalg::svd_rule{}, linalg::lift(a));
  return svd_result<decltype(linalg::lower<A>(y[0])), decltype(linalg::lower<1, A>(y[1]))>{
      linalg::lower<A>(y[0]), linalg::lower<1, A>(y[1]), linalg::lower<A>(y[2])};
}

/// Singular values of a matrix, descending. Their derivatives do not divide by gaps.
template <class A, class = linalg::if_matrices<A>>
auto singular_values(const A& a) {
  return linalg::lower<1, A>(linalg::apply(linalg::singular_values_rule{}, linalg::lift(a)));
}

}  // namespace agrad
