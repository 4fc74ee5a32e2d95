// Recorded functions: values and derivatives against closed forms and against the tape, patterns, copies, errors.
#include <doctest/doctest.h>
#include <agrad/replay.hpp>
#include <cmath>
#include <thread>
#include <vector>

#include "message_of.hpp"

namespace test_replay {

using messages::message_of;

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const auto rosenbrock = [](const auto& x) {
  using agrad::square;
  std::decay_t<decltype(x[0])> sum = 0.0;
  for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
    sum += 100.0 * square(x[i + 1] - square(x[i])) + square(1.0 - x[i]);
  }
  return sum;
};
const auto shape = [](const auto& x) {
  using T = std::decay_t<decltype(x[0])>;
  return Eigen::Matrix<T, Eigen::Dynamic, 1>{{x[0] * sin(x[1]), exp(x[2]), x[1] * x[1], T(3.0)}};
};

VectorXd point(Eigen::Index n) {
  VectorXd x(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = std::cos(static_cast<double>(i)) + 0.3;
  return x;
}

/// Gradient and Hessian of Rosenbrock's function by hand.
void by_hand(const VectorXd& x, double& value, VectorXd& g, MatrixXd& h) {
  value = 0, g.setZero(x.size()), h.setZero(x.size(), x.size());
  for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
    const double u = x[i + 1] - x[i] * x[i];
    value += 100 * u * u + (1 - x[i]) * (1 - x[i]);
    g[i] += -400 * x[i] * u - 2 * (1 - x[i]), g[i + 1] += 200 * u;
    h(i, i) += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2, h(i + 1, i + 1) += 200;
    h(i, i + 1) -= 400 * x[i], h(i + 1, i) -= 400 * x[i];
  }
}

}  // namespace

TEST_CASE("a recorded scalar function has value, gradient and Hessian at any point") {
  auto f = agrad::replayed(rosenbrock, point(7));
  for (const double scale : {1.0, -2.0, 0.0}) {
    const VectorXd x = scale * point(7);
    double expected = 0, fx = 0, again = 0;
    VectorXd g, g_expected;
    MatrixXd h, h_expected;
    Eigen::SparseMatrix<double> sparse;
    by_hand(x, expected, g_expected, h_expected);
    f.gradient(x, fx, g);
    CHECK(fx == doctest::Approx(expected));
    CHECK(g.isApprox(g_expected, 1e-13));
    f.hessian(x, fx, g, h);
    CHECK(h.isApprox(h_expected, 1e-13));
    f.sparse_hessian(x, again, g, sparse);
    CHECK(sparse.nonZeros() == 7 + 2 * 6);
    CHECK(MatrixXd(sparse).isApprox(h_expected, 1e-13));
    MatrixXd directions = MatrixXd::Random(7, 3), products;
    f.hessian_times(x, directions, fx, g, products);
    CHECK(products.isApprox(h_expected * directions, 1e-12));
  }
}

TEST_CASE("a recorded vector function has Jacobians, dense and sparse") {
  auto f = agrad::replayed(shape, point(3));
  CHECK(f.size() == 3);
  CHECK(f.outputs() == 4);
  const VectorXd x = VectorXd{{0.4, -1.2, 0.7}};
  VectorXd fx, again;
  MatrixXd expected{{std::sin(-1.2), 0.4 * std::cos(-1.2), 0}, {0, 0, std::exp(0.7)}, {0, -2.4, 0}, {0, 0, 0}}, found;
  Eigen::SparseMatrix<double> sparse;
  f.value(x, fx);
  CHECK(fx.isApprox(VectorXd{{0.4 * std::sin(-1.2), std::exp(0.7), 1.44, 3}}, 1e-15));
  f.jacobian(x, again, found);
  CHECK(again == fx);
  CHECK(found.isApprox(expected, 1e-15));
  f.sparse_jacobian(x, again, sparse);
  CHECK(sparse.nonZeros() == 4);
  CHECK(MatrixXd(sparse).isApprox(expected, 1e-15));
}

TEST_CASE("a recorded function may return an unevaluated expression") {
  const VectorXd x = point(6);
  const MatrixXd A = MatrixXd::Constant(6, 6, 0.5) + MatrixXd::Identity(6, 6), identity = MatrixXd::Identity(6, 6);
  const auto check = [&](const auto& f, const VectorXd& value, const MatrixXd& expected) {
    auto recorded = agrad::replayed(f, x);
    VectorXd fx;
    MatrixXd J;
    recorded.jacobian(x, fx, J);
    CHECK(fx.isApprox(value, 1e-14));
    CHECK(J.isApprox(expected, 1e-14));
  };
  check([](const auto& z) { return z.cwiseProduct(z); }, x.cwiseAbs2(), (2 * x).asDiagonal().toDenseMatrix());
  check([](const auto& z) { return z.reverse(); }, x.reverse(), identity.rowwise().reverse());
  check([&A](const auto& z) { return A.cast<std::decay_t<decltype(z[0])>>() * z; }, A * x, A);
  MatrixXd blocks = MatrixXd::Zero(3, 6);
  blocks.leftCols(3) = x.tail(3).asDiagonal(), blocks.rightCols(3) = x.head(3).asDiagonal();
  const auto of_blocks = [](const auto& z) {
    const auto first = z.head(3);
    const auto last = z.tail(3);
    return first.cwiseProduct(last);
  };
  check(of_blocks, x.head(3).cwiseProduct(x.tail(3)), blocks);
  auto squares = agrad::replayed([](const auto& z) { return z.transpose() * z; }, x);
  double fx = 0;
  VectorXd g;
  MatrixXd h;
  squares.hessian(x, fx, g, h);
  CHECK(fx == doctest::Approx(x.squaredNorm()));
  CHECK(g.isApprox(2 * x, 1e-14));
  CHECK(h.isApprox(2 * identity, 1e-14));
}

TEST_CASE("copies work in threads of their own") {
  const auto f = agrad::replayed(rosenbrock, point(5));
  std::vector<double> values(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < values.size(); ++t)
    threads.emplace_back([&, t] {
      auto mine = f;
      VectorXd g;
      for (int i = 0; i < 200; ++i) mine.gradient(VectorXd(point(5) * static_cast<double>(t)), values[t], g);
    });
  for (std::thread& each : threads) each.join();
  for (std::size_t t = 0; t < values.size(); ++t)
    CHECK(values[t] == doctest::Approx(rosenbrock(VectorXd(point(5) * static_cast<double>(t)))));
}

TEST_CASE("empty arguments, constant functions and wrong sizes") {
  auto constant = agrad::replayed([](const auto&) { return 2.5; }, VectorXd(0));
  double fx = 0;
  VectorXd g;
  constant.gradient(VectorXd(0), fx, g);
  CHECK(fx == 2.5);
  CHECK(g.size() == 0);
  auto f = agrad::replayed(shape, point(3));
  CHECK(message_of<agrad::ShapeError>([&] { f.gradient(point(3), fx, g); }).find("gradient: f(x) is of length 4") == 0);
  CHECK(message_of<agrad::ShapeError>([&] { f.value(point(2), g); }).find("value: x is of length 2") == 0);
  const auto square = [](const auto& x) { return x * x.transpose(); };
  CHECK(message_of<agrad::ShapeError>([&] { agrad::replayed(square, point(3)); }).find("replayed: f(x) is of shape (3") == 0);
}

}  // namespace test_replay
