// Closures of matrix<var> in reverse passes of several lanes: Jacobians of functions of matrices, eight rows a reverse pass.
#include <doctest/doctest.h>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>

#include "matrix_derivatives.hpp"

namespace test_matrix_lanes {

using namespace eigen_numbers;
using VectorXv = Eigen::Matrix<var, Eigen::Dynamic, 1>;

namespace {

/// The Jacobian of f: R^12 -> R^m, recorded as matrices of 4 x 3, row by row of one lane and by lanes.
template <class F>
void check_lanes(const F& f) {
  const VectorXd x = numbers(12, 1, 0.3).array() + 1.5;
  const auto g = [&](const VectorXv& v) -> VectorXv {
    return matrix<var>(f(matrix<var>(v).reshaped(4, 3))).reshaped().variables();
  };
  VectorXd fx;
  MatrixXd jacobian, expected;
  agrad::jacobian(g, x, fx, jacobian);
  const scope own;
  const VectorXv v = x.cast<var>();
  const VectorXv y = g(v);
  expected.resize(y.size(), x.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    y[i].grad();
    expected.row(i) = adjoints(v).transpose();
  }
  REQUIRE(jacobian.rows() == expected.rows());
  CHECK(close(jacobian, expected, 1e-14));
  CHECK(expected.norm() > 0.1);
}

}  // namespace

TEST_CASE("lanes give the rows of single reverse passes") {
  const MatrixXd c = numbers(4, 3, 2);
  check_lanes([](const matrix<var>& x) { return exp(x); });
  check_lanes([](const matrix<var>& x) { return sin(x.block(1, 0, 3, 3)); });
  check_lanes([](const matrix<var>& x) { return pow(x, x[3]) + 2 * x; });
  check_lanes([&](const matrix<var>& x) { return elementwise_product(x, c) / x.row(1)[0]; });
  check_lanes([](const matrix<var>& x) { return x * x.transpose(); });
  check_lanes([](const matrix<var>& x) { return x.transpose() * x; });
  check_lanes([&](const matrix<var>& x) { return c.transpose() * x.middleCols(1, 2); });
  check_lanes([](const matrix<var>& x) { return x.col(1) * x.row(2); });
  check_lanes([](const matrix<var>& x) { return x * x.row(2).transpose(); });
  check_lanes([](const matrix<var>& x) { return softmax(x.topRows(3)); });
  check_lanes([](const matrix<var>& x) { return log_softmax(x.topRows(3)); });
  check_lanes([](const matrix<var>& x) { return cumulative_sum(x.topRows(3)); });
  check_lanes([](const matrix<var>& x) { return concatenate_rows(row_sums(x), column_sums(x).transpose(), x.col(1)); });
  check_lanes([](const matrix<var>& x) { return x.topRows(2).transpose().transpose(); });
  check_lanes([](const matrix<var>& x) { return matrix<var>(x.topRows(2).transpose()); });
  check_lanes([](const matrix<var>& x) { return x.topRows(2).reshaped(); });
  check_lanes([&](const matrix<var>& x) {
    return concatenate_rows(sum(x), dot(x, x), dot(x, c), norm(x), prod(x), log_sum_exp(x), trace(x), squared_norm(x),
                            max_coefficient(x), mean(x.topRows(2)));
  });
}

}  // namespace test_matrix_lanes
