// ode_adjoint_tol_ctl and ode_adjoint_tol on C++ functors: every mixture of arguments, reverse passes, scopes, faults.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

namespace test_ode_adjoint {

using agrad::ode_adjoint_tol;
using agrad::ode_adjoint_tol_ctl;
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

/// Lotka-Volterra with its rates in any indexable container.
struct predation {
  template <class Y, class P>
  auto operator()(double, const vector_of<Y>& y, const P& p) const {
    vector_of<agrad::promoted_t<Y, P>> dy(2);
    dy[0] = (p[0] - p[1] * y[1]) * y[0];
    dy[1] = (p[3] * y[0] - p[2]) * y[1];
    return dy;
  }
};

/// y_i' = -k y_i^2, with overloads for doubles and variables only.
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

const std::vector<double> lotka_rates{0.55, 0.028, 0.84, 0.026};

double value_of(double x) { return x; }
double value_of(const var& x) { return x.val(); }
double adjoint_of(double) { return 0; }
double adjoint_of(const var& x) { return x.adj(); }

// Decay with each of y0, t0, times and k a double or a var, against its closed form.
template <class Y0, class T0, class Time, class K>
void check_decay() {
  const scope own;
  vector_of<Y0> y0(2);
  y0 << 2.0, -1.0;
  const T0 t0 = 0.25;
  const std::vector<Time> times{0.5, 3.0};
  const K k = 0.7;
  const auto y = ode_adjoint_tol(decay{}, y0, t0, times, tight, tight, 10000, k);
  REQUIRE(y.size() == 2);
  const double e0 = std::exp(-0.7 * 0.25), e1 = std::exp(-0.7 * 2.75);
  CHECK(value_of(y[0][0]) == Approx(2 * e0).epsilon(1e-8));
  CHECK(value_of(y[1][1]) == Approx(-e1).epsilon(1e-8));
  constexpr bool active =
      !(std::is_same_v<Y0, double> && std::is_same_v<T0, double> && std::is_same_v<Time, double> && std::is_same_v<K, double>);
  static_assert(std::is_same_v<std::decay_t<decltype(y[0][0])>, std::conditional_t<active, var, double>>);
  if constexpr (active) {
    const var loss = 3 * y[0][0] - y[0][1] + 5 * y[1][1];  // = 7 e0 - 5 e1
    loss.grad();
    const auto expected = [](auto type, double value) { return std::is_same_v<decltype(type), var> ? value : 0.0; };
    CHECK(adjoint_of(y0[0]) == Approx(expected(Y0(), 3 * e0)).epsilon(1e-7));
    CHECK(adjoint_of(y0[1]) == Approx(expected(Y0(), -e0 + 5 * e1)).epsilon(1e-7));
    CHECK(adjoint_of(t0) == Approx(expected(T0(), 0.7 * (7 * e0 - 5 * e1))).epsilon(1e-7));
    CHECK(adjoint_of(times[0]) == Approx(expected(Time(), -0.7 * 7 * e0)).epsilon(1e-7));
    CHECK(adjoint_of(times[1]) == Approx(expected(Time(), 0.7 * 5 * e1)).epsilon(1e-7));
    CHECK(adjoint_of(k) == Approx(expected(K(), -0.25 * 7 * e0 + 2.75 * 5 * e1)).epsilon(1e-7));
  }
}

template <class... Chosen>
void check_decay_mixtures() {
  if constexpr (sizeof...(Chosen) == 4) {
    check_decay<Chosen...>();
  } else {
    check_decay_mixtures<Chosen..., double>();
    check_decay_mixtures<Chosen..., var>();
  }
}

}  // namespace

TEST_CASE("every mixture of doubles and variables among y0, t0, times and an argument") { check_decay_mixtures<>(); }

