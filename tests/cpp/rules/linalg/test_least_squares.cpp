// Least squares, pseudoinverse, sign and logarithm of a determinant: values and derivatives with every scalar, and failures.
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/least_squares.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_least_squares {

using namespace linalg_probe;

TEST_CASE("least_squares: values and derivatives, constants on either side") {
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {3, 2}, {5, 5}, {7, 3}}) {
    const Index m = size.first, n = size.second;
    CAPTURE(m);
    const MatrixXd a = numbers(m, n) + 2 * MatrixXd::Identity(m, n), b = numbers(m, 2, 4.4);
    const MatrixXd x = agrad::least_squares(a, b);
    CHECK((a.transpose() * (b - a * x)).cwiseAbs().maxCoeff() < 1e-13);
    check_derivatives([&](const auto& v) { return agrad::least_squares(v, b); }, a);
    check_derivatives([&](const auto& v) { return agrad::least_squares(a, v); }, b);
  }
}

TEST_CASE("pseudoinverse: values and derivatives of tall and wide matrices") {
  const auto f = [](const auto& a) { return agrad::pseudoinverse(a); };
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {4, 2}, {2, 4}, {3, 3}}) {
    const Index m = size.first, n = size.second;
    CAPTURE(m);
    const MatrixXd a = numbers(m, n) + 2 * MatrixXd::Identity(m, n), y = f(a);
    CHECK(distance(a * y * a, a) < 1e-13);
    CHECK(distance(y * a * y, y) < 1e-13);
    CHECK(distance((a * y).transpose(), a * y) < 1e-13);
    check_derivatives(f, a);
  }
}

TEST_CASE("least squares of a matrix of deficient rank is refused") {
  MatrixXd a = MatrixXd::Ones(4, 2);
  CHECK_THROWS_WITH_AS(
      agrad::least_squares(a, VectorXd(VectorXd::Ones(4))),
      doctest::Contains("least_squares: a is of deficient rank, but must be of full rank; the pivot of row 1 is"),
      agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::pseudoinverse(a), doctest::Contains("pseudoinverse: a is of deficient rank"), agrad::DomainError);
  CHECK_THROWS_AS(agrad::least_squares(MatrixXd(a.transpose()), VectorXd(VectorXd::Ones(2))), agrad::ShapeError);
}

TEST_CASE("slogdet: sign and logarithm, also of singular matrices") {
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    MatrixXd a = regular(n);
    if (n > 0) a.row(0) *= -1;
    const auto y = agrad::slogdet(a);
    CHECK(y.sign == (n > 0 ? -1 : 1));
    CHECK(y.logabsdet == doctest::Approx(agrad::log_determinant(a)).epsilon(1e-14));
    check_derivatives([](const auto& v) { return agrad::slogdet(v).logabsdet; }, a);
    if (n > 0) CHECK(gradient([](const auto& v) { return agrad::slogdet(v).sign; }, a).isZero(0));
  }
  const auto singular = agrad::slogdet(MatrixXd(MatrixXd::Ones(2, 2)));
  CHECK(singular.sign == 0);
  CHECK(singular.logabsdet == -agrad::infinity);
  CHECK_THROWS_AS(gradient([](const auto& v) { return agrad::slogdet(v).logabsdet; }, MatrixXd::Ones(2, 2)),
                  agrad::DomainError);
}

}  // namespace test_linalg_least_squares
