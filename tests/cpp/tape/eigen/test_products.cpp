// Products of Eigen matrices of variables: as sums of products and as one closure they are the same.
#include <doctest/doctest.h>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include "eigen_numbers.hpp"

namespace test_eigen_products {

using agrad::matrix_of;
using agrad::scope;
using agrad::tape;
using agrad::var;
using agrad::vector_of;
using namespace eigen_numbers;

namespace {

MatrixXd adjoints_of(const matrix_of<var>& x) {
  return x.unaryExpr([](const var& entry) { return entry.adj(); });
}
MatrixXd values_of(const matrix_of<var>& x) {
  return x.unaryExpr([](const var& entry) { return entry.val(); });
}

bool same(const MatrixXd& a, const MatrixXd& b) { return a.rows() == b.rows() && (a.size() == 0 || close(a, b)); }

void check_product(Eigen::Index rows, Eigen::Index depth, Eigen::Index cols) {
  CAPTURE(rows);
  CAPTURE(depth);
  CAPTURE(cols);
  const scope own;
  const MatrixXd a = numbers(rows, depth, 0), b = numbers(depth, cols, 1), w = numbers(rows, cols, 2);
  const matrix_of<var> va = a.cast<var>(), vb = b.cast<var>();
  const matrix_of<var> y = va * vb;
  CHECK(same(values_of(y), a * b));
  var f = 0.0;
  for (Eigen::Index i = 0; i < y.size(); ++i) f += y.data()[i] * w.data()[i];
  f.grad();
  CHECK(same(adjoints_of(va), w * b.transpose()));
  CHECK(same(adjoints_of(vb), a.transpose() * w));
}

}  // namespace

TEST_CASE("small and large products of every shape") {
  for (const Eigen::Index rows : {0, 1, 2, 5, 9})
    for (const Eigen::Index depth : {0, 1, 3, 8})
      for (const Eigen::Index cols : {0, 1, 4, 7}) check_product(rows, depth, cols);
}

TEST_CASE("a large product is a closure, a small one is not") {
  const scope own;
  const matrix_of<var> small = numbers(3, 3, 0).cast<var>(), large = numbers(4, 4, 0).cast<var>();
  const std::size_t before = tape::current().statistics().closures;
  const matrix_of<var> y = small * small;
  CHECK(tape::current().statistics().closures == before);
  const matrix_of<var> z = large * large;
  CHECK(tape::current().statistics().closures > before);
}

TEST_CASE("transposed factors, expressions, vectors, fixed sizes and accumulation") {
  const scope own;
  const MatrixXd a = numbers(6, 6, 0);
  const matrix_of<var> va = a.cast<var>();
  const vector_of<var> v = numbers(6, 1, 1).col(0).cast<var>();
  const Eigen::VectorXd x = numbers(6, 1, 1).col(0);
  const vector_of<var> column = va.transpose() * v;
  CHECK(close(values_of(column), a.transpose() * x, 1e-15));
  const Eigen::Matrix<var, 1, Eigen::Dynamic> row = v.transpose() * (va + va);
  CHECK(close(values_of(row.transpose()), 2 * a.transpose() * x, 1e-15));
  const var form = v.transpose() * va * v;
  form.grad();
  CHECK(form.val() == doctest::Approx(x.dot(a * x)).epsilon(1e-14));
  CHECK(close(adjoints_of(v), (a + a.transpose()) * x));
  CHECK(close(adjoints_of(va), x * x.transpose()));
  const Eigen::Matrix<var, 6, 6> fixed = va;
  const Eigen::Matrix<var, 6, 6> square = fixed * fixed;
  CHECK(close(values_of(square), a * a, 1e-15));
  matrix_of<var> sum = va;
  sum.noalias() += va * va;
  sum -= va.transpose() * va;
  CHECK(close(values_of(sum), a + a * a - a.transpose() * a, 1e-14));
}

}  // namespace test_eigen_products
