// Steady states: closed forms, conserved totals, both ways to find them, derivatives of first and second order, faults.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/solve/steady_state.hpp>

#include "solve/systems.hpp"

namespace test_steady_state {

using agrad::scope;
using agrad::SolverError;
using agrad::steady_method;
using agrad::steady_options;
using agrad::steady_solver;
using agrad::steady_state;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

/// y' = A y + b, at rest where y = -A^-1 b.
struct linear {
  template <class Y, class B>
  auto operator()(double, const Y& y, const B& b) const {
    vector_of<agrad::promoted_t<Y, B>> dy(2);
    dy[0] = -2.0 * y[0] + y[1] + b[0];
    dy[1] = y[0] - 3.0 * y[1] + b[1];
    return dy;
  }
};

/// a <-> b with rates k[0], k[1]: a + b is conserved, and a = (a0 + b0) k1 / (k0 + k1).
struct exchange {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    vector_of<agrad::promoted_t<Y, K>> dy(2);
    dy[0] = k[1] * y[1] - k[0] * y[0];
    dy[1] = -dy[0];
    return dy;
  }
};

/// Michaelis and Menten's enzyme with a constant supply of substrate: s, e, c with e + c conserved;
/// at rest c = v / k2, e = E - c, s = (k1 + k2) c / (k0 e).
struct enzyme {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    using scalar = agrad::promoted_t<Y, K>;
    const scalar binding = k[0] * y[0] * y[1], back = k[1] * y[2], product = k[2] * y[2];
    vector_of<scalar> dy(3);
    dy[0] = k[3] - binding + back;
    dy[1] = back + product - binding;
    dy[2] = binding - back - product;
    return dy;
  }
};

template <class T>
vector_of<T> vector(std::initializer_list<double> values) {
  vector_of<T> v(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double x : values) v[i++] = x;
  return v;
}

steady_options options(Eigen::Index n, steady_method method = steady_method::automatic) {
  return {{1e-10, Eigen::VectorXd::Constant(n, 1e-12)}, 50, method};
}

template <class F, class K>
struct posed {
  agrad::detail::functor_system<F, K> system;
  steady_solver<> solver;
  posed(const F& f, Eigen::Index n, const K& k, steady_method method = steady_method::automatic)
      : system("rest", f, n, k), solver("rest", system, options(n, method)) {}
};

}  // namespace

TEST_CASE("steady state of a linear system: one step, and the inverse is the derivative") {
  const scope own;
  const auto b = vector<var>({1, 2});
  const auto y0 = vector<var>({0, 0});
  const auto y = steady_state(linear{}, y0, b);
  CHECK(y[0].val() == Approx(1).epsilon(1e-14));
  CHECK(y[1].val() == Approx(1).epsilon(1e-14));
  y[0].grad();
  CHECK(b[0].adj() == Approx(0.6).epsilon(1e-13));
  CHECK(b[1].adj() == Approx(0.2).epsilon(1e-13));
  CHECK(y0[0].adj() == 0);
  y[1].grad();
  CHECK(b[0].adj() == Approx(0.2).epsilon(1e-13));
  CHECK(b[1].adj() == Approx(0.4).epsilon(1e-13));
  const Eigen::VectorXd plain = steady_state(linear{}, Eigen::Vector2d(5, 5), Eigen::Vector2d(1, 2));
  CHECK(plain[0] == Approx(1).epsilon(1e-14));
}

TEST_CASE("a conserved total stays what it was at y0, and y0 has a derivative by it") {
  const scope own;
  const auto y0 = vector<var>({3, 1});
  const auto k = vector<var>({2, 6});
  const auto y = steady_state(exchange{}, y0, k);
  CHECK(y[0].val() == Approx(3).epsilon(1e-12));
  CHECK(y[1].val() == Approx(1).epsilon(1e-12));
  y[0].grad();  // a = total k1 / (k0 + k1)
  CHECK(y0[0].adj() == Approx(0.75).epsilon(1e-12));
  CHECK(y0[1].adj() == Approx(0.75).epsilon(1e-12));
  CHECK(k[0].adj() == Approx(-4.0 * 6 / 64).epsilon(1e-12));
  CHECK(k[1].adj() == Approx(4.0 * 2 / 64).epsilon(1e-12));
}

