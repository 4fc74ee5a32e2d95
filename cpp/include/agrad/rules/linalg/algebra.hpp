// Algebra: the vocabulary in which tangents of linear algebra are written.
//
//     return times(-1, product(y, product(da, y)));            // the tangent of y = inverse(a)
//
// Each word is a rule, so that a formula is computed on doubles, recorded on the tape or propagates further tangents, depending
// on the matrices. Read next: rules/linalg/structure.hpp, the words for triangles, diagonals and blocks.
#pragma once

#include <agrad/rules/linalg/apply.hpp>

namespace agrad::linalg {

/// Adds to an argument's adjoint, unless the argument is a constant.
template <class Expression>
void add_to(block* sum, const Expression& contribution) {
  if (sum != nullptr) sum->noalias() += contribution;
}

/// A linear function of one matrix: the tangent is the same rule applied to the argument's tangent.
template <class Rule>
struct linear_rule : rule<1> {
  template <class Prepared, class A, class Y, class D>
  auto tangent(wrt<0>, const Prepared&, const nothing&, const A&, const Y&, const D& da) const {
    return linalg::apply(static_cast<const Rule&>(*this), da);
  }
};

/// a b, with either factor transposed. Adjoints: A += Y B', B += A' Y (Giles 2008, section 2.2.2).
template <bool TransposeA, bool TransposeB>
struct product_rule : rule<2> {
  static constexpr std::string_view name = "product";
  shapes results_of(const shape& a, const shape& b) const {
    const shape left = TransposeA ? shape{a.cols, a.rows} : a, right = TransposeB ? shape{b.cols, b.rows} : b;
    check_rows(name, left, right, left.cols);
    return {{{left.rows, right.cols}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y.noalias() = turned<TransposeA>(a) * turned<TransposeB>(b);
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    if constexpr (TransposeA)
      add_to(a_bar, turned<TransposeB>(b) * y_bar->transpose());
    else
      add_to(a_bar, *y_bar * turned<!TransposeB>(b));
    if constexpr (TransposeB)
      add_to(b_bar, y_bar->transpose() * turned<TransposeA>(a));
    else
      add_to(b_bar, turned<!TransposeA>(a) * *y_bar);
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const B& b, const Y&, const D& da) const {
    return linalg::apply(*this, da, b);
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A& a, const B&, const Y&, const D& db) const {
    return linalg::apply(*this, a, db);
  }

 private:
  template <bool Transpose, class In>
  static decltype(auto) turned(const In& x) {
    if constexpr (Transpose)
      return x.transpose();
    else
      return (x);
  }
};

/// a + factor b.
struct sum_rule : rule<2> {
  static constexpr std::string_view name = "sum";
  double factor;
  explicit sum_rule(double c) : factor(c) {}

  shapes results_of(const shape& a, const shape& b) const {
    check_same(name, a, b);
    return {{a}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y = a + factor * b;
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    add_to(a_bar, *y_bar);
    add_to(b_bar, factor * *y_bar);
  }
  template <class A, class B, class Y, class D>
  D tangent(wrt<0>, const nothing&, const nothing&, const A&, const B&, const Y&, const D& da) const {
    return da;
  }
  template <class A, class B, class Y, class D>
  auto tangent(wrt<1>, const nothing&, const nothing&, const A&, const B&, const Y&, const D& db) const;
};

/// factor a.
struct scaled_rule : linear_rule<scaled_rule> {
  static constexpr std::string_view name = "times";
  double factor;
  explicit scaled_rule(double c) : factor(c) {}

  shapes results_of(const shape& a) const { return {{a}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    y = factor * a;
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    add_to(a_bar, factor * *y_bar);
  }
};

template <class A, class B, class Y, class D>
auto sum_rule::tangent(wrt<1>, const nothing&, const nothing&, const A&, const B&, const Y&, const D& db) const {
  return linalg::apply(scaled_rule(factor), db);
}

/// Products of corresponding entries.
struct entrywise_rule : rule<2> {
  static constexpr std::string_view name = "entrywise";
  shapes results_of(const shape& a, const shape& b) const {
    check_same(name, a, b);
    return {{a}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y = a.cwiseProduct(b);
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    add_to(a_bar, y_bar->cwiseProduct(b));
    add_to(b_bar, y_bar->cwiseProduct(a));
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

/// The sum of the products of corresponding entries, 1 x 1.
struct dot_rule : rule<2> {
  static constexpr std::string_view name = "dot";
  shapes results_of(const shape& a, const shape& b) const {
    check_same(name, a, b);
    return {{{1, 1}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, const In& b, Out y) const {
    y(0, 0) = a.cwiseProduct(b).sum();
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In& b, const In&, const In* y_bar, block* a_bar, block* b_bar) const {
    add_to(a_bar, (*y_bar)(0, 0) * b);
    add_to(b_bar, (*y_bar)(0, 0) * a);
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

template <bool TransposeA = false, bool TransposeB = false, class A, class B>
auto product(const A& a, const B& b) {
  return linalg::apply(product_rule<TransposeA, TransposeB>{}, a, b);
}
template <class A, class B>
auto plus(const A& a, const B& b) {
  return linalg::apply(sum_rule(1), a, b);
}
template <class A, class B>
auto minus(const A& a, const B& b) {
  return linalg::apply(sum_rule(-1), a, b);
}
template <class A>
auto times(double factor, const A& a) {
  return linalg::apply(scaled_rule(factor), a);
}
template <class A, class B>
auto entrywise(const A& a, const B& b) {
  return linalg::apply(entrywise_rule{}, a, b);
}
template <class A, class B>
auto dot(const A& a, const B& b) {
  return linalg::apply(dot_rule{}, a, b);
}

}  // namespace agrad::linalg
