// ode_bdf and ode_adams on C++ functors: mixtures of arguments, callables with and without duals, reverse passes, memory.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/solve/ode_forward.hpp>

#include "resident_memory.hpp"

namespace test_ode_forward {

using agrad::ode_adams_tol;
using agrad::ode_bdf;
using agrad::ode_bdf_tol;
using agrad::scope;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;

namespace {

constexpr double tight = 1e-10;

/// y' = -k y.
struct decay {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    return (-(k * y)).eval();
  }
};

/// y_i' = -k y_i^2, with overloads for doubles and variables only: no duals.
struct quadratic_decay {
  Eigen::VectorXd operator()(double, const Eigen::VectorXd& y, double k) const { return -k * y.array().square(); }
  vector_of<var> operator()(double, const vector_of<var>& y, double k) const { return slopes(y, k); }
  vector_of<var> operator()(double, const Eigen::VectorXd& y, const var& k) const { return slopes(y, k); }
  template <class Y, class K>
  static vector_of<var> slopes(const Y& y, const K& k) {
    vector_of<var> dy(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) dy[i] = -k * y[i] * y[i];
    return dy;
  }
};

// Decay by a solver, with each of y0, t0, times and k a double or a var, against its closed form.
template <class Solve, class Y0, class T0, class Time, class K>
void check_decay(const Solve& solve) {
  const scope own;
  vector_of<Y0> y0(2);
  y0 << 2.0, -1.0;
  const T0 t0 = 0.25;
  const std::vector<Time> times{0.5, 3.0};
  const K k = 0.7;
  const auto y = solve(decay{}, y0, t0, times, k);
  const double e0 = std::exp(-0.7 * 0.25), e1 = std::exp(-0.7 * 2.75);
  REQUIRE(y.size() == 2);
  constexpr bool active =
      !(std::is_same_v<Y0, double> && std::is_same_v<T0, double> && std::is_same_v<Time, double> && std::is_same_v<K, double>);
  static_assert(std::is_same_v<std::decay_t<decltype(y[0][0])>, std::conditional_t<active, var, double>>);
  if constexpr (active) {
    CHECK(y[0][0].val() == Approx(2 * e0).epsilon(1e-8));
    const var loss = 3 * y[0][0] - y[0][1] + 5 * y[1][1];  // = 7 e0 - 5 e1
    loss.grad();
    const auto check = [](const auto& x, double expected) {
      if constexpr (std::is_same_v<std::decay_t<decltype(x)>, var>) CHECK(x.adj() == Approx(expected).epsilon(1e-7));
    };
    check(y0[0], 3 * e0);
    check(y0[1], -e0 + 5 * e1);
    check(t0, 0.7 * (7 * e0 - 5 * e1));
    check(times[0], -0.7 * 7 * e0);
    check(times[1], 0.7 * 5 * e1);
    check(k, -0.25 * 7 * e0 + 2.75 * 5 * e1);
  } else {
    CHECK(y[1][1] == Approx(-e1).epsilon(1e-8));
  }
}

template <class Solve, class... Chosen>
void check_mixtures(const Solve& solve) {
  if constexpr (sizeof...(Chosen) == 4) {
    check_decay<Solve, Chosen...>(solve);
  } else {
    check_mixtures<Solve, Chosen..., double>(solve);
    check_mixtures<Solve, Chosen..., var>(solve);
  }
}

}  // namespace

TEST_CASE("forward: every mixture of doubles and variables among y0, t0, times and an argument") {
  check_mixtures([](const auto& f, const auto& y0, const auto& t0, const auto& times, const auto& k) {
    return ode_bdf_tol(f, y0, t0, times, tight, tight, 10000, k);
  });
}

TEST_CASE("forward: Adams, and the functions without tolerances") {
  const scope own;
  const var k = 0.7;
  const Eigen::Vector2d y0(2, -1);
  const std::vector<double> times{1, 3};
  const var tightly = ode_adams_tol(decay{}, y0, 0.0, times, tight, tight, 10000, k)[1][0];
  tightly.grad();
  CHECK(k.adj() == Approx(-6 * std::exp(-2.1)).epsilon(1e-8));
  for (const var& y : {ode_bdf(decay{}, y0, 0.0, times, k)[1][0], agrad::ode_adams(decay{}, y0, 0.0, times, k)[1][0]}) {
    y.grad();
    CHECK(k.adj() == Approx(-6 * std::exp(-2.1)).epsilon(1e-4));
  }
}