TEST_CASE("an enzyme with a conserved total, by both ways") {
  for (const steady_method method : {steady_method::newton, steady_method::integration}) {
    const Eigen::Vector4d k(3, 0.5, 2, 0.8);
    posed<enzyme, Eigen::Vector4d> plain(enzyme{}, 3, k, method);
    const Eigen::VectorXd y = plain.solver.solve(Eigen::Vector3d(1, 0.9, 0.1));
    CHECK(plain.solver.report().conserved == 1);
    CHECK(plain.solver.report().by_integration == (method == steady_method::integration));
    CHECK((plain.solver.report().integrated_time > 0) == (method == steady_method::integration));
    CHECK(plain.solver.report().iterations > 0);
    CHECK(plain.solver.report().residual < 1e-12);
    CHECK(y[2] == Approx(0.4).epsilon(1e-10));
    CHECK(y[1] == Approx(0.6).epsilon(1e-10));
    CHECK(y[0] == Approx(2.5 * 0.4 / (3 * 0.6)).epsilon(1e-10));
  }
  const scope own;
  const auto k = vector<var>({3, 0.5, 2, 0.8});
  const auto y0 = vector<var>({1, 0.9, 0.1});
  const auto y = steady_state(enzyme{}, y0, k);
  const var total = y0[1] + y0[2], c = k[3] / k[2], s = (k[1] + k[2]) * c / (k[0] * (total - c));
  for (int i = 0; i < 2; ++i) {
    (i == 0 ? y[0] : var(y[1] + 2.0 * y[2])).grad();
    std::vector<double> found;
    for (int j = 0; j < 4; ++j) found.push_back(k[j].adj());
    for (int j = 0; j < 3; ++j) found.push_back(y0[j].adj());
    (i == 0 ? s : var(total + c)).grad();
    for (int j = 0; j < 4; ++j) CHECK(found[static_cast<std::size_t>(j)] == Approx(k[j].adj()).epsilon(1e-9));
    for (int j = 0; j < 3; ++j) CHECK(found[static_cast<std::size_t>(4 + j)] == Approx(y0[j].adj()).epsilon(1e-9));
  }
}

TEST_CASE("rates of very different size, and several conserved totals") {
  // Two separate exchanges, one 1e9 times as fast as the other, and one state that nothing moves.
  const auto f = [](double, const auto& y, const auto& k) {
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(5);
    dy[0] = k[1] * y[1] - k[0] * y[0], dy[1] = -dy[0];
    dy[2] = 1e9 * (y[3] - 3.0 * y[2]), dy[3] = -dy[2];
    dy[4] = 0.0;
    return dy;
  };
  const scope own;
  const auto y0 = vector<var>({3, 1, 1e-6, 3e-6, 7});
  const auto k = vector<var>({2, 6});
  const auto y = steady_state(f, y0, k);
  CHECK(y[0].val() == Approx(3).epsilon(1e-12));
  CHECK(y[2].val() == Approx(1e-6).epsilon(1e-9));
  CHECK(y[4].val() == 7);
  y[3].grad();
  CHECK(y0[2].adj() == Approx(0.75).epsilon(1e-9));
  CHECK(y0[0].adj() == Approx(0).epsilon(1e-9));
  y[4].grad();
  CHECK(y0[4].adj() == Approx(1).epsilon(1e-12));
  CHECK(k[0].adj() == Approx(0));
}

