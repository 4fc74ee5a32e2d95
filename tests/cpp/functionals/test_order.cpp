// Every functional on every function of the benchmark table: they agree with each other and with finite differences, to the
// third order.
#include <doctest/doctest.h>
#include <agrad/functionals/finite_differences.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/testing.hpp>

#include "benchmark_functions.hpp"

namespace test_functionals_order {

using benchmark_functions::point;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

bool close(const MatrixXd& a, const MatrixXd& b, double tolerance) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a - b).cwiseAbs().maxCoeff() <= tolerance * (1 + b.cwiseAbs().maxCoeff());
}
VectorXd direction(double shift) {
  return VectorXd::NullaryExpr(point.size(), [&](Index i) { return std::sin(2.3 * static_cast<double>(i) + shift); });
}

}  // namespace

TEST_CASE("derivatives by reverse mode, forward mode and finite differences agree") {
  benchmark_functions::for_each([](const auto& f) {
    CAPTURE(std::string(f.name));
    const agrad::gradient_report report = agrad::check_gradient(f, point);
    CHECK_MESSAGE(report.ok, report.message);
    CHECK(report.forward_checked);
    CHECK(report.second_order_checked);
    CHECK(report.difference_error < 1e-10);
    CHECK(report.curvature_error < 1e-10);
  });
}

TEST_CASE("gradient, Jacobian and products of first order are one") {
  benchmark_functions::for_each([](const auto& f) {
    CAPTURE(std::string(f.name));
    const VectorXd v = direction(0.3);
    double fx = 0, gv = 0;
    VectorXd g, fv, product;
    MatrixXd forward, reverse;
    agrad::gradient(f, point, fx, g);
    CHECK(fx == doctest::Approx(f(point)).epsilon(1e-14));
    agrad::forward_jacobian(f, point, fv, forward);
    agrad::reverse_jacobian(f, point, fv, reverse);
    CHECK(close(forward, g.transpose(), 1e-13));
    CHECK(close(reverse, g.transpose(), 0));
    agrad::gradient_dot_vector(f, point, v, fx, gv);
    CHECK(gv == doctest::Approx(g.dot(v)).epsilon(1e-12));
    agrad::jvp(f, point, v, fv, product);
    CHECK(product[0] == gv);
    agrad::vjp(f, point, VectorXd::Constant(1, -2), fv, product);
    CHECK(close(product, -2 * g, 1e-14));
    for (Index i = 0; i < point.size(); ++i) {
      agrad::partial_derivative(f, point, i, fx, gv);
      CHECK(std::abs(gv - g[i]) <= 1e-13 * (1 + g.cwiseAbs().maxCoeff()));
    }
  });
}

TEST_CASE("Hessians: symmetric to the last bit, and what their products and differences say") {
  benchmark_functions::for_each([](const auto& f) {
    CAPTURE(std::string(f.name));
    double fx = 0, value = 0;
    VectorXd g, gradient, product;
    MatrixXd H, differences;
    agrad::gradient(f, point, value, gradient);
    agrad::hessian(f, point, fx, g, H);
    CHECK(fx == value);
    CHECK(close(g, gradient, 1e-13));
    CHECK(H == H.transpose());
    for (const double shift : {0.1, 1.3}) {
      agrad::hessian_times_vector(f, point, direction(shift), fx, product);
      CHECK(close(product, H * direction(shift), 1e-12));
    }
    agrad::finite_difference_hessian(f, point, fx, differences);
    CHECK(close(H, differences, 1e-10));
  });
}

TEST_CASE("third derivatives: symmetric in all indices, and the differences of Hessians") {
  benchmark_functions::for_each([](const auto& f) {
    CAPTURE(std::string(f.name));
    const VectorXd x = point.head(9);  // more than one pass of directions
    const Index n = x.size();
    double fx = 0;
    VectorXd g;
    MatrixXd H, expected;
    std::vector<MatrixXd> third;
    agrad::hessian(f, x, fx, g, expected);
    agrad::grad_hessian(f, x, fx, H, third);
    CHECK(close(H, expected, 1e-13));
    CHECK(third.size() == static_cast<std::size_t>(n));
    const auto entries = [&](const VectorXd& at) {
      MatrixXd hessian;
      agrad::hessian(f, at, fx, g, hessian);
      return VectorXd(hessian.reshaped());
    };
    VectorXd fv;
    MatrixXd differences;
    agrad::finite_difference_jacobian(entries, x, fv, differences);
    for (Index k = 0; k < n; ++k) {
      const MatrixXd& slice = third[static_cast<std::size_t>(k)];
      CHECK(slice == slice.transpose());
      CHECK(close(slice, differences.col(k).reshaped(n, n), 1e-9));
      for (Index i = 0; i < n; ++i) CHECK(slice.row(i) == third[static_cast<std::size_t>(i)].row(k));
    }
  });
}

}  // namespace test_functionals_order
