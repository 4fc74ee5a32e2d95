// Reductions in users' templates: the same code with double, var, dual and dual over var; first and second derivatives.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <cmath>

#include "eigen_numbers.hpp"

namespace test_matrix_templates {

using agrad::dual;
using agrad::infinity;
using agrad::scope;
using agrad::var;
using doctest::Approx;
using namespace eigen_numbers;

namespace {

template <class T>
using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Value and gradient by the tape and by duals, Hessian by duals over the tape; `gradient(x)` and `hessian(x)` are closed
/// forms.
template <class F, class G, class H>
void check_template(const F& f, const G& gradient, const H& hessian, const VectorXd& x) {
  const Eigen::Index n = x.size();
  const double value = f(x);
  const VectorXd g = gradient(x);
  const MatrixXd h = hessian(x);
  for (Eigen::Index j = 0; j < n; ++j) {
    const scope own;
    vector<dual<double>> duals = x.cast<dual<double>>();
    duals[j].tangent[0] = 1;
    const dual<double> y = f(duals);
    CHECK(y.value == Approx(value).epsilon(1e-14));
    CHECK(y.tangent[0] == Approx(g[j]).epsilon(1e-12));

    const vector<var> variables = x.cast<var>();
    vector<dual<var>> both(n);
    for (Eigen::Index i = 0; i < n; ++i) both[i] = variables[i];
    both[j].tangent[0] = var(1.0);
    const dual<var> z = f(both);
    CHECK(z.value.val() == Approx(value).epsilon(1e-14));
    z.tangent[0].grad();
    for (Eigen::Index i = 0; i < n; ++i) CHECK(std::abs(variables[i].adj() - h(i, j)) <= 1e-12 * (1 + std::abs(h(i, j))));
  }
  const scope own;
  const vector<var> variables = x.cast<var>();
  const var y = f(variables);
  CHECK(y.val() == Approx(value).epsilon(1e-14));
  y.grad();
  CHECK(close(adjoints(variables), g));
}

MatrixXd others(const VectorXd& x) {  // products of all entries but two
  MatrixXd h = MatrixXd::Zero(x.size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i)
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      if (i == j) continue;
      h(i, j) = 1;
      for (Eigen::Index k = 0; k < x.size(); ++k)
        if (k != i && k != j) h(i, j) *= x[k];
    }
  return h;
}

}  // namespace

TEST_CASE("reductions of every scalar, to second order") {
  const VectorXd x = numbers(5, 1, 0.3);
  const auto n = x.size();
  const MatrixXd identity = MatrixXd::Identity(n, n);
  const auto ones = [n](double c) { return [=](const VectorXd&) { return VectorXd(VectorXd::Constant(n, c)); }; };
  const auto zero = [n](const VectorXd&) { return MatrixXd(MatrixXd::Zero(n, n)); };
  const auto softmax_of = [](const VectorXd& v) { return VectorXd(v.array().exp() / v.array().exp().sum()); };
  check_template([](const auto& v) { return agrad::sum(v); }, ones(1), zero, x);
  check_template([](const auto& v) { return agrad::mean(v); }, ones(0.2), zero, x);
  check_template([](const auto& v) { return agrad::cumulative_sum(v)[4]; }, ones(1), zero, x);
  check_template([](const auto& v) { return agrad::squared_norm(v); }, [](const VectorXd& v) { return VectorXd(2 * v); },
                 [&](const VectorXd&) { return MatrixXd(2 * identity); }, x);
  check_template([](const auto& v) { return agrad::dot(v, v.cwiseProduct(v).eval()); },
                 [](const VectorXd& v) { return VectorXd(3 * v.array().square()); },
                 [](const VectorXd& v) { return MatrixXd((6 * v).asDiagonal()); }, x);
  check_template([](const auto& v) { return agrad::norm(v); }, [](const VectorXd& v) { return VectorXd(v / v.norm()); },
                 [&](const VectorXd& v) { return MatrixXd((identity - v * v.transpose() / v.squaredNorm()) / v.norm()); }, x);
  check_template([](const auto& v) { return agrad::prod(v); }, [](const VectorXd& v) { return VectorXd(v.prod() / v.array()); },
                 others, x);
  check_template([](const auto& v) { return agrad::log_sum_exp(v); }, softmax_of,
                 [&](const VectorXd& v) {
                   const VectorXd s = softmax_of(v);
                   return MatrixXd(MatrixXd(s.asDiagonal()) - s * s.transpose());
                 },
                 x);
  check_template([](const auto& v) { return agrad::log_softmax(v)[1]; },
                 [&](const VectorXd& v) { return VectorXd(identity.col(1) - softmax_of(v)); },
                 [&](const VectorXd& v) {
                   const VectorXd s = softmax_of(v);
                   return MatrixXd(s * s.transpose() - MatrixXd(s.asDiagonal()));
                 },
                 x);
  check_template([](const auto& v) { return agrad::max_coefficient(v); },
                 [&](const VectorXd& v) {
                   VectorXd g = VectorXd::Zero(n);
                   Eigen::Index best = 0;
                   v.maxCoeff(&best);
                   g[best] = 1;
                   return g;
                 },
                 zero, x);
  const auto second_of_softmax = [&](const VectorXd& v) {  // d2 s_1 / dx2 from s_1 = exp(log s_1)
    const VectorXd s = softmax_of(v), u = identity.col(1) - s;
    return MatrixXd(s[1] * (u * u.transpose() - MatrixXd(s.asDiagonal()) + s * s.transpose()));
  };
  check_template([](const auto& v) { return agrad::softmax(v)[1]; },
                 [&](const VectorXd& v) {
                   const VectorXd s = softmax_of(v);
                   return VectorXd(s[1] * (identity.col(1) - s));
                 },
                 second_of_softmax, x);
}

