// matrix<var>: products with active and constant sides, entries, elementwise functions, conversion, shapes and scopes.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>
#include <limits>

#include "eigen_numbers.hpp"

namespace test_matrix {

using agrad::matrix;
using agrad::scope;
using agrad::ScopeError;
using agrad::ShapeError;
using agrad::tape;
using agrad::var;
using doctest::Approx;
using namespace eigen_numbers;

TEST_CASE("sum and dot") {
  const scope own;
  const MatrixXd a = numbers(3, 4, 0), b = numbers(3, 4, 1);
  const matrix<var> va(a), vb(b);
  const var s = sum(va) * 2;
  s.grad();
  CHECK(s.val() == Approx(2 * a.sum()).epsilon(1e-15));
  CHECK(close(va.adj(), MatrixXd::Constant(3, 4, 2)));
  CHECK(vb.adj().isZero());
  const var d = dot(va, vb);
  d.grad();
  CHECK(d.val() == Approx(a.cwiseProduct(b).sum()).epsilon(1e-15));
  CHECK(close(va.adj(), b));
  CHECK(close(vb.adj(), a));
  const var square = dot(va, va) / 2;
  for (int repetition = 0; repetition < 2; ++repetition) {
    square.grad();
    CHECK(close(va.adj(), a));
  }
}

TEST_CASE("products, with a constant on either side") {
  const scope own;
  const MatrixXd a = numbers(3, 4, 0), b = numbers(4, 2, 1), w = numbers(3, 2, 2);
  const matrix<var> va(a), vb(b), vw(w);
  SUBCASE("both active") {
    const matrix<var> y = va * vb;
    CHECK(close(y.val(), a * b, 1e-15));
    const var f = dot(y, vw);
    f.grad();
    CHECK(close(y.adj(), w));
    CHECK(close(va.adj(), w * b.transpose()));
    CHECK(close(vb.adj(), a.transpose() * w));
    CHECK(close(vw.adj(), a * b));
  }
  SUBCASE("a constant on the left, which may be an expression and may go") {
    matrix<var> y(1, 1);
    {
      MatrixXd goes = 2 * a;
      y = (goes - a) * vb;
      goes.setConstant(77);
    }
    const var f = dot(y, vw);
    f.grad();
    CHECK(close(vb.adj(), a.transpose() * w));
  }
  SUBCASE("a constant on the right: a vector, a block") {
    const var f = sum(va * b.col(0)) + sum(va * b.block(0, 0, 4, 1));
    f.grad();
    CHECK(close(va.adj(), 2 * MatrixXd::Ones(3, 1) * b.col(0).transpose().eval()));
  }
  SUBCASE("a square, and a chain") {
    const MatrixXd c = numbers(3, 3, 3);
    const matrix<var> vc(c);
    const var f = sum(vc * vc * vc);
    f.grad();
    const MatrixXd one = MatrixXd::Ones(3, 3), t = c.transpose();
    CHECK(close(vc.adj(), one * t * t + t * one * t + t * t * one));
  }
}

TEST_CASE("an entry is a variable that shares the entry's adjoint") {
  const scope own;
  const MatrixXd a = numbers(2, 3, 0);
  const matrix<var> va(a);
  var x = va(1, 2);
  CHECK(x.val() == a(1, 2));
  x += va[0] * 3;  // a fresh index: the entry stays what it was
  const var y = x * va(1, 2);
  y.grad();
  MatrixXd expected = MatrixXd::Zero(2, 3);
  expected(0, 0) = 3 * a(1, 2);
  expected(1, 2) = 2 * a(1, 2) + 3 * a(0, 0);
  CHECK(close(va.adj(), expected));
  CHECK(va(1, 2).adj() == va.adj()(1, 2));
  CHECK(va.val() == a);
}

TEST_CASE("elementwise functions, with second uses and infinite derivatives") {
  const scope own;
  const MatrixXd a = numbers(3, 3, 0.2);
  const matrix<var> va(a);
  const var f = dot(exp(va), sin(va)) + sum(log1p(square(va)));
  f.grad();
  CHECK(f.val() == Approx((a.array().exp() * a.array().sin() + (1 + a.array().square()).log()).sum()).epsilon(1e-14));
  CHECK(close(va.adj(),
              (a.array().exp() * (a.array().sin() + a.array().cos()) + 2 * a.array() / (1 + a.array().square())).matrix()));

  const matrix<var> edge(Eigen::Vector3d(0, 4, 9));
  const matrix<var> root = sqrt(edge);
  const var g = root[1] + root[2] * 6;
  g.grad();
  CHECK(edge.adj() == Eigen::Vector3d(0, 0.25, 1));
  const matrix<var> unused = log(edge) * matrix<var>(MatrixXd::Ones(1, 2));
  const var f2 = unused[2] * 0.0 + g;
  f2.grad();
  CHECK(edge.adj() == Eigen::Vector3d(0, 0.25, 1));
  const var h = dot(root, matrix<var>(Eigen::Vector3d(1, 0, 0)));
  h.grad();
  CHECK(edge.adj() == Eigen::Vector3d(std::numeric_limits<double>::infinity(), 0, 0));
}

TEST_CASE("conversion from an Eigen matrix of variables links the adjoints") {
  const scope own;
  MatrixXv x = numbers(3, 2, 0).cast<var>();
  const MatrixXd values = numbers(3, 2, 0);
  const matrix<var> converted(x);
  const matrix<var> squares(x.cwiseProduct(x));  // an expression is evaluated once
  x(0, 0) += 5.0;                                // later changes do not count
  x(1, 1) += x(0, 1) * 2;
  const matrix<var> of_transpose(x.topRows(1).transpose());
  const var f = sum(converted) * 2 + sum(squares) + of_transpose[0];
  CHECK(f.val() == Approx(2 * values.sum() + values.squaredNorm() + values(0, 0) + 5).epsilon(1e-14));
  f.grad();
  CHECK(x(0, 0).adj() == 1);
  CHECK(x(2, 1).adj() == Approx(2 + 2 * values(2, 1)).epsilon(1e-15));
  CHECK(close(converted.adj(), MatrixXd::Constant(3, 2, 2)));
  Eigen::Matrix<var, 2, 1> constants;  // have no adjoints
  const matrix<var> of_constants(constants);
  const var g = sum(of_constants);
  g.grad();
  CHECK(constants[0].adj() == 0);
}

TEST_CASE("accumulating entries and matrices of the tape") {
  const scope own;
  const MatrixXd a = numbers(4, 4, 0);
  const matrix<var> va(a);
  var trace = 0.0;
  for (Eigen::Index i = 0; i < 4; ++i) trace += va(i, i);
  MatrixXv back(4, 4);
  for (Eigen::Index i = 0; i < 16; ++i) back(i) = va[i];
  back(0, 1) += trace;
  const var f = sum(matrix<var>(back) * va) + trace * trace;
  f.grad();
  const MatrixXd one = MatrixXd::Ones(4, 4);
  MatrixXd left = a;
  left(0, 1) += a.trace();
  MatrixXd expected = one * a.transpose() + left.transpose() * one;
  expected.diagonal().array() += 2 * a.trace() + (one * a.transpose())(0, 1);
  CHECK(close(va.adj(), expected));
}

TEST_CASE("shapes that do not fit") {
  const scope own;
  const matrix<var> a(numbers(2, 3, 0)), b(numbers(2, 2, 0));
  const auto before = tape::current().statistics().statements;
  CHECK_THROWS_WITH_AS(
      a * b, "product: b is of shape (2, 2), but must be with as many rows as the columns of a of shape (2, 3)", ShapeError);
  CHECK_THROWS_AS(a * numbers(2, 3, 0), ShapeError);
  CHECK_THROWS_AS(numbers(3, 3, 0) * b, ShapeError);
  CHECK_THROWS_WITH_AS(dot(a, b), "dot: b is of shape (2, 2), but must be of the shape of a of shape (2, 3)", ShapeError);
  CHECK(tape::current().statistics().statements == before);
}

TEST_CASE("matrices of size zero") {
  const scope own;
  const matrix<var> a(MatrixXd(0, 3)), b(MatrixXd(3, 2).setOnes().eval()), c(MatrixXd(2, 0));
  CHECK((a * b).rows() == 0);
  CHECK(a.adj().cols() == 3);
  const matrix<var> outer = matrix<var>(MatrixXd(2, 0)) * matrix<var>(MatrixXd(0, 2));
  CHECK(outer.val().isZero());
  const var f = sum(a) + sum(outer) + dot(c, c) + sum(exp(a)) + sum(matrix<var>(MatrixXv(0, 0))) + sum(b);
  f.grad();
  CHECK(f.val() == 6);
  CHECK(b.adj() == MatrixXd::Ones(3, 2));
}

TEST_CASE("a matrix and its entries end with their scope") {
  const scope own;
  const matrix<var> outside(numbers(2, 2, 0));
  matrix<var> a = outside;
  var entry, outer_entry;
  {
    const scope inner;
    outer_entry = outside[1];
    a = outside * MatrixXd(2 * MatrixXd::Identity(2, 2));
    entry = a[0];
    const var f = sum(a);
    f.grad();
    CHECK(entry.adj() == 1);
    CHECK(outside.adj() == MatrixXd::Constant(2, 2, 2));
  }
  CHECK_THROWS_AS(a.adj(), ScopeError);
  CHECK_THROWS_AS(entry.adj(), ScopeError);
  CHECK(outer_entry.adj() == 2);  // made inside, but of a matrix that lives on
  CHECK_THROWS_AS(a * outside, ScopeError);
  CHECK_THROWS_AS(a[0], ScopeError);
  CHECK_THROWS_AS(a.val(), ScopeError);  // its memory is another matrix's now
}

TEST_CASE("an operation is one closure, and its memory is given back") {
  tape mine;
  const agrad::active_tape use(mine);
  std::size_t reserved = 0;
  const MatrixXd a = numbers(50, 50, 0);
  for (int repetition = 0; repetition < 4; ++repetition) {
    const scope inner;
    const matrix<var> va(a);
    const var f = sum(tanh(va * va) * a);
    f.grad();
    CHECK(mine.statistics().closures == 4);
    CHECK(mine.statistics().statements < 15);
    CHECK(mine.statistics().bytes >= 50 * 50 * 8 * 9);  // nine matrices: tanh keeps its values alone, and no derivatives
    CHECK(mine.statistics().bytes < 50 * 50 * 8 * 10);
    if (repetition > 0) CHECK(mine.statistics().bytes_reserved == reserved);
    reserved = mine.statistics().bytes_reserved;
  }
  CHECK(mine.statistics().statements == 0);
}

}  // namespace test_matrix