TEST_CASE("what seemed a conserved total at the start, and is none where the search ends") {
  const auto square = [](double, const auto& y, const auto& k) {
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = k - y[0] - y[1], dy[1] = y[0] * y[0] * (1.0 - y[1]);
    return dy;
  };
  for (const double start : {0.0, 1e-30, 0.1}) {
    posed<decltype(square), double> from(square, 2, 3.0);
    const Eigen::VectorXd y = from.solver.solve(Eigen::Vector2d(start, 0));
    CHECK(from.solver.report().conserved == 0);
    CHECK(from.solver.report().residual < 1e-9);
    CHECK(y[0] + y[1] == Approx(3).epsilon(1e-10));
  }
  const auto threshold = [](double, const auto& y, const auto& k) {  // the second moves once the first is above 5
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = k - y[0], dy[1] = 0.0;
    if (y[0] > 5) dy[1] = (y[0] - 5.0) * (k - y[1]);
    return dy;
  };
  for (const auto method : {steady_method::automatic, steady_method::newton, steady_method::integration}) {
    posed<decltype(threshold), double> above(threshold, 2, 10.0, method);
    const Eigen::VectorXd y = above.solver.solve(Eigen::Vector2d(1, 0));
    CHECK(y[0] == Approx(10).epsilon(1e-9));
    CHECK(y[1] == Approx(10).epsilon(1e-9));
    CHECK(above.solver.report().conserved == 0);
    posed<decltype(threshold), double> below(threshold, 2, 3.0, method);  // never moved: a total here
    CHECK(below.solver.solve(Eigen::Vector2d(1, 0.5))[1] == 0.5);
    CHECK(below.solver.report().conserved == 1);
  }
  const scope own;
  const var k = 10;
  steady_state(threshold, Eigen::Vector2d(1, 0), k)[1].grad();
  CHECK(k.adj() == Approx(1).epsilon(1e-9));
}

TEST_CASE("a conserved total survives a start, and an end, whose slopes are rounding") {
  // The slopes' terms are added in another order in each row, so that at rest they differ by rounding alone.
  const auto f = [](double, const auto& y, const auto& k) {
    using scalar = agrad::promoted_t<decltype(y), decltype(k)>;
    const scalar in = k[0] * y[0] * y[1], out = k[1] * y[2], more = k[2] * y[2];
    vector_of<scalar> dy(3);
    dy[0] = (k[3] - in) + out, dy[1] = (out - in) + more, dy[2] = in - (out + more);
    return dy;
  };
  const Eigen::Vector4d k(3.1, 0.7, 2.3, 0.8);
  const double c = k[3] / k[2], s = (k[1] + k[2]) * c / (k[0] * (0.9 - c));
  for (const double away : {0.0, 1e-15, 1e-9, 1e-3}) {
    posed<decltype(f), Eigen::Vector4d> at(f, 3, k);
    CHECK(at.solver.solve(Eigen::Vector3d(s * (1 + away), 0.9 - c, c))[2] == Approx(c).epsilon(1e-9));
    CHECK(at.solver.report().conserved == 1);
    CHECK(at.solver.reverse(Eigen::Vector3d(0, 1, 0)).initial_state[1] == Approx(1).epsilon(1e-9));
  }
}

TEST_CASE("growth without bound is no steady state, however small the other state becomes") {
  const auto feed = [](double, const auto& y, const auto& k) {
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = k - y[0] * y[1], dy[1] = y[0] * y[1] - y[1];
    return dy;
  };
  posed<decltype(feed), double> fed(feed, 2, 2.0);
  const auto complaint = message_of([&] { fed.solver.solve(Eigen::Vector2d(0, 0)); });
  CHECK_MESSAGE(complaint.find("NO_STEADY_STATE") != std::string::npos, complaint);
  const Eigen::VectorXd y = fed.solver.solve(Eigen::Vector2d(1, 1));
  CHECK(y[0] == Approx(1).epsilon(1e-9));
  CHECK(y[1] == Approx(2).epsilon(1e-9));
}

TEST_CASE("slow ways to rest are still found: powers, coarse tolerances, a chain that empties") {
  const auto chain = [](double, const auto& y, const auto& k) {
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(3);
    dy[0] = -k * y[0] * y[0] * y[0], dy[1] = -dy[0] - y[1] * y[1], dy[2] = y[1] * y[1] - y[2] * y[2];
    return dy;
  };
  for (const double size : {1.0, 1e-12, 0.0}) {
    posed<decltype(chain), double> empties(chain, 3, 0.5);
    CHECK(empties.solver.solve(Eigen::Vector3d(size, 0, 0)).isZero(1e-11));
  }
  const auto cube = [](double, const auto& y, const auto& k) {
    return (k - y.array() * y.array() * y.array()).matrix().eval();
  };
  for (const double tolerance : {1e-1, 1e-3, 1e-8}) {
    const Eigen::VectorXd y = agrad::steady_state_tol(cube, Eigen::VectorXd::Ones(1), tolerance, tolerance, 50, 1.2);
    CHECK(y[0] == Approx(std::cbrt(1.2)).epsilon(tolerance));
  }
}

