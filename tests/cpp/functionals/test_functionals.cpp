// gradient, jacobian and hessian against closed forms and finite differences of order 6, and what they leave behind.
#include <doctest/doctest.h>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "finite_differences.hpp"

namespace test_functionals {

using agrad::dual;
using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Written for any scalar, as Stan's users write.
struct rosenbrock {
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    T s = 0;
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      const T a = x[i + 1] - x[i] * x[i];
      const T b = 1 - x[i];
      s += 100 * a * a + b * b;
    }
    return s;
  }
};

/// Branches, accumulation, Eigen's reductions and functions found by argument-dependent lookup.
struct many_things {
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using std::exp, std::log, std::sqrt, std::pow, std::abs, std::tanh;
    T scale = sqrt(x.squaredNorm() + 1);
    Eigen::Matrix<T, Eigen::Dynamic, 1> y = x / scale;
    T product = 1;
    for (Eigen::Index i = 0; i < y.size(); ++i) product *= i % 2 == 0 ? T(1 + y[i] * y[i]) : exp(y[i]);
    T s = log(product) + x.dot(y) - tanh(x.sum()) * pow(scale, -1.5);
    s += x[0] > x[1] ? T(x[0] * x[1]) : abs(x[1] - 5);
    s -= x.head(2).prod() / 3;
    return s;
  }
};

template <class T>
T free_function(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) {
  return many_things()(x);
}

/// A vector function with a constant, a copy of an argument and a repeated entry.
struct vector_valued {
  template <class T>
  Eigen::Matrix<T, Eigen::Dynamic, 1> operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using std::sin;
    Eigen::Matrix<T, Eigen::Dynamic, 1> y(5);
    y[0] = x[0] * x[1];
    y[1] = x[2];
    y[2] = 7.0;
    y[3] = y[0];
    y[0] += sin(x[2]);
    y[4] = x.sum() * y[0];
    return y;
  }
};

const VectorXd point = (VectorXd(4) << 0.7, -0.4, 1.3, 0.2).finished();

