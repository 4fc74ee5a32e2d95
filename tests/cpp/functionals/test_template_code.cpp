// Template code in the style of Stan's users, `template <class T> T f(const Eigen::Matrix<T, -1, 1>&)`, unchanged with double,
// var, dual<double>, dual<double, 4>, dual<var> and dual<dual<double>>.
#include <doctest/doctest.h>
#include <Eigen/Cholesky>
#include <agrad/dual/dual.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/testing.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace test_template_code {

using agrad::dual;
using doctest::Approx;

namespace {

template <class T>
using vector_t = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix_t = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

struct normal_regression {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::exp;
    using std::log;
    using std::pow;
    const std::vector<double> y{1.1, -0.3, 2.4};
    T lp = 0;
    const T sigma = exp(x[2]);
    for (size_t i = 0; i < y.size(); ++i) {
      T mu = x(0) + x(1) * static_cast<double>(i);
      lp += -0.5 * pow((y[i] - mu) / sigma, 2) - log(sigma);
    }
    return lp - 0.918938533204672 * y.size();
  }
};

struct powers {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::pow;
    using std::sqrt;
    T s = pow(x[0], 2) + pow(2.0, x[1]) + pow(x[0], x[1]) + pow(x[2], 0.5) + pow(3, x[2]) + pow(x[0], -1.5);
    s *= pow(x[0] + 1, x[1] * x[2]);
    s /= sqrt(x[0] * x[1]);
    return s;
  }
};

struct vectors_of_scalars {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::sin;
    using std::tanh;
    std::vector<T> state(x.data(), x.data() + x.size());
    state.push_back(T(1));
    state.insert(state.begin(), T{2});
    state.resize(state.size() + 1);
    state.back() = 0.5;
    for (int reverse = 0; reverse < 2; ++reverse)
      for (size_t i = 1; i < state.size(); ++i) state[i] += 0.3 * tanh(state[i - 1]) * state[i];
    std::sort(state.begin(), state.end());
    std::swap(state.front(), state.back());
    T total = std::accumulate(state.begin(), state.end(), T(0));
    const T largest = *std::max_element(state.begin(), state.end());
    std::vector<std::vector<T>> table(2, std::vector<T>(state.begin(), state.begin() + 2));
    table[1][0] *= table[0][1];
    return total * sin(largest) + table[1][0];
  }
};

struct eigen_expressions {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::sqrt;
    Eigen::MatrixXd a(4, 4);
    for (int i = 0; i < a.size(); ++i) a(i) = 0.1 * ((7 * i) % 5) - 0.2;
    const vector_t<T> y = a * x;
    const vector_t<T> z = 2 * x - y / x[0] + vector_t<T>::Constant(4, x[1]);
    matrix_t<T> m = x * z.transpose();
    m.diagonal().array() += 1;
    T s = x.dot(x) + x.sum() * y.squaredNorm() + z.norm() + m.trace() + x.prod() + y.mean();
    s += (x.transpose() * a * x)(0) + (m * a).sum() + (a * m * m.transpose()).trace();
    s += x.head(2).dot(z.tail(2)) + x.cwiseProduct(z).sum() + m.row(1).sum() + m.block(1, 1, 2, 2).sum();
    s += x.array().exp().sum() + (x.array() * z.array()).square().sum() + x.array().sqrt().sum() + sqrt(z.squaredNorm() + 1);
    return s;
  }
};

struct cholesky {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::log;
    matrix_t<T> s = matrix_t<T>::Identity(3, 3) * T(4);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) s(i, j) += x[i] * x[j] + (i == j ? x[3] : T(0));
    const Eigen::LLT<matrix_t<T>> llt(s);
    const matrix_t<T> l = llt.matrixL();
    const vector_t<T> solution = llt.solve(x.head(3).eval());
    return 2 * l.diagonal().array().log().sum() + x.head(3).dot(solution) + log(l(2, 1) + 5);
  }
};

