// General matrices: inverse, determinants, solves and triangular solves with every scalar, constants on either side.
#include <agrad/rules/linalg/determinant.hpp>
#include <agrad/rules/linalg/triangular.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_general {

using namespace linalg_probe;

namespace {
/// Columns 0 to n - 1 as the matrix, the others as right-hand sides.
const auto solved = [](const auto& x) {
  const Index n = x.rows();
  using M = std::decay_t<decltype(x)>;
  return agrad::solve(M(x.leftCols(n)), M(x.rightCols(x.cols() - n)));
};
MatrixXd beside(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd x(a.rows(), a.cols() + b.cols());
  x.leftCols(a.cols()) = a;
  x.rightCols(b.cols()) = b;
  return x;
}
template <int Mode, bool Transposed>
void check_triangular(Index n) {
  const auto f = [n](const auto& x) {
    using M = std::decay_t<decltype(x)>;
    return agrad::solve_triangular<Mode, Transposed>(M(x.leftCols(n)), M(x.rightCols(x.cols() - n)));
  };
  const MatrixXd a = regular(n), b = numbers(n, 2, 0.9);
  const MatrixXd t = a.triangularView<Mode>();
  const MatrixXd x = agrad::solve_triangular<Mode, Transposed>(a, b);
  CHECK(distance(Transposed ? MatrixXd(t.transpose() * x) : MatrixXd(t * x), b) < 1e-13);
  check_derivatives(f, beside(a, b));
}
}  // namespace

TEST_CASE("inverse: values and derivatives") {
  const auto f = [](const auto& a) { return agrad::inverse(a); };
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    const MatrixXd a = regular(n);
    CHECK(distance(f(a) * a, MatrixXd::Identity(n, n)) < 1e-13);
    check_derivatives(f, a);
  }
  check_first(f, regular(20));
}

TEST_CASE("log_determinant and determinant: values and derivatives") {
  const auto log_det = [](const auto& a) { return agrad::log_determinant(a); };
  const auto det = [](const auto& a) { return agrad::determinant(a); };
  MatrixXd known(3, 3);
  known << 2, 1, 1, 1, 3, 2, 1, 0, 0;
  CHECK(det(known) == doctest::Approx(-1).epsilon(1e-14));
  CHECK(std::abs(log_det(known)) < 1e-14);
  CHECK(det(MatrixXd(0, 0)) == 1);
  CHECK(log_det(MatrixXd(0, 0)) == 0);
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    check_derivatives(log_det, regular(n));
    check_derivatives(det, regular(n));
  }
  check_first(log_det, regular(20));
  for (const Index n : {33, 70})
    CHECK(distance(gradient(log_det, regular(n)) * regular(n).transpose(), MatrixXd::Identity(n, n)) < 1e-12);
}

TEST_CASE("derivatives of the determinant at singular matrices; the gradient is the matrix of cofactors") {
  const auto det = [](const auto& a) { return agrad::determinant(a); };
  MatrixXd rank_two(3, 3);
  rank_two << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  MatrixXd cofactors(3, 3);
  cofactors << -3, 6, -3, 6, -12, 6, -3, 6, -3;
  CHECK(distance(gradient(det, rank_two), cofactors) < 1e-13);
  check_derivatives(det, rank_two);
  check_derivatives(det, MatrixXd(numbers(4, 1) * numbers(1, 4)));
  CHECK(gradient(det, MatrixXd::Zero(3, 3)).isZero(0));
  MatrixXd diagonal = MatrixXd::Zero(3, 3);
  diagonal(0, 0) = 2, diagonal(2, 2) = 5;
  MatrixXd expected = MatrixXd::Zero(3, 3);
  expected(1, 1) = 10;
  CHECK(distance(gradient(det, diagonal), expected) < 1e-14);
  CHECK(gradient(det, MatrixXd::Zero(1, 1))(0, 0) == 1);
}

TEST_CASE("solve: values and derivatives") {
  for (const auto& size : {std::pair<Index, Index>{0, 0}, {0, 2}, {1, 1}, {2, 3}, {5, 1}, {5, 0}}) {
    const Index n = size.first, m = size.second;
    CAPTURE(n);
    const MatrixXd a = regular(n), b = numbers(n, m, 0.4);
    CHECK(distance(a * agrad::solve(a, b), b) < 1e-13);
    check_derivatives(solved, beside(a, b));
    check_derivatives([&a = a](const auto& x) { return agrad::solve(a, x); }, b);
    check_derivatives([&b = b](const auto& x) { return agrad::solve(x, b); }, a);
  }
  check_first(solved, beside(regular(20), numbers(20, 3)));
  MatrixXd swapped(2, 2);
  swapped << 0, 2, 4, 0;  // needs a pivot
  CHECK(agrad::solve(swapped, VectorXd(Eigen::Vector2d(6, 8))) == Eigen::Vector2d(2, 3));
  check_derivatives([](const auto& x) { return agrad::solve(x, x); }, swapped);  // one matrix in both places
}

TEST_CASE("solve_triangular: values and derivatives of every triangle") {
  for (const Index n : {0, 1, 4}) {
    CAPTURE(n);
    check_triangular<Eigen::Lower, false>(n);
    check_triangular<Eigen::Lower, true>(n);
    check_triangular<Eigen::Upper, false>(n);
    check_triangular<Eigen::UnitUpper, true>(n);
    check_triangular<Eigen::UnitLower, false>(n);
  }
}

}  // namespace test_linalg_general