double largest(const MatrixXd& difference) { return difference.size() == 0 ? 0 : difference.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("gradient and Hessian of a quadratic form") {
  MatrixXd a(3, 3);
  a << 2, -1, 0.5, 3, 4, 1, 0, -2, 5;
  const VectorXd b = (VectorXd(3) << 1, -2, 3).finished(), x = (VectorXd(3) << 0.3, 0.6, -0.9).finished();
  const auto f = [&](const auto& v) { return v.dot(a * v) * 0.5 + b.dot(v); };
  double fx = 0;
  VectorXd g;
  MatrixXd h;
  agrad::gradient(f, x, fx, g);
  const MatrixXd symmetric = 0.5 * (a + a.transpose());
  CHECK(fx == Approx(0.5 * x.dot(a * x) + b.dot(x)).epsilon(1e-15));
  CHECK(largest(g - (symmetric * x + b)) < 1e-15);
  agrad::hessian(f, x, fx, g, h);
  CHECK(largest(g - (symmetric * x + b)) < 1e-15);
  CHECK(largest(h - symmetric) < 1e-15);
}

TEST_CASE("the Rosenbrock function") {
  double fx = 0;
  VectorXd g;
  MatrixXd h;
  agrad::hessian(rosenbrock(), VectorXd::Ones(5), fx, g, h);
  CHECK(fx == 0);
  CHECK(g == VectorXd::Zero(5));
  CHECK(h(0, 0) == 802);
  CHECK(h(2, 2) == 1002);
  CHECK(h(4, 4) == 200);
  CHECK(h(1, 2) == -400);
  CHECK(h(0, 2) == 0);
  agrad::gradient(rosenbrock(), point, fx, g);
  CHECK(fx == rosenbrock()(point));
  CHECK(largest(g - finite_differences::gradient(rosenbrock(), point)) < 1e-8);
}

TEST_CASE("one template runs with double, var, dual and dual of var") {
  double fx = 0;
  VectorXd g;
  MatrixXd h;
  for (const double sign : {1.0, -1.0}) {  // both sides of the branches
    const VectorXd x = sign * point;
    const VectorXd expected = finite_differences::gradient(many_things(), x);
    agrad::gradient(many_things(), x, fx, g);
    CHECK(fx == Approx(many_things()(x)).epsilon(1e-14));
    CHECK(largest(g - expected) < 1e-10);

    using D = dual<double, 4>;
    agrad::vector_of<D> d = x.cast<D>();
    for (std::size_t i = 0; i < 4; ++i) d[static_cast<Eigen::Index>(i)].tangent[i] = 1;
    const D y = many_things()(d);
    for (std::size_t i = 0; i < 4; ++i) CHECK(y.tangent[i] == Approx(g[static_cast<Eigen::Index>(i)]).epsilon(1e-13));

    const VectorXd from_gradient = g;
    agrad::hessian(many_things(), x, fx, g, h);
    CHECK(largest(g - from_gradient) < 1e-13);
    const auto gradient_of = [](const VectorXd& at) {
      double value = 0;
      VectorXd slope;
      agrad::gradient(many_things(), at, value, slope);
      return slope;
    };
    CHECK(largest(h - finite_differences::jacobian(gradient_of, x)) < 1e-8);
    CHECK(h == h.transpose());
  }
  const scope own;
  const var y = free_function(agrad::vector_of<var>(point.cast<var>()));
  CHECK(y.val() == Approx(free_function(point)));
}

TEST_CASE("Jacobian with constants, arguments and repeated entries among the results") {
  VectorXd fx;
  MatrixXd J;
  agrad::jacobian(vector_valued(), point, fx, J);
  CHECK(largest(fx - vector_valued()(point)) < 1e-15);
  CHECK(J.rows() == 5);
  CHECK(J.cols() == 4);
  CHECK(largest(J - finite_differences::jacobian(vector_valued(), point)) < 1e-10);
  CHECK(J.row(2).isZero(0));
  CHECK(J(1, 2) == 1);
  CHECK(J(3, 2) == 0);
}

TEST_CASE("functions of nothing, constant functions and functions that return an argument") {
  double fx = 0;
  VectorXd g(3), fv;
  MatrixXd h(2, 2), J(1, 1);
  const auto constant = [](const auto&) { return 4.0; };
  agrad::gradient(constant, VectorXd(0), fx, g);
  CHECK(fx == 4);
  CHECK(g.size() == 0);
  fx = 0;
  agrad::hessian(constant, VectorXd(0), fx, g, h);
  CHECK(fx == 4);
  CHECK(h.size() == 0);
  agrad::jacobian([](const auto& v) { return v; }, VectorXd(0), fv, J);
  CHECK(J.size() == 0);

  agrad::gradient(constant, point, fx, g);
  CHECK(g.isZero(0));
  agrad::hessian(constant, point, fx, g, h);
  CHECK(fx == 4);
  CHECK(g.isZero(0));
  CHECK(h.isZero(0));
  const auto second = [](const auto& v) { return v[1]; };
  agrad::gradient(second, point, fx, g);
  CHECK(g == VectorXd::Unit(4, 1));
  agrad::hessian(second, point, fx, g, h);
  CHECK(fx == point[1]);
  CHECK(g == VectorXd::Unit(4, 1));
  CHECK(h.isZero(0));
  agrad::jacobian([](const auto& v) { return v; }, point, fv, J);
  CHECK(fv == point);
  CHECK(J == MatrixXd::Identity(4, 4));
  agrad::jacobian([](const auto& v) { return v.head(0).eval(); }, point, fv, J);
  CHECK(J.rows() == 0);
  CHECK(J.cols() == 4);
}

TEST_CASE("a direction in which nothing moves brings no nan into the Hessian") {
  double fx = 0;
  VectorXd g;
  MatrixXd h;
  const auto f = [](const auto& v) {
    using std::sqrt;
    return sqrt(v[0]) + v[1] * v[1] * v[2];
  };
  agrad::hessian(f, (VectorXd(3) << 0, 3, 2).finished(), fx, g, h);
  CHECK(fx == 18);
  CHECK(std::isinf(g[0]));
  CHECK(h.bottomRightCorner(2, 2) == (MatrixXd(2, 2) << 4, 6, 6, 0).finished());
  CHECK(h(1, 0) == 0);
}

TEST_CASE("a functional within another, and within a recording") {
  const scope own;
  const var x = 1.5;
  const var y = x * x;
  const auto before = tape::current().statistics();
  const auto inner = [](const auto& v) { return v[0] * v[0] * v[0]; };
  const auto outer = [&](const auto& v) {
    double value = 0;
    VectorXd slope;
    agrad::gradient(inner, VectorXd::Constant(1, 2.0), value, slope);  // 12
    return v[0] * v[1] * slope[0] + x * v[0];
  };
  double fx = 0;
  VectorXd g;
  for (int repetition = 0; repetition < 3; ++repetition) {
    agrad::gradient(outer, (VectorXd(2) << 1, 5).finished(), fx, g);
    CHECK(fx == 60 + 1.5);
    CHECK(g == (VectorXd(2) << 60 + 1.5, 12).finished());
  }
  const auto after = tape::current().statistics();
  CHECK(after.statements == before.statements);
  CHECK(after.bytes == before.bytes);
  y.grad();
  CHECK(x.adj() == 3);
}

TEST_CASE("an exception in the function comes out unchanged and leaves the tape as it was") {
  const scope own;
  const var x = 2.0;
  const auto before = tape::current().statistics();
  double fx = 0;
  VectorXd g, fv;
  MatrixXd h;
  const auto fails = [&](const auto& v) -> std::decay_t<decltype(v[0])> {
    const std::decay_t<decltype(v[0])> s = v.sum() * 2;
    if (s > 1) throw std::out_of_range("of the user");
    return s;
  };
  CHECK_THROWS_WITH_AS(agrad::gradient(fails, point, fx, g), "of the user", std::out_of_range);
  CHECK_THROWS_WITH_AS(agrad::hessian(fails, point, fx, g, h), "of the user", std::out_of_range);
  const auto vector_that_fails = [&](const auto& v) { return std::decay_t<decltype(v)>::Constant(2, fails(v)).eval(); };
  CHECK_THROWS_WITH_AS(agrad::jacobian(vector_that_fails, point, fv, h), "of the user", std::out_of_range);
  const auto after = tape::current().statistics();
  CHECK(after.statements == before.statements);
  CHECK(after.bytes == before.bytes);
  const var y = x * 3;
  y.grad();
  CHECK(x.adj() == 3);
}

}  // namespace test_functionals