TEST_CASE("integration goes where Newton's method does not, and is followed to the stable state") {
  // y' = k - y^3 + y from -0.6: Newton's steps from near the extremum of a cubic go astray; the way leads up.
  const auto cubic = [](double, const auto& y, const auto& k) {
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(1);
    dy[0] = k - atan(10.0 * y[0]);
    return dy;
  };
  posed<decltype(cubic), double> far(cubic, 1, 1.5);
  const double root = std::tan(1.5) / 10;
  CHECK(far.solver.solve(Eigen::VectorXd::Constant(1, 1e6))[0] == Approx(root).epsilon(1e-9));
  posed<decltype(cubic), double> by_newton(cubic, 1, 1.5, steady_method::newton);
  CHECK(by_newton.solver.solve(Eigen::VectorXd::Constant(1, 0.2))[0] == Approx(root).epsilon(1e-9));
  CHECK_FALSE(by_newton.solver.report().by_integration);
  CHECK(by_newton.solver.statistics().forward.steps == 0);
  CHECK(far.solver.statistics().forward.rhs_evaluations > far.solver.statistics().forward.steps);

  const auto switching = [](double, const auto& y, double k) {  // stable at -1 and 1, unstable at 0
    vector_of<std::decay_t<decltype(y[0])>> dy(1);
    dy[0] = k * (y[0] - y[0] * y[0] * y[0]);
    return dy;
  };
  posed<decltype(switching), double> path(switching, 1, 1.0, steady_method::integration);
  CHECK(path.solver.solve(Eigen::VectorXd::Constant(1, 1e-3))[0] == Approx(1).epsilon(1e-10));
  posed<decltype(switching), double> nearest(switching, 1, 1.0, steady_method::newton);
  CHECK(std::abs(nearest.solver.solve(Eigen::VectorXd::Constant(1, 1e-3))[0]) < 1e-10);
  CHECK_FALSE(nearest.solver.report().stable);
  CHECK(nearest.solver.report().growth_rate == Approx(1).epsilon(1e-9));
  posed<decltype(switching), double> by_default(switching, 1, 1.0);
  for (const double start : {1e-3, 0.3, 0.5, 0.57, 4.0}) {  // from 0.5 a Newton step ends on -1 exactly
    CHECK(by_default.solver.solve(Eigen::VectorXd::Constant(1, start))[0] == Approx(1).epsilon(1e-10));
    CHECK(by_default.solver.report().stable);
    CHECK(by_default.solver.report().growth_rate == Approx(-2).epsilon(1e-9));
  }
  CHECK(by_default.solver.solve(Eigen::VectorXd::Zero(1))[0] == 0);  // where it is at rest it stays
  CHECK_FALSE(by_default.solver.report().stable);
}

TEST_CASE("a linear system takes no integration, and stability is that beside the totals") {
  posed<linear, Eigen::Vector2d> direct(linear{}, 2, Eigen::Vector2d(1, 2));
  direct.solver.solve(Eigen::Vector2d(5, 5));
  CHECK_FALSE(direct.solver.report().by_integration);
  CHECK(direct.solver.report().growth_rate == Approx((-5 + std::sqrt(5.0)) / 2));
  posed<exchange, Eigen::Vector2d> totals(exchange{}, 2, Eigen::Vector2d(2, 6));
  totals.solver.solve(Eigen::Vector2d(3, 1));
  CHECK_FALSE(totals.solver.report().by_integration);
  CHECK(totals.solver.report().growth_rate == Approx(-8));
}

