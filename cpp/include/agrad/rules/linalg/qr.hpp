// QR: a = Q R with orthonormal columns of Q and an upper triangular R, in thin form.
//
// The diagonal of R is not negative, or has the signs of Householder reflections, as in LAPACK and NumPy. The rule is for tall
// matrices (m >= n). A wide matrix is [a1 a2] with a square a1: the rule computes a1 = Q R1, and R2 is the product Q' a2.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/rules/linalg/householder.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/triangular.hpp>

namespace agrad {
namespace linalg {

template <bool PositiveDiagonal = true>
struct qr_rule : rule<1, 2> {
  static constexpr std::string_view name = "qr",
                                    text = "Thin factors Q and R of a matrix with at least as many rows as columns.",
                                    source = "Walter & Lehmann 2010, section 2.2; de Hoog, Anderssen & Lukas 2011";
  static constexpr unsigned options = PositiveDiagonal ? 0 : 1;
  using shapes = rule<1, 2>::shapes;
  shapes results_of(const shape& a) const { return {{a, {a.cols, a.cols}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out q, Out r) const {
    if (a.size() == 0) return q.setZero(), r.setZero(), void();
    const scaled_householder<> decomposition(a);
    decomposition.write_q(q);
    r = decomposition.r();
    for (Index j = 0; PositiveDiagonal && j < a.cols(); ++j) {
      if (r(j, j) >= 0) continue;
      r.row(j).tail(a.cols() - j) *= -1;
      q.col(j) *= -1;
    }
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& q, const In& r, const In* q_bar, const In* r_bar, block* a_bar) const {
    check_rank(r);
    MatrixXd inner = MatrixXd::Zero(a.cols(), a.cols());
    if (r_bar != nullptr) {
      const MatrixXd m = r * MatrixXd(r_bar->template triangularView<Eigen::Upper>()).transpose();
      inner = m.template selfadjointView<Eigen::Lower>();
    }
    MatrixXd sum = MatrixXd::Zero(a.rows(), a.cols());
    if (q_bar != nullptr) {
      const MatrixXd of_q = q.transpose() * *q_bar;
      inner.template triangularView<Eigen::StrictlyLower>() += of_q - of_q.transpose();
      if (a.rows() > a.cols()) sum = orthogonal_part<MatrixXd>(q, *q_bar);
    }
    sum.noalias() += q * inner;
    r.template triangularView<Eigen::Upper>().transpose().template solveInPlace<Eigen::OnTheRight>(sum);
    *a_bar += sum;
  }
  template <class A, class Q, class R, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const Q& q, const R& r, const D& da) const {
    check_rank(primal(r));
    const auto inner = product<true>(q, da), below = lower_triangle(over(inner, r), 0);
    const auto turn = minus(below, linalg::transpose(below));
    D dq = product(q, turn);
    if (q.rows() > q.cols()) dq = plus(dq, over(orthogonal_part<D>(q, da), r));
    return std::array<D, 2>{dq, upper_triangle(minus(inner, product(turn, r)))};
  }

 private:
  // Terms that are zero in exact arithmetic are left out or made small below, where a difference would leave rounding errors:
  // divided by small diagonal entries of r, these would be larger than the derivatives.

  /// Returns x - q q' x, orthogonal to q up to the rounding of the result.
  template <class D, class Q, class X>
  static D orthogonal_part(const Q& q, const X& x) {
    const auto once = minus(x, product(q, product<true>(q, x)));
    return minus(once, product(q, product<true>(q, once)));
  }
  /// Returns x r^-1.
  template <class X, class R>
  static auto over(const X& x, const R& r) {
    return linalg::transpose(solved_triangular<Eigen::Upper, true>(r, linalg::transpose(x)));
  }
  /// Throws if a column is, up to rounding, in the span of the columns before it: Q then has no derivative.
  template <class In>
  static void check_rank(const In& r) {
    for (Index j = 0; j < r.rows(); ++j) {
      const double rounding = 1e-15 * static_cast<double>(r.rows()) * r.col(j).head(j).stableNorm();
      if (AGRAD_UNLIKELY(std::abs(r(j, j)) <= rounding))
        fail_pivot(name, "of deficient rank", "of full rank, to have derivatives", j, r(j, j));
    }
  }
};

/// Columns that complete Q of a tall matrix (m > n) to a basis, m x (m - n). They could be chosen in many ways and have no
/// derivatives.
struct completion_rule : rule<1> {
  static constexpr std::string_view name = "qr_Q";
  shapes results_of(const shape& a) const { return {{{a.rows, a.rows - a.cols}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    if (a.size() == 0) return y.setIdentity(), void();
    MatrixXd q(a.rows(), a.rows());
    scaled_householder<>(a).write_q(q);
    y = q.rightCols(y.cols());
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In* y_bar, block*) const {
    if (AGRAD_UNLIKELY(!y_bar->isZero(0))) fail({a.rows(), a.cols()});
  }
  template <class A, class Y, class D>
  D tangent(wrt<0>, const nothing&, const nothing&, const A& a, const Y&, const D&) const {
    fail({a.rows(), a.cols()});
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail(const shape& a) {
    throw DomainError(agrad::detail::sentence(name, "a", -1, to_text(a),
                                              "with at least as many columns as rows, to have derivatives",
                                              "columns that complete a basis have none; write qr_thin_Q"));
  }
};

/// Returns Q and R in the algebra of a.
template <class A>
auto qr_factors(const A& a) {
  auto tall = [](const auto& x) { return linalg::apply(qr_rule<>{}, x); };
  if (a.cols() <= a.rows()) return tall(a);
  const auto left = columns(a, 0, a.rows()), right = columns(a, a.rows(), a.cols() - a.rows());
  auto y = tall(left);
  decltype(y) result{y[0], beside(y[1], product<true>(y[0], right))};
  return result;
}

}  // namespace linalg

/// The factors of `qr`: `q` (m x k), `r` (k x n), k = min(m, n).
template <class Matrix>
struct qr_result {
  Matrix q, r;
};

/// Returns the thin QR factors of an m x n matrix: a = q r, q' q = 1, r upper triangular with a diagonal >= 0. Derivatives need
/// linearly independent first k columns; else the reverse pass throws DomainError.
template <class A, class = linalg::if_matrices<A>>
auto qr(const A& a) {
  auto y = linalg::qr_factors(linalg::lift(a));
  return qr_result<decltype(linalg::lower<A>(y[0]))>{linalg::lower<A>(y[0]), linalg::lower<A>(y[1])};
}

}  // namespace agrad
