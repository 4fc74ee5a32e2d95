// Eigen's QR factorisation on var and dual, against derivatives in closed form.
#include <doctest/doctest.h>

#include <Eigen/QR>
#include <agrad/rules/elementwise.hpp>
#include <agrad/tape/scope.hpp>

#include "eigen_numbers.hpp"

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
