// Products of matrix<var>: every mixture of variables, constants and transposed views, vectors, blocks, infinite factors.
#include <doctest/doctest.h>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include "matrix_derivatives.hpp"

namespace test_matrix_products {

using agrad::infinity;
using agrad::tape;
using namespace eigen_numbers;

TEST_CASE("products of every mixture have Giles' adjoints") {
  struct shape {
    Eigen::Index m, k, n;
  };
  for (const shape s : {shape{3, 4, 2}, shape{5, 3, 1}, shape{1, 6, 4}, shape{4, 1, 3}, shape{1, 5, 1}, shape{20, 17, 23}}) {
    const scope own;
    const MatrixXd a = numbers(s.m, s.k, 0), b = numbers(s.k, s.n, 1), at = a.transpose(), bt = b.transpose();
    const MatrixXd w = numbers(s.m, s.n, 2), ga = w * bt, gb = at * w;
    const auto check = [&](const matrix<var>& y) {
      CHECK(close(y.val(), a * b, 1e-14));
      const var f = dot(y, w);
      f.grad();
    };
    const matrix<var> va(a), vb(b), vat(at), vbt(bt);
    check(va * vb);
    CHECK(close(va.adj(), ga));
    CHECK(close(vb.adj(), gb));
    check(vat.transpose() * vb);
    CHECK(close(vat.adj(), ga.transpose()));
    CHECK(close(vb.adj(), gb));
    check(va * vbt.transpose());
    CHECK(close(va.adj(), ga));
    CHECK(close(vbt.adj(), gb.transpose()));
    check(vat.transpose() * vbt.transpose());
    CHECK(close(vat.adj(), ga.transpose()));
    CHECK(close(vbt.adj(), gb.transpose()));
    check(a * vb);
    CHECK(close(vb.adj(), gb));
    check(va * b);
    CHECK(close(va.adj(), ga));
    check(at.transpose() * vbt.transpose());
    CHECK(close(vbt.adj(), gb.transpose()));
    check(vat.transpose() * (b + b - b));
    CHECK(close(vat.adj(), ga.transpose()));
    const MatrixXv x = a.cast<var>();
    check(x * vb);
    CHECK(close(adjoints(x), ga));
    CHECK(close(vb.adj(), gb));
    check(va * MatrixXv(b.cast<var>()));
    CHECK(close(va.adj(), ga));
  }
}

TEST_CASE("products of blocks, and of a matrix with itself") {
  const MatrixXd a = numbers(4, 3, 0);
  check_derivatives([](const matrix<var>& x) { return x * x.transpose(); }, a);
  check_derivatives([](const matrix<var>& x) { return x.transpose() * x; }, a);
  check_derivatives([](const matrix<var>& x) { return x.topRows(3) * x.bottomRows(3); }, a);
  check_derivatives([](const matrix<var>& x) { return x * x.row(1).transpose(); }, a);
  check_derivatives([](const matrix<var>& x) { return x.col(0).transpose() * x * x.row(0).transpose(); }, a);
  check_derivatives([](const matrix<var>& x) { return x.col(2) * x.row(0); }, a);
  check_derivatives([](const matrix<var>& x) { return x.row(0) * x.row(2).transpose(); }, a);
}

TEST_CASE("infinite factors of unused products give no nan") {
  const scope own;
  MatrixXd a = numbers(3, 3, 0), b = numbers(3, 2, 1);
  a(1, 2) = infinity;
  b(0, 1) = -infinity;
  const matrix<var> va(a), vb(b), vat(a.transpose());
  MatrixXd w = MatrixXd::Zero(3, 2);
  w(0, 0) = 2;  // the first row of a and the first column of b are finite
  MatrixXd ga = MatrixXd::Zero(3, 3), gb = MatrixXd::Zero(3, 2);
  ga.row(0) = 2 * b.col(0).transpose();
  gb.col(0) = 2 * a.row(0).transpose();
  const auto check = [&](const matrix<var>& y) {
    const var f = dot(y, w);
    f.grad();
  };
  check(va * vb);
  CHECK(va.adj() == ga);
  CHECK(vb.adj() == gb);
  check(vat.transpose() * vb);
  CHECK(vat.adj() == ga.transpose());
  CHECK(vb.adj() == gb);
  check(va * b);
  CHECK(va.adj() == ga);
  check(a * vb);
  CHECK(vb.adj() == gb);
  const matrix<var> vbt(b.transpose());
  check(vat.transpose() * vbt.transpose());
  CHECK(vat.adj() == ga.transpose());
  CHECK(vbt.adj() == gb.transpose());
}

TEST_CASE("a product is one closure and keeps no more than its result and constants") {
  tape mine;
  const agrad::active_tape use(mine);
  const matrix<var> a(numbers(50, 40, 0)), b(numbers(50, 30, 1));
  const auto before = mine.statistics();
  CHECK((a.transpose() * b).size() == 40 * 30);
  CHECK(mine.statistics().closures == before.closures + 1);
  CHECK(mine.statistics().bytes - before.bytes < 2 * 40 * 30 * 8 + 1000);
}

}  // namespace test_matrix_products
