// Linear algebra on the tape: handles, constants, views, repeated reverse passes, reverse passes of several lanes, unused
// results; messages.
#include <agrad/functionals/jacobian.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/ldlt.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/tape/matrix.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_tape {

using namespace linalg_probe;
using agrad::matrix;
using agrad::scope;

TEST_CASE("matrix<var> in, matrix<var> out; constants on either side; repeated reverse passes") {
  const scope own;
  const MatrixXd a = regular(4), b = numbers(4, 2), w = numbers(4, 2, 3.0);
  const matrix<var> va(a), vb(b);
  const matrix<var> both = agrad::solve(va, vb);
  const matrix<var> left = agrad::solve(va, b), right = agrad::solve(a, vb);
  const MatrixXd lambda = a.transpose().partialPivLu().solve(w), x = a.partialPivLu().solve(b);
  CHECK(distance(both.val(), x) < 1e-14);
  const var all = dot(both, matrix<var>(w)), l = dot(left, matrix<var>(w)), r = dot(right, matrix<var>(w));
  for (int pass = 0; pass < 2; ++pass) {
    all.grad();
    CHECK(distance(va.adj(), -lambda * x.transpose()) < 1e-14);
    CHECK(distance(vb.adj(), lambda) < 1e-14);
    l.grad();
    CHECK(distance(va.adj(), -lambda * x.transpose()) < 1e-14);
    CHECK(vb.adj().isZero(0));
    r.grad();
    CHECK(va.adj().isZero(0));
    CHECK(distance(vb.adj(), lambda) < 1e-14);
  }
}

TEST_CASE("a constant may go once it is used") {
  const scope own;
  const MatrixXd a = regular(3);
  const matrix<var> va(a);
  var y;
  {
    MatrixXd b = numbers(3, 1);
    y = agrad::solve(va, b)[0];
    b.setConstant(77);
  }
  y.grad();
  const MatrixXd g = va.adj();
  const VectorXd lambda = a.transpose().partialPivLu().solve(VectorXd(VectorXd::Unit(3, 0))),
                 x = a.partialPivLu().solve(numbers(3, 1));
  CHECK(distance(g, -lambda * x.transpose()) < 1e-14);
}

TEST_CASE("blocks and transposed matrices as arguments") {
  const scope own;
  const MatrixXd a = regular(5);
  const matrix<var> va(a);
  const var y = agrad::log_determinant(va.block(1, 2, 3, 3)) + agrad::log_determinant(va.transpose());
  y.grad();
  MatrixXd expected = a.inverse().transpose();
  expected.block(1, 2, 3, 3) += MatrixXd(a.block(1, 2, 3, 3)).inverse().transpose();
  CHECK(distance(va.adj(), expected) < 1e-13);
}

TEST_CASE("results that nobody uses contribute nothing, each on its own") {
  const scope own;
  const MatrixXd a = numbers(5, 3);
  const matrix<var> va(a);
  const auto y = agrad::qr(va);
  const auto f = agrad::ldlt(matrix<var>(spd(3)));
  (void)f;
  const var only_r = sum(y.r), only_q = sum(y.q), none = sum(va);
  only_r.grad();
  const MatrixXd gr = va.adj();
  only_q.grad();
  const MatrixXd gq = va.adj();
  const var together = only_r * 1.0 + only_q;
  together.grad();
  CHECK(distance(va.adj(), gr + gq) < 1e-14);
  none.grad();
  CHECK(va.adj() == MatrixXd::Ones(5, 3));
  // A matrix without full rank has factors, and no derivatives: only who asks for them is told.
  MatrixXd deficient = a;
  deficient.col(1) = 2 * deficient.col(0);
  const matrix<var> vd(deficient);
  const auto z = agrad::qr(vd);
  const var unused = sum(vd) + 0.0 * sum(z.r), used = sum(z.r);
  unused.grad();
  CHECK(vd.adj() == MatrixXd::Ones(5, 3));
  CHECK_THROWS_AS(used.grad(), agrad::DomainError);
}

TEST_CASE("reverse passes of several lanes: Jacobians of rules of one and of two arguments and results") {
  static constexpr Index n = 3;
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    Mat<T> a(n, n);
    for (Index i = 0; i < n * n; ++i) a.data()[i] = x[i];
    const Mat<T> inverse = agrad::inverse(a), solved = agrad::solve(a, inverse), l = agrad::qr(a).r;
    agrad::vector_of<T> y(2 * n * n);
    for (Index i = 0; i < n * n; ++i) y[i] = solved.data()[i], y[n * n + i] = l.data()[i];
    return y;
  };
  const MatrixXd a = regular(n);
  const VectorXd x = Eigen::Map<const VectorXd>(a.data(), n * n);
  VectorXd fx;
  MatrixXd jacobian;
  agrad::jacobian(f, x, fx, jacobian);
  CHECK(distance(jacobian, finite_differences::jacobian(f, x, 1e-3)) < 1e-9);
}

TEST_CASE("Eigen's expressions, vectors and fixed sizes") {
  const scope own;
  Eigen::Matrix<var, 2, 2> a;
  a << 3, 1, 1, 2;
  const Eigen::Matrix<var, 2, 1> b(var(1.0), var(2.0));
  const agrad::vector_of<var> x = agrad::solve_spd(a, b);  // a vector again
  const var det = agrad::log_determinant(a.transpose() * 1.0);
  CHECK(x[0].val() == doctest::Approx(0).epsilon(1e-15));
  CHECK(x[1].val() == doctest::Approx(1));
  det.grad();
  CHECK(a(0, 0).adj() == doctest::Approx(0.4));
  CHECK(a(0, 1).adj() == doctest::Approx(-0.2));
}

TEST_CASE("messages name function, argument, shape and pivot") {
  CHECK_THROWS_WITH_AS(agrad::inverse(numbers(2, 3)), "inverse: a is of shape (2, 3), but must be square", agrad::ShapeError);
  MatrixXd singular = MatrixXd::Zero(3, 3);
  singular(0, 0) = singular(1, 2) = 1;
  CHECK_THROWS_WITH_AS(agrad::inverse(singular), "inverse: a is singular, but must be invertible; the pivot of row 1 is 0",
                       agrad::DomainError);
  CHECK_THROWS_AS(agrad::log_determinant(singular), agrad::DomainError);
  CHECK_THROWS_AS(agrad::solve(singular, numbers(3, 1)), agrad::DomainError);
  CHECK_THROWS_AS(agrad::solve_triangular<Eigen::Upper>(singular, numbers(3, 1)), agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::solve(regular(3), numbers(2, 1)),
                       "solve: b is of shape (2, 1), but must be with 3 rows, because a is of shape (3, 3)", agrad::ShapeError);
}

}  // namespace test_linalg_tape
