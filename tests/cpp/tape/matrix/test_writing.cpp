// How matrices are written in users' code: assignments, printing, reductions by Eigen's names, rows and columns that broadcast.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include <sstream>
#include <vector>

namespace test_matrix_writing {

using agrad::matrix;
using agrad::scope;
using agrad::ShapeError;
using agrad::var;
using Eigen::MatrixXd;

namespace {

MatrixXd numbers(Eigen::Index rows, Eigen::Index cols, double start) {
  return MatrixXd::NullaryExpr(rows, cols, [&](Eigen::Index i, Eigen::Index j) {
    return start + static_cast<double>(i) * 0.3 - static_cast<double>(j) * 0.7 + static_cast<double>(i * j) * 0.11;
  });
}
bool close(const MatrixXd& a, const MatrixXd& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).norm() < 1e-13;
}

}  // namespace

TEST_CASE("a matrix is declared, assigned to and changed") {
  const scope own;
  const MatrixXd a = numbers(2, 3, 1.0), w = numbers(2, 3, 2.0);
  const matrix<var> va(a);
  const var s = 3.0;
  std::vector<matrix<var>> several(2);
  matrix<var> y;
  y = va;
  y += w;
  y *= s;
  y -= va;
  y /= 2.0;
  several[1] = y;
  y *= MatrixXd(MatrixXd::Identity(3, 3));
  CHECK(close(several[1].val(), (3 * (a + w) - a) / 2));
  const var f = y.sum() + several[0].sum();
  f.grad();
  CHECK(close(va.adj(), MatrixXd::Ones(2, 3)));
  CHECK(s.adj() == doctest::Approx((a + w).sum() / 2));
  CHECK(va.val() == a);  // entries never change: y is another matrix by now
  matrix<var> row = va.row(0);
  CHECK_THROWS_WITH_AS(
      row += va,
      "operator+=: argument is of shape (2, 3), but must be of shape (1, 3); arrays of one call have one shape, "
      "scalars broadcast",
      ShapeError);
  CHECK(row.rows() == 1);
}

TEST_CASE("a matrix is printed as its values") {
  const scope own;
  const MatrixXd a = numbers(2, 3, 1.0);
  const matrix<var> va(a);
  std::ostringstream values, variables;
  values << a << '\n' << a.row(1) << '\n' << a.transpose();
  variables << va << '\n' << va.row(1) << '\n' << va.transpose();
  CHECK(values.str() == variables.str());
}

TEST_CASE("reductions by Eigen's names") {
  const scope own;
  const MatrixXd a = numbers(3, 3, 1.0);
  const auto f = [](const auto& x) { return x.sum() * x.mean() + x.norm() * x.trace() + x.squaredNorm() * x.prod(); };
  const matrix<var> va(a);
  const var y = f(va);
  y.grad();
  CHECK(y.val() == doctest::Approx(f(a)));
  for (Eigen::Index k = 0; k < a.size(); ++k) {
    MatrixXd up = a, down = a;
    up.data()[k] += 1e-5;
    down.data()[k] -= 1e-5;
    CHECK(va.adj()(k % 3, k / 3) == doctest::Approx((f(up) - f(down)) / 2e-5).epsilon(1e-6));
  }
}

TEST_CASE("one row and one column broadcast") {
  const scope own;
  const MatrixXd a = numbers(3, 4, 1.0), r = numbers(1, 4, 0.5), c = numbers(3, 1, 2.0), w = numbers(3, 4, -1.0);
  const MatrixXd row = r.replicate(3, 1), column = c.replicate(1, 4);
  const matrix<var> va(a), vr(r), vc(c);
  SUBCASE("variables") {
    const matrix<var> y = elementwise_product(va + vr, vc) - vr;
    CHECK(close(y.val(), (a + row).cwiseProduct(column) - row));
    const var f = dot(y, w);
    f.grad();
    CHECK(close(va.adj(), column.cwiseProduct(w)));
    CHECK(close(vr.adj(), (column.cwiseProduct(w) - w).colwise().sum()));
    CHECK(close(vc.adj(), (a + row).cwiseProduct(w).rowwise().sum()));
  }
  SUBCASE("a row with a column, and views") {
    const matrix<var> y = elementwise_quotient(va.row(1), va.col(2));
    CHECK(close(y.val(), a.row(1).replicate(3, 1).cwiseQuotient(a.col(2).replicate(1, 4))));
    const var f = dot(y, w);
    f.grad();
    MatrixXd expected = MatrixXd::Zero(3, 4);
    for (Eigen::Index i = 0; i < 3; ++i) {
      for (Eigen::Index j = 0; j < 4; ++j) {
        expected(1, j) += w(i, j) / a(i, 2);
        expected(i, 2) -= w(i, j) * a(1, j) / (a(i, 2) * a(i, 2));
      }
    }
    CHECK(close(va.adj(), expected));
  }
  SUBCASE("numbers, and matrices of one entry") {
    const matrix<var> y = va * 2.0 + r - c + MatrixXd(MatrixXd::Ones(1, 1)) + fmax(a, vr.block(0, 0, 1, 1));
    CHECK(close(y.val(), (2 * a + row - column).array() + 1 + a.array().max(r(0, 0))));
    const var f = y.sum();
    f.grad();
    CHECK(close(va.adj(), MatrixXd::Constant(3, 4, 2.0)));
    CHECK(vr.adj()(0, 0) == doctest::Approx((a.array() < r(0, 0)).count()));
    matrix<var> z(va);
    z += vr;
    z -= c;
    CHECK(close(z.val(), a + row - column));
  }
  SUBCASE("what does not fit") {
    CHECK_THROWS_AS(va + va.leftCols(2), ShapeError);
    CHECK_THROWS_AS(va + va.topRows(2), ShapeError);
    CHECK_THROWS_AS(va + numbers(4, 3, 0.0), ShapeError);
    CHECK((matrix<var>(0, 4) + vr).rows() == 0);
  }
}

}  // namespace test_matrix_writing
