// Structure: the words that move entries: transposed, symmetric part, triangles, diagonals, blocks.
//
// All are linear; a rule consists of its value and the adjoint map.
#pragma once

#include <agrad/rules/linalg/algebra.hpp>

namespace agrad::linalg {

struct transpose_rule : linear_rule<transpose_rule> {
  static constexpr std::string_view name = "transpose";
  shapes results_of(const shape& a) const { return {{{a.cols, a.rows}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = a.transpose();
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    add_to(a_bar, y_bar->transpose());
  }
};

/// (a + a') / 2, or with sign -1 the antisymmetric part.
struct symmetric_part_rule : linear_rule<symmetric_part_rule> {
  static constexpr std::string_view name = "symmetric_part";
  double sign;
  explicit symmetric_part_rule(double s) : sign(s) {}
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{a}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = 0.5 * (a + sign * a.transpose());
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    add_to(a_bar, 0.5 * (*y_bar + sign * y_bar->transpose()));
  }
};

/// The lower or upper triangle, zeros elsewhere, its diagonal multiplied by a factor (0: the strict triangle).
template <int Triangle>
struct triangle_rule : linear_rule<triangle_rule<Triangle>> {
  static constexpr std::string_view name = "triangle";
  using shapes = typename linear_rule<triangle_rule<Triangle>>::shapes;
  double diagonal;
  explicit triangle_rule(double factor) : diagonal(factor) {}
  shapes results_of(const shape& a) const { return {{a}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = a.template triangularView<Triangle>();
    y.diagonal() *= diagonal;
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In* y_bar, block* a_bar) const {
    MatrixXd mine(a.rows(), a.cols());
    value({}, *y_bar, block(mine));
    add_to(a_bar, mine);
  }
};

/// The diagonal, n x 1.
struct diagonal_rule : linear_rule<diagonal_rule> {
  static constexpr std::string_view name = "diagonal";
  shapes results_of(const shape& a) const { return {{{a.rows < a.cols ? a.rows : a.cols, 1}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = a.diagonal();
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    if (a_bar != nullptr) a_bar->diagonal() += *y_bar;
  }
};

/// The square matrix with this diagonal.
struct diagonal_matrix_rule : linear_rule<diagonal_matrix_rule> {
  static constexpr std::string_view name = "diagonal_matrix";
  shapes results_of(const shape& a) const { return {{{a.rows, a.rows}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y.setZero();
    y.diagonal() = a;
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    add_to(a_bar, y_bar->diagonal());
  }
};

/// Columns first, ..., first + count - 1.
struct columns_rule : linear_rule<columns_rule> {
  static constexpr std::string_view name = "columns";
  Index first, count;
  columns_rule(Index from, Index n) : first(from), count(n) {}
  shapes results_of(const shape& a) const { return {{{a.rows, count}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = a.middleCols(first, count);
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    if (a_bar != nullptr) a_bar->middleCols(first, count) += *y_bar;
  }
};

/// b at the right of a.
struct beside_rule : rule<2> {
  static constexpr std::string_view name = "beside";
  shapes results_of(const shape& a, const shape& b) const {
    check_rows(name, a, b, a.rows);
    return {{{a.rows, a.cols + b.cols}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y.leftCols(a.cols()) = a;
    y.rightCols(b.cols()) = b;
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    add_to(a_bar, y_bar->leftCols(a.cols()));
    add_to(b_bar, y_bar->rightCols(b.cols()));
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const B& b, const Y&, const D& da) const {
    return linalg::apply(*this, da, MatrixXd(MatrixXd::Zero(b.rows(), b.cols())));
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A& a, const B&, const Y&, const D& db) const {
    return linalg::apply(*this, MatrixXd(MatrixXd::Zero(a.rows(), a.cols())), db);
  }
};

template <class A>
auto transpose(const A& a) {
  return linalg::apply(transpose_rule{}, a);
}
template <class A>
auto symmetric_part(const A& a) {
  return linalg::apply(symmetric_part_rule(1), a);
}
/// Returns the lower triangle with its diagonal multiplied by a factor.
template <class A>
auto lower_triangle(const A& a, double diagonal = 1) {
  return linalg::apply(triangle_rule<Eigen::Lower>(diagonal), a);
}
template <class A>
auto upper_triangle(const A& a, double diagonal = 1) {
  return linalg::apply(triangle_rule<Eigen::Upper>(diagonal), a);
}
template <class A>
auto diagonal(const A& a) {
  return linalg::apply(diagonal_rule{}, a);
}
template <class A>
auto diagonal_matrix(const A& a) {
  return linalg::apply(diagonal_matrix_rule{}, a);
}
template <class A>
auto columns(const A& a, Index first, Index count) {
  return linalg::apply(columns_rule(first, count), a);
}
template <class A, class B>
auto beside(const A& a, const B& b) {
  return linalg::apply(beside_rule{}, a, b);
}
/// Returns s a, for s of 1 x 1.
template <class S, class A>
auto scaled_by(const S& s, const A& a) {
  return entrywise(product(product(MatrixXd(MatrixXd::Ones(a.rows(), 1)), s), MatrixXd(MatrixXd::Ones(1, a.cols()))), a);
}
/// Return a diag(v) and diag(v) a, for a vector v.
template <class A, class V>
auto scaled_columns(const A& a, const V& v) {
  return entrywise(a, product<false, true>(MatrixXd(MatrixXd::Ones(a.rows(), 1)), v));
}
template <class A, class V>
auto scaled_rows(const V& v, const A& a) {
  return entrywise(a, product(v, MatrixXd(MatrixXd::Ones(1, a.cols()))));
}

}  // namespace agrad::linalg