TEST_CASE("a right-hand side that depends on time is refused, unless the time is given") {
  const auto forced = [](double t, const auto& y, const auto& k) { return (k * std::sin(t) - y.array()).matrix().eval(); };
  CHECK(message_of([&] { steady_state(forced, Eigen::VectorXd::Ones(1).eval(), 2.0); }) ==
        "steady_state: f is a function of t, but must be one of the states and parameters alone; give t to fix the time");
  agrad::detail::functor_system<decltype(forced), double> system("rest", forced, 1, 2.0);
  steady_options at = options(1);
  at.time = 0.5;
  steady_solver<> solver("rest", system, at);
  CHECK(solver.solve(Eigen::VectorXd::Ones(1))[0] == Approx(2 * std::sin(0.5)).epsilon(1e-12));
  CHECK(solver.reverse(Eigen::VectorXd::Ones(1)).parameters.size() == 0);
  const auto late = [](double t, const auto& y, double k) {  // time does not show at y0 = 0
    vector_of<std::decay_t<decltype(y[0])>> dy(1);
    dy[0] = k - y[0] * (1 + 0.5 * std::sin(t));
    return dy;
  };
  CHECK(message_of([&] { steady_state(late, Eigen::VectorXd::Zero(1).eval(), 2.0); }) ==
        "steady_state: f is a function of t, but must be one of the states and parameters alone; give t to fix the time");
}

TEST_CASE("a state that decays to nothing") {
  const auto decay = [](double, const auto& y, const auto& k) { return (-(k * y)).eval(); };
  posed<decltype(decay), double> solved(decay, 2, 0.5, steady_method::integration);
  CHECK(solved.solver.solve(Eigen::Vector2d(1e3, 1)).isZero(1e-10));
}

TEST_CASE("no steady state, values that are not finite, and bad arguments are named; the solver can go on") {
  const auto growing = [](double, const auto& y, double k) {
    vector_of<std::decay_t<decltype(y[0])>> dy(1);
    dy[0] = k + 0.0 * y[0];
    return dy;
  };
  posed<decltype(growing), double> without(growing, 1, 1.0);
  const auto complaint = message_of([&] { without.solver.solve(Eigen::VectorXd::Ones(1)); });
  CHECK_MESSAGE(complaint.find("rest: stopped at t = ") == 0, complaint);
  CHECK_MESSAGE(
      complaint.find("(NO_STEADY_STATE); integration led to no steady state; the system may oscillate") != std::string::npos,
      complaint);
  CHECK_THROWS_AS(without.solver.reverse(Eigen::VectorXd::Ones(1)), std::logic_error);
  posed<decltype(growing), double> by_newton(growing, 1, 1.0, steady_method::newton);
  CHECK(message_of([&] { by_newton.solver.solve(Eigen::VectorXd::Ones(1)); }) ==
        "rest: stopped at t = 0 after 1 iterations (NO_STEADY_STATE); Newton's method did not converge; use a method that "
        "integrates");

  const auto root = [](double, const auto& y, double k) {
    vector_of<std::decay_t<decltype(y[0])>> dy(2);
    dy[0] = -y[0], dy[1] = k - sqrt(y[1]);
    return dy;
  };
  posed<decltype(root), double> impossible(root, 2, 1.0);
  CHECK(message_of([&] { impossible.solver.solve(Eigen::Vector2d(1, -1)); }) ==
        "rest: stopped after 0 iterations (NOT_FINITE); the derivative of y[1] is nan at y0");
  CHECK(impossible.solver.solve(Eigen::Vector2d(1, 9))[1] == Approx(1).epsilon(1e-10));
  CHECK(message_of([&] { impossible.solver.solve(Eigen::Vector3d(1, 9, 1)); }) ==
        "rest: y0 is of length 3, but must be of length 2; one for each state");
  CHECK(message_of([&] { impossible.solver.solve(Eigen::Vector2d(1, std::nan(""))); }) ==
        "rest: y0[1] is nan, but must be finite");
  const Eigen::Vector2d y0(1, 2), b(1, 2);
  CHECK(message_of([&] { agrad::steady_state_tol(linear{}, y0, 0.0, 1e-8, 50, b); }) ==
        "steady_state_tol: relative_tolerance is 0, but must be positive and finite");
  CHECK(message_of([&] { agrad::steady_state_tol(linear{}, y0, 1e-8, 1e-8, 0, b); }) ==
        "steady_state_tol: max_iterations is 0, but must be positive");
  const auto throwing = [](double, const auto& y, double k) {
    if (k > 0) throw std::domain_error("not for positive k");
    return (-k * y).eval();
  };
  CHECK_THROWS_WITH_AS(steady_state(throwing, y0, 1.0), "not for positive k", std::domain_error);
}

}  // namespace test_steady_state
