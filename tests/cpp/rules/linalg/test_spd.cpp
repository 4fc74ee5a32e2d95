// Symmetric positive definite matrices: Cholesky, log determinant, solves, LDL', with every scalar; conventions and failures.
#include <agrad/rules/linalg/ldlt.hpp>
#include <agrad/rules/linalg/spd.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_spd {

using namespace linalg_probe;

TEST_CASE("cholesky: values and derivatives") {
  const auto f = [](const auto& a) { return agrad::cholesky(a); };
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    const MatrixXd a = spd(n), l = f(a);
    CHECK(distance(l * l.transpose(), a) < 1e-14);
    CHECK(MatrixXd(l.triangularView<Eigen::StrictlyUpper>()).isZero(0));
    check_derivatives(f, a);
  }
  check_first(f, spd(40));
}

TEST_CASE("log_determinant_spd: values and derivatives") {
  const auto f = [](const auto& a) { return agrad::log_determinant_spd(a); };
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    const MatrixXd a = spd(n);
    const auto l = agrad::cholesky(a);
    CHECK(f(a) == doctest::Approx(2 * l.diagonal().array().log().sum()).epsilon(1e-14));
    check_derivatives(f, a);
  }
  for (const Index n : {31, 33, 65, 150}) {
    CAPTURE(n);
    const MatrixXd g = gradient(f, spd(n));
    CHECK(distance(g * spd(n), MatrixXd::Identity(n, n)) < 1e-12);
    CHECK(g == g.transpose());
  }
}

TEST_CASE("ldlt: values and derivatives, of an indefinite matrix, too") {
  const auto f = [](const auto& a) {
    auto y = agrad::ldlt(a);
    using T = typename std::decay_t<decltype(a)>::Scalar;
    Mat<T> both(a.rows(), a.cols() + 1);
    both.leftCols(a.cols()) = y.lower;
    both.col(a.cols()) = y.diagonal;
    return both;
  };
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    MatrixXd a = spd(n);
    const auto y = agrad::ldlt(a);
    CHECK(distance(y.lower * y.diagonal.asDiagonal() * y.lower.transpose(), a) < 1e-14);
    check_derivatives(f, a);
    if (n > 1) a(1, 1) -= 5;
    check_derivatives(f, a);
  }
}

TEST_CASE("solve_spd: values and derivatives, constants on either side") {
  for (const auto& size : {std::pair<Index, Index>{0, 2}, {1, 1}, {2, 3}, {5, 2}}) {
    const Index n = size.first, m = size.second;
    CAPTURE(n);
    const MatrixXd a = spd(n), b = numbers(n, m, 0.4);
    CHECK(distance(a * agrad::solve_spd(a, b), b) < 1e-13);
    check_derivatives([&a = a](const auto& x) { return agrad::solve_spd(a, x); }, b);
    check_derivatives([&b = b](const auto& x) { return agrad::solve_spd(x, b); }, a);
  }
  check_derivatives([](const auto& x) { return agrad::solve_spd(x, x); }, spd(3));
}

TEST_CASE("graded matrices keep their digits") {
  const Index n = 6;
  MatrixXd a = spd(n), scaled(n, n);
  VectorXd grade(n);
  for (Index i = 0; i < n; ++i) grade[i] = std::pow(10.0, -3.0 * static_cast<double>(i));
  scaled = grade.asDiagonal() * a * grade.asDiagonal();
  const auto f = [](const auto& x) { return agrad::log_determinant_spd(x); };
  const MatrixXd g = gradient(f, scaled), inverse = gradient(f, a);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) CHECK(std::abs(g(i, j) * grade[i] * grade[j] - inverse(i, j)) < 1e-13);
  CHECK(f(scaled) == doctest::Approx(f(a) + 2 * grade.array().log().sum()).epsilon(1e-14));
}

TEST_CASE("only the symmetric part counts, and gradients are symmetric") {
  const MatrixXd a = spd(4);
  MatrixXd askew = a;
  askew(0, 2) += 0.25, askew(2, 0) -= 0.25;
  CHECK(distance(agrad::cholesky(askew), agrad::cholesky(a)) < 1e-15);
  CHECK(agrad::log_determinant_spd(askew) == doctest::Approx(agrad::log_determinant_spd(a)).epsilon(1e-15));
  const MatrixXd g = gradient([](const auto& x) { return agrad::cholesky(x); }, askew);
  CHECK(distance(g, g.transpose()) < 1e-14);
  const MatrixXd h = gradient([](const auto& x) { return agrad::solve_spd(x, numbers(4, 2)); }, askew);
  CHECK(distance(h, h.transpose()) < 1e-14);
}

TEST_CASE("what is not positive definite throws before anything is recorded") {
  MatrixXd a = spd(5);
  a(3, 3) = -0.2, a.row(3).head(3).setZero(), a.col(3).head(3).setZero(), a(3, 4) = a(4, 3) = 0;
  const agrad::scope own;
  const agrad::matrix<var> va(a);
  const auto before = agrad::tape::current().statistics();
  CHECK_THROWS_WITH_AS(agrad::cholesky(va),
                       "cholesky: a is not positive definite, but must be positive definite; the pivot of row 3 is -0.2",
                       agrad::DomainError);
  CHECK_THROWS_AS(agrad::log_determinant_spd(va), agrad::DomainError);
  CHECK_THROWS_AS(agrad::solve_spd(va, numbers(5, 1)), agrad::DomainError);
  const auto after = agrad::tape::current().statistics();
  CHECK(after.closures == before.closures);
  CHECK(after.bytes == before.bytes);
  a(3, 3) = std::nan("");
  CHECK_THROWS_AS(agrad::cholesky(a), agrad::DomainError);
  a(3, 3) = agrad::infinity;
  CHECK_THROWS_AS(agrad::log_determinant_spd(a), agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::cholesky(numbers(2, 3)), "cholesky: a is of shape (2, 3), but must be square", agrad::ShapeError);
  CHECK_THROWS_AS(agrad::ldlt(MatrixXd(MatrixXd::Zero(2, 2))), agrad::DomainError);
  MatrixXd semidefinite = MatrixXd::Ones(2, 2);
  CHECK_THROWS_WITH_AS(agrad::cholesky(semidefinite),
                       "cholesky: a is not positive definite, but must be positive definite; the pivot of row 1 is 0",
                       agrad::DomainError);
}

}  // namespace test_linalg_spd
