// Forms: b' a b, x' a x, the trace of a product without the product, Kronecker products.
#pragma once

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>

namespace agrad {
namespace linalg {

/// b' a b; symmetric: for the symmetric part of a, with a result that is symmetric to the last bit.
template <bool Symmetric>
struct quad_form_rule : rule<2> {
  static constexpr std::string_view name = Symmetric ? "quad_form_symmetric" : "quad_form", text = "b' a b.",
                                    source = "Giles 2008, section 2.3.2";
  using shapes = rule<2>::shapes;
  shapes results_of(const shape& a, const shape& b) const {
    check_square(name, "a", a);
    check_rows(name, a, b, a.rows);
    return {{{b.cols, b.cols}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    const MatrixXd ab = a * b;
    y.noalias() = b.transpose() * ab;
    if constexpr (Symmetric) y = (0.5 * (y + y.transpose())).eval();
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    const MatrixXd bar = Symmetric ? MatrixXd(0.5 * (*y_bar + y_bar->transpose())) : MatrixXd(*y_bar);
    if (a_bar != nullptr) {
      const MatrixXd half = b * bar;
      a_bar->noalias() += half * b.transpose();
    }
    if (b_bar != nullptr) {
      const MatrixXd left = b * bar.transpose(), right = b * bar;
      b_bar->noalias() += a * left;
      b_bar->noalias() += a.transpose() * right;
    }
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const B& b, const Y&, const D& da) const {
    return linalg::apply(*this, da, b);
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A& a, const B& b, const Y&, const D& db) const {
    const auto sum = plus(product<true>(b, product(a, db)), product<true>(db, product(a, b)));
    if constexpr (Symmetric)
      return symmetric_part(sum);
    else
      return sum;
  }
};

/// The trace of a b, 1 x 1.
struct trace_of_product_rule : rule<2> {
  static constexpr std::string_view name = "trace_of_product", text = "Trace of a b, without the product.",
                                    source = "Petersen & Pedersen 2012, equation 100";
  shapes results_of(const shape& a, const shape& b) const {
    if (AGRAD_UNLIKELY(b.rows != a.cols || b.cols != a.rows))
      fail_shape(name, "b", b, "of the shape of a transposed, which is " + to_text(shape{a.cols, a.rows}));
    return {{{1, 1}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y(0, 0) = a.transpose().cwiseProduct(b).sum();
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    add_to(a_bar, (*y_bar)(0, 0) * b.transpose());
    add_to(b_bar, (*y_bar)(0, 0) * a.transpose());
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const B& b, const Y&, const D& da) const {
    return linalg::apply(*this, da, b);
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A& a, const B&, const Y&, const D& db) const {
    return linalg::apply(*this, a, db);
  }
};

struct kronecker_rule : rule<2> {
  static constexpr std::string_view name = "kronecker", text = "Kronecker product: the blocks a(i, j) b.",
                                    source = "Petersen & Pedersen 2012, section 10.2";
  shapes results_of(const shape& a, const shape& b) const { return {{{a.rows * b.rows, a.cols * b.cols}}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) y.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) = a(i, j) * b;
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        const auto bar = y_bar->block(i * b.rows(), j * b.cols(), b.rows(), b.cols());
        if (a_bar != nullptr) (*a_bar)(i, j) += bar.cwiseProduct(b).sum();
        add_to(b_bar, a(i, j) * bar);
      }
    }
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const B& b, const Y&, const D& da) const {
    return linalg::apply(*this, da, b);
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A& a, const B&, const Y&, const D& db) const {
    return linalg::apply(*this, a, db);
  }
};

template <bool Symmetric, class A, class B>
auto quad_form_of(const A& a, const B& b) {
  auto y = linalg::apply(quad_form_rule<Symmetric>{}, lift(a), lift(b));
  if constexpr (lifting<B>::cols == 1)
    return lower_scalar(y);
  else
    return lower<A, B>(std::move(y));
}

}  // namespace linalg

/// Returns b' a b for a square a (n x n) and b (n x m): m x m. The result is a scalar for an Eigen vector b, but 1 x 1 for a
/// matrix<var> of one column.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto quad_form(const A& a, const B& b) {
  return linalg::quad_form_of<false>(a, b);
}

/// Does the same for a symmetric a, a function of its symmetric part; the result is symmetric to the last bit.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto quad_form_symmetric(const A& a, const B& b) {
  return linalg::quad_form_of<true>(a, b);
}

/// Returns the trace of a b, a of m x n and b of n x m, in m n operations.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto trace_of_product(const A& a, const B& b) {
  return linalg::lower_scalar(linalg::apply(linalg::trace_of_product_rule{}, linalg::lift(a), linalg::lift(b)));
}

/// Returns the Kronecker product of a (m x n) and b (p x q): m p x n q, with the blocks a(i, j) b.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto kronecker(const A& a, const B& b) {
  return linalg::lower<A, B>(linalg::apply(linalg::kronecker_rule{}, linalg::lift(a), linalg::lift(b)));
}

}  // namespace agrad
