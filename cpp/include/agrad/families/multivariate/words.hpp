// Words: the vocabulary of whole matrices in which multivariate densities are written, for Eigen's matrices.
//
//     const auto z = W::solve_lower(l, W::transposed(W::each(minus, y, mu)));
//
// Arguments are Eigen matrices of numbers, duals or variables in any mixture; results have the common scalar. What is computed
// from numbers alone remains numbers and costs no derivative. A number is a 1 x 1 matrix. cpp/rows/recorded_words.hpp has the
// same words for recordings. Read next: families/multivariate/multi_normal.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <agrad/dual/matrix.hpp>
#include <agrad/families/multivariate/conditions.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/either.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/linalg/triangular.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <agrad/tape/matrix/reduce.hpp>

namespace agrad {

struct eigen_words {
  using Index = Eigen::Index;

  /// Returns f of corresponding entries; one row, one column and one entry stand for all.
  template <class F, class... A>
  static auto each(const F& f, const A&... a) {
    using T = promoted_t<A...>;
    matrix_of<T> y(common({a.rows()...}), common({a.cols()...}));
    for (Index j = 0; j < y.cols(); ++j)
      for (Index i = 0; i < y.rows(); ++i) y(i, j) = T(f(at(a, i, j)...));
    return y;
  }
  /// Returns the sum of all entries, 1 x 1.
  template <class A>
  static A sum(const A& a) {
    A y(1, 1);
    y(0, 0) = agrad::sum(a);
    return y;
  }
  /// Returns the sum of each row, a column.
  template <class A>
  static A row_sums(const A& a) {
    A y(a.rows(), 1);
    for (Index i = 0; i < a.rows(); ++i) y(i, 0) = agrad::sum(a.row(i));
    return y;
  }
  /// Returns the number of outcomes y in each category, for each row of odds; y are data, and one stands for all rows.
  template <class A>
  static Eigen::MatrixXd counts_of(const Eigen::MatrixXd& y, const A& odds) {
    Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(odds.rows(), odds.cols());
    for (Index i = 0; i < std::max(odds.rows(), y.rows()); ++i)
      counts(odds.rows() == 1 ? 0 : i, static_cast<Index>(at(y, i, 0))) += 1;
    return counts;
  }
  /// Returns the sum of counts times the logarithms of the shares exp / sum(exp) of each row, 1 x 1; one row may stand for all.
  template <class A>
  static A log_shares(const Eigen::MatrixXd& counts, const A& odds) {
    using T = typename A::Scalar;
    A y(1, 1);
    y(0, 0) = 0.0;
    const vector_of<double> all = odds.rows() == 1 ? counts.colwise().sum().transpose() : vector_of<double>();
    for (Index i = 0; i < odds.rows(); ++i) {
      const vector_of<double> of_row = odds.rows() == 1 ? all : counts.row(counts.rows() == 1 ? 0 : i).transpose();
      y(0, 0) += detail::reduction_engine<T>::log_shares(of_row, vector_of<T>(odds.row(i).transpose()));
    }
    return y;
  }
  template <class A, class B>
  static auto product(const A& a, const B& b) {
    return linalg::lower<A, B>(linalg::product(linalg::lift(a), linalg::lift(b)));
  }
  template <class A>
  static A transposed(const A& a) {
    return a.transpose();
  }
  /// Returns the diagonal, a column.
  template <class A>
  static A diagonal(const A& a) {
    return a.diagonal();
  }
  template <class A>
  static A row(const A& a, Index i) {
    return a.row(i);
  }
  template <class A>
  static auto cholesky(const A& a) {
    return agrad::cholesky(a);
  }
  /// Does the same at time t; a message names the rule and the matrix that the rule has factored.
  template <class Rule, class A>
  static auto cholesky_at(const A& a, Index t) {
    try {
      return agrad::cholesky(a);
    } catch (const LinAlgError& error) {
      linalg::fail_factor(Rule::name, Rule::factored(t), error);
    }
  }
  /// Returns x with l x = b.
  template <class L, class B>
  static auto solve_lower(const L& l, const B& b) {
    return agrad::solve_triangular<Eigen::Lower>(l, b);
  }
  /// Returns entry k(i) of each row i, a column; k are data, and one row stands for all.
  template <class A>
  static A pick(const A& a, const Eigen::MatrixXd& k) {
    A y(std::max(a.rows(), k.rows()), 1);
    for (Index i = 0; i < y.rows(); ++i) y(i, 0) = at(a, i, static_cast<Index>(at(k, i, 0)));
    return y;
  }
  /// Returns the result of `compute`, a 1 x 1 matrix, if this part is included, otherwise zero.
  template <class F, class... Like>
  static auto part(bool included, const F& compute, const Like&...) {
    using M = decltype(compute());
    if (included) return compute();
    M zero(1, 1);
    zero(0, 0) = 0.0;
    return zero;
  }
  /// Returns the same matrix with the common scalar of all arguments, for a state that changes in a loop.
  template <class A, class... Others>
  static matrix_of<promoted_t<A, Others...>> alike(const A& a, const Others&...) {
    return a.template cast<promoted_t<A, Others...>>();
  }

 private:
  static Index common(std::initializer_list<Index> sizes) {
    Index size = 1;
    for (const Index each : sizes)
      if (each != 1) size = each;
    return size;
  }
  template <class A>
  static const typename A::Scalar& at(const A& a, Index i, Index j) {
    return a.coeffRef(a.rows() == 1 ? 0 : i, a.cols() == 1 ? 0 : j);
  }
};

}  // namespace agrad
