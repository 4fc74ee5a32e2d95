// Callables that return unevaluated expressions of Eigen: what these refer to lives until a functional has read them.
//
// An expression refers to the argument, to numbers that the callable captures, and by value to further expressions. Expected
// derivatives are closed forms. The sanitized build finds reads of freed memory, and an optimised one turns them into zeros.
#include <doctest/doctest.h>
#include <agrad/families/line/normal.hpp>
#include <agrad/functionals/finite_differences.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/laplace.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/functionals/quadrature.hpp>
#include <agrad/functionals/roots.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/testing.hpp>
#include <cmath>
#include <tuple>
#include <vector>

namespace test_functionals_unevaluated {

using agrad::var;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// A point longer than what the stack and the allocator keep by chance.
VectorXd point(Eigen::Index n) { return VectorXd::LinSpaced(n, 0.5, 2.5); }

/// Compares all functionals of vector functions with a Jacobian.
template <class F>
void check_vector(const F& f, const VectorXd& x, const VectorXd& value, const MatrixXd& expected) {
  const Eigen::Index n = x.size(), m = value.size();
  VectorXd fx, product;
  MatrixXd J;
  const auto same = [](const auto& a, const auto& b) { return (a - b).cwiseAbs().maxCoeff() < 1e-13; };
  const auto differentiate = [&](const auto& functional) {
    fx.setConstant(m, -1);
    J.setConstant(m, n, -1);
    functional();
    CHECK(same(fx, value));
    CHECK(same(J, expected));
  };
  differentiate([&] { agrad::jacobian(f, x, fx, J); });
  differentiate([&] { agrad::forward_jacobian(f, x, fx, J); });
  differentiate([&] { agrad::reverse_jacobian(f, x, fx, J); });
  for (Eigen::Index k = 0; k < n; ++k) {
    agrad::jvp(f, x, VectorXd::Unit(n, k), fx, product);
    CHECK(same(fx, value));
    CHECK(same(product, expected.col(k)));
  }
  for (Eigen::Index k = 0; k < m; ++k) {
    agrad::vjp(f, x, VectorXd::Unit(m, k), fx, product);
    CHECK(same(fx, value));
    CHECK(same(product, expected.row(k).transpose()));
  }
  agrad::finite_difference_jacobian(f, x, fx, J);
  CHECK(same(fx, value));
  CHECK((J - expected).cwiseAbs().maxCoeff() < 1e-9);
  const agrad::gradient_report report = agrad::check_gradient(f, x);
  CHECK(report.ok);
  CHECK(report.forward_checked);
  CHECK(report.second_order_checked);
  CHECK(report.message == "");
}

/// Compares all functionals of scalar functions with a gradient and a constant Hessian.
template <class F>
void check_scalar(const F& f, const VectorXd& x, double value, const VectorXd& gradient, const MatrixXd& hessian) {
  const Eigen::Index n = x.size();
  double fx = -1, slope = -1;
  VectorXd g, product;
  MatrixXd H;
  const auto same = [](const auto& a, const auto& b) { return (a - b).cwiseAbs().maxCoeff() < 1e-13; };
  agrad::gradient(f, x, fx, g);
  CHECK(fx == doctest::Approx(value));
  CHECK(same(g, gradient));
  agrad::hessian(f, x, fx, g, H);
  CHECK(same(g, gradient));
  CHECK(same(H, hessian));
  std::vector<MatrixXd> third;
  agrad::grad_hessian(f, x, fx, H, third);
  CHECK(same(H, hessian));
  for (const MatrixXd& slice : third) CHECK(slice.isZero(0));
  for (Eigen::Index k = 0; k < n; ++k) {
    fx = -1;
    agrad::gradient_dot_vector(f, x, VectorXd::Unit(n, k), fx, slope);
    CHECK(fx == doctest::Approx(value));
    CHECK(slope == doctest::Approx(gradient[k]));
    agrad::partial_derivative(f, x, k, fx, slope);
    CHECK(fx == doctest::Approx(value));
    CHECK(slope == doctest::Approx(gradient[k]));
    agrad::hessian_times_vector(f, x, VectorXd::Unit(n, k), fx, product);
    CHECK(same(product, hessian.col(k)));
  }
  agrad::finite_difference_gradient(f, x, fx, g);
  CHECK((g - gradient).cwiseAbs().maxCoeff() < 1e-9);
  agrad::finite_difference_hessian(f, x, fx, H);
  CHECK((H - hessian).cwiseAbs().maxCoeff() < 1e-9);
  CHECK_NOTHROW(agrad::expect_gradient(f, x));
}

}  // namespace