struct branches {
  template <class T>
  T operator()(const Eigen::Matrix<T, -1, 1>& x) const {
    using std::abs;
    using std::exp;
    using std::fabs;
    using std::isnan;
    using std::log1p;
    using std::max;
    using std::min;
    T best = -std::numeric_limits<T>::infinity();
    T least = std::numeric_limits<T>::max();
    for (int i = 0; i < x.size(); ++i) {
      if (x[i] > best) best = x[i];
      least = x[i] < least ? x[i] : least;
    }
    const T a = x[0] * x[1];
    const T b = x[2] >= 0 ? a : T(0);
    T s(0);
    for (int i = 0; i < x.size(); ++i) s += exp(x[i] - best);
    if (isnan(s) || s == 0 || s != s) return T(0);
    s = max(s, T(1e-3)) + min(a, b) + abs(x[3]) + fabs(x[1]) - (-a) + (+b);
    s -= least;
    s *= 2;
    ++s;
    return log1p(s) + (s > 1 && 1 < s && !(s <= 1) ? b * s : a) + std::numeric_limits<T>::epsilon();
  }
};

/// Runs f with each scalar; values, gradients and Hessians must be the same.
template <class F>
void check_all_scalars(const F& f, const Eigen::VectorXd& x) {
  const agrad::gradient_report report = agrad::check_gradient(f, x);
  CHECK_MESSAGE(report.ok, report.message);
  CHECK(report.forward_checked);
  CHECK(report.second_order_checked);

  double fx = 0;
  Eigen::VectorXd g;
  Eigen::MatrixXd H;
  agrad::hessian(f, x, fx, g, H);
  CHECK(fx == Approx(f(x)).epsilon(1e-14));
  const double scale = 1e-13 * (1 + g.cwiseAbs().maxCoeff() + H.cwiseAbs().maxCoeff());

  using four = dual<double, 4>;
  vector_t<four> lanes = x.cast<four>();
  for (Eigen::Index i = 0; i < std::min<Eigen::Index>(4, x.size()); ++i) lanes[i].tangent[static_cast<std::size_t>(i)] = 1;
  const four y = f(lanes);
  for (Eigen::Index i = 0; i < std::min<Eigen::Index>(4, x.size()); ++i)
    CHECK(std::abs(y.tangent[static_cast<std::size_t>(i)] - g[i]) <= scale);

  using twice = dual<dual<double>>;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      vector_t<twice> at(x.size());
      for (Eigen::Index k = 0; k < x.size(); ++k)
        at[k] = twice(dual<double>(x[k], {k == i ? 1.0 : 0.0}), {dual<double>(k == j ? 1 : 0)});
      const twice z = f(at);
      CHECK(z.value.value == fx);
      CHECK(std::abs(z.value.tangent[0] - g[i]) <= scale);
      CHECK(std::abs(z.tangent[0].value - g[j]) <= scale);
      CHECK(std::abs(z.tangent[0].tangent[0] - H(i, j)) <= scale);
    }
  }
}

Eigen::VectorXd numbers(std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

TEST_CASE("a regression with loops over data") { check_all_scalars(normal_regression(), numbers({0.2, 0.5, -0.3})); }
TEST_CASE("powers in all mixtures") { check_all_scalars(powers(), numbers({1.3, 0.7, 2.1})); }
TEST_CASE("std::vector of scalars, and the algorithms of the standard library") {
  check_all_scalars(vectors_of_scalars(), numbers({0.7, -0.4, 1.3, 0.2}));
}
TEST_CASE("Eigen's expressions, mixed with matrices of double") {
  check_all_scalars(eigen_expressions(), numbers({0.7, 0.4, 1.3, 0.2}));
}
TEST_CASE("Eigen's Cholesky factor") { check_all_scalars(cholesky(), numbers({0.7, -0.4, 1.3, 0.2})); }
TEST_CASE("comparisons, ternaries and limits") {
  check_all_scalars(branches(), numbers({0.7, -0.4, 1.3, 0.2}));
  check_all_scalars(branches(), numbers({-0.7, 2.0, -1.3, -0.2}));
}

}  // namespace test_template_code