TEST_CASE("arguments of every kind, nested, in one call") {
  using nested = std::tuple<int, std::vector<std::tuple<var, double>>>;
  const auto f = [](double, const auto& y, int n, const auto& a, double b, const std::vector<double>& c, const auto& M,
                    const auto& d, const auto& t, const auto& m, const std::string& text) {
    using scalar = agrad::promoted_t<decltype(y), decltype(a), decltype(M), decltype(d), decltype(t), decltype(m)>;
    vector_of<scalar> dy(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      dy[i] = a + b * c[0] + (M(0, 0) + M(1, 1)) * d[1][1] + static_cast<double>(text.size()) -
              std::get<0>(t) * n * std::get<0>(std::get<1>(t)[0]) * m(0, 1) * y[i];
    }
    return dy;
  };
  const auto solve = [&](const auto& a, const auto& M, const auto& d, const auto& t, const auto& m) {
    const Eigen::Vector2d y0(1, 2);
    return ode_adjoint_tol(f, y0, 0, std::vector<int>{1, 2}, tight, tight, 10000, 2, a, 0.5, std::vector<double>{3.0}, M, d, t,
                           m, "hi")[1][1];
  };
  std::vector<double> x{0.4, 1, 0.1, 0.2, 2, 0.3, 0.5, 0.6, 0.7, 1.1, 0.9};
  const auto at = [&](const std::vector<double>& p) {
    Eigen::Matrix2d M;
    M << p[1], p[2], p[3], p[4];
    const std::vector<Eigen::VectorXd> d{Eigen::Vector3d(0, 0, 0), Eigen::Vector2d(p[5], p[6])};
    const std::tuple<int, std::vector<std::tuple<double, double>>> t{1, {{p[7], 9.0}}};
    Eigen::MatrixXd m(1, 2);
    m << p[8], p[9];
    return static_cast<double>(solve(p[0], M, d, t, m)) + p[10] * 0;
  };
  const scope own;
  const var a = x[0];
  Eigen::Matrix<var, 2, 2> M;
  M << x[1], x[2], x[3], x[4];
  vector_of<var> first(3), second(2);
  first << 0.0, 0.0, 0.0;
  second << x[5], x[6];
  const std::vector<vector_of<var>> d{first, second};
  const nested t{1, {{var(x[7]), 9.0}}};
  const agrad::matrix<var> m(Eigen::MatrixXd(Eigen::RowVector2d(x[8], x[9])));
  const var y = solve(a, M, d, t, m);
  CHECK(y.val() == Approx(at(x)).epsilon(1e-8));
  y.grad();
  const std::vector<double> gradient{a.adj(),
                                     M(0, 0).adj(),
                                     M(0, 1).adj(),
                                     M(1, 0).adj(),
                                     M(1, 1).adj(),
                                     d[1][0].adj(),
                                     d[1][1].adj(),
                                     std::get<0>(std::get<1>(t)[0]).adj(),
                                     m.adj()(0, 0),
                                     m.adj()(0, 1),
                                     0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> up = x, down = x;
    up[i] += 1e-4, down[i] -= 1e-4;
    CAPTURE(i);
    CHECK(gradient[i] == Approx((at(up) - at(down)) / 2e-4).epsilon(1e-6));
  }
  CHECK(d[0][1].adj() == 0);
}

TEST_CASE("a likelihood through the solution agrees with finite differences") {
  const std::vector<double> times{1, 2, 3.5, 7, 10};
  const auto loss = [&](const auto& theta) {
    using scalar = std::decay_t<decltype(theta[0])>;
    vector_of<scalar> y0(2);
    y0 << theta[4], theta[5];
    const std::vector<scalar> p{theta[0], theta[1], theta[2], theta[3]};
    const auto y = ode_adjoint_tol(predation{}, y0, 0.0, times, tight, tight, 10000, p);
    scalar total = 0;
    for (const auto& state : y) total += log(state[0]) * log(state[1]);
    return total;
  };
  Eigen::VectorXd theta(6), g;
  theta << 0.55, 0.028, 0.84, 0.026, 33.956, 5.933;
  double value = 0;
  agrad::gradient(loss, theta, value, g);
  CHECK(value == Approx(loss(theta)).epsilon(1e-8));
  for (Eigen::Index i = 0; i < 6; ++i) {
    Eigen::VectorXd up = theta, down = theta;
    const double h = 1e-5 * theta[i];
    up[i] += h, down[i] -= h;
    CHECK(g[i] == Approx((loss(up) - loss(down)) / (2 * h)).epsilon(1e-5));
  }
}

