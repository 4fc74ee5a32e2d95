// Derivatives of functions of matrix<var> against differences of order 6, of the matrix itself and of a block of a larger one.
#pragma once

#include <doctest/doctest.h>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include "eigen_numbers.hpp"

namespace eigen_numbers {

using agrad::matrix;
using agrad::scope;
using agrad::var;

/// A functional of a result that has no symmetry.
inline var weighted(const matrix<var>& y) { return dot(y, numbers(y.rows(), y.cols(), 0.9)); }
inline var weighted(const var& y) { return y * 0.7; }

template <class F>
double weighted_value(const F& f, const MatrixXd& x) {
  const scope own;
  return weighted(f(matrix<var>(x))).val();
}

/// d/dt weighted(f(x + t v)) at 0, by differences of order 6.
template <class F>
double directional_difference(const F& f, const MatrixXd& x, const MatrixXd& v) {
  const double h = 2e-3, weights[] = {45, -9, 1};
  double sum = 0;
  for (int k = 1; k <= 3; ++k) sum += weights[k - 1] * (weighted_value(f, x + k * h * v) - weighted_value(f, x - k * h * v));
  return sum / (60 * h);
}

/// Checks the adjoint of f at x in three directions, twice by the same recording, and where x is a block of another matrix.
template <class F>
void check_derivatives(const F& f, const MatrixXd& x) {
  MatrixXd g;
  {
    const scope own;
    const matrix<var> vx(x);
    const var y = weighted(f(vx));
    y.grad();
    g = vx.adj();
    y.grad();
    CHECK(vx.adj() == g);
  }
  for (const double shift : {0.1, 1.3, 2.9}) {
    const MatrixXd v = numbers(x.rows(), x.cols(), shift);
    const double expected = directional_difference(f, x, v);
    CHECK(std::abs(g.cwiseProduct(v).sum() - expected) <= 1e-9 * (1 + std::abs(expected)));
  }
  const scope own;
  MatrixXd larger = MatrixXd::Constant(x.rows() + 3, x.cols() + 2, 77);
  larger.block(1, 1, x.rows(), x.cols()) = x;
  const matrix<var> whole(larger);
  const var y = weighted(f(whole.block(1, 1, x.rows(), x.cols())));
  y.grad();
  MatrixXd expected = MatrixXd::Zero(larger.rows(), larger.cols());
  expected.block(1, 1, x.rows(), x.cols()) = g;
  CHECK(close(whole.adj(), expected, 1e-13));
}

}  // namespace eigen_numbers
