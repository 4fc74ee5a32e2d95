// Least squares: the x that minimises |a x - b| for a matrix a of full column rank, by Householder reflections.
//
// a = Q R is factorised once; the pseudoinverse is the solution for b = I. The derivatives also need (a' a)^-1, computed from
// the same R. Read next: rules/linalg/qr.hpp, the factors themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/rules/linalg/householder.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>

namespace agrad {
namespace linalg {

struct thin_qr {
  matrix_map q, r;

  /// Returns x = R^-1 Q' b.
  template <class In>
  MatrixXd solve(const In& b) const {
    MatrixXd x = q.transpose() * b;
    r.template triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  /// Returns a (a' a)^-1 v = Q R^-T v, which does not need the square of a's scale.
  template <class In>
  MatrixXd solve_left(const In& v) const {
    MatrixXd x = v;
    r.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    return q * x;
  }
  /// Returns (a' a)^-1 v = R^-1 R^-T v.
  template <class In>
  MatrixXd solve_gram(const In& v) const {
    MatrixXd x = v;
    r.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    r.template triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
};

/// Throws DomainError if a column depends on the columns before it, up to rounding.
template <class Room, class In>
thin_qr factor_full_rank(std::string_view function, Room& room, const In& a) {
  const Index n = a.cols();
  const thin_qr f{room.matrix(a.rows(), n), room.matrix(n, n)};
  if (is_filled<Room> || n == 0) return f;
  const scaled_householder<> decomposition(a);
  matrix_map q(f.q), r(f.r);
  decomposition.write_q(q);
  r = decomposition.scaled_r();
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(a.rows());
  for (Index j = 0; j < n; ++j)
    if (AGRAD_UNLIKELY(std::abs(r(j, j)) <= rounding * r.col(j).head(j + 1).norm()))
      fail_pivot(function, "of deficient rank", "of full rank", j, decomposition.r()(j, j));
  r = decomposition.r();
  return f;
}

/// (a' a)^-1 v.
struct solve_gram_rule : rule<2> {
  static constexpr std::string_view name = "least_squares", text = "Solution u of a' a u = v.",
                                    source = "differential of a' a u = v";
  shapes results_of(const shape&, const shape& v) const { return {{v}}; }
  template <class Room, class In>
  thin_qr prepare(Room& room, const In& a, const In&) const {
    return factor_full_rank(name, room, a);
  }
  template <class In, class Out>
  void value(const thin_qr& f, const In&, const In& v, Out u) const {
    u = f.solve_gram(v);
  }
  template <class In>
  void adjoint(const thin_qr& f, const In& a, const In&, const In& u, const In* u_bar, block* a_bar, block* v_bar) const {
    const MatrixXd w = f.solve_gram(*u_bar);
    add_to(v_bar, w);
    if (a_bar == nullptr) return;
    const MatrixXd au = a * u, aw = a * w;
    a_bar->noalias() -= au * w.transpose();
    a_bar->noalias() -= aw * u.transpose();
  }
  template <class A, class U>
  auto transposed(const A& a, const U& u_bar) const {
    return linalg::apply(*this, a, u_bar);
  }
  template <class A, class V, class U, class D>
  auto tangent(wrt<0>, const thin_qr& f, const nothing&, const A& a, const V&, const U& u, const D& da) const {
    return times(-1, apply_prepared(*this, f, a, plus(product<true>(da, product(a, u)), product<true>(a, product(da, u)))));
  }
  template <class A, class V, class U, class D>
  auto tangent(wrt<1>, const thin_qr& f, const nothing&, const A& a, const V&, const U&, const D& dv) const {
    return apply_prepared(*this, f, a, dv);
  }
};

struct least_squares_rule : rule<2> {
  static constexpr std::string_view name = "least_squares", text = "The x that minimises |a x - b|, a of full column rank.",
                                    source = "Golub & Pereyra 1973, equation 4.12, of full rank", numpy = "lstsq";
  shapes results_of(const shape& a, const shape& b) const {
    if (AGRAD_UNLIKELY(a.rows < a.cols)) fail_shape(name, "a", a, "with at least as many rows as columns");
    check_rows(name, a, b, a.rows);
    return {{{a.cols, b.cols}}};
  }
  template <class Room, class In>
  thin_qr prepare(Room& room, const In& a, const In&) const {
    return factor_full_rank(name, room, a);
  }
  template <class In, class Out>
  void value(const thin_qr& f, const In&, const In& b, Out x) const {
    x = f.solve(b);
  }
  template <class In>
  void adjoint(const thin_qr& f, const In& a, const In& b, const In& x, const In* x_bar, block* a_bar, block* b_bar) const {
    const MatrixXd aw = f.solve_left(*x_bar);
    add_to(b_bar, aw);
    if (a_bar == nullptr) return;
    const MatrixXd w = f.solve_gram(*x_bar), residual = b - a * x;
    a_bar->noalias() += residual * w.transpose();
    a_bar->noalias() -= aw * x.transpose();
  }
  template <class A, class X>
  auto transposed(const A& a, const X& x_bar) const {
    return product(a, linalg::apply(solve_gram_rule{}, a, x_bar));
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<0>, const thin_qr& f, const nothing&, const A& a, const B& b, const X& x, const D& da) const {
    const auto residual = minus(b, product(a, x));
    return minus(apply_prepared(solve_gram_rule{}, f, a, product<true>(da, residual)),
                 apply_prepared(*this, f, a, product(da, x)));
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<1>, const thin_qr& f, const nothing&, const A& a, const B&, const X&, const D& db) const {
    return apply_prepared(*this, f, a, db);
  }
};

/// (a' a)^-1 a', the solution for b = I.
struct pseudoinverse_rule : rule<1> {
  static constexpr std::string_view name = "pseudoinverse", text = "Pseudoinverse of a matrix of full column rank.",
                                    source = "Golub & Pereyra 1973, equation 4.12, of full rank", numpy = "pinv";
  shapes results_of(const shape& a) const {
    if (AGRAD_UNLIKELY(a.rows < a.cols)) fail_shape(name, "a", a, "with at least as many rows as columns");
    return {{{a.cols, a.rows}}};
  }
  template <class Room, class In>
  thin_qr prepare(Room& room, const In& a) const {
    return factor_full_rank(name, room, a);
  }
  template <class In, class Out>
  void value(const thin_qr& f, const In&, Out y) const {
    y = f.q.transpose();
    f.r.template triangularView<Eigen::Upper>().solveInPlace(y);
  }
  template <class In>
  void adjoint(const thin_qr& f, const In&, const In& y, const In* y_bar, block* a_bar) const {
    const MatrixXd w = f.solve_gram(*y_bar).transpose(), inside = f.q.transpose() * w, aw = f.solve_left(*y_bar);
    *a_bar += w;
    a_bar->noalias() -= f.q * inside;
    a_bar->noalias() -= aw * y.transpose();
  }
  template <class A, class Y, class D>
  auto tangent(wrt<0>, const thin_qr& f, const nothing&, const A& a, const Y& y, const D& da) const {
    const auto outside = minus(linalg::transpose(da), product(product<true>(da, a), y));
    return minus(apply_prepared(solve_gram_rule{}, f, a, outside), product(y, product(da, y)));
  }
};

}  // namespace linalg

/// Returns the x that minimises |a x - b| for a of m x n with m >= n and independent columns (else DomainError); b: m x k or a
/// vector.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto least_squares(const A& a, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, A, B>(
      linalg::apply(linalg::least_squares_rule{}, linalg::lift(a), linalg::lift(b)));
}

/// Returns the pseudoinverse of a matrix of full rank (else DomainError): m x n to n x m.
template <class A, class = linalg::if_matrices<A>>
auto pseudoinverse(const A& a) {
  const auto of_tall = [](const auto& x) { return linalg::apply(linalg::pseudoinverse_rule{}, x); };
  const auto& x = linalg::lift(a);
  return linalg::lower<A>(x.rows() >= x.cols() ? of_tall(x) : linalg::transpose(of_tall(linalg::transpose(x))));
}

}  // namespace agrad
