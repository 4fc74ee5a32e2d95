// Eigen's QR factorisation on var and dual, against derivatives in closed form.
#include <doctest/doctest.h>

#include <Eigen/QR>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>

#include "eigen_numbers.hpp"

namespace test_eigen_qr {

using agrad::dual;
using agrad::scope;
using agrad::var;
using doctest::Approx;
using namespace eigen_numbers;

TEST_CASE("least squares by HouseholderQR on variables and on duals") {
  const scope own;
  const MatrixXd a = numbers(6, 3, 0.7);
  const VectorXd b = numbers(6, 1, 0.9), w = numbers(3, 1, 2.9);
  const MatrixXd normal = inverse(a.transpose() * a);
  const VectorXd solution = normal * a.transpose() * b, lambda = normal * w;
  const MatrixXd expected = (b - a * solution) * lambda.transpose() - a * lambda * solution.transpose();

  const MatrixXv va = a.cast<var>();
  const VectorXv vb = b.cast<var>();
  const VectorXv x = Eigen::HouseholderQR<MatrixXv>(va).solve(vb);
  const var y = w.dot(x);
  y.grad();
  CHECK(close(adjoints(vb), a * lambda, 1e-11));
  CHECK(close(adjoints(va), expected, 1e-11));

  using D = dual<double>;
  using MatrixXD = Eigen::Matrix<D, Eigen::Dynamic, Eigen::Dynamic>;
  const MatrixXd direction = numbers(6, 3, 1.4);
  MatrixXD da = a.cast<D>();
  for (Eigen::Index i = 0; i < a.size(); ++i) da(i).tangent[0] = direction(i);
  const MatrixXD dx = Eigen::HouseholderQR<MatrixXD>(da).solve(b.cast<D>());
  double tangent = 0;
  for (Eigen::Index i = 0; i < 3; ++i) tangent += w[i] * dx(i).tangent[0];
  CHECK(tangent == Approx(expected.cwiseProduct(direction).sum()).epsilon(1e-11));
}

TEST_CASE("HouseholderQR and ColPivHouseholderQR: solve, the factors themselves") {
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const Eigen::HouseholderQR<matrix> plain(x);
    const Eigen::ColPivHouseholderQR<matrix> pivoting(x);
    const matrix q = plain.householderQ() * matrix::Identity(6, 3), b = numbers(6, 2, 0.4).template cast<T>();
    const matrix y = plain.solve(b), z = pivoting.solve(b);
    const matrix r = pivoting.matrixQR().topRows(3).template triangularView<Eigen::Upper>();
    return T((y - 3.0 * z).cwiseProduct(numbers(3, 2, 0.1)).sum() + q.cwiseProduct(numbers(6, 3, 0.3)).sum() +
             r.array().square().sum() + abs(r(0, 0) * r(1, 1) * r(2, 2)));
  };
  CHECK(gradient_error(f, numbers(6, 3, 0.2)) < 1e-8);
}

TEST_CASE("HouseholderQR of a matrix large enough for blocks of reflections") {
  const scope own;
  MatrixXd a = numbers(70, 60, 0.7);
  a.diagonal().array() += 8;
  const VectorXd b = numbers(70, 1, 0.9), w = numbers(60, 1, 2.9);
  const MatrixXd normal = inverse(a.transpose() * a);
  const VectorXd solution = normal * a.transpose() * b, lambda = normal * w;
  const MatrixXv va = a.cast<var>();
  const VectorXv x = Eigen::HouseholderQR<MatrixXv>(va).solve(b.cast<var>());
  const var y = w.dot(x);
  y.grad();
  CHECK(close(adjoints(va), (b - a * solution) * lambda.transpose() - a * lambda * solution.transpose(), 1e-11));
}

}  // namespace test_eigen_qr
