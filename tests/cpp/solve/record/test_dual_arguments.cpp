// Dual numbers among the arguments of a solve: every mixture with variables and numbers, tangents without a tape, faults, and
// the functions that refuse them.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_dual_arguments {

using agrad::dual;
using agrad::recorded;
using agrad::scope;
using agrad::tape;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

namespace {

/// Of y' = -k y from 2: at t it is 2 exp(-k t).
constexpr double rate = 0.7;

template <class F, class Y0, class... Args>
auto solve(const F& f, const Y0& y0, const std::vector<double>& times, const Args&... args) {
  return agrad::ode_tsit5_tol(f, y0, 0.0, times, 1e-12, 1e-12, 10000, args...);
}

struct decay {
  template <class T, class Y, class K>
  auto operator()(const T&, const Y& y, const K& k) const {
    vector_of<agrad::promoted_t<Y, K>> f(y.size());
    for (Index i = 0; i < y.size(); ++i) f[i] = -k * y[i];
    return f;
  }
};

/// Lotka-Volterra with rates in a matrix, a tuple of a number and a vector of numbers, and an integer that does nothing.
struct nested {
  template <class T, class Y, class M, class P>
  auto operator()(const T&, const Y& y, const M& m, const P& p, int) const {
    using scalar = agrad::promoted_t<Y, M, P>;
    const auto& more = std::get<1>(p);
    vector_of<scalar> f(2);
    f[0] = (m(0, 0) - m(0, 1) * y[1]) * y[0];
    f[1] = (-more[0] + more[1] * y[0]) * y[1] * std::get<0>(p);
    return f;
  }
};

/// y' = -k y, which can throw where k is no number.
struct faulty {
  bool* is_faulty;
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    if (!std::is_same_v<K, double> && *is_faulty) throw std::domain_error("f refuses");
    return decay()(0.0, y, k);
  }
};

template <class S>
vector_of<S> column(std::initializer_list<S> entries) {
  vector_of<S> v(static_cast<Index>(entries.size()));
  std::copy(entries.begin(), entries.end(), v.data());
  return v;
}

/// The numbers of all states, one time after the other.
template <class Solution, class Number>
VectorXd all_of(const Solution& y, const Number& number) {
  VectorXd v(static_cast<Index>(y.size()) * y[0].size());
  for (Index i = 0; i < v.size(); ++i) v[i] = number(y[static_cast<std::size_t>(i / y[0].size())][i % y[0].size()]);
  return v;
}

}  // namespace

TEST_CASE("a variable beside a dual has a tangent of zero, and second derivatives with it") {
  const auto check = [](const auto& f) {
    const scope own;
    using D = dual<var, 2>;
    const var y0 = 2.0, k_value = rate;
    D k(k_value);
    k.tangent[1] = var(1.0);
    const auto y = solve(f, column<var>({y0}), {0.5, 1.5}, k);
    static_assert(std::is_same_v<decltype(y), const std::vector<vector_of<D>>>);
    const double t = 1.5, e = std::exp(-rate * t);
    CHECK(y[1][0].value.val() == Approx(2 * e).epsilon(1e-9));
    CHECK(y[1][0].tangent[1].val() == Approx(-t * 2 * e).epsilon(1e-9));
    CHECK(agrad::is_constant_zero(y[1][0].tangent[0]));  // nothing moves in that direction
    y[1][0].tangent[1].grad();
    CHECK(y0.adj() == Approx(-t * e).epsilon(1e-9));
    CHECK(k_value.adj() == Approx(t * t * 2 * e).epsilon(1e-9));
    CHECK(k.tangent[1].adj() == Approx(-t * 2 * e).epsilon(1e-9));
    y[1][0].value.grad();
    CHECK(y0.adj() == Approx(e).epsilon(1e-9));
    CHECK(k_value.adj() == Approx(-t * 2 * e).epsilon(1e-9));
    CHECK(k.tangent[1].adj() == 0);
  };
  check(decay());
  check(recorded(decay()));
}

