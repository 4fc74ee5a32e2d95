// Laplace's approximation: exact for a normal likelihood, differences, the values of Python, derivatives of two orders, both
// ways.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/laplace.hpp>
#include <agrad/probability.hpp>
#include <cmath>
#include <exception>
#include <string>
#include <tuple>

namespace test_functionals_laplace {

using agrad::matrix_of;
using agrad::promoted_t;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const VectorXd places = VectorXd::LinSpaced(4, 0.0, 1.5), y = (VectorXd(4) << 0.3, -0.2, 0.9, 1.4).finished(),
               point = (VectorXd(3) << 1.3, 0.7, 0.5).finished();

const auto kernel = [](const auto& scale, const auto& length) {
  using T = promoted_t<decltype(scale), decltype(length)>;
  matrix_of<T> k(4, 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) {
      const double d = places[i] - places[j];
      k(i, j) = scale * scale * exp(-0.5 * d * d / (length * length)) + (i == j ? 1e-3 : 0.0);
    }
  return k;
};
const auto normal = [](const auto& theta, const auto& data, const auto& sigma) {
  using T = promoted_t<decltype(theta), decltype(sigma)>;
  T sum = 0.0;
  for (Index i = 0; i < data.size(); ++i) {
    const T z = (theta[i] - data[i]) / sigma;
    sum = sum - 0.5 * z * z - log(sigma) - 0.5 * std::log(2 * std::acos(-1.0));
  }
  return sum;
};
/// The marginal likelihood of a normal likelihood in closed form.
const auto exact = [](const auto& p) {
  using T = promoted_t<decltype(p)>;
  matrix_of<T> total = kernel(p[0], p[1]);
  for (Index i = 0; i < 4; ++i) total(i, i) = total(i, i) + p[2] * p[2];
  const vector_of<T> solved = agrad::solve_spd(total, y);
  T square = 0.0;
  for (Index i = 0; i < 4; ++i) square = square + solved[i] * y[i];
  return T(-0.5 * square - 0.5 * agrad::log_determinant_spd(total) - 2 * std::log(2 * std::acos(-1.0)));
};
auto approximate(int block) {
  return [block](const auto& p) {
    return agrad::laplace_marginal(normal, std::make_tuple(y, p[2]), block, kernel, std::make_tuple(p[0], p[1]));
  };
}

}  // namespace

TEST_CASE("a normal likelihood is exact, with derivatives of two orders, whatever the blocks") {
  double value = 0, expected = 0;
  VectorXd g, exact_g;
  MatrixXd h, exact_h;
  VectorXd values;
  agrad::hessian(exact, point, expected, exact_g, exact_h);
  for (const int block : {1, 2, 4}) {
    agrad::gradient(approximate(block), point, value, g);
    CHECK(std::abs(value - expected) < 1e-12);
    CHECK((g - exact_g).norm() < 1e-11 * exact_g.norm());
    agrad::hessian(approximate(block), point, value, g, h);
    CHECK((g - exact_g).norm() < 1e-11 * exact_g.norm());
    CHECK((h - exact_h).norm() < 1e-10 * exact_h.norm());
    CHECK(std::abs(approximate(block)(point) - expected) < 1e-12);
    agrad::forward_jacobian(approximate(block), point, values, h);  // duals of numbers
    CHECK((h.transpose() - exact_g).norm() < 1e-11 * exact_g.norm());
  }
}