TEST_CASE("a vector function may return an expression of its argument") {
  for (const Eigen::Index n : {2, 50}) {
    CAPTURE(n);
    const VectorXd x = point(n), a = VectorXd::LinSpaced(n, 1, 3);
    const MatrixXd identity = MatrixXd::Identity(n, n), A = MatrixXd::Constant(n, n, 0.5) + identity;
    check_vector([](const auto& z) { return z.cwiseProduct(z); }, x, x.cwiseAbs2(), (2 * x).asDiagonal().toDenseMatrix());
    check_vector([](const auto& z) { return (z.array() * z.array() + 1.0).matrix(); }, x, (x.array().square() + 1).matrix(),
                 (2 * x).asDiagonal().toDenseMatrix());
    check_vector([](const auto& z) { return z.reverse(); }, x, x.reverse(), identity.rowwise().reverse());
    check_vector([](const auto& z) { return z.head(2) - z.tail(2); }, x, x.head(2) - x.tail(2),
                 identity.topRows(2) - identity.bottomRows(2));
    check_vector([](const auto& z) -> decltype(auto) { return (z); }, x, x, identity);
    // Numbers that the callable refers to outlive the call.
    check_vector([&a](const auto& z) { return z + a.cast<typename std::decay_t<decltype(z)>::Scalar>(); }, x, x + a, identity);
    check_vector([&A](const auto& z) { return A.cast<typename std::decay_t<decltype(z)>::Scalar>() * z; }, x, A * x, A);
  }
}

TEST_CASE("a function may return an expression of blocks and expressions that are local to it") {
  const VectorXd x = point(6);
  MatrixXd expected = MatrixXd::Zero(3, 6);
  for (Eigen::Index i = 0; i < 3; ++i) expected(i, i) = x[i + 3], expected(i, i + 3) = x[i];
  const auto of_blocks = [](const auto& z) {
    const auto first = z.head(3);
    const auto last = z.tail(3);
    return first.cwiseProduct(last);
  };
  check_vector(of_blocks, x, x.head(3).cwiseProduct(x.tail(3)), expected);
  const auto of_expression = [](const auto& z) {
    const auto squares = z.cwiseProduct(z);
    return squares.head(2);
  };
  check_vector(of_expression, x, x.head(2).cwiseAbs2(), MatrixXd((2 * x).asDiagonal().toDenseMatrix().topRows(2)));
  const auto of_map = [](const auto& z) {
    using column = std::decay_t<decltype(z)>;
    return Eigen::Map<const column, 0, Eigen::InnerStride<>>(z.data(), 3, Eigen::InnerStride<>(2));
  };
  MatrixXd every_second = MatrixXd::Zero(3, 6);
  for (Eigen::Index i = 0; i < 3; ++i) every_second(i, 2 * i) = 1;
  check_vector(of_map, x, every_second * x, every_second);
}

TEST_CASE("a scalar function may return a product, a sum or an entry of its argument") {
  for (const Eigen::Index n : {2, 20}) {
    CAPTURE(n);
    const VectorXd x = point(n), zero = VectorXd::Zero(n);
    const MatrixXd identity = MatrixXd::Identity(n, n), none = MatrixXd::Zero(n, n);
    check_scalar([](const auto& z) { return z.transpose() * z; }, x, x.squaredNorm(), 2 * x, 2 * identity);
    check_scalar([](const auto& z) { return z.cwiseProduct(z).sum(); }, x, x.squaredNorm(), 2 * x, 2 * identity);
    check_scalar([](const auto& z) -> decltype(auto) { return z[1]; }, x, x[1], VectorXd::Unit(n, 1), none);
  }
}

TEST_CASE("equations may be an expression") {
  const agrad::scope own;
  const agrad::vector_of<var> p = Eigen::Vector2d(4, 9).cast<var>();
  const auto f = [](const auto& y, const auto& q) { return y.cwiseProduct(y) - q; };
  for (const bool newton : {true, false}) {
    const agrad::vector_of<var> y =
        newton ? agrad::solve_newton(f, Eigen::Vector2d(1, 1), p) : agrad::solve_powell(f, Eigen::Vector2d(1, 1), p);
    y[1].grad();
    CHECK(y[0].val() == doctest::Approx(2));
    CHECK(y[1].val() == doctest::Approx(3));
    CHECK(p[0].adj() == doctest::Approx(0));
    CHECK(p[1].adj() == doctest::Approx(1.0 / 6));
  }
}

TEST_CASE("a covariance may be an expression") {
  // theta is normal with variance s, y normal about theta with variance 1: y is normal with variance 1 + s.
  const agrad::scope own;
  const var s = 1.5;
  const auto log_likelihood = [](const auto& theta, const auto& y) {
    typename std::decay_t<decltype(theta)>::Scalar sum = 0.0;
    for (Eigen::Index i = 0; i < theta.size(); ++i) sum += agrad::normal_lpdf(y[i], theta[i], 1.0);
    return sum;
  };
  const auto covariance = [](const auto& scale) {
    using T = std::decay_t<decltype(scale)>;
    return agrad::matrix_of<T>::Identity(2, 2) * scale;
  };
  const Eigen::Vector2d y(0.3, -1.1);
  const var log_marginal = agrad::laplace_marginal(log_likelihood, std::make_tuple(y), 1, covariance, std::make_tuple(s));
  log_marginal.grad();
  const double variance = 1 + s.val();
  CHECK(s.adj() == doctest::Approx(-1 / variance + y.squaredNorm() / (2 * variance * variance)));
}

}  // namespace test_functionals_unevaluated