TEST_CASE("one reverse pass from values and from the tangents of several directions at once") {
  const scope own;
  using D = dual<var, 3>;
  const var a = 2.0, k = rate;
  D start(a), speed(k);
  start.tangent[0] = var(0.5), start.tangent[2] = var(-1.0);
  speed.tangent[1] = var(2.0), speed.tangent[2] = var(3.0);
  const auto y = solve(decay(), column<D>({start}), {1.0}, speed)[0][0];
  const double e = std::exp(-rate);
  const auto tangent = [&](double da, double dk) { return (da - 2 * dk) * e; };
  CHECK(y.tangent[0].val() == Approx(tangent(0.5, 0)).epsilon(1e-9));
  CHECK(y.tangent[1].val() == Approx(tangent(0, 2)).epsilon(1e-9));
  CHECK(y.tangent[2].val() == Approx(tangent(-1, 3)).epsilon(1e-9));
  var sum = 1.5 * y.value;
  const std::array<double, 3> w{0.3, -0.8, 1.1};
  for (std::size_t j = 0; j < 3; ++j) sum += w[j] * y.tangent[j];
  sum.grad();
  // y = a exp(-k), and its tangents da exp(-k) - dk a exp(-k)
  const double da = 0.3 * 0.5 + 1.1 * -1.0, dk = -0.8 * 2 + 1.1 * 3;
  CHECK(a.adj() == Approx(1.5 * e - dk * e).epsilon(1e-9));
  CHECK(k.adj() == Approx(-1.5 * 2 * e - da * e + dk * 2 * e).epsilon(1e-9));
  for (std::size_t j : {0U, 2U}) CHECK(start.tangent[j].adj() == Approx(w[j] * e).epsilon(1e-9));
  for (std::size_t j : {1U, 2U}) CHECK(speed.tangent[j].adj() == Approx(-2 * w[j] * e).epsilon(1e-9));
}

TEST_CASE("reverse passes from one direction after the other, from one output and another") {
  const auto check = [](const auto& f) {
    const scope own;
    using D = dual<var, 4>;
    const std::array<var, 3> a{2.0, 3.0, 5.0};
    const var k = rate;
    D speed(k);
    speed.tangent[3] = var(1.0);
    vector_of<D> y0(3);
    for (std::size_t i = 0; i < 3; ++i) y0[static_cast<Index>(i)] = D(a[i]), y0[static_cast<Index>(i)].tangent[i] = var(1.0);
    const auto y = solve(f, y0, {0.5, 1.0}, speed);
    for (const Index i : {0, 2, 0}) {
      for (const std::size_t at : {1U, 0U}) {
        const double t = at == 0 ? 0.5 : 1.0, e = std::exp(-rate * t), start = a[static_cast<std::size_t>(i)].val();
        y[at][i].tangent[static_cast<std::size_t>(i)].grad();  // exp(-k t)
        CHECK(k.adj() == Approx(-t * e).epsilon(1e-9));
        CHECK(std::abs(a[static_cast<std::size_t>(i)].adj()) < 1e-12);
        var(3.0 * y[at][i].tangent[3] + y[at][1].value).grad();  // -3 t a exp(-k t), and a value
        CHECK(k.adj() == Approx(3 * t * t * start * e - t * 3.0 * e).epsilon(1e-9));
        CHECK(a[static_cast<std::size_t>(i)].adj() == Approx(-3 * t * e).epsilon(1e-9));
        CHECK(a[1].adj() == Approx(e).epsilon(1e-9));
        CHECK(speed.tangent[3].adj() == Approx(-3 * t * start * e).epsilon(1e-9));
      }
    }
  };
  check(decay());
  check(recorded(decay()));
}

