// Reductions of matrix<var>: values and derivatives, of blocks too, zeros, infinities, empty matrices.
#include <doctest/doctest.h>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>

#include "matrix_derivatives.hpp"

namespace test_matrix_reductions {

using agrad::infinity;
using agrad::quiet_nan;
using agrad::ShapeError;
using doctest::Approx;
using Eigen::Vector3d;
using Eigen::Vector4d;
using namespace eigen_numbers;

namespace {
template <class F>
VectorXd gradient_of(const F& f, const VectorXd& x) {
  const scope own;
  const matrix<var> vx(x);
  const var y = f(vx);
  y.grad();
  return vx.adj();
}
const auto prod_of = [](const matrix<var>& x) { return prod(x); };
const auto log_sum_exp_of = [](const matrix<var>& x) { return log_sum_exp(x); };
}  // namespace

TEST_CASE("reductions have the derivatives of differences") {
  const MatrixXd a = numbers(4, 3, 0.2), positive = a.array().abs() + 0.3;
  check_derivatives([](const matrix<var>& x) { return sum(x); }, a);
  check_derivatives([](const matrix<var>& x) { return mean(x); }, a);
  check_derivatives([](const matrix<var>& x) { return dot(x, x); }, a);
  check_derivatives([](const matrix<var>& x) { return dot(x, numbers(4, 3, 3)) + dot(2 * numbers(4, 3, 4), exp(x)); }, a);
  check_derivatives([](const matrix<var>& x) { return dot(x.topRows(3), x.bottomRows(3)); }, a);
  check_derivatives([](const matrix<var>& x) { return squared_norm(x); }, a);
  check_derivatives([](const matrix<var>& x) { return norm(x); }, a);
  check_derivatives([](const matrix<var>& x) { return prod(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return log_sum_exp(x); }, a);
  check_derivatives([](const matrix<var>& x) { return trace(x); }, a);
  check_derivatives([](const matrix<var>& x) { return trace(x.transpose()) + trace(x * x.transpose()); }, a);
  check_derivatives([](const matrix<var>& x) { return max_coefficient(x) - min_coefficient(x) * 2; }, a);
  check_derivatives([](const matrix<var>& x) { return softmax(x); }, a);
  check_derivatives([](const matrix<var>& x) { return log_softmax(x); }, a);
  check_derivatives([](const matrix<var>& x) { return cumulative_sum(x); }, a);
  check_derivatives([](const matrix<var>& x) { return row_sums(x); }, a);
  check_derivatives([](const matrix<var>& x) { return column_sums(x); }, a);
  check_derivatives([](const matrix<var>& x) { return sum(x.transpose()) + norm(x.row(1)) + dot(x.row(1), x.row(2)); }, a);
}

TEST_CASE("values") {
  const scope own;
  const MatrixXd a = numbers(300, 2, 0.2);
  const matrix<var> va(a);
  CHECK(sum(va).val() == Approx(a.sum()).epsilon(1e-14));
  CHECK(mean(va).val() == Approx(a.mean()).epsilon(1e-14));
  CHECK(norm(va).val() == Approx(a.norm()).epsilon(1e-14));
  CHECK(squared_norm(va).val() == Approx(a.squaredNorm()).epsilon(1e-14));
  CHECK(log_sum_exp(va).val() == Approx(std::log(a.array().exp().sum())).epsilon(1e-14));
  CHECK(prod(va).val() == Approx(a.prod()).epsilon(1e-12));
  CHECK(trace(va).val() == a(0, 0) + a(1, 1));
  CHECK(max_coefficient(va).val() == a.maxCoeff());
  CHECK(min_coefficient(va).val() == a.minCoeff());
  CHECK(close(softmax(va).val(), (a.array().exp() / a.array().exp().sum()).matrix(), 1e-15));
  CHECK(close(log_softmax(va).val(), (a.array() - std::log(a.array().exp().sum())).matrix(), 1e-14));
  CHECK(close(row_sums(va).val(), a.rowwise().sum(), 1e-15));
  CHECK(close(column_sums(va).val(), a.colwise().sum(), 1e-14));
  CHECK(cumulative_sum(va)[599].val() == Approx(a.sum()).epsilon(1e-13));
  CHECK(cumulative_sum(va.transpose())[1].val() == a(0, 0) + a(0, 1));
}

TEST_CASE("products with zeros, and beyond the range of numbers") {
  CHECK(gradient_of(prod_of, Vector3d(2, 0, 5)) == Vector3d(0, 10, 0));
  CHECK(gradient_of(prod_of, Vector3d(0, 0, 5)) == Vector3d(0, 0, 0));
  CHECK(gradient_of(prod_of, Vector3d(2, 3, 5)) == Vector3d(15, 10, 6));
  CHECK(gradient_of(prod_of, Vector3d(1e-200, 1e-200, 1e200)) == Vector3d(1, 1, 0));
  CHECK(gradient_of(prod_of, Vector4d(1e200, 1e-200, 1e200, 1e-200)).isApprox(Vector4d(1e-200, 1e200, 1e-200, 1e200), 1e-14));
  const VectorXd wide = (VectorXd(16) << VectorXd::Constant(8, 1e200), VectorXd::Constant(8, 1e-200)).finished();
  VectorXd alternating(16);
  for (Eigen::Index i = 0; i < 8; ++i) {
    alternating[2 * i] = wide[i];
    alternating[2 * i + 1] = wide[i + 8];
  }
  const scope own;
  CHECK(prod(matrix<var>(alternating)).val() == Approx(1).epsilon(1e-14));
}

TEST_CASE("norms without overflow, and at zero") {
  const auto norm_of = [](const matrix<var>& x) { return norm(x); };
  const scope own;
  CHECK(norm(matrix<var>(Vector3d(3e200, 0, 4e200))).val() == Approx(5e200).epsilon(1e-15));
  CHECK(norm(matrix<var>(Vector3d(3e-200, 0, 4e-200))).val() == Approx(5e-200).epsilon(1e-15));
  CHECK(norm(matrix<var>(Vector3d(1, infinity, 4))).val() == infinity);
  CHECK(std::isnan(norm(matrix<var>(Vector3d(1, quiet_nan, 4))).val()));
  CHECK(gradient_of(norm_of, Vector3d(3e200, 0, -4e200)).isApprox(Vector3d(0.6, 0, -0.8), 1e-15));
  CHECK(gradient_of(norm_of, Vector3d(0, 0, 0)) == Vector3d(0, 0, 0));
}

TEST_CASE("log_sum_exp and softmax far out and at infinity") {
  const scope own;
  const auto value = [](const Vector3d& x) { return log_sum_exp(matrix<var>(x)).val(); };
  CHECK(value(Vector3d(1000, 1000, -1000)) == Approx(1000 + std::log(2)).epsilon(1e-15));
  CHECK(value(Vector3d(-1000, -1001, -1e308)) == Approx(-1000 + std::log1p(std::exp(-1))).epsilon(1e-15));
  CHECK(value(Vector3d(-infinity, 2, -infinity)) == 2);
  CHECK(value(Vector3d::Constant(-infinity)) == -infinity);
  CHECK(value(Vector3d(1, infinity, -infinity)) == infinity);
  CHECK(std::isnan(value(Vector3d(1, quiet_nan, 2))));
  CHECK(log_sum_exp(matrix<var>(MatrixXd(0, 1))).val() == -infinity);
  CHECK(gradient_of(log_sum_exp_of, Vector3d(-infinity, 2, -infinity)) == Vector3d(0, 1, 0));
  CHECK(gradient_of(log_sum_exp_of, Vector3d(infinity, 2, infinity)) == Vector3d(0.5, 0, 0.5));
  CHECK(gradient_of(log_sum_exp_of, Vector4d::Constant(-infinity)) == Vector4d::Constant(0.25));
  CHECK(softmax(matrix<var>(Vector3d(5, -infinity, 5))).val() == Vector3d(0.5, 0, 0.5));
  CHECK(log_softmax(matrix<var>(Vector3d(1000, -infinity, 1000))).val() == Vector3d(-std::log(2), -infinity, -std::log(2)));
  CHECK(log_softmax(matrix<var>(Vector3d(1000, 0, 1000)))[1].val() == Approx(-1000 - std::log(2)).epsilon(1e-15));
}

TEST_CASE("the first of equal extremes wins, and nan does") {
  const auto max_of = [](const matrix<var>& x) { return max_coefficient(x); };
  const auto min_of = [](const matrix<var>& x) { return min_coefficient(x); };
  CHECK(gradient_of(max_of, Vector4d(1, 3, 3, 2)) == Vector4d(0, 1, 0, 0));
  CHECK(gradient_of(min_of, Vector4d(3, 1, 2, 1)) == Vector4d(0, 1, 0, 0));
  CHECK(gradient_of(max_of, Vector4d(1, 3, quiet_nan, 4)) == Vector4d(0, 0, 1, 0));
  const scope own;
  CHECK_THROWS_WITH_AS(max_coefficient(matrix<var>(MatrixXd(0, 2))),
                       "max_coefficient: x is of size 0, but must be of at least one entry", ShapeError);
}

TEST_CASE("reductions of nothing") {
  const scope own;
  const matrix<var> none(MatrixXd(0, 1));
  CHECK(sum(none).val() == 0);
  CHECK(prod(none).val() == 1);
  CHECK(norm(none).val() == 0);
  CHECK(dot(none, none).val() == 0);
  CHECK(std::isnan(mean(none).val()));
  CHECK(softmax(none).size() == 0);
  CHECK(log_softmax(none).size() == 0);
  CHECK(cumulative_sum(none).size() == 0);
  CHECK(row_sums(matrix<var>(MatrixXd(3, 0))).val().isZero());
  CHECK(column_sums(matrix<var>(MatrixXd(0, 2))).val().isZero());
}

}  // namespace test_matrix_reductions
