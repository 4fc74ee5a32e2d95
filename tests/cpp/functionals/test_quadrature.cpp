// Quadrature: closed forms, limits of every kind, derivatives of three orders, what is refused.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/quadrature.hpp>
#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace test_functionals_quadrature {

using doctest::Approx;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const double inf = std::numeric_limits<double>::infinity(), pi = std::acos(-1.0);

/// Integrates a function of numbers by both methods, which must agree.
template <class F>
double both(const F& f, double a, double b) {
  const auto g = [&](double x, double) { return f(x); };
  const double one = agrad::integrate_1d_gauss_kronrod(g, a, b), two = agrad::integrate_1d_double_exponential(g, a, b);
  CHECK(std::abs(one - two) <= 2e-8 * (std::abs(one) + 1e-30));
  return two;
}

}  // namespace

TEST_CASE("the rules are exact for polynomials: Kronrod's up to degree 31, Gauss's up to degree 19") {
  for (int power = 0; power <= 31; ++power) {
    double kronrod = 0, gauss = 0;
    for (const agrad::detail::rule_node& node : agrad::detail::rule_nodes()) {
      kronrod += node.kronrod * std::pow(node.place, power);
      gauss += node.gauss * std::pow(node.place, power);
    }
    const double exact = power % 2 == 0 ? 2.0 / (power + 1) : 0;
    CHECK(std::abs(kronrod - exact) < 3e-15);
    if (power <= 19) CHECK(std::abs(gauss - exact) < 3e-15);
  }
}

TEST_CASE("integrals over intervals of every kind") {
  const auto e = [](double x) { return std::exp(x); };
  CHECK(both(e, 0, 1) == Approx(std::exp(1.0) - 1).epsilon(1e-12));
  CHECK(both(e, 1, 0) == Approx(1 - std::exp(1.0)).epsilon(1e-12));
  CHECK(both(e, 1, 1) == 0);
  CHECK(both(e, inf, inf) == 0);
  CHECK(both(e, -inf, 1) == Approx(std::exp(1.0)).epsilon(1e-9));
  CHECK(both(e, 1, -inf) == Approx(-std::exp(1.0)).epsilon(1e-9));
  CHECK(both([](double x) { return std::exp(-x * x); }, -inf, inf) == Approx(std::sqrt(pi)).epsilon(1e-10));
  CHECK(both([](double x) { return std::exp(-x * x); }, inf, -inf) == Approx(-std::sqrt(pi)).epsilon(1e-10));
  CHECK(both([](double x) { return 1 / (1 + x * x); }, 1, inf) == Approx(pi / 4).epsilon(1e-9));
  CHECK(both([](double x) { return 1 / std::sqrt(x); }, 0, 1) == Approx(2.0).epsilon(1e-9));
  CHECK(both([](double x) { return std::log(x); }, 0, 1) == Approx(-1.0).epsilon(1e-9));
  const auto narrow = [](double x) { return std::exp(-0.5 * (x - 0.3) * (x - 0.3) * 1e8); };
  CHECK(both(narrow, 0, 1) == Approx(1e-4 * std::sqrt(2 * pi)).epsilon(1e-9));
  const auto at_one = [](double x, double xc) { return std::pow(xc > 0 ? xc : 1 - x, -0.9); };
  CHECK(agrad::integrate_1d_double_exponential(at_one, 0.0, 1.0) == Approx(10.0).epsilon(1e-9));
}

TEST_CASE("derivatives with respect to limits and parameters, to the third order") {
  const auto power = [](const auto& x, const auto&, const auto& k) { return pow(x, k); };
  const auto area = [&](const auto& p) { return agrad::integrate_1d_gauss_kronrod(power, p[0], p[1], p[2]); };
  const auto exact = [](const auto& p) { return (pow(p[1], p[2] + 1) - pow(p[0], p[2] + 1)) / (p[2] + 1); };
  const auto decay = [](const auto& x, const auto&, const auto& p) { return p[0] * exp(-p[1] * x); };
  const auto tail = [&](const auto& p) { return agrad::integrate_1d_double_exponential(decay, p[2], inf, p); };
  const auto exact_tail = [](const auto& p) { return p[0] / p[1] * exp(-p[1] * p[2]); };
  const VectorXd at = (VectorXd(3) << 0.5, 2.0, 1.7).finished();
  double value = 0, expected = 0;
  VectorXd g, exact_g;
  MatrixXd h, exact_h;
  std::vector<MatrixXd> third, exact_third;
  agrad::grad_hessian(area, at, value, h, third);
  agrad::grad_hessian(exact, at, expected, exact_h, exact_third);
  CHECK(value == Approx(expected).epsilon(1e-12));
  CHECK((h - exact_h).norm() < 1e-9);
  for (std::size_t k = 0; k < third.size(); ++k) CHECK((third[k] - exact_third[k]).norm() < 1e-8);
  agrad::hessian(tail, at, value, g, h);
  agrad::hessian(exact_tail, at, expected, exact_g, exact_h);
  CHECK(value == Approx(expected).epsilon(1e-9));
  CHECK((g - exact_g).norm() < 1e-8);
  CHECK((h - exact_h).norm() < 1e-7);
}