TEST_CASE("nested arguments: a matrix on the tape, a tuple of numbers and duals in a vector") {
  const auto loss = [](const auto& f, const auto& x, double other) {
    using S = std::decay_t<decltype(x[0])>;
    Eigen::Matrix<S, 2, 2> m;
    m << x[0], x[1], S(0.0), S(0.0);
    const std::tuple<double, std::vector<S>> p{other, {x[2], x[3]}};
    const auto y = agrad::ode_dop853_tol(f, Vector2d(33.956, 5.933), 0.0, {0.5, 2.0}, 1e-12, 1e-12, 10000, m, p, 3);
    return S(y[0][0] * y[1][1] + y[1][0]);
  };
  const VectorXd x = systems::rates;
  double value = 0;
  VectorXd g;
  MatrixXd H, reference(4, 4);
  const auto by = [&](const auto& f) { return [&](const auto& at) { return loss(f, at, 1.0); }; };
  const auto gradient_at = [&](const VectorXd& at) {
    agrad::gradient(by(nested()), at, value, g);
    return g;
  };
  for (Index j = 0; j < 4; ++j) {
    const VectorXd h = VectorXd::Unit(4, j) * 1e-3 * x[j];
    reference.col(j) = (8 * (gradient_at(x + h) - gradient_at(x - h)) - (gradient_at(x + 2 * h) - gradient_at(x - 2 * h))) /
                       (12 * 1e-3 * x[j]);
  }
  agrad::hessian(by(nested()), x, value, g, H);
  CHECK((H - reference).norm() < 1e-7 * reference.norm());
  agrad::hessian(by(recorded(nested())), x, value, g, H);
  CHECK((H - reference).norm() < 1e-7 * reference.norm());
}

TEST_CASE("arrays and pairs as arguments") {
  // y' = -(a + 2 b) c y, whose derivatives at t = 1 are known.
  const auto f = [](const auto&, const auto& y, const auto& rates, const auto& shape) {
    vector_of<agrad::promoted_t<decltype(y), decltype(rates), decltype(shape)>> slope(1);
    slope[0] = -(rates[0] + 2 * rates[1]) * shape.second * y[0];
    return slope;
  };
  const auto check = [](const auto& of) {
    const auto loss = [&](const auto& x) {
      using S = std::decay_t<decltype(x[0])>;
      const std::array<S, 2> rates{x[0], x[1]};
      const std::pair<int, S> shape{3, x[2]};
      return S(agrad::ode_tsit5_tol(of, VectorXd::Ones(1), 0.0, {1.0}, 1e-12, 1e-12, 10000, rates, shape)[0][0]);
    };
    const VectorXd x = (VectorXd(3) << 0.3, 0.2, 0.7).finished();
    const double a = x[0] + 2 * x[1], c = x[2], y = std::exp(-a * c);
    double value = 0;
    VectorXd g;
    MatrixXd H;
    agrad::hessian(loss, x, value, g, H);
    CHECK(value == Approx(y).epsilon(1e-10));
    CHECK((g - y * Eigen::Vector3d(-c, -2 * c, -a)).norm() < 1e-10);
    const double mixed = y * (a * c - 1);
    CHECK((H - (MatrixXd(3, 3) << y * c * c, 2 * y * c * c, mixed, 2 * y * c * c, 4 * y * c * c, 2 * mixed, mixed, 2 * mixed,
                y * a * a)
                   .finished())
              .norm() < 1e-9);
    agrad::gradient(loss, x, value, g);
    CHECK((g - y * Eigen::Vector3d(-c, -2 * c, -a)).norm() < 1e-10);
  };
  check(f);
  check(recorded(f));
}

TEST_CASE("a matrix on the tape beside duals is made of variables") {
  const scope own;
  const agrad::matrix<var> m(Eigen::Matrix2d((Eigen::Matrix2d() << systems::rates[0], systems::rates[1], 0, 0).finished()));
  const var c = systems::rates[2];
  const std::tuple<double, std::vector<dual<var>>> p{1.0, {dual<var>(c, {var(1.0)}), dual<var>(systems::rates[3])}};
  const auto y = solve(nested(), Vector2d(33.956, 5.933), {1.0}, m, p, 3);
  y[0][1].tangent[0].grad();  // d2 y / dc dm(0, 0) and d2 y / dc2 are to come
  const Eigen::Matrix2d of_m = m.adj();
  const double of_c = c.adj();
  const auto slope = [&](double m00, double at_c) {  // dy / dc
    Eigen::Matrix2d n;
    n << m00, systems::rates[1], 0, 0;
    const std::tuple<double, std::vector<dual<double>>> q{1.0, {dual<double>(at_c, {1.0}), dual<double>(systems::rates[3])}};
    return solve(nested(), Vector2d(33.956, 5.933), {1.0}, n, q, 3)[0][1].tangent[0];
  };
  const double h = 1e-4, a = systems::rates[0];
  CHECK(of_m(0, 0) == Approx((slope(a + h, c.val()) - slope(a - h, c.val())) / (2 * h)).epsilon(1e-6));
  CHECK(of_c == Approx((slope(a, c.val() + h) - slope(a, c.val() - h)) / (2 * h)).epsilon(1e-6));
  CHECK(of_m(1, 1) == 0);
}

