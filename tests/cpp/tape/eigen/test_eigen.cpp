// Eigen's own templates on var and dual: products mixed with doubles, blocks, norms and elementwise functions.
#include <doctest/doctest.h>

#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>
#include <sstream>

#include "eigen_numbers.hpp"

namespace test_eigen {

using agrad::dual;
using agrad::scope;
using agrad::var;
using doctest::Approx;
using namespace eigen_numbers;

TEST_CASE("products of matrices of variables and of numbers") {
  const scope own;
  const MatrixXd a = numbers(3, 4, 0), b = numbers(4, 2, 1), w = numbers(3, 2, 2);
  const MatrixXv va = a.cast<var>(), vb = b.cast<var>();
  SUBCASE("both are variables") {
    const MatrixXv y = va * vb;
    const var f = y.cwiseProduct(w.cast<var>()).sum();
    f.grad();
    CHECK(f.val() == Approx((a * b).cwiseProduct(w).sum()).epsilon(1e-14));
    CHECK(close(adjoints(va), w * b.transpose()));
    CHECK(close(adjoints(vb), a.transpose() * w));
  }
  SUBCASE("numbers on the left") {
    const MatrixXv y = a * vb;
    const var f = (y.array() * w.array()).sum();
    f.grad();
    CHECK(close(adjoints(vb), a.transpose() * w));
  }
  SUBCASE("numbers on the right, with scalars of all kinds") {
    const var s = 2.0;
    const MatrixXv y = (va * 3.0) * b * s + w;
    const var f = 0.5 * y.sum() / s;
    f.grad();
    CHECK(close(adjoints(va), MatrixXd::Constant(3, 2, 1.5) * b.transpose()));
    CHECK(s.adj() == Approx(-0.5 * w.sum() / 4).epsilon(1e-13));
  }
  SUBCASE("blocks, transposes, in place") {
    MatrixXv y = va.transpose();
    y.block(0, 0, 2, 2) += va.block(1, 1, 2, 2) * 2.0;
    y.row(3) *= 5;
    y.col(0).swap(y.col(2));
    var f = y.sum();
    f += y(0, 0);
    f.grad();
    MatrixXd expected = MatrixXd::Ones(3, 4);
    expected.col(3) *= 5;
    expected.block(1, 1, 2, 2).array() += 2;
    expected(2, 0) += 1;
    CHECK(close(adjoints(va), expected));
  }
}

TEST_CASE("norms, reductions and elementwise functions of Eigen") {
  const scope own;
  const VectorXd x = numbers(5, 1, 0.5), u = numbers(5, 1, 1.5);
  const VectorXv v = x.cast<var>();
  const auto gradient = [&](const var& y) {
    y.grad();
    return adjoints(v);
  };
  CHECK(close(gradient(v.norm()), x / x.norm()));
  CHECK(close(gradient(v.squaredNorm()), 2 * x));
  CHECK(close(gradient(v.dot(v)), 2 * x));
  CHECK(close(gradient(v.dot(u)), u));
  CHECK(close(gradient(u.dot(v)), u));
  CHECK(close(gradient(v.mean()), VectorXd::Constant(5, 0.2)));
  CHECK(close(gradient(v.prod()), (x.prod() / x.array()).matrix()));
  CHECK(close(gradient(v.lpNorm<1>()), x.array().sign().matrix()));
  CHECK(gradient(v.maxCoeff()).sum() == 1);
  CHECK(close(gradient(v.normalized()[0]), VectorXd::Unit(5, 0) / x.norm() - x[0] / std::pow(x.norm(), 3) * x));
  CHECK(close(gradient(v.array().exp().sum()), x.array().exp().matrix()));
  CHECK(close(gradient((v.array().abs() + 1).log().sum()), (x.array().sign() / (x.array().abs() + 1)).matrix()));
  CHECK(close(gradient(v.array().square().sqrt().sum()), x.array().sign().matrix()));
  CHECK(close(gradient(v.array().tanh().sum()), (1 - x.array().tanh().square()).matrix()));
  CHECK(close(gradient(exp(v).sum()), x.array().exp().matrix()));  // agrad's own, by argument-dependent lookup
  CHECK(close(gradient(sin(v.head(2)).sum() + pow(v.tail(2), 2.0).sum()),
              (VectorXd(5) << std::cos(x[0]), std::cos(x[1]), 0, 2 * x[3], 2 * x[4]).finished()));
  std::ostringstream out;
  out << v.head(1) * 0.0;
  CHECK(out.str() == "0");
}

TEST_CASE("products and norms of duals") {
  using D = dual<double, 2>;
  using MatrixXD = Eigen::Matrix<D, Eigen::Dynamic, Eigen::Dynamic>;
  constexpr Eigen::Index n = 4;
  const MatrixXd a = numbers(n, n, 0), s0 = numbers(n, n, 0.4), s1 = numbers(n, n, 0.8), b = numbers(n, 2, 0.2);
  MatrixXD da = a.cast<D>();
  for (Eigen::Index i = 0; i < n * n; ++i) da(i).tangent = {s0(i), s1(i)};
  const MatrixXD y = da * b * 2.0 + b;
  const MatrixXd value = 2 * a * b + b, tangent = 2 * s1 * b;
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    CHECK(y(i).value == Approx(value(i)).epsilon(1e-14));
    CHECK(y(i).tangent[1] == Approx(tangent(i)).epsilon(1e-13));
  }
  CHECK(y.norm().tangent[1] == Approx(value.cwiseProduct(tangent).sum() / value.norm()).epsilon(1e-12));
  const MatrixXD z = exp(da.transpose());
  CHECK(z(1, 2).tangent[0] == Approx(std::exp(a(2, 1)) * s0(2, 1)).epsilon(1e-14));
  CHECK((da.array() * da.array()).sum().tangent[0] == Approx(2 * a.cwiseProduct(s0).sum()).epsilon(1e-13));
}

}  // namespace test_eigen
