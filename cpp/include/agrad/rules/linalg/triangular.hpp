// Triangular matrices: equations with a lower or upper triangle, by substitution.
//
// Only the named triangle is read (with Eigen::UnitLower and UnitUpper not even the diagonal) and has derivatives.
#pragma once

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>

namespace agrad {
namespace linalg {

template <int Mode, bool Transposed>
struct solve_triangular_rule : rule<2> {
  static constexpr std::string_view name = "solve_triangular",
                                    text = "Solution x of T x = b or T' x = b, T the named triangle of a.",
                                    source = "Giles 2008, section 2.3.1, on the triangle";
  static constexpr bool is_unit = (Mode & Eigen::UnitDiag) != 0, is_lower = (Mode & Eigen::Lower) != 0;
  static constexpr unsigned transposed_arguments = 1;  // transposed storage: the other triangle and transposition
  static constexpr unsigned options = (is_lower ? 1 : 0) + (Transposed ? 2 : 0) + (is_unit ? 4 : 0);
  using shapes = rule<2>::shapes;

  shapes results_of(const shape& a, const shape& b) const {
    check_square(name, "a", a);
    check_rows(name, a, b, a.rows);
    return {{b}};
  }
  template <class Room, class In>
  nothing prepare(Room&, const In& a, const In&) const {
    for (Index i = 0; !is_filled<Room> && !is_unit && i < a.rows(); ++i)
      if (AGRAD_UNLIKELY(a(i, i) == 0)) fail_pivot(name, "singular", "invertible", i, 0);
    return {};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out x) const {
    x = b;
    substitute<Transposed>(a, x);
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In& x, const In* x_bar, block* a_bar, block* b_bar) const {
    MatrixXd lambda = *x_bar;
    substitute<!Transposed>(a, lambda);
    add_to(b_bar, lambda);
    if (a_bar == nullptr) return;
    constexpr int part = is_unit ? (is_lower ? Eigen::StrictlyLower : Eigen::StrictlyUpper) : Mode;
    const MatrixXd outer = Transposed ? MatrixXd(x * lambda.transpose()) : MatrixXd(lambda * x.transpose());
    a_bar->template triangularView<part>() -= outer;
  }
  template <class A, class X>
  auto transposed(const A& a, const X& x_bar) const {
    return linalg::apply(solve_triangular_rule<Mode, !Transposed>{}, a, x_bar);
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<0>, const nothing& prepared, const nothing&, const A& a, const B&, const X& x, const D& da) const {
    const auto part = linalg::apply(triangle_rule < is_lower ? Eigen::Lower : Eigen::Upper > (is_unit ? 0 : 1), da);
    return times(-1, apply_prepared(*this, prepared, a, product<Transposed>(part, x)));
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<1>, const nothing& prepared, const nothing&, const A& a, const B&, const X&, const D& db) const {
    return apply_prepared(*this, prepared, a, db);
  }

 private:
  template <bool Transpose, class In, class X>
  static void substitute(const In& a, X& x) {
    if constexpr (Transpose)
      a.template triangularView<Mode>().transpose().solveInPlace(x);
    else
      a.template triangularView<Mode>().solveInPlace(x);
  }
};

template <int Mode, bool Transposed = false, class A, class B>
auto solved_triangular(const A& a, const B& b) {
  return linalg::apply(solve_triangular_rule<Mode, Transposed>{}, a, b);
}

}  // namespace linalg

/// Returns x with T x = b, or T' x = b if Transposed, where T is a triangle of a: Mode is Eigen::Lower, Upper, UnitLower or
/// UnitUpper.
///
///     solve_triangular<Eigen::Lower>(l, b)
///
/// a: n x n, with a diagonal without zeros unless the triangle is a unit triangle (else DomainError); b: n x m or a vector. The
/// rest of a is not read and has derivative zero.
template <int Mode, bool Transposed = false, class A, class B, class = linalg::if_matrices<A, B>>
auto solve_triangular(const A& a, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, A, B>(
      linalg::solved_triangular<Mode, Transposed>(linalg::lift(a), linalg::lift(b)));
}

}  // namespace agrad