TEST_CASE_TEMPLATE("duals of numbers: columns of the Jacobian, however many, and nothing on the tape", Lanes,
                   std::integral_constant<int, 1>, std::integral_constant<int, 9>) {
  constexpr int K = Lanes::value;
  const auto check = [](const auto& f) {
    using D = dual<double, K>;
    const scope own;
    const auto before = tape::current().statistics();
    const std::vector<double> times{0.5, 1.0, 1.7};
    D k(rate);
    vector_of<D> y0 = Vector2d(2.0, 3.0).cast<D>();
    k.tangent[0] = 1, y0[1].tangent[K - 1] = 2;
    const auto y = agrad::ode_rodas4_tol(f, y0, 0.0, times, 1e-10, 1e-10, 10000, k);
    static_assert(std::is_same_v<decltype(y), const std::vector<vector_of<D>>>);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double t = times[i], e = std::exp(-rate * t);
      CHECK(y[i][1].value == Approx(3 * e).epsilon(1e-8));
      CHECK(y[i][0].tangent[0] == Approx(-t * 2 * e).epsilon(1e-7));
      CHECK(y[i][1].tangent[K - 1] == Approx((K == 1 ? -t * 3 * e : 0.0) + 2 * e).epsilon(1e-7));
      if (K > 1) CHECK(y[i][0].tangent[1] == 0);
    }
    const auto after = tape::current().statistics();
    CHECK(after.statements == before.statements);
    CHECK(after.closures == before.closures);
    CHECK(after.indices == before.indices);
  };
  check(decay());
  check(recorded(decay()));
}

TEST_CASE("nothing moves where all tangents are zero, and numbers beside an empty vector of duals stay what they are") {
  const auto y = solve(decay(), VectorXd::Constant(1, 2.0), {1.0}, dual<double, 2>(rate))[0][0];
  CHECK(y.value == Approx(2 * std::exp(-rate)).epsilon(1e-9));
  CHECK(y.tangent[0] == 0);
  const auto f = [](const auto&, const auto& z, const auto& k, const auto&) { return decay()(0.0, z, k); };
  const auto z = solve(f, VectorXd::Constant(1, 2.0), {1.0}, rate, std::vector<dual<double, 2>>())[0][0];
  CHECK(z.value == Approx(y.value).epsilon(1e-12));
  CHECK(z.tangent[1] == 0);
}

