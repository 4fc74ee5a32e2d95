// Symmetric positive definite matrices: Cholesky factor, logarithm of the determinant, solution of linear equations.
//
// All are functions of the symmetric part (a + a') / 2, so that gradients are symmetric; matrices that are not positive
// definite throw DomainError with the pivot. Read next: rules/linalg/spd_kernels.hpp; rules/linalg/ldlt.hpp, indefinite
// matrices.
#pragma once

#include <cmath>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/spd_tangents.hpp>
#include <agrad/rules/linalg/triangular.hpp>

namespace agrad {
namespace linalg {

struct cholesky_rule : rule<1> {
  static constexpr std::string_view name = "cholesky", text = "Lower triangular L with a positive diagonal and L L' = a.",
                                    source = "Murray 2016, equation 8 (tangent) and section 4 (adjoint)";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{a}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& a) const {
    return factor_spd(name, room, a);
  }
  template <class In, class Out>
  void value(const matrix_map& factor, const In&, Out l) const {
    l = factor.triangularView<Eigen::Lower>();
  }
  template <class In>
  void adjoint(const matrix_map&, const In&, const In& l, const In* l_bar, block* a_bar) const {
    add(reversed(l, *l_bar), *a_bar);
  }
  template <class L>
  MatrixXd reversed(const L& l, const L& l_bar) const {
    MatrixXd h = l_bar;
    reverse_cholesky<>(l, h);
    return h;
  }
  template <class H, class Out>
  void add(const H& h, Out& a_bar) const {
    add_symmetric(a_bar, 0.5, h);
  }
  template <class L>
  void propagate(const L& l, MatrixXd& d) const {
    MatrixXd lower = MatrixXd::Zero(d.rows(), d.cols());
    copy_symmetric_part(d, lower);
    propagate_cholesky<>(l, lower);
    d.swap(lower);
  }
  template <class L>
  void propagate_reversed(const L& l, const MatrixXd& dl, const MatrixXd& h, MatrixXd& d) const {
    propagate_reverse_cholesky<>(l, dl, h, d);
  }
  template <class A, class L, class D>
  auto tangent(wrt<0>, const matrix_map&, const nothing&, const A&, const L& l, const D& da) const {
    const auto half = solved_triangular<Eigen::Lower>(l, symmetric_part(da));
    const auto whole = solved_triangular<Eigen::Lower>(l, linalg::transpose(half));
    return product(l, lower_triangle(whole, 0.5));
  }
};

struct solve_spd_rule : rule<2> {
  static constexpr std::string_view name = "solve_spd", text = "Solution x of a x = b for a symmetric positive definite a.",
                                    source = "Giles 2008, section 2.3.1, symmetric part";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a, const shape& b) const {
    check_square(name, "a", a);
    check_rows(name, a, b, a.rows);
    return {{b}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& a, const In&) const {
    return factor_spd(name, room, a);
  }
  template <class In, class Out>
  void value(const matrix_map& l, const In&, const In& b, Out x) const {
    x = b;
    solve_in_place(l, x);
  }
  template <class In>
  void adjoint(const matrix_map& l, const In& a, const In&, const In& x, const In* x_bar, block* a_bar, block* b_bar) const {
    MatrixXd lambda = *x_bar;
    solve_in_place(l, lambda);
    add_to(b_bar, lambda);
    if (a_bar == nullptr) return;
    MatrixXd outer = MatrixXd::Zero(a.rows(), a.rows());
    outer.template triangularView<Eigen::Lower>() = lambda * x.transpose();
    outer.template triangularView<Eigen::Lower>() += x * lambda.transpose();
    add_symmetric(*a_bar, -0.5, outer);
  }
  template <class A, class X>
  auto transposed(const A& a, const X& x_bar) const {
    return linalg::apply(*this, a, x_bar);
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<0>, const matrix_map& l, const nothing&, const A& a, const B&, const X& x, const D& da) const {
    return times(-1, apply_prepared(*this, l, a, product(symmetric_part(da), x)));
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<1>, const matrix_map& l, const nothing&, const A& a, const B&, const X&, const D& db) const {
    return apply_prepared(*this, l, a, db);
  }

 private:
  template <class X>
  static void solve_in_place(const matrix_map& l, X& x) {
    l.triangularView<Eigen::Lower>().solveInPlace(x);
    l.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  }
};

struct log_determinant_spd_rule : rule<1> {
  static constexpr std::string_view name = "log_determinant_spd",
                                    text = "Logarithm of the determinant of a symmetric positive definite matrix.",
                                    source = "Giles 2008, section 2.2.4";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{1, 1}}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& a) const {
    return factor_spd(name, room, a);
  }
  template <class In, class Out>
  void value(const matrix_map& l, const In&, Out y) const {
    double sum = 0;
    for (Index i = 0; i < l.rows(); ++i) sum += std::log(l(i, i));
    y(0, 0) = 2 * sum;
  }
  template <class In>
  void adjoint(const matrix_map& l, const In&, const In&, const In* y_bar, block* a_bar) const {
    add_symmetric(*a_bar, (*y_bar)(0, 0), spd_inverse(l));
  }
  template <class A, class Y>
  auto linearize(const matrix_map& l, const A& a, const Y&) const {
    return apply_prepared(solve_spd_rule{}, l, a, MatrixXd(MatrixXd::Identity(a.rows(), a.rows())));
  }
  template <class T, class A, class Y, class D>
  auto tangent(wrt<0>, const matrix_map&, const T& inverse, const A&, const Y&, const D& da) const {
    return linalg::dot(inverse, da);
  }
};

}  // namespace linalg

/// Returns the lower Cholesky factor L of a symmetric positive definite matrix: L L' = (a + a') / 2, zeros above the diagonal.
/// Throws DomainError unless a is positive definite. A function of the symmetric part: gradients are symmetric.
template <class A, class = linalg::if_matrices<A>>
auto cholesky(const A& a) {
  return linalg::lower<A>(linalg::apply(linalg::cholesky_rule{}, linalg::lift(a)));
}

/// Returns log det a of a symmetric positive definite matrix (else DomainError), 0 for 0 x 0. A function of the symmetric part.
template <class A, class = linalg::if_matrices<A>>
auto log_determinant_spd(const A& a) {
  return linalg::lower_scalar(linalg::apply(linalg::log_determinant_spd_rule{}, linalg::lift(a)));
}

/// Returns x with a x = b for a symmetric positive definite a (else DomainError); b: n x m or a vector. A function of the
/// symmetric part of a.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto solve_spd(const A& a, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, A, B>(
      linalg::apply(linalg::solve_spd_rule{}, linalg::lift(a), linalg::lift(b)));
}

}  // namespace agrad