TEST_CASE("blocks of two, heavy tails: the values of Python, and of mpmath with 50 digits and differences") {
  const auto student = [](const auto& theta, const auto& nu) {
    using T = promoted_t<decltype(theta), decltype(nu)>;
    T sum = -0.1 * (theta[0] * theta[1] + theta[2] * theta[3]);
    for (Index i = 0; i < 4; ++i) {
      const T d = theta[i] - y[i];
      sum = sum - 0.5 * (nu + 1) * log1p(d * d / nu);
    }
    return sum;
  };
  const auto f = [&](const auto& p) {
    return agrad::laplace_marginal(student, std::make_tuple(p[2]), 2, kernel, std::make_tuple(p[0], p[1]));
  };
  const VectorXd at = (VectorXd(3) << 1.3, 0.7, 2.0).finished(),
                 slopes = (VectorXd(3) << -1.225236309823135, 0.69649267680077802, 0.14912173928489193).finished();
  MatrixXd curvatures(3, 3), h;
  curvatures << 0.018027883867141637, 1.0126742731401215, 0.086924556811254205,  //
      1.0126742731401215, -1.7827617474226423, -0.12923652375024412,             //
      0.086924556811254205, -0.12923652375024412, -0.13547980095504266;
  double value = 0;
  VectorXd g;
  agrad::hessian(f, at, value, g, h);
  CHECK(std::abs(value - -2.5302139050775747) < 1e-13);
  CHECK((g - slopes).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((h - curvatures).cwiseAbs().maxCoeff() < 1e-11);
  agrad::gradient(f, at, value, g);
  CHECK((g - slopes).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("covariances of numbers, of handles and of expressions, more entries than one pass has directions") {
  const Index n = 11;
  const VectorXd data = VectorXd::LinSpaced(n, -1, 2), positions = VectorXd::LinSpaced(n, 0, 3);
  MatrixXd fixed(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) fixed(i, j) = std::exp(-std::abs(positions[i] - positions[j]));
  const auto of_numbers = [&] { return fixed; };
  const auto scaled = [&](const auto& s) { return s * fixed; };
  const auto exactly = [&](double s, double sigma) {
    const MatrixXd total = s * fixed + sigma * sigma * MatrixXd::Identity(n, n);
    const Eigen::LLT<MatrixXd> half(total);
    const double log_determinant = 2 * half.matrixLLT().diagonal().array().log().sum();
    return -0.5 * data.dot(half.solve(data)) - 0.5 * log_determinant - 0.5 * n * std::log(2 * std::acos(-1.0));
  };
  const agrad::scope own;
  const agrad::var sigma = 0.7, scale = 1.2;
  agrad::var one = agrad::laplace_marginal(normal, std::make_tuple(data, sigma), 1, of_numbers, std::make_tuple());
  CHECK(one.val() == Approx(exactly(1, 0.7)).epsilon(1e-12));
  one.grad();
  const double step = 1e-4;
  const auto slope = [&](const auto& f) { return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step); };
  CHECK(sigma.adj() == Approx(slope([&](double t) { return exactly(1, 0.7 + t); })).epsilon(1e-9));
  const auto handle = [&](const agrad::var& s) { return agrad::matrix<agrad::var>(s * agrad::matrix<agrad::var>(fixed)); };
  const auto expression = [&](const agrad::var& s) {
    matrix_of<agrad::var> k(n, n);
    for (Index i = 0; i < k.size(); ++i) k.data()[i] = s * fixed.data()[i];
    return k;
  };
  agrad::var two = agrad::laplace_marginal(normal, std::make_tuple(data, 0.7), 1, handle, std::make_tuple(scale));
  agrad::var three = agrad::laplace_marginal(normal, std::make_tuple(data, 0.7), n, expression, std::make_tuple(scale));
  const double expected = slope([&](double t) { return exactly(1.2 + t, 0.7); });
  for (agrad::var each : {two, three}) {
    CHECK(each.val() == Approx(exactly(1.2, 0.7)).epsilon(1e-12));
    each.grad();
    CHECK(scale.adj() == Approx(expected).epsilon(1e-9));
  }
  CHECK(agrad::laplace_marginal(normal, std::make_tuple(data, 0.7), 1, scaled, std::make_tuple(1.2)) ==
        Approx(exactly(1.2, 0.7)).epsilon(1e-12));
}

TEST_CASE("the search goes downhill from where the posterior density is convex") {
  const auto cauchy = [](const auto& theta) { return -log1p((theta[0] - 3) * (theta[0] - 3) * 100); };
  const auto variance = [] { return MatrixXd(MatrixXd::Constant(1, 1, 4)); };
  const auto from = [&](double start) {
    const agrad::laplace_options options(VectorXd::Constant(1, start), 1e-10, 100);
    return agrad::laplace_marginal_tol(cauchy, std::make_tuple(), 1, variance, std::make_tuple(), options);
  };
  double mode = 3;  // of theta^2 / 8 + log1p(100 (theta - 3)^2): theta / 4 = -200 d / (1 + 100 d^2)
  for (int i = 0; i < 100; ++i) mode = 3 - mode / 800 * (1 + 100 * (mode - 3) * (mode - 3));
  const double d = mode - 3, share = 1 + 100 * d * d, curvature = (200 - 20000 * d * d) / (share * share);
  const double expected = -std::log(share) - mode * mode / 8 - 0.5 * std::log1p(4 * curvature);
  // the second derivative of the potential is 1 / 4 + 200 / share - 40000 d^2 / share^2: -0.63 at 1.5, -24 at 2.8
  for (const double start : {3.0, 3.2, 2.8, 1.5}) CHECK(from(start) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("tolerances, and what is refused") {
  const auto data = std::make_tuple(y, 0.5);
  const auto scales = std::make_tuple(1.3, 0.7);
  const double usual = agrad::laplace_marginal(normal, data, 1, kernel, scales);
  const VectorXd ones = VectorXd::Ones(4);
  CHECK(agrad::laplace_marginal_tol(normal, data, 1, kernel, scales, {ones, 1e-10, 100}) == Approx(usual).epsilon(1e-13));
  CHECK(agrad::laplace_marginal_tol(normal, data, 1, kernel, scales, std::make_tuple(ones, 1e-10, 100, 1, 0, 0)) ==
        Approx(usual).epsilon(1e-13));
  CHECK(agrad::laplace_marginal_tol(normal, data, 1, kernel, scales, agrad::generate_laplace_options(4)) == usual);

  const auto message = [](const auto& f) {
    std::string text;
    try {
      f();
    } catch (const std::exception& error) {
      text = error.what();
    }
    return text;
  };
  const auto tol = [&](const VectorXd& start, double tolerance, int steps) {
    return message([&] { agrad::laplace_marginal_tol(normal, data, 1, kernel, scales, {start, tolerance, steps}); });
  };
  CHECK(tol(ones, 1e-10, 1).find("laplace_marginal_tol: number of steps is 1, but must suffice") == 0);
  CHECK(tol(VectorXd::Ones(3), 1e-10, 9).find("laplace_marginal_tol: theta_0 is of length 3, but must be of length 4") == 0);
  CHECK(tol(ones, 0, 9).find("laplace_marginal_tol: tolerance is 0") == 0);
  CHECK(tol(ones, 1e-10, 0).find("laplace_marginal_tol: max_num_steps is 0") == 0);

  const auto of = [&](const auto& likelihood, int block, const auto& covariance) {
    return message([&] { agrad::laplace_marginal(likelihood, std::make_tuple(), block, covariance, std::make_tuple()); });
  };
  const auto coupled = [](const auto& theta) { return -0.1 * theta[0] * theta[1] - theta[2] * theta[2]; };
  const auto square = [](const auto& theta) { return -theta[0] * theta[0]; };
  const auto unbounded = [](const auto& theta) { return theta[0] * theta[0]; };
  const auto undefined = [](const auto& theta) { return log(theta[0] - 1); };
  const auto identity = [] { return MatrixXd(MatrixXd::Identity(4, 4)); };
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(of(coupled, 1, identity).find("laplace_marginal: the Hessian's entries outside of blocks of 1 are up to") == 0);
  CHECK(of(coupled, 2, identity).empty());
  const auto at_the_mode = [](const auto& theta) {
    return -0.5 * (theta[0] * theta[0] + theta[1] * theta[1]) + 0.3 * theta[0] * theta[0] * theta[1];
  };
  CHECK(of(at_the_mode, 1, identity).find("laplace_marginal: the Hessian's entries outside of blocks of 1 are up to 0.0") == 0);
  CHECK(of(at_the_mode, 2, identity).empty());
  CHECK(of(square, 3, identity).find("laplace_marginal: hessian_block_size is 3, but must divide the size") == 0);
  CHECK(of(square, 0, identity).find("laplace_marginal: hessian_block_size is 0") == 0);
  CHECK(contains(of(square, 1, [] { return MatrixXd(-MatrixXd::Identity(4, 4)); }), "but must be positive definite; add"));
  CHECK(contains(of(square, 1, [] { return MatrixXd(MatrixXd::Constant(4, 4, NAN)); }), "but must be positive definite; add"));
  CHECK(contains(of(square, 1, [] { return MatrixXd(3, 4); }), "covariance is of shape (3, 4)"));
  CHECK(contains(of(square, 1, [] { return MatrixXd(0, 0); }), "covariance is of shape (0, 0)"));
  CHECK(contains(of(unbounded, 1, identity), "laplace_marginal: "));
  CHECK(contains(of(undefined, 1, identity), "not finite, but must be finite"));
}

}  // namespace test_functionals_laplace
