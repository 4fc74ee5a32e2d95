// Views of matrix<var>: blocks, rows, columns, segments and shapes without copies; transposed matrices; joining; conversion.
#include <doctest/doctest.h>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <vector>

#include "matrix_derivatives.hpp"

namespace test_matrix_views {

using agrad::ShapeError;
using agrad::tape;
using namespace eigen_numbers;

TEST_CASE("views take neither memory nor statements") {
  const scope own;
  const MatrixXd a = numbers(5, 4, 0);
  const matrix<var> va(a);
  const auto before = tape::current().statistics();
  const matrix<var> block = va.block(1, 2, 3, 2);
  CHECK(block.val() == a.block(1, 2, 3, 2));
  CHECK(!block.is_contiguous());
  CHECK(va.row(2).val() == a.row(2));
  CHECK(va.col(3).val() == a.col(3));
  CHECK(va.col(3).is_contiguous());
  CHECK(va.topRows(2).val() == a.topRows(2));
  CHECK(va.bottomRows(2).val() == a.bottomRows(2));
  CHECK(va.middleRows(1, 3).val() == a.middleRows(1, 3));
  CHECK(va.leftCols(2).val() == a.leftCols(2));
  CHECK(va.leftCols(2).is_contiguous());
  CHECK(va.rightCols(3).val() == a.rightCols(3));
  CHECK(va.middleCols(1, 2).val() == a.middleCols(1, 2));
  CHECK(va.col(1).segment(1, 3).val() == a.col(1).segment(1, 3));
  CHECK(va.row(1).head(2).val() == a.row(1).head(2));
  CHECK(va.row(1).tail(3).val() == a.row(1).tail(3));
  CHECK(block.block(1, 1, 2, 1).val() == a.block(2, 3, 2, 1));
  CHECK(va.reshaped(2, 10).val() == a.reshaped(2, 10));
  CHECK(va.reshaped().val() == a.reshaped());
  CHECK(block(2, 1).val() == a(3, 3));
  CHECK(block[5].val() == a(3, 3));
  CHECK(block[2].index() == va(1, 2).index() + 2);
  CHECK(va.transpose()(3, 1).val() == a(1, 3));
  CHECK(va.transpose().transpose().index() == va.index());
  CHECK(va.block(5, 4, 0, 0).size() == 0);
  CHECK(va.topRows(0).val().cols() == 4);
  CHECK(tape::current().statistics().bytes == before.bytes);
  CHECK(tape::current().statistics().statements == before.statements);
}

TEST_CASE("adjoints of views are parts of the whole's") {
  const scope own;
  const MatrixXd a = numbers(4, 4, 0);
  const matrix<var> va(a);
  const var f = dot(va.row(1), va.row(2)) + sum(va.block(1, 1, 2, 3)) * 2 + va.col(0)[3];
  f.grad();
  MatrixXd expected = MatrixXd::Zero(4, 4);
  expected.row(1) += a.row(2);
  expected.row(2) += a.row(1);
  expected.block(1, 1, 2, 3).array() += 2;
  expected(3, 0) += 1;
  CHECK(close(va.adj(), expected, 1e-15));
  CHECK(close(va.row(1).adj(), expected.row(1), 1e-15));
  CHECK(close(va.block(1, 1, 2, 3).adj(), expected.block(1, 1, 2, 3), 1e-15));
}

TEST_CASE("views that are not there") {
  const scope own;
  const matrix<var> a(numbers(3, 4, 0));
  CHECK_THROWS_WITH_AS(a.block(1, 0, 3, 1),
                       "block: the range of rows is 3 from 1, but must be within the 3 rows that there are", ShapeError);
  CHECK_THROWS_WITH_AS(a.col(4), "col: the range of columns is 1 from 4, but must be within the 4 columns that there are",
                       ShapeError);

  CHECK_THROWS_AS(a.row(-1), ShapeError);
  CHECK_THROWS_AS(a.bottomRows(4), ShapeError);
  CHECK_THROWS_AS(a.block(0, 0, -1, 2), ShapeError);
  CHECK_THROWS_AS(a.col(0).head(4), ShapeError);
  CHECK_THROWS_WITH_AS(a.head(2), "head: the matrix is of shape (3, 4), but must be a vector; select a row or a column first",
                       ShapeError);
  CHECK_THROWS_AS(a.reshaped(5, 2), ShapeError);
}

TEST_CASE("transposed matrices become matrices by one closure, vectors by none") {
  const scope own;
  const MatrixXd a = numbers(3, 2, 0);
  const matrix<var> va(a), vector(numbers(4, 1, 1));
  const auto before = tape::current().statistics().closures;
  const matrix<var> row = transpose(vector), column = row.transpose();
  CHECK(row.val() == vector.val().transpose());
  CHECK(column.index() == vector.index());
  CHECK(column.rows() == 4);
  CHECK(tape::current().statistics().closures == before);
  const matrix<var> t = va.transpose();
  CHECK(t.val() == a.transpose());
  CHECK(tape::current().statistics().closures == before + 1);
  check_derivatives([](const matrix<var>& x) { return matrix<var>(x.transpose()); }, a);
  check_derivatives([](const matrix<var>& x) { return matrix<var>(x.row(1).transpose()); }, a);
  check_derivatives([](const matrix<var>& x) { return exp(x.transpose()) + transpose(x); }, a);
  check_derivatives([](const matrix<var>& x) { return x.reshaped(2, 3); }, a);
  check_derivatives([](const matrix<var>& x) { return x.reshaped(); }, a);
}

TEST_CASE("joining matrices, vectors and scalars") {
  const scope own;
  const MatrixXd a = numbers(2, 3, 0), m = numbers(2, 2, 1);
  const matrix<var> va(a);
  const MatrixXv x = numbers(2, 1, 2).cast<var>();
  const matrix<var> y = concatenate_columns(va, m, x, va.leftCols(1));
  MatrixXd expected(2, 7);
  expected << a, m, numbers(2, 1, 2), a.leftCols(1);
  CHECK(y.val() == expected);
  const MatrixXd w = numbers(2, 7, 4);
  const var f = dot(y, w);
  f.grad();
  MatrixXd g = w.leftCols(3);
  g.col(0) += w.col(6);
  CHECK(close(va.adj(), g, 1e-15));
  CHECK(close(adjoints(x), w.col(5), 1e-15));
  const var s = 2;
  const matrix<var> column = concatenate_rows(s * 3, va.row(0).transpose(), 7, s);
  CHECK(column.val() == (VectorXd(6) << 6, a.row(0).transpose(), 7, 2).finished());
  const var g2 = dot(column, column);
  g2.grad();
  CHECK(s.adj() == 2 * (6 * 3 + 2));
  check_derivatives([](const matrix<var>& z) { return concatenate_rows(z, z.topRows(1), exp(z)); }, a);
  CHECK_THROWS_WITH_AS(concatenate_rows(va, m),
                       "concatenate_rows: b is of shape (2, 2), but must be with as many columns as a of shape (2, 3)",
                       ShapeError);
  CHECK_THROWS_AS(concatenate_columns(va, s), ShapeError);
}

TEST_CASE("conversion to and from variables") {
  const scope own;
  const matrix<var> a(numbers(3, 3, 0));
  const auto before = tape::current().statistics().statements;
  const MatrixXv variables = a.block(1, 1, 2, 2).variables();
  CHECK(tape::current().statistics().statements == before);
  const var f = variables(0, 1) * variables(1, 0);
  f.grad();
  CHECK(a.adj()(1, 2) == a.val()(2, 1));
  CHECK(a.adj()(2, 1) == a.val()(1, 2));

  std::vector<var> several{1.0, 2.0, 3.0};
  const matrix<var> column(several);
  several[0] = 5.0;
  CHECK(column.val() == Eigen::Vector3d(1, 2, 3));
  const var g = dot(column, Eigen::Vector3d(4, 5, 6));
  g.grad();
  CHECK(several[1].adj() == 5);
  CHECK(several[2].adj() == 6);
  CHECK(matrix<var>(std::vector<var>()).size() == 0);
}

}  // namespace test_matrix_views