TEST_CASE("a node is swept again with other adjoints, in any order") {
  const scope own;
  const var k = 0.5;
  vector_of<var> y0(1);
  y0 << 2.0;
  const auto y = ode_adjoint_tol(decay{}, y0, 0.0, std::vector<double>{1, 2}, tight, tight, 10000, k);
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const std::size_t i : {1U, 0U}) {
      const double t = static_cast<double>(i) + 1;
      y[i][0].grad();
      CHECK(k.adj() == Approx(-2 * t * std::exp(-0.5 * t)).epsilon(1e-7));
      CHECK(y0[0].adj() == Approx(std::exp(-0.5 * t)).epsilon(1e-7));
    }
  }
}

TEST_CASE("one variable in several places, and one that is changed afterwards") {
  const scope own;
  var k = 0.5;
  vector_of<var> y0(2);
  y0 << k, 2.0 * k;
  const auto f = [](double, const auto& y, const auto& a, const auto& b) { return (-(a * (b * y))).eval(); };
  const auto y = ode_adjoint_tol(f, y0, k, std::vector<double>{2}, tight, tight, 10000, k, k);
  k += 1;  // must not reach back into the solution
  const var loss = y[0][1] + 0 * k;
  loss.grad();
  const double e = std::exp(-0.25 * 1.5);  // the solution is 2 k exp(-k^2 (2 - k)) at k = 0.5
  CHECK(loss.val() == Approx(e).epsilon(1e-8));
  CHECK(y0[0].adj() == Approx(e * (2 - 4 * 0.5 + 3 * 0.25)).epsilon(1e-7));  // y0[0] is the old k
}

TEST_CASE("expressions as arguments, scopes around and inside") {
  const scope outer;
  const var k = 0.25;
  const vector_of<var> y0 = Eigen::VectorXd::Ones(1).cast<var>();
  double inner_gradient = 0;
  {
    const scope inner;
    const var c = 2.0;
    const auto y = ode_adjoint_tol(decay{}, 3.0 * y0, 0.0, std::vector<double>{1}, tight, tight, 10000, k * c);
    y[0][0].grad();
    inner_gradient = c.adj();
  }
  CHECK(inner_gradient == Approx(-0.75 * std::exp(-0.5)).epsilon(1e-7));
  const var loss = ode_adjoint_tol(decay{}, y0, 0.0, std::vector<double>{1}, tight, tight, 10000, k)[0][0] * k;
  loss.grad();
  CHECK(k.adj() == Approx(0.75 * std::exp(-0.25)).epsilon(1e-7));
}

TEST_CASE("a functor that takes no dual numbers gets its Jacobian from the tape") {
  const scope own;
  const var k = 2.0;
  const vector_of<var> y0 = Eigen::Vector3d(1, 2, 3).cast<var>();
  const var y = ode_adjoint_tol(quadratic_decay{}, y0, 0.0, std::vector<double>{1.5}, tight, tight, 10000, k)[0][2];
  y.grad();  // 3 / (1 + 3 k t)
  CHECK(y.val() == Approx(0.3).epsilon(1e-8));
  CHECK(y0[2].adj() == Approx(0.01).epsilon(1e-7));
  CHECK(k.adj() == Approx(-0.09 * 1.5).epsilon(1e-7));
}

