// Least squares: the shortest x that minimises |a x - b|, and the pseudoinverse, which is the solution for b = I.
//
// A matrix of deficient rank has the derivative among matrices of its rank. Other changes make the pseudoinverse jump; the
// formula leaves the change of rank out, as JAX and PyTorch do. Read next: rules/spectra/range.hpp, the factors.
#pragma once

#include <algorithm>
#include <limits>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>
#include <agrad/rules/spectra/range.hpp>

namespace agrad {
namespace linalg {

/// (a' a)^-1 v, of full rank.
struct solve_gram_rule : rule<2> {
  static constexpr std::string_view name = "least_squares", text = "Solution u of a' a u = v.",
                                    source = "differential of a' a u = v";
  shapes results_of(const shape&, const shape& v) const { return {{v}}; }
  template <class Room, class In>
  range_factors prepare(Room& room, const In& a, const In&) const {
    const MatrixXd no_cutoff = MatrixXd::Zero(1, 1);
    return factor_range<Room, In>(name, room, a, no_cutoff);
  }
  template <class In, class Out>
  void value(const range_factors& f, const In&, const In& v, Out u) const {
    u = f.solve_gram(v);
  }
  template <class In>
  void adjoint(const range_factors& f, const In& a, const In&, const In& u, const In* u_bar, block* a_bar, block* v_bar) const {
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
  auto tangent(wrt<0>, const range_factors& f, const nothing&, const A& a, const V&, const U& u, const D& da) const {
    return times(-1, apply_prepared(*this, f, a, plus(product<true>(da, product(a, u)), product<true>(a, product(da, u)))));
  }
  template <class A, class V, class U, class D>
  auto tangent(wrt<1>, const range_factors& f, const nothing&, const A& a, const V&, const U&, const D& dv) const {
    return apply_prepared(*this, f, a, dv);
  }
};

/// The cutoff of a rule is an argument without a derivative, which is 0 wherever there is one.
struct pseudoinverse_rule : rule<2> {
  static constexpr std::string_view name = "pseudoinverse",
                                    text = "Pseudoinverse of a matrix with at least as many rows as columns.",
                                    source = "Golub & Pereyra 1973, equation 4.12", numpy = "pinv";
  shapes results_of(const shape& a, const shape&) const {
    if (AGRAD_UNLIKELY(a.rows < a.cols)) fail_shape(name, "a", a, "with at least as many rows as columns");
    return {{{a.cols, a.rows}}};
  }
  template <class Room, class In>
  range_factors prepare(Room& room, const In& a, const In& cutoff) const {
    return factor_range(name, room, a, cutoff);
  }
  template <class In, class Out>
  void value(const range_factors& f, const In&, const In&, Out y) const {
    y = f.left.transpose();
    if (f.is_full())
      f.right.triangularView<Eigen::Upper>().solveInPlace(y);
    else
      y = MatrixXd(f.right * (f.reciprocals.col(0).asDiagonal() * y));
  }
  template <class In>
  void adjoint(const range_factors& f, const In&, const In&, const In& y, const In* y_bar, block* a_bar, block*) const {
    if (a_bar == nullptr) return;
    f.check_dropped(name);
    const MatrixXd w = f.solve_gram(*y_bar).transpose(), aw = f.solve_left(*y_bar);
    *a_bar += w - f.in_columns(w);
    a_bar->noalias() -= aw * y.transpose();
    if (!f.is_full()) *a_bar += f.solve_left(y) * f.outside_rows(*y_bar).transpose();
  }
  template <class A, class C, class Y, class D>
  D tangent(wrt<0>, const range_factors& f, const nothing&, const A& a, const C&, const Y& y, const D& da) const {
    f.check_dropped(name);
    const auto of_inverse = product(y, product(da, y));
    const auto outside = minus(linalg::transpose(da), product(product<true>(da, a), y));
    if (f.is_full()) return minus(apply_prepared(solve_gram_rule{}, f, a, outside), of_inverse);
    const auto twice = product<false, true>(product<true>(da, linalg::transpose(y)), linalg::transpose(y));
    return plus(minus(product(y, product<true>(y, outside)), of_inverse), minus(twice, product(y, product(a, twice))));
  }
  template <class A, class C, class Y, class D>
  D tangent(wrt<1>, const range_factors&, const nothing&, const A&, const C&, const Y& y, const D&) const {
    return times(0, y);
  }
};

struct least_squares_rule : rule<3> {
  static constexpr std::string_view name = "least_squares", text = "The shortest x that minimises |a x - b|.",
                                    source = "Golub & Pereyra 1973, equation 4.12", numpy = "lstsq";
  shapes results_of(const shape& a, const shape& b, const shape&) const {
    if (AGRAD_UNLIKELY(a.rows < a.cols)) fail_shape(name, "a", a, "with at least as many rows as columns");
    check_rows(name, a, b, a.rows);
    return {{{a.cols, b.cols}}};
  }
  template <class Room, class In>
  range_factors prepare(Room& room, const In& a, const In&, const In& cutoff) const {
    return factor_range(name, room, a, cutoff);
  }
  template <class In, class Out>
  void value(const range_factors& f, const In&, const In& b, const In&, Out x) const {
    x = f.solve(b);
  }
  template <class In>
  void adjoint(const range_factors& f, const In& a, const In& b, const In&, const In& x, const In* x_bar, block* a_bar,
               block* b_bar, block*) const {
    const MatrixXd aw = f.solve_left(*x_bar);
    add_to(b_bar, aw);
    if (a_bar == nullptr) return;
    f.check_dropped(name);
    const MatrixXd w = f.solve_gram(*x_bar), residual = b - a * x;
    a_bar->noalias() += residual * w.transpose();
    a_bar->noalias() -= aw * x.transpose();
    if (!f.is_full()) *a_bar += f.solve_left(x) * f.outside_rows(*x_bar).transpose();
  }
  template <class A, class X>
  auto transposed(const A& a, const X& x_bar) const {
    return product(a, linalg::apply(solve_gram_rule{}, a, x_bar));
  }
  template <class A, class B, class C, class X, class D>
  D tangent(wrt<0>, const range_factors& f, const nothing&, const A& a, const B& b, const C& cutoff, const X& x,
            const D& da) const {
    f.check_dropped(name);
    const auto outside = product<true>(da, minus(b, product(a, x)));
    const auto of_inverse = apply_prepared(*this, f, a, product(da, x), cutoff);
    if (f.is_full()) return minus(apply_prepared(solve_gram_rule{}, f, a, outside), of_inverse);
    const auto y = apply_prepared(pseudoinverse_rule{}, f, a, cutoff);
    const auto twice = product<true>(da, product<true>(y, x));
    return plus(minus(product(y, product<true>(y, outside)), of_inverse), minus(twice, product(y, product(a, twice))));
  }
  template <class A, class B, class C, class X, class D>
  auto tangent(wrt<1>, const range_factors& f, const nothing&, const A& a, const B&, const C& cutoff, const X&,
               const D& db) const {
    return apply_prepared(*this, f, a, db, cutoff);
  }
  template <class A, class B, class C, class X, class D>
  D tangent(wrt<2>, const range_factors&, const nothing&, const A&, const B&, const C&, const X& x, const D&) const {
    return times(0, x);
  }
};

/// The cutoff of functions that are given none: rounding errors, as in `numpy.linalg.lstsq`.
inline MatrixXd rounding_cutoff(Index rows, Index cols) {
  return MatrixXd::Constant(1, 1, std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(rows, cols)));
}

}  // namespace linalg

/// Returns the shortest x that minimises |a x - b| for a of m x n with m >= n; b: m x k or a vector. Singular values of a that
/// are within rounding of zero count as zero; derivatives by a are then those among matrices of the same rank.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto least_squares(const A& a, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, A, B>(linalg::apply(
      linalg::least_squares_rule{}, linalg::lift(a), linalg::lift(b), linalg::rounding_cutoff(a.rows(), a.cols())));
}

/// Returns the pseudoinverse: m x n to n x m; of deficient rank as `least_squares`.
template <class A, class = linalg::if_matrices<A>>
auto pseudoinverse(const A& a) {
  const auto of_tall = [](const auto& x) {
    return linalg::apply(linalg::pseudoinverse_rule{}, x, linalg::rounding_cutoff(x.rows(), x.cols()));
  };
  const auto& x = linalg::lift(a);
  return linalg::lower<A>(x.rows() >= x.cols() ? of_tall(x) : linalg::transpose(of_tall(linalg::transpose(x))));
}

}  // namespace agrad
