// Least squares and pseudoinverse of full and deficient rank,
// sign and logarithm of a determinant: values and derivatives with every scalar, and failures.
#include <Eigen/LU>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/spectra/least_squares.hpp>

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

/// Returns a b' as the engines' own product of two given factors, of which the second is constant: of the rank of b.
template <class T>
Mat<T> of_rank(const Mat<T>& a, const MatrixXd& b) {
  Mat<T> y(a.rows(), b.rows());
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) {
      T sum(0.0);
      for (Index k = 0; k < b.cols(); ++k) sum += a(i, k) * b(j, k);
      y(i, j) = sum;
    }
  return y;
}

TEST_CASE("deficient rank: values are those of the factors, and derivatives follow them") {
  struct {
    Index m, n, rank;
  } const cases[] = {{4, 2, 1}, {5, 4, 2}, {4, 4, 3}, {6, 3, 1}, {3, 5, 2}};
  for (const auto& c : cases) {
    CAPTURE(c.m);
    CAPTURE(c.n);
    const MatrixXd a = numbers(c.m, c.rank) + 2 * MatrixXd::Identity(c.m, c.rank);
    const MatrixXd b = numbers(c.n, c.rank, 0.9) + 2 * MatrixXd::Identity(c.n, c.rank);
    const MatrixXd y = agrad::pseudoinverse(MatrixXd(a * b.transpose()));
    CHECK(distance(y, b * (b.transpose() * b).inverse() * (a.transpose() * a).inverse() * a.transpose()) < 1e-13);
    check_derivatives([&](const auto& v) { return agrad::pseudoinverse(of_rank(v, b)); }, a);
    if (c.m < c.n) continue;
    const MatrixXd right = numbers(c.m, 2, 4.4);
    CHECK(distance(agrad::least_squares(MatrixXd(a * b.transpose()), right), y * right) < 1e-13);
    check_derivatives([&](const auto& v) { return agrad::least_squares(of_rank(v, b), right); }, a);
    check_derivatives([&](const auto& v) { return agrad::least_squares(MatrixXd(a * b.transpose()), v); }, right);
  }
}

TEST_CASE("deficient rank: zeros, overflow of squares, and what has no derivative") {
  const MatrixXd zeros = MatrixXd::Zero(3, 2), ones = MatrixXd::Ones(4, 2);
  CHECK(agrad::pseudoinverse(zeros).isZero(0));
  CHECK(agrad::least_squares(zeros, VectorXd(VectorXd::Ones(3))).isZero(0));
  CHECK(gradient([](const auto& v) { return agrad::pseudoinverse(v); }, zeros).isZero(0));
  CHECK(distance(agrad::pseudoinverse(MatrixXd(1e200 * ones)) * 1e200, agrad::pseudoinverse(ones)) < 1e-15);
  CHECK(distance(agrad::pseudoinverse(MatrixXd(1e-200 * ones)) * 1e-200, agrad::pseudoinverse(ones)) < 1e-15);
  MatrixXd infinite = ones;
  infinite(1, 1) = agrad::infinity;
  CHECK_THROWS_WITH_AS(agrad::pseudoinverse(infinite), "pseudoinverse: a is not finite, but must be finite",
                       agrad::LinAlgError);
  MatrixXd steep = MatrixXd::Zero(3, 2);
  steep(0, 0) = 1, steep(1, 1) = 0.05;
  const MatrixXd cutoff = MatrixXd::Constant(1, 1, 0.1);
  const auto truncated = [&](const auto& a) {
    return agrad::linalg::lower<Mat<double>>(
        agrad::linalg::apply(agrad::linalg::pseudoinverse_rule{}, agrad::linalg::lift(a), cutoff));
  };
  CHECK(truncated(steep).isApprox(MatrixXd(Eigen::Vector2d(1, 0).asDiagonal() * MatrixXd::Identity(2, 3)), 1e-15));
  CHECK_THROWS_WITH_AS(gradient(truncated, steep), doctest::Contains("a is of a rank that the cutoff chooses"),
                       agrad::LinAlgError);
  CHECK_THROWS_AS(agrad::least_squares(MatrixXd(ones.transpose()), VectorXd(VectorXd::Ones(2))), agrad::ShapeError);
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