TEST_CASE("tangents and gradients are transposes of each other, and those of tangents are second derivatives") {
  const VectorXd x = (VectorXd(6) << systems::rates, systems::pelts).finished(), v = VectorXd::LinSpaced(6, -0.01, 0.03);
  const std::vector<double> times{0.4, 0.9, 2.0};
  const VectorXd w = VectorXd::LinSpaced(6, -1.0, 1.5);
  const auto solution = [&](const auto& at) {
    using S = std::decay_t<decltype(at[0])>;
    const auto lotka = [](double, const auto& y, const auto& p) {
      vector_of<agrad::promoted_t<decltype(y), decltype(p)>> f(2);
      f[0] = (p[0] - p[1] * y[1]) * y[0];
      f[1] = (-p[2] + p[3] * y[0]) * y[1];
      return f;
    };
    const vector_of<S> p = at.head(4), y0 = at.tail(2);
    const auto y = solve(lotka, y0, times, p);
    vector_of<S> all(6);
    for (Index i = 0; i < 6; ++i) all[i] = y[static_cast<std::size_t>(i / 2)][i % 2];
    return all;
  };
  VectorXd fx, Jv, wJ;
  agrad::jvp(solution, x, v, fx, Jv);
  agrad::vjp(solution, x, w, fx, wJ);
  CHECK(std::abs(w.dot(Jv) - wJ.dot(v)) < 1e-12 * std::abs(w.dot(Jv)));
  const scope own;
  vector_of<dual<var>> at(6);
  for (Index i = 0; i < 6; ++i) at[i] = dual<var>(var(x[i]), {var(v[i])});
  const auto y = solution(at);
  var sum = 0;
  for (Index i = 0; i < 6; ++i) {
    CHECK(y[i].value.val() == Approx(fx[i]).epsilon(1e-13));
    CHECK(y[i].tangent[0].val() == Approx(Jv[i]).epsilon(1e-12));
    sum += w[i] * y[i].tangent[0];
  }
  sum.grad();  // with respect to the tangents it is linear
  VectorXd of_tangents(6);
  for (Index i = 0; i < 6; ++i) of_tangents[i] = at[i].tangent[0].adj();
  CHECK((of_tangents - wJ).norm() < 1e-12 * wJ.norm());
}

TEST_CASE("an infinite derivative that nothing is multiplied with leaves no trace in second derivatives") {
  const auto f = [](double, const auto& y, const auto& k) {
    using std::sqrt;
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> slope(2);
    slope[0] = -k * y[0];
    slope[1] = -k * sqrt(y[1]);
    return slope;
  };
  const scope own;
  const var k = 0.5;
  const auto y = solve(f, Vector2d(1.0, 0.0), {1.0}, dual<var>(k, {var(1.0)}));
  y[0][0].tangent[0].grad();
  CHECK(k.adj() == Approx(std::exp(-0.5)).epsilon(1e-8));
}

TEST_CASE("what f throws on duals leaves the tape as it was, before and in a reverse pass") {
  bool is_faulty = true;
  const scope own;
  const var k = rate, start = 2.0;
  const dual<var> moving(k, {var(1.0)});
  const vector_of<dual<var>> y0 = column<dual<var>>({dual<var>(start)});
  const auto before = tape::current().statistics();
  const auto attempt = [&] { return solve(faulty{&is_faulty}, y0, {1.0}, moving)[0][0]; };
  CHECK(systems::message_of([&] { attempt(); }) == "f refuses");
  CHECK(tape::current().statistics().closures == before.closures);
  is_faulty = false;
  const auto y = attempt();
  is_faulty = true;
  CHECK(systems::message_of([&] { y.tangent[0].grad(); }) == "f refuses");
  is_faulty = false;
  y.tangent[0].grad();
  CHECK(k.adj() == Approx(2 * std::exp(-rate)).epsilon(1e-9));
  CHECK(start.adj() == Approx(-std::exp(-rate)).epsilon(1e-9));
}

TEST_CASE("arguments are checked as without duals") {
  const vector_of<dual<double>> y0 = Vector2d(1.0, 2.0).cast<dual<double>>();
  const auto message = [&](double start, const std::vector<double>& times) {
    return systems::message_of([&] { agrad::ode_tsit5(decay(), y0, start, times, dual<double>(rate)); });
  };
  CHECK(message(1.0, {1.0}).find("ode_tsit5: times[0] is 1, but must be greater than t0 = 1") == 0);
  CHECK(message(0.0, {}).find("ode_tsit5: times is of length 0") == 0);
}

// ---- where a dual cannot pass: refused when a file is compiled, which asks this

static_assert(agrad::detail::hold_duals<double, vector_of<dual<var>>>);
static_assert(agrad::detail::hold_duals<std::tuple<double, std::vector<dual<double, 4>>>>);
static_assert(agrad::detail::hold_duals<std::array<dual<double>, 2>>);
static_assert(!agrad::detail::hold_duals<std::tuple<vector_of<var>, std::vector<double>>, int, agrad::matrix<var>>);

}  // namespace test_dual_arguments
