// Elementwise functions and arithmetic of matrix<var>: every mixture of operands, packets against the scalar rules, edges.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix_derivatives.hpp"

namespace test_matrix_elementwise {

using agrad::infinity;
using agrad::ShapeError;
using agrad::tape;
using namespace eigen_numbers;

namespace {

/// Values and adjoints of rule(x, y) for one mixture of operands against the scalar rule entry by entry.
template <class X, class Y, class F>
void check_mixture(const F& f, const X& x, const Y& y) {
  const auto at = [](const auto& a, Eigen::Index i, Eigen::Index j) {
    using A = std::decay_t<decltype(a)>;
    if constexpr (std::is_same_v<A, double>)
      return a;
    else if constexpr (std::is_same_v<A, var>)
      return var(a);
    else if constexpr (std::is_same_v<A, matrix<var>>)
      return var(a(i, j));
    else
      return a(i, j);
  };
  const auto gradient = [](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    if constexpr (std::is_same_v<A, var>)
      return MatrixXd::Constant(1, 1, a.adj()).eval();
    else if constexpr (std::is_same_v<A, matrix<var>>)
      return a.adj();
    else
      return MatrixXd::Zero(1, 1).eval();
  };
  const matrix<var> result = f(x, y);
  const MatrixXd w = numbers(result.rows(), result.cols(), 0.4);
  var expected = 0.0;
  for (Eigen::Index j = 0; j < w.cols(); ++j)
    for (Eigen::Index i = 0; i < w.rows(); ++i) {
      const var entry = f(at(x, i, j), at(y, i, j));
      CHECK(result.val()(i, j) == doctest::Approx(entry.val()).epsilon(1e-15));
      expected += entry * w(i, j);
    }
  expected.grad();
  const MatrixXd gx = gradient(x), gy = gradient(y);
  const var got = dot(result, w);
  got.grad();
  CHECK(close(gradient(x), gx));
  CHECK(close(gradient(y), gy));
}

template <class F>
void check_all_mixtures(const F& f) {
  const scope own;
  const MatrixXd a = numbers(3, 2, 0).cwiseAbs() + MatrixXd::Constant(3, 2, 0.2), b = numbers(3, 2, 1).array() + 1.5;
  const matrix<var> va(a), vb(b), whole(numbers(5, 4, 2).array() + 1.6);
  const matrix<var> block = whole.block(1, 1, 3, 2);
  const var s = 1.3;
  check_mixture(f, va, vb);
  check_mixture(f, va, va);
  check_mixture(f, va, block);
  check_mixture(f, block, va);
  check_mixture(f, va, b);
  check_mixture(f, a, vb);
  check_mixture(f, block, b);
  check_mixture(f, va, s);
  check_mixture(f, s, block);
  check_mixture(f, va, 1.7);
  check_mixture(f, 1.7, block);
}

template <class Rule>
double ulps(double got, double want) {
  if (std::isnan(want) || std::isinf(want) || want == 0)
    return (std::isnan(got) && std::isnan(want)) || got == want ? 0 : infinity;
  const double size = std::abs(want);
  return std::abs(got - want) / (std::nextafter(size, infinity) - size);
}

template <class Rule>
void check_packets(const std::vector<double>& x) {
  const scope own;
  const matrix<var> vx(Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  const matrix<var> y = agrad::apply<Rule>(vx);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(Rule::name);
    CAPTURE(x[i]);
    CHECK(ulps<Rule>(y[static_cast<Eigen::Index>(i)].val(), Rule::value(x[i])) <= 2.5);  // 2 ulps, and the C library's half
  }
}

}  // namespace

TEST_CASE("operators on every mixture of operands") {
  check_all_mixtures([](const auto& x, const auto& y) { return x + y; });
  check_all_mixtures([](const auto& x, const auto& y) { return x - y; });
  check_all_mixtures([](const auto& x, const auto& y) { return agrad::elementwise_product(x, y); });
  check_all_mixtures([](const auto& x, const auto& y) { return agrad::elementwise_quotient(x, y); });
}

TEST_CASE("functions of two arguments on every mixture of operands") {
  using agrad::atan2, agrad::fmax, agrad::hypot, agrad::log_sum_exp, agrad::pow;
  check_all_mixtures([](const auto& x, const auto& y) { return pow(x, y); });
  check_all_mixtures([](const auto& x, const auto& y) { return atan2(x, y); });
  check_all_mixtures([](const auto& x, const auto& y) { return fmax(x, y); });
  check_all_mixtures([](const auto& x, const auto& y) { return log_sum_exp(x, y); });
}

TEST_CASE("operators with scalars, expressions, integers and matrices of variables") {
  const scope own;
  const MatrixXd a = numbers(2, 3, 0);
  const matrix<var> va(a);
  const var s = 2, t = 3;
  const MatrixXv x = numbers(2, 3, 1).cast<var>();
  CHECK(close((va * (s * t) / 2 - 1).val(), (a.array() * 3 - 1).matrix(), 1e-15));
  CHECK(close((s / (va + 3)).val(), (2 / (a.array() + 3)).matrix(), 1e-15));
  CHECK(close((-va + x - va.transpose().transpose()).val(), numbers(2, 3, 1) - 2 * a, 1e-15));
  CHECK(close((2 * a + a - va).val(), 2 * a, 1e-15));
  CHECK((-va.transpose()).val() == -a.transpose());
  const var f = sum(va * (s * t) + x);
  f.grad();
  CHECK(s.adj() == doctest::Approx(3 * a.sum()));
  CHECK(t.adj() == doctest::Approx(2 * a.sum()));
  CHECK(adjoints(x) == MatrixXd::Ones(2, 3));
  CHECK(va.adj() == MatrixXd::Constant(2, 3, 6));
}

TEST_CASE("functions of one and of three arguments, also of blocks") {
  const MatrixXd a = numbers(4, 3, 0.2), positive = a.array().abs() + 0.3;
  check_derivatives([](const matrix<var>& x) { return exp(x); }, a);
  check_derivatives([](const matrix<var>& x) { return log(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return log1p(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return sqrt(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return inv(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return square(x); }, a);
  check_derivatives([](const matrix<var>& x) { return sin(x); }, a);
  check_derivatives([](const matrix<var>& x) { return tanh(x); }, a);
  check_derivatives([](const matrix<var>& x) { return inv_logit(x); }, a);
  check_derivatives([](const matrix<var>& x) { return lgamma(x); }, positive);
  check_derivatives([](const matrix<var>& x) { return fma(x, 2.5, x); }, a);
  check_derivatives([](const matrix<var>& x) { return fma(x, x, square(x)); }, a);
}

TEST_CASE("packets are as accurate as the scalar rules, and right at the edges") {
  std::vector<double> x;
  for (const double size :
       {0.0,    5e-324, 1e-310, 2.3e-308, 1e-300, 1e-17, 1.1e-16, 1e-8,  0.3,   0.5,  0.7071, 0.99,    1.0,
        1.4143, 2.0,    30.0,   700.0,    707.9,  709.7, 709.79,  745.0, 746.0, 1e17, 1e300,  1.7e308, infinity}) {
    x.push_back(size);
    x.push_back(-size);
  }
  x.push_back(agrad::quiet_nan);
  for (int i = 0; i < 2000; ++i) x.push_back(std::sinh(0.007 * (i - 1000)));
  check_packets<agrad::exp_rule>(x);
  check_packets<agrad::log_rule>(x);
  check_packets<agrad::log1p_rule>(x);
  check_packets<agrad::inv_rule>(x);
  check_packets<agrad::square_rule>(x);
  check_packets<agrad::sqrt_rule>(x);
  check_packets<agrad::negative_rule>(x);
  check_packets<agrad::sin_rule>(x);
  check_packets<agrad::cos_rule>(x);
  check_packets<agrad::tanh_rule>(x);
}

TEST_CASE("what is not used has no derivative, even an infinite one") {
  const scope own;
  const matrix<var> x(Eigen::Vector3d(0, 4, infinity)), y(Eigen::Vector3d(0, 0, 1));
  const var s = 0;
  const auto only_second = [](const matrix<var>& z) { return dot(z, Eigen::Vector3d(0, 1, 0)); };
  const var f = only_second(sqrt(x)) + only_second(log(x)) + only_second(elementwise_product(x, inv(x))) +
                only_second(x / (s + 1)) + only_second(pow(x, 0.5)) + only_second(x * 1.0);
  f.grad();
  CHECK(x.adj()(0) == 0);
  CHECK(x.adj()(1) == doctest::Approx(0.25 + 0.25 + 0 + 1 + 0.25 + 1));
  CHECK(x.adj()(2) == 0);
  CHECK(s.adj() == -4);
  const var g = sum(elementwise_quotient(matrix<var>(y), y));
  CHECK(std::isnan(g.val()));
}

TEST_CASE("what an operation keeps") {
  tape mine;
  const agrad::active_tape use(mine);
  const matrix<var> a(numbers(100, 10, 0)), b(numbers(100, 10, 1));
  const MatrixXd c = numbers(100, 10, 2);
  const auto bytes = [&](const auto& operation) {
    const auto before = mine.statistics().bytes;
    operation();
    return (mine.statistics().bytes - before) / 8000;  // in matrices, a value and an adjoint being two
  };
  CHECK(bytes([&] { return a + b; }) == 2);
  CHECK(bytes([&] { return a - c; }) == 2);
  CHECK(bytes([&] { return a * 2.0; }) == 2);
  CHECK(bytes([&] { return elementwise_product(a, b); }) == 2);
  CHECK(bytes([&] { return elementwise_product(a, c); }) == 3);
  CHECK(bytes([&] { return exp(a); }) == 2);
  CHECK(bytes([&] { return sin(a); }) == 3);
  CHECK(bytes([&] { return sum(a) + dot(a, b) + norm(a); }) == 0);
}

TEST_CASE("shapes that do not fit, and empty matrices") {
  const scope own;
  const matrix<var> a(numbers(2, 3, 0)), empty(MatrixXd(0, 3));
  const auto before = tape::current().statistics().statements;
  CHECK_THROWS_WITH_AS(
      a + numbers(2, 2, 0),
      "add: argument is of shape (2, 2), but must be of shape (2, 3); arrays of one call have one shape, scalars broadcast",
      ShapeError);
  CHECK_THROWS_AS(pow(a, a.leftCols(2)), ShapeError);
  CHECK(tape::current().statistics().statements == before);
  CHECK((empty + 1).cols() == 3);
  CHECK(exp(empty * empty.transpose()).rows() == 0);
  CHECK(atan2(empty, var(2)).rows() == 0);
}

}  // namespace test_matrix_elementwise