TEST_CASE("products beside a zero have derivatives of any order") {
  const VectorXd x = Eigen::Vector4d(2, 0, 3, 5);
  const auto gradient = [](const VectorXd&) { return VectorXd(Eigen::Vector4d(0, 30, 0, 0)); };
  check_template([](const auto& v) { return agrad::prod(v); }, gradient, others, x);
}

TEST_CASE("equal entries have derivatives of their own") {
  const VectorXd x = VectorXd::Constant(2, 1.5);
  MatrixXd h(2, 2);
  h << 0.25, -0.25, -0.25, 0.25;
  check_template([](const auto& v) { return agrad::log_softmax(v)[1]; },
                 [](const VectorXd&) { return VectorXd(Eigen::Vector2d(-0.5, 0.5)); },
                 [&](const VectorXd&) { return MatrixXd(-h); }, x);
  check_template([](const auto& v) { return agrad::log_sum_exp(v); },
                 [](const VectorXd&) { return VectorXd(Eigen::Vector2d(0.5, 0.5)); }, [&](const VectorXd&) { return h; }, x);
}

TEST_CASE("arrays, matrices, fixed sizes, expressions and numbers beside variables") {
  const scope own;
  const MatrixXd a = numbers(3, 3, 0);
  CHECK(agrad::sum(a) == Approx(a.sum()).epsilon(1e-15));
  CHECK(agrad::sum(2 * a) == Approx(2 * a.sum()).epsilon(1e-15));
  CHECK(agrad::log_sum_exp(a.array()) == Approx(std::log(a.array().exp().sum())).epsilon(1e-15));
  CHECK(agrad::trace(a) == Approx(a.trace()).epsilon(1e-15));
  CHECK(agrad::dot(a, a.transpose()) == Approx((a * a).trace()).epsilon(1e-14));
  CHECK(agrad::elementwise_product(a, a) == a.cwiseProduct(a));
  CHECK(agrad::elementwise_quotient(a, 2.0) == a / 2);
  CHECK(agrad::softmax(Eigen::Vector2d(0, 0)) == Eigen::Vector2d(0.5, 0.5));
  CHECK(agrad::log_sum_exp(Eigen::Vector2d(-infinity, -infinity)) == -infinity);
  CHECK(agrad::norm(Eigen::Vector2d(3e200, 4e200)) == Approx(5e200));
  const MatrixXv x = a.cast<var>();
  const var f = trace(x) + dot(x, a) + dot(a.row(0), x.row(1)) + sum(x.block(0, 0, 2, 1)) + norm(x.row(2)) + min_coefficient(x);
  f.grad();
  MatrixXd expected = MatrixXd::Identity(3, 3) + a;
  expected.row(1) += a.row(0);
  expected.block(0, 0, 2, 1).array() += 1;
  expected.row(2) += a.row(2).normalized();
  Eigen::Index i = 0, j = 0;
  a.minCoeff(&i, &j);
  expected(i, j) += 1;
  CHECK(close(adjoints(x), expected));
  const Eigen::Matrix<var, 2, 1> fixed(1.0, 2.0);
  CHECK(log_sum_exp(fixed).val() == Approx(2 + std::log1p(std::exp(-1))));
  CHECK_THROWS_AS(dot(x, a.topRows(2)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::max_coefficient(VectorXd()), agrad::ShapeError);
}

TEST_CASE("the derivative of a norm at zero is zero for every scalar") {
  const scope own;
  vector<dual<double>> duals(2);
  duals[0].tangent[0] = 1;
  CHECK(norm(duals).tangent[0] == 0);
  const vector<var> x = VectorXd::Zero(2).cast<var>();
  norm(x).grad();
  CHECK(x[0].adj() == 0);
}

}  // namespace test_matrix_templates