TEST_CASE("partitions see derivatives, limits at singularities have infinite slopes") {
  const auto f = [](double x, double, const auto& p) {
    return 1.0 + p * (1e-14 * std::exp(-0.5 * (x - 0.315) * (x - 0.315) * 1e6) + 1e-18 * x);
  };
  const auto g = [&](const auto& p) { return agrad::integrate_1d_gauss_kronrod(f, 0.0, 1.0, p[0]); };
  double value = 0;
  VectorXd slope;
  agrad::gradient(g, VectorXd::Ones(1), value, slope);
  CHECK(slope[0] == Approx(1e-17 * std::sqrt(2 * pi) + 0.5e-18).epsilon(1e-7));
  const auto root = [](const auto& x, const auto&) { return 1 / sqrt(x); };
  agrad::gradient([&](const auto& a) { return agrad::integrate_1d_gauss_kronrod(root, a[0], 1.0); }, VectorXd::Zero(1), value,
                  slope);
  CHECK(slope[0] == -inf);
}

TEST_CASE("distances are those to the values of limits, and nan where there are none") {
  const auto to_one = [](const auto& x, const auto& xc) {
    using X = std::decay_t<decltype(x)>;
    return xc >= 0 ? X(xc) : X(1 - x);
  };
  const auto to_one_inside = [](const auto& x, const auto& xc) {  // at the lower limit the distance is 0, too
    using X = std::decay_t<decltype(x)>;
    return xc > 0 ? X(xc) : X(1 - x);
  };
  const auto without = [](const auto& x, const auto& xc) {
    using X = std::decay_t<decltype(x)>;
    return xc == xc ? X(1e3) : X(exp(-x));
  };
  const auto second = [](const auto& f, double x) {
    double value = 0;
    VectorXd g;
    MatrixXd h;
    agrad::hessian([&](const auto& p) { return f(p[0]); }, VectorXd::Constant(1, x), value, g, h);
    return std::vector<double>{value, g[0], h(0, 0)};
  };
  const auto upper = second([&](const auto& b) { return agrad::integrate_1d_double_exponential(to_one, 0.0, b); }, 1);
  CHECK(upper[0] == Approx(0.5).epsilon(1e-12));
  CHECK(std::abs(upper[1]) < 1e-12);
  CHECK(upper[2] == Approx(-1.0).epsilon(1e-12));
  const auto lower = second([&](const auto& a) { return agrad::integrate_1d_double_exponential(to_one_inside, a, 1.0); }, 0);
  CHECK(lower[1] == Approx(-1.0).epsilon(1e-12));
  CHECK(lower[2] == Approx(1.0).epsilon(1e-12));
  for (const auto& tail : {second([&](const auto& a) { return agrad::integrate_1d_double_exponential(without, a, inf); }, 0.5),
                           second([&](const auto& a) { return agrad::integrate_1d_gauss_kronrod(without, a, inf); }, 0.5),
                           second([&](const auto& a) { return agrad::integrate_1d_gauss_kronrod(without, a, 40.0); }, 0.5)}) {
    CHECK(tail[0] == Approx(std::exp(-0.5)).epsilon(1e-9));
    CHECK(tail[1] == Approx(-std::exp(-0.5)).epsilon(1e-12));
    CHECK(tail[2] == Approx(std::exp(-0.5)).epsilon(1e-12));
  }
}

