// Eigen's LDLT, full and pivoting factorisations and triangular solves on var and dual, against finite differences.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <agrad/rules/lists/elementwise.hpp>
#include <utility>

#include "eigen_numbers.hpp"

namespace test_eigen_solvers {

using namespace eigen_numbers;

namespace {

constexpr double tolerance = 1e-8;  // of finite differences
constexpr Eigen::Index n = 4;

template <class M>
using scalar_of = typename std::decay_t<M>::Scalar;

}  // namespace

TEST_CASE("LLT and LDLT: solve, determinant") {
  const auto f = [](const auto& x) {
    using T = scalar_of<decltype(x)>;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const matrix a = x * x.transpose() + matrix::Identity(n, n) * 2;
    const matrix b = x.leftCols(2);
    const Eigen::LLT<matrix> llt(a);
    const Eigen::LDLT<matrix> ldlt(a);
    const matrix y = llt.solve(b), z = ldlt.solve(b);
    return T((y + 2.0 * z).cwiseProduct(numbers(n, 2, 0.1)).sum() + ldlt.vectorD().array().log().sum());
  };
  CHECK(gradient_error(f, numbers(n, n, 0.2)) < tolerance);
}

TEST_CASE("PartialPivLU and FullPivLU: solve, inverse, determinant") {
  const auto f = [](const auto& x) {
    using T = scalar_of<decltype(x)>;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const matrix a = x;
    const Eigen::PartialPivLU<matrix> partial(a);
    const Eigen::FullPivLU<matrix> full(a);
    const matrix y = partial.solve(matrix(x.leftCols(2))), z = full.solve(numbers(n, 2, 0.4).template cast<T>().eval());
    return T((y - z).cwiseProduct(numbers(n, 2, 0.1)).sum() + partial.inverse().trace() + full.determinant() * 2.0 +
             partial.determinant());
  };
  CHECK(gradient_error(f, numbers(n, n, 0.2) + 2 * MatrixXd::Identity(n, n)) < tolerance);
}

TEST_CASE("triangular solves, from either side, in place, unit and transposed") {
  const auto f = [](const auto& x) {
    using T = scalar_of<decltype(x)>;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const matrix a = x.topRows(n), b = x.bottomRows(2).transpose();
    matrix y = a.template triangularView<Eigen::Lower>().solve(b);
    a.transpose().template triangularView<Eigen::UnitLower>().solveInPlace(y);
    const matrix z = a.template triangularView<Eigen::Upper>().template solve<Eigen::OnTheRight>(matrix(y.transpose()));
    const matrix product = a.template triangularView<Eigen::StrictlyUpper>() * b;
    const matrix symmetric = a.template selfadjointView<Eigen::Lower>() * b;
    return T(z.cwiseProduct(numbers(2, n, 0.1)).sum() + product.sum() + symmetric.prod() * 0.1);
  };
  MatrixXd at = 0.5 * numbers(n + 2, n, 0.2);
  at.topRows(n).diagonal().array() += 2;
  CHECK(gradient_error(f, at) < tolerance);
}

TEST_CASE("matrices large enough for Eigen's blocked algorithms, which move variables through raw memory") {
  const agrad::scope own;
  constexpr Eigen::Index large = 70;
  const MatrixXd x = numbers(large, large, 0.3), w = numbers(large, 3, 0.9), b = numbers(large, 3, 1.9);
  const MatrixXd a = x * x.transpose() / 10 + 5 * MatrixXd::Identity(large, large), inverted = inverse(a);
  const MatrixXv va = a.cast<agrad::var>(), vb = b.cast<agrad::var>(), vx = x.cast<agrad::var>();
  const auto gradients_of = [&](const MatrixXv& y) {
    const agrad::var f = y.cwiseProduct(w).sum();
    f.grad();
    return std::pair<MatrixXd, MatrixXd>(adjoints(va), adjoints(vb));
  };
  const MatrixXd lambda = inverted.transpose() * w, solution = inverted * b;
  SUBCASE("product") {
    const MatrixXv y = va * (vx * vb);
    const auto [by_a, by_b] = gradients_of(y);
    CHECK(close(by_a, w * (x * b).transpose(), 1e-11));
    CHECK(close(by_b, x.transpose() * a.transpose() * w, 1e-11));
  }
  SUBCASE("PartialPivLU") {
    const auto [by_a, by_b] = gradients_of(Eigen::PartialPivLU<MatrixXv>(va).solve(vb));
    CHECK(close(by_a, -lambda * solution.transpose(), 1e-11));
    CHECK(close(by_b, lambda, 1e-11));
  }
  SUBCASE("LLT") {
    auto [by_a, by_b] = gradients_of(Eigen::LLT<MatrixXv>(va).solve(vb));
    const MatrixXd symmetric = -lambda * solution.transpose();  // only the lower triangle is read, and stands for both
    CHECK(close(by_a + by_a.transpose(), symmetric + symmetric.transpose(), 1e-11));
    CHECK(close(by_b, lambda, 1e-11));
  }
}

}  // namespace test_eigen_solvers
