// LDL': a symmetric matrix as L diag(d) L' with a unit lower triangular L, without pivoting; d may have any signs.
#pragma once

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/spd_kernels.hpp>
#include <agrad/rules/linalg/triangular.hpp>

namespace agrad {
namespace linalg {

struct ldlt_rule : rule<1, 2> {
  static constexpr std::string_view name = "ldlt", text = "Unit lower triangular L and vector d with L diag(d) L' = a.",
                                    source = "Murray 2016, section 3, with the diagonal set apart";
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{a, {a.rows, 1}}};
  }
  /// Computes L below the diagonal and d on the diagonal.
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& a) const {
    matrix_map l = room.matrix(a.rows(), a.rows());
    if (is_filled<Room>) return l;
    copy_symmetric_part(a, l);
    const Index n = a.rows();
    Eigen::VectorXd scaled(n);
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < j; ++k) scaled[k] = l(j, k) * l(k, k);
      l.col(j).tail(n - j).noalias() -= l.block(j, 0, n - j, j) * scaled.head(j);
      if (AGRAD_UNLIKELY(l(j, j) == 0 || !std::isfinite(l(j, j))))
        fail_pivot(name, "singular in a leading block", "invertible in every leading block", j, l(j, j));
      l.col(j).tail(n - 1 - j) /= l(j, j);
    }
    return l;
  }
  template <class In, class Out>
  void value(const matrix_map& factor, const In&, Out l, Out d) const {
    l = factor.triangularView<Eigen::UnitLower>();
    d = factor.diagonal();
  }
  template <class In>
  void adjoint(const matrix_map&, const In& a, const In& l, const In& d, const In* l_bar, const In* d_bar, block* a_bar) const {
    MatrixXd p = MatrixXd::Zero(a.rows(), a.rows());
    if (l_bar != nullptr) {
      const MatrixXd below = l_bar->template triangularView<Eigen::StrictlyLower>();
      p.template triangularView<Eigen::StrictlyLower>() = l.transpose() * below;
      for (Index j = 0; j < a.rows(); ++j) p.col(j) *= 0.5 / d(j, 0);
    }
    if (d_bar != nullptr) p.diagonal() = *d_bar;
    *a_bar += between_inverses<Eigen::UnitLower>(l, p);
  }
  template <class A, class L, class V, class D>
  auto tangent(wrt<0>, const matrix_map&, const nothing&, const A&, const L& l, const V& d, const D& da) const {
    const auto half = solved_triangular<Eigen::UnitLower>(l, symmetric_part(da));
    const auto whole = solved_triangular<Eigen::UnitLower>(l, linalg::transpose(half));
    // whole D^-1, by the triangular solve with the diagonal matrix: D x = whole'
    const auto quotient = linalg::transpose(solved_triangular<Eigen::Lower>(diagonal_matrix(d), linalg::transpose(whole)));
    return std::array<D, 2>{product(l, lower_triangle(quotient, 0)), diagonal(whole)};
  }
};

}  // namespace linalg

/// The factors of a symmetric matrix: `lower`, unit lower triangular (n x n), and `diagonal` (n), a = lower diag lower'.
template <class Matrix, class Vector>
struct ldlt_factors {
  Matrix lower;
  Vector diagonal;
};

/// Returns L and d with L diag(d) L' = (a + a') / 2, without pivoting: accurate for definite and quasi-definite matrices. For
/// other matrices the result may be inaccurate, and a zero pivot throws DomainError. A function of the symmetric part.
template <class A, class = linalg::if_matrices<A>>
auto ldlt(const A& a) {
  auto y = linalg::apply(linalg::ldlt_rule{}, linalg::lift(a));
  return ldlt_factors<decltype(linalg::lower<A>(y[0])), decltype(linalg::lower<1, A>(y[1]))>{linalg::lower<A>(y[0]),
                                                                                             linalg::lower<1, A>(y[1])};
}

}  // namespace agrad