TEST_CASE("the older form: parameters and data as three arguments") {
  // data: a location in x_r, a power in x_i
  const auto f = [](const auto& x, const auto&, const auto& theta, const std::vector<double>& x_r,
                    const std::vector<int>& x_i) { return pow(x - x_r[0], x_i[0]) * theta[0] * exp(-theta[1] * (x - x_r[0])); };
  const std::vector<double> x_r{0.3};
  const std::vector<int> x_i{1};
  const auto given = [&](const auto& p) {
    return agrad::integrate_1d(f, p[2], p[3], std::vector<std::decay_t<decltype(p[0])>>{p[0], p[1]}, x_r, x_i, 1e-10);
  };
  const auto exact = [](const auto& p) {  // of u exp(-k u) the antiderivative is -(u / k + 1 / k^2) exp(-k u)
    const auto at = [&](const auto& x) {
      return std::decay_t<decltype(p[0])>(-p[0] * ((x - 0.3) / p[1] + 1 / (p[1] * p[1])) * exp(-p[1] * (x - 0.3)));
    };
    return at(p[3]) - at(p[2]);
  };
  const VectorXd at = (VectorXd(4) << 0.8, 1.4, 0.5, 2.5).finished();
  double value = 0, expected = 0;
  VectorXd g, exact_g;
  MatrixXd h, exact_h;
  agrad::hessian(given, at, value, g, h);
  agrad::hessian(exact, at, expected, exact_g, exact_h);
  CHECK(value == Approx(expected).epsilon(1e-13));
  CHECK((g - exact_g).norm() < 1e-12);
  CHECK((h - exact_h).norm() < 1e-11);
  agrad::gradient(given, at, value, g);  // the same on the tape
  CHECK((g - exact_g).norm() < 1e-12);

  const auto tail = [&](const auto& p) { return agrad::integrate_1d(f, 0.3, inf, p, x_r, x_i); };
  agrad::gradient(tail, VectorXd(at.head(2)), value, g);  // theta[0] / theta[1]^2
  CHECK(value == Approx(0.8 / (1.4 * 1.4)).epsilon(1e-9));
  CHECK(g[0] == Approx(1 / (1.4 * 1.4)).epsilon(1e-8));
  CHECK(g[1] == Approx(-2 * 0.8 / (1.4 * 1.4 * 1.4)).epsilon(1e-8));
  const std::vector<double> numbers{0.8, 1.4};
  CHECK(agrad::integrate_1d(f, inf, 0.3, numbers, x_r, x_i) == Approx(-0.8 / (1.4 * 1.4)).epsilon(1e-9));
  const auto power = [](double x, double xc, const std::vector<double>& theta, const auto&, const auto&) {
    return std::pow(xc > 0 ? xc : 1 - x, theta[0]);  // singular at 1, where xc is 1 - x
  };
  CHECK(agrad::integrate_1d(power, 0.0, 1.0, std::vector<double>{-0.9}, {}, {}) == Approx(10.0).epsilon(1e-9));

  const auto message = [&](double a, double b, double tolerance) {
    std::string text;
    try {
      agrad::integrate_1d(f, a, b, numbers, x_r, x_i, tolerance);
    } catch (const std::exception& error) {
      text = error.what();
    }
    return text;
  };
  CHECK(message(std::nan(""), 1, 1e-8).find("integrate_1d: a is nan") == 0);
  CHECK(message(0, 1, 0).find("integrate_1d: relative_tolerance is 0") == 0);
  CHECK(message(0, -inf, 1e-8).find("integrate_1d: ") == 0);  // the integrand grows without bound
}

TEST_CASE("integrals that are not found are named") {
  const auto message = [](const auto& f, double a, double b) {
    std::string text;
    try {
      agrad::integrate_1d_gauss_kronrod([&](double x, double) { return f(x); }, a, b);
    } catch (const agrad::SolverError& error) {
      text = error.what();
    }
    return text;
  };
  const auto inverse = [](double x) { return 1 / x; };
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(contains(message(inverse, 0, 1), "the estimate of the error is"));
  CHECK(contains(message(inverse, 1, inf), "the estimate of the error is"));
  CHECK(contains(message([](double) { return 0.0; }, 0, 1), "is 0 at all of 1344 nodes"));
  CHECK(contains(message([](double x) { return std::log(x); }, -1, 1), "must be finite between the limits"));
  CHECK(contains(message([](double x) { return 1 / std::sqrt(1 - x); }, 0, 1), "shift a singularity"));
  const auto g = [&](double x, double) { return inverse(x); };
  CHECK_THROWS_AS(agrad::integrate_1d_double_exponential(g, 0.0, 1.0), agrad::SolverError);
  CHECK_THROWS_AS(agrad::integrate_1d_double_exponential(g, 1.0, inf), agrad::SolverError);
  CHECK_THROWS_AS(agrad::integrate_1d_gauss_kronrod(g, std::nan(""), 1.0), agrad::DomainError);
  CHECK_THROWS_AS(agrad::integrate_1d_gauss_kronrod_tol(g, 1.0, 2.0, 0.0, 0.0, 15), agrad::DomainError);
  CHECK_THROWS_AS(agrad::integrate_1d_double_exponential_tol(g, 1.0, 2.0, 1e-8, 0.0, -1), agrad::DomainError);
}

}  // namespace test_functionals_quadrature