TEST_CASE("right-hand sides that do not depend on y, on p, or on anything") {
  const scope own;
  const var a = 3.0;
  const vector_of<var> y0 = Eigen::VectorXd::Ones(1).cast<var>();
  const std::vector<double> times{2};
  const auto source = [](double t, const auto&, const auto& p) {
    return vector_of<std::decay_t<decltype(p)>>::Constant(1, p * t).eval();
  };
  ode_adjoint_tol(source, y0, 0.0, times, tight, tight, 10000, a)[0][0].grad();
  CHECK(a.adj() == Approx(2));
  CHECK(y0[0].adj() == Approx(1));
  const auto growth = [](double, const auto& y, const auto&) { return y; };
  ode_adjoint_tol(growth, y0, 0.0, times, tight, tight, 10000, a)[0][0].grad();
  CHECK(a.adj() == 0);
  CHECK(y0[0].adj() == Approx(std::exp(2.0)).epsilon(1e-7));
  const auto constant = [](double, const auto&, const auto&) { return Eigen::VectorXd::Ones(1).eval(); };
  ode_adjoint_tol(constant, y0, 0.0, times, tight, tight, 10000, a)[0][0].grad();
  CHECK(a.adj() == 0);
  CHECK(y0[0].adj() == Approx(1));
}

TEST_CASE("all methods and interpolations, and the quadrature's vector tolerance") {
  for (const int forward : {1, 2}) {
    for (const int backward : {1, 2}) {
      for (const int interpolation : {1, 2}) {
        const scope own;
        const std::vector<var> p(lotka_rates.begin(), lotka_rates.end());
        const Eigen::VectorXd each = Eigen::VectorXd::Constant(2, tight), quadrature = Eigen::VectorXd::Constant(4, tight);
        const Eigen::Vector2d y0(33.956, 5.933);
        const std::vector<double> times{1, 10, 20};
        ode_adjoint_tol_ctl(predation{}, y0, 0.0, times, tight, each, tight, each, tight, tight, 100000, 50, interpolation,
                            forward, backward, p)[2][0]
            .grad();
        const Eigen::Vector4d scalar(p[0].adj(), p[1].adj(), p[2].adj(), p[3].adj());
        ode_adjoint_tol_ctl(predation{}, y0, 0.0, times, tight, each, tight, each, tight, quadrature, 100000, 50, interpolation,
                            forward, backward, p)[2][0]
            .grad();
        for (int i = 0; i < 4; ++i) CHECK(p[static_cast<std::size_t>(i)].adj() == Approx(scalar[i]).epsilon(1e-6));
        double before = 0;
        for (const double step : {-1e-6, 1e-6}) {
          std::vector<double> q = lotka_rates;
          q[2] += step;
          const double y = ode_adjoint_tol(predation{}, y0, 0.0, times, 1e-12, 1e-12, 100000, q)[2][0];
          if (step > 0) CHECK(p[2].adj() == Approx((y - before) / 2e-6).epsilon(1e-5));
          before = y;
        }
      }
    }
  }
}

TEST_CASE("ode_adjoint_tol is ode_adjoint_tol_ctl with the settings of the design document") {
  const scope own;
  const std::vector<var> p(lotka_rates.begin(), lotka_rates.end());
  const Eigen::Vector2d y0(33.956, 5.933);
  const Eigen::Vector2d ones(1, 1);
  const std::vector<double> times{1, 10};
  const var simple = ode_adjoint_tol(predation{}, y0, 0.0, times, 1e-6, 3e-5, 1000, p)[1][0];
  simple.grad();
  const double by_simple = p[1].adj();
  const var full = ode_adjoint_tol_ctl(predation{}, y0, 0.0, times, 1e-6, 3e-6 * ones, 1e-6, 1e-5 * ones, 1e-6, 3e-5, 1000, 250,
                                       1, 2, 2, p)[1][0];
  full.grad();
  CHECK(simple.val() == Approx(full.val()).epsilon(1e-14));
  CHECK(by_simple == Approx(p[1].adj()).epsilon(1e-13));
}

}  // namespace test_ode_adjoint
