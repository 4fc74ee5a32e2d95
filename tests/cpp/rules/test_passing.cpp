// Zero times an infinite slope is zero, on the tape, for duals and for matrices (rules/passing.hpp).
#include <doctest/doctest.h>

#include <agrad/agrad.hpp>
#include <cmath>

namespace test_passing {

using agrad::dual;
using agrad::matrix;
using agrad::var;

namespace {

/// The derivative by the tape, by the tape with each step assigned, by duals, and by duals over the tape.
template <class F>
void check_slope(const F& f, double x, double expected) {
  const auto same = [&](double given) {
    CAPTURE(x);
    if (std::isnan(expected))
      CHECK(std::isnan(given));
    else
      CHECK(given == expected);
  };
  {
    const agrad::scope own;
    var v = x;
    var y = f(v);
    y.grad();
    same(v.adj());
  }
  same(f(dual<double>(x, {1.0})).tangent[0]);
  same(f(dual<dual<double>>(dual<double>(x), {dual<double>(1.0)})).tangent[0].value);
  {
    const agrad::scope own;
    var v = x, one = 1.0;
    const dual<var> y = f(dual<var>(v, {one}));
    same(y.tangent[0].val());
  }
  {
    const agrad::scope own;
    const matrix<var> v(Eigen::MatrixXd(Eigen::MatrixXd::Constant(2, 3, x)));
    var y = sum(f(v));
    y.grad();
    same(v.adj()(1, 2));
  }
}

}  // namespace

TEST_CASE("infinite slopes of what underflows, and slopes of what overflows") {
  const double inf = agrad::infinity, nan = agrad::quiet_nan;
  check_slope([](const auto& x) { return sqrt(exp(-x)); }, 1600, 0);
  check_slope([](const auto& x) { return sqrt(0.0 * x); }, 1, 0);
  check_slope([](const auto& x) { return sqrt(square(x)); }, 0, 0);
  check_slope([](const auto& x) { return 0.0 * sqrt(x); }, 0, 0);
  check_slope([](const auto& x) { return sqrt(2.0 * x); }, 0, inf);
  check_slope([](const auto& x) { return log(cosh(x)); }, 800, nan);
  check_slope([](const auto& x) { return sqrt(exp(x)); }, 1500, nan);
  check_slope([](const auto& x) { return log1p(exp(x)); }, 800, nan);
  check_slope([](const auto& x) { return asinh(exp(x)); }, 800, nan);
  check_slope([](const auto& x) { return cbrt(-exp(x)); }, 1500, nan);
  check_slope([](const auto& x) { return inv(1.0 + exp(x)); }, 800, 0);
}

TEST_CASE("steps that are statements of their own, and products") {
  const agrad::scope own;
  {
    var x = 1600.0, e = exp(-x), y = sqrt(e);
    y.grad();
    CHECK(x.adj() == 0);
  }
  {
    const matrix<var> x(Eigen::MatrixXd(Eigen::MatrixXd::Zero(3, 1)));
    const matrix<var> square = x.transpose() * x;
    var y = sqrt(square(0, 0));
    y.grad();
    CHECK(x.adj() == Eigen::MatrixXd::Zero(3, 1));
    var n = sqrt(squared_norm(x));
    n.grad();
    CHECK(x.adj() == Eigen::MatrixXd::Zero(3, 1));
    var d = sqrt(dot(x, x));
    d.grad();
    CHECK(x.adj() == Eigen::MatrixXd::Zero(3, 1));
  }
}

}  // namespace test_passing
