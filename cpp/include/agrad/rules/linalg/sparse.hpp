// Sparse matrices: products of a constant sparse matrix with an active vector or matrix; equations and log determinants of
// symmetric positive definite matrices with a fixed pattern and active values.
//
// The gradient of the log determinant needs the inverse only on the pattern; Takahashi's recursion computes these entries at
// the cost of the factorisation. The gradient of a solve is -lambda x' on the pattern. First derivatives need no dense matrix.
#pragma once

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/sparse_pattern.hpp>
#include <agrad/rules/linalg/structure.hpp>

namespace agrad {
namespace linalg {

/// s b for a constant sparse s.
struct sparse_product_rule : linear_rule<sparse_product_rule> {
  static constexpr std::string_view name = "sparse_product", text = "s b for a constant sparse s.";
  std::shared_ptr<const Eigen::SparseMatrix<double>> s;
  explicit sparse_product_rule(Eigen::SparseMatrix<double> constant)
      : s(std::make_shared<const Eigen::SparseMatrix<double>>(std::move(constant))) {}

  shapes results_of(const shape& b) const {
    check_rows(name, {s->rows(), s->cols()}, b, s->cols());
    return {{{s->rows(), b.cols}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& b, Out y) const {
    y.setZero();
    for (Index c = 0; c < b.cols(); ++c)
      for (Index j = 0; j < s->cols(); ++j)
        for (Eigen::SparseMatrix<double>::InnerIterator e(*s, j); e; ++e) y(e.row(), c) += e.value() * b(j, c);
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* b_bar) const {
    for (Index c = 0; c < y_bar->cols(); ++c)
      for (Index j = 0; j < s->cols(); ++j)
        for (Eigen::SparseMatrix<double>::InnerIterator e(*s, j); e; ++e) (*b_bar)(j, c) += e.value() * (*y_bar)(e.row(), c);
  }
};

/// The common part of rules on a pattern.
struct on_pattern {
  sparse_pattern pattern;
  explicit on_pattern(sparse_pattern of) : pattern(std::move(of)) {}

  void check_values(std::string_view function, const shape& values) const {
    if (AGRAD_UNLIKELY(values.rows != pattern.values() || values.cols != 1))
      fail_shape(function, "values", values, "a vector of the pattern's " + std::to_string(pattern.values()) + " values");
  }
  void check_right(std::string_view function, const shape& b) const { check_rows(function, square(), b, pattern.size()); }
  shape square() const { return {pattern.size(), pattern.size()}; }

  template <class Room, class In>
  matrix_map factored(std::string_view function, Room& room, const In& values) const {
    matrix_map factor = room.matrix(pattern.factor_values(), 1);
    pattern.factor(function, values.data(), factor.data());
    return factor;
  }
  /// Computes sum(v) += factor (l_i x_j + l_j x_i) for the row i and the column j of each value.
  template <class L, class X, class Out>
  void add_outer(Out& sum, double factor, const L& l, const X& x) const {
    for (Index v = 0; v < pattern.values(); ++v) {
      const Index i = pattern.row(v), j = pattern.col(v);
      double entry = l.row(i).dot(x.row(j));
      if (i != j) entry += l.row(j).dot(x.row(i));
      sum(v, 0) += factor * entry;
    }
  }
  /// Computes y += A x for the symmetric matrix of these values.
  template <class V, class X, class Out>
  void add_product(Out& y, const V& values, const X& x) const {
    for (Index v = 0; v < pattern.values(); ++v) {
      const Index i = pattern.row(v), j = pattern.col(v);
      y.row(i) += values(v, 0) * x.row(j);
      if (i != j) y.row(j) += values(v, 0) * x.row(i);
    }
  }
};

/// A x for the symmetric matrix A of the first argument's values.
struct pattern_product_rule : rule<2>, on_pattern {
  static constexpr std::string_view name = "sparse_product";
  using on_pattern::on_pattern;
  shapes results_of(const shape& values, const shape& b) const {
    check_values(name, values);
    check_right(name, b);
    return {{b}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& values, const In& x, Out y) const {
    y.setZero();
    add_product(y, values, x);
  }
  template <class In>
  void adjoint(const nothing&, const In& values, const In& x, const In&, const In* y_bar, block* v_bar, block* x_bar) const {
    if (v_bar != nullptr) add_outer(*v_bar, 1, *y_bar, x);
    if (x_bar != nullptr) add_product(*x_bar, values, *y_bar);
  }
  template <class V, class X, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const V&, const X& x, const Y&, const D& dv) const {
    return linalg::apply(*this, dv, x);
  }
  template <class V, class X, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const V& values, const X&, const Y&, const D& dx) const {
    return linalg::apply(*this, values, dx);
  }
};

struct sparse_solve_rule : rule<2>, on_pattern {
  static constexpr std::string_view name = "solve_spd",
                                    text = "Solution of a x = b for a sparse symmetric positive definite a.",
                                    source = "Giles 2008, section 2.3.1, on the pattern";
  using on_pattern::on_pattern;
  shapes results_of(const shape& values, const shape& b) const {
    check_values(name, values);
    check_right(name, b);
    return {{b}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& values, const In&) const {
    return factored(name, room, values);
  }
  template <class In, class Out>
  void value(const matrix_map& factor, const In&, const In& b, Out x) const {
    x = b;
    for (Index c = 0; c < b.cols(); ++c) pattern.solve(factor.data(), x.col(c).data());
  }
  template <class In>
  void adjoint(const matrix_map& factor, const In&, const In&, const In& x, const In* x_bar, block* v_bar, block* b_bar) const {
    MatrixXd lambda = *x_bar;
    for (Index c = 0; c < lambda.cols(); ++c) pattern.solve(factor.data(), lambda.col(c).data());
    add_to(b_bar, lambda);
    if (v_bar != nullptr) add_outer(*v_bar, -1, lambda, x);
  }
  template <class V, class B, class X, class D>
  auto tangent(wrt<0>, const matrix_map& factor, const nothing&, const V& values, const B&, const X& x, const D& dv) const {
    return times(-1, apply_prepared(*this, factor, values, linalg::apply(pattern_product_rule(pattern), dv, x)));
  }
  template <class V, class B, class X, class D>
  auto tangent(wrt<1>, const matrix_map& factor, const nothing&, const V& values, const B&, const X&, const D& db) const {
    return apply_prepared(*this, factor, values, db);
  }
};

/// The derivative of log det a with respect to the values: entries of the inverse, twice off the diagonal.
struct sparse_inverse_rule : rule<1>, on_pattern {
  static constexpr std::string_view name = "log_determinant_spd", text = "Entries of a^-1 on the pattern.",
                                    source = "Takahashi, Fagan & Chen 1973; Erisman & Tinney 1975";
  using on_pattern::on_pattern;
  shapes results_of(const shape& values) const {
    check_values(name, values);
    return {{values}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& values) const {
    return factored(name, room, values);
  }
  template <class In, class Out>
  void value(const matrix_map& factor, const In&, Out y) const {
    std::vector<double> inverse(static_cast<std::size_t>(pattern.factor_values()));
    pattern.inverse_entries(factor.data(), inverse.data());
    for (Index v = 0; v < pattern.values(); ++v)
      y(v, 0) = (pattern.row(v) == pattern.col(v) ? 1 : 2) * inverse[static_cast<std::size_t>(pattern.place(v))];
  }
  /// -A^-1 G A^-1 on the pattern, where G has the adjoints of the result. Adjoint and tangent are the same symmetric map.
  template <class In>
  void adjoint(const matrix_map& factor, const In&, const In&, const In* y_bar, block* v_bar) const {
    add_sandwich(factor, *y_bar, *v_bar);
  }
  template <class V, class Y, class D>
  auto tangent(wrt<0>, const matrix_map& factor, const nothing&, const V& values, const Y&, const D& dv) const;

  template <class In, class Out>
  void add_sandwich(const matrix_map& factor, const In& weights, Out& sum) const {
    const Index n = pattern.size();
    MatrixXd x(n, n);  // A^-1 G A^-1, column by column
    for (Index c = 0; c < n; ++c) {
      Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, c), product = Eigen::VectorXd::Zero(n);
      pattern.solve(factor.data(), unit.data());
      add_product(product, weights, unit);
      pattern.solve(factor.data(), product.data());
      x.col(c) = product;
    }
    for (Index v = 0; v < pattern.values(); ++v) {
      const Index i = pattern.row(v), j = pattern.col(v);
      sum(v, 0) -= i == j ? x(i, i) : x(i, j) + x(j, i);
    }
  }
};

/// (l_i x_j + l_j x_i) summed over columns, for each value: the derivative of l' A x with respect to the values.
struct pattern_outer_rule : rule<2>, on_pattern {
  static constexpr std::string_view name = "sparse_outer";
  using on_pattern::on_pattern;
  shapes results_of(const shape& l, const shape& x) const {
    check_right(name, l);
    check_same(name, l, x);
    return {{{pattern.values(), 1}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& l, const In& x, Out y) const {
    y.setZero();
    add_outer(y, 1, l, x);
  }
  template <class In>
  void adjoint(const nothing&, const In& l, const In& x, const In&, const In* y_bar, block* l_bar, block* x_bar) const {
    if (l_bar != nullptr) add_product(*l_bar, *y_bar, x);
    if (x_bar != nullptr) add_product(*x_bar, *y_bar, l);
  }
  template <class L, class X, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const L&, const X& x, const Y&, const D& dl) const {
    return linalg::apply(*this, dl, x);
  }
  template <class L, class X, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const L& l, const X&, const Y&, const D& dx) const {
    return linalg::apply(*this, l, dx);
  }
};

// With X = A^-1 the tangent -X dA X is minus the outer products of the columns of X and of X dA.
template <class V, class Y, class D>
auto sparse_inverse_rule::tangent(wrt<0>, const matrix_map& factor, const nothing&, const V& values, const Y&,
                                  const D& dv) const {
  const MatrixXd identity = MatrixXd::Identity(pattern.size(), pattern.size());
  const auto inverse = apply_prepared(sparse_solve_rule(pattern), factor, values, identity);
  const auto product = linalg::apply(pattern_product_rule(pattern), dv, inverse);
  const auto sandwich = apply_prepared(sparse_solve_rule(pattern), factor, values, product);
  return times(-1, linalg::apply(pattern_outer_rule(pattern), sandwich, identity));
}

struct sparse_log_determinant_rule : rule<1>, on_pattern {
  static constexpr std::string_view name = "log_determinant_spd",
                                    text = "Logarithm of the determinant of a sparse symmetric positive definite matrix.",
                                    source = "Takahashi, Fagan & Chen 1973 (gradient)";
  using on_pattern::on_pattern;
  shapes results_of(const shape& values) const {
    check_values(name, values);
    return {{{1, 1}}};
  }
  template <class Room, class In>
  matrix_map prepare(Room& room, const In& values) const {
    return factored(name, room, values);
  }
  template <class In, class Out>
  void value(const matrix_map& factor, const In&, Out y) const {
    double sum = 0;
    for (Index j = 0, e = 0; j < pattern.size(); ++j, e = pattern.factor_column(j)) sum += std::log(factor(e, 0));
    y(0, 0) = 2 * sum;
  }
  template <class In>
  void adjoint(const matrix_map& factor, const In& values, const In&, const In* y_bar, block* v_bar) const {
    MatrixXd inverse(pattern.values(), 1);
    sparse_inverse_rule(pattern).value(factor, values, block(inverse));
    *v_bar += (*y_bar)(0, 0) * inverse;
  }
  template <class V, class Y>
  auto linearize(const matrix_map& factor, const V& values, const Y&) const {
    return apply_prepared(sparse_inverse_rule(pattern), factor, values);
  }
  template <class T, class V, class Y, class D>
  auto tangent(wrt<0>, const matrix_map&, const T& inverse, const V&, const Y&, const D& dv) const {
    return linalg::dot(inverse, dv);
  }
};

}  // namespace linalg

/// Returns s b for a constant sparse matrix s (m x n; also an expression such as s.transpose()) and an active b (n x k, or a
/// vector).
template <class S, class B, class = linalg::if_matrices<B>>
auto sparse_product(const Eigen::SparseMatrixBase<S>& s, const B& b) {
  const linalg::sparse_product_rule rule{Eigen::SparseMatrix<double>(s)};
  return linalg::lower<linalg::lifting<B>::cols, B>(linalg::apply(rule, linalg::lift(b)));
}

/// Returns log det of the sparse symmetric matrix with this pattern and these values (a vector, active or not). Throws
/// DomainError unless the matrix is positive definite. The gradient costs about as much as the factorisation.
template <class V, class = linalg::if_matrices<V>>
auto log_determinant_spd(const sparse_pattern& pattern, const V& values) {
  return linalg::lower_scalar(linalg::apply(linalg::sparse_log_determinant_rule(pattern), linalg::lift(values)));
}

/// Returns x with A x = b for the sparse symmetric positive definite matrix A with this pattern and these values; b: n x k or a
/// vector.
template <class V, class B, class = linalg::if_matrices<V, B>>
auto solve_spd(const sparse_pattern& pattern, const V& values, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, V, B>(
      linalg::apply(linalg::sparse_solve_rule(pattern), linalg::lift(values), linalg::lift(b)));
}

}  // namespace agrad
