// Eigen's Cholesky and LU factorisations on var and dual, against derivatives in closed form.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>

#include "eigen_numbers.hpp"

namespace test_eigen_factors {

using agrad::dual;
using agrad::scope;
using agrad::var;
using doctest::Approx;
using namespace eigen_numbers;

TEST_CASE("Cholesky and LU factorisations of variables") {
  const scope own;
  constexpr Eigen::Index n = 6;
  const VectorXd b = numbers(n, 1, 0.9), w = numbers(n, 1, 2.9);
  SUBCASE("LLT: log determinant and solve") {
    const MatrixXd a = positive_definite(n);
    const MatrixXv va = a.cast<var>();
    const Eigen::LLT<MatrixXv> llt(va);
    REQUIRE(llt.info() == Eigen::Success);
    var f = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) f += 2 * log(llt.matrixLLT()(i, i));
    f.grad();
    // Only the lower triangle is read: entries below the diagonal stand for both.
    MatrixXd g = adjoints(va);
    g = (0.5 * (g + g.transpose())).eval();
    CHECK(f.val() == Approx(std::log(a.determinant())).epsilon(1e-12));
    CHECK(close(g, inverse(a), 1e-11));
    const VectorXv vb = b.cast<var>();
    const VectorXv x = llt.solve(vb);
    const var y = w.dot(x);
    y.grad();
    CHECK(close(adjoints(vb), inverse(a) * w, 1e-11));
  }
  SUBCASE("PartialPivLU: solve and determinant") {
    const MatrixXd a = numbers(n, n, 0.1);
    const MatrixXv va = a.cast<var>();
    const VectorXv vb = b.cast<var>();
    const Eigen::PartialPivLU<MatrixXv> lu(va);
    const VectorXv x = lu.solve(vb);
    const var y = w.dot(x);
    y.grad();
    const VectorXd solution = inverse(a) * b, lambda = inverse(a).transpose() * w;
    CHECK(close(adjoints(vb), lambda, 1e-10));
    CHECK(close(adjoints(va), -lambda * solution.transpose(), 1e-10));
    const var d = lu.determinant();
    d.grad();
    CHECK(d.val() == Approx(a.determinant()).epsilon(1e-11));
    CHECK(close(adjoints(va), a.determinant() * inverse(a).transpose(), 1e-10));
  }
}

TEST_CASE("a Cholesky factorisation of duals") {
  using D = dual<double, 2>;
  using MatrixXD = Eigen::Matrix<D, Eigen::Dynamic, Eigen::Dynamic>;
  constexpr Eigen::Index n = 4;
  const MatrixXd a = positive_definite(n), t0 = numbers(n, n, 0.4), t1 = numbers(n, n, 0.8);
  const MatrixXd s0 = t0 + t0.transpose(), s1 = t1 + t1.transpose();
  MatrixXD da = a.cast<D>();
  for (Eigen::Index i = 0; i < n * n; ++i) da(i).tangent = {s0(i), s1(i)};
  const Eigen::LLT<MatrixXD> llt(da);
  D half_log_determinant = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) half_log_determinant += log(llt.matrixLLT()(i, i));
  CHECK(2 * half_log_determinant.tangent[0] == Approx((inverse(a) * s0).trace()).epsilon(1e-11));
  CHECK(2 * half_log_determinant.tangent[1] == Approx((inverse(a) * s1).trace()).epsilon(1e-11));
}

}  // namespace test_eigen_factors