TEST_CASE("forward: arguments of every kind, in the order of their scalars") {
  // Every scalar has a weight of its own in f, so that one in another's place shows.
  const auto f = [](double, const auto& y, int n, const auto& a, const auto& M, const auto& d, const auto& t, const auto& m) {
    using scalar = agrad::promoted_t<decltype(y), decltype(a), decltype(M), decltype(d), decltype(t), decltype(m)>;
    vector_of<scalar> dy(1);
    dy[0] = n * a + 2 * M(0, 0) + 3 * M(0, 1) + 4 * M(1, 0) + 5 * M(1, 1) + 6 * d[0][0] + 7 * d[1][0] + 8 * d[1][1] +
            9 * std::get<1>(t) + 10 * std::get<2>(t)[0] + 11 * m(0, 0) + 12 * m(0, 1) + 0.0 * y[0];
    return dy;
  };
  const scope own;
  const var a = 1.5, in_tuple = 2.5;
  Eigen::Array<var, 2, 2, Eigen::RowMajor> M;
  M << 0.1, 0.2, 0.3, 0.4;
  vector_of<var> first(1), second(2);
  first << 0.5;
  second << 0.6, 0.7;
  const std::vector<vector_of<var>> d{first, second};
  const std::tuple<int, var, std::vector<var>> t{3, in_tuple, {var(0.9)}};
  const agrad::matrix<var> m(Eigen::MatrixXd(Eigen::RowVector2d(1, 2)));
  const Eigen::VectorXd y0 = Eigen::VectorXd::Zero(1);
  const var y = ode_bdf_tol(f, y0, 0.0, std::vector<double>{2}, tight, tight, 1000, 1, a, M, d, t, m)[0][0];
  y.grad();
  const std::vector<double> found{a.adj(),        M(0, 0).adj(),           M(0, 1).adj(), M(1, 0).adj(),
                                  M(1, 1).adj(),  d[0][0].adj(),           d[1][0].adj(), d[1][1].adj(),
                                  in_tuple.adj(), std::get<2>(t)[0].adj(), m.adj()(0, 0), m.adj()(0, 1)};
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(2.0 * static_cast<double>(i + 1)).epsilon(1e-9));
}

TEST_CASE("forward: a callable that takes no duals is differentiated on the tape") {
  const scope own;
  const var k = 0.5;
  vector_of<var> y0(2);
  y0 << 2.0, 3.0;
  const auto y = ode_bdf_tol(quadratic_decay{}, y0, 0.0, std::vector<double>{1}, tight, tight, 10000, k);
  y[0][0].grad();  // y = y0 / (1 + k y0 t)
  CHECK(y[0][0].val() == Approx(1.0).epsilon(1e-8));
  CHECK(k.adj() == Approx(-1.0).epsilon(1e-7));
  CHECK(y0[0].adj() == Approx(0.25).epsilon(1e-7));
  CHECK(y0[1].adj() == Approx(0).epsilon(1e-9));
}

TEST_CASE("forward: rows of a Jacobian by one integration, whatever the right-hand side does afterwards") {
  bool refuse = false;
  const auto f = [&refuse](double, const auto& y, const auto& k) {
    if (refuse) throw std::domain_error("not any more");
    return (-(k * y)).eval();
  };
  const scope own;
  const var k = 0.5;
  const Eigen::Vector2d y0(1, 2);
  const auto y = ode_bdf_tol(f, y0, 0.0, std::vector<double>{1, 2}, tight, tight, 1000, k);
  refuse = true;
  for (std::size_t i : {0U, 1U, 0U}) {
    for (Eigen::Index j = 0; j < 2; ++j) {
      const double t = static_cast<double>(i) + 1;
      y[i][j].grad();
      CHECK(k.adj() == Approx(-t * y0[j] * std::exp(-0.5 * t)).epsilon(1e-8));
    }
  }
  const auto again = [&] { return ode_bdf_tol(f, y0, 0.0, std::vector<double>{1}, tight, tight, 1000, k); };
  const auto before = agrad::tape::current().statistics();
  CHECK_THROWS_WITH_AS(again(), "not any more", std::domain_error);
  CHECK(agrad::tape::current().statistics().indices == before.indices);
}

TEST_CASE("forward: repeated solves and failures leave memory as it was") {
  const auto f = [](double t, const auto& y, const auto& k) {
    if (t > 1.5) throw std::domain_error("too late");
    return (-(k * y)).eval();
  };
  const auto round = [&] {
    const scope own;
    const var k = 0.5;
    const vector_of<var> y0 = Eigen::VectorXd::Ones(3).cast<var>();
    ode_bdf_tol(f, y0, 0.0, std::vector<double>{0.5, 1}, 1e-6, 1e-6, 1000, k)[1][2].grad();
    CHECK_THROWS_AS(ode_bdf_tol(f, y0, 0.0, std::vector<double>{1, 2}, 1e-6, 1e-6, 1000, k), std::domain_error);
    CHECK_THROWS_AS(ode_bdf_tol(f, y0, 0.0, std::vector<double>{1}, 1e-6, 1e-6, 2, k), agrad::SolverError);
  };
  for (int i = 0; i < 100; ++i) round();
  const long before = resident_bytes();
  for (int i = 0; i < 500; ++i) round();
  CHECK(resident_bytes() - before < 256 * 1024);
}

}  // namespace test_ode_forward
