// Right-hand sides that are recorded: the same solutions and gradients as without, by every method, from one recording.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "solve/reaction.hpp"

namespace test_recorded {

using agrad::ode_one_step_method;
using agrad::recorded;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::VectorXd;
using systems::reaction;

namespace {

template <class Y, class P>
using slope_of = vector_of<agrad::promoted_t<Y, P>>;

/// Every state on every other, through a product.
struct coupled {
  template <class T, class Y, class P>
  auto operator()(const T&, const Y& y, const P& a) const {
    slope_of<Y, P> f(y.size());
    for (Index i = 0; i < y.size(); ++i) {
      f[i] = -y[i];
      for (Index j = 0; j < y.size(); ++j) f[i] += a[(i + j) % a.size()] * y[j] * y[i] / (1.0 + y[j] * y[j]);
    }
    return f;
  }
};

/// Counts how often it is carried out on traced numbers.
struct counted {
  int* recordings;
  template <class T, class Y, class P>
  auto operator()(const T&, const Y& y, const P& k, double factor = 1) const {
    if constexpr (std::is_same_v<T, agrad::traced>) ++*recordings;
    return (-factor * k * y).eval();
  }
};

struct gradient {
  double value;
  VectorXd states, parameters;
};

/// The sum of squares at three times and its gradient, where `solve` solves with given initial states and parameters.
template <class Solve>
gradient through(const Solve& solve, const VectorXd& y0, const VectorXd& p) {
  const agrad::scope own;
  const vector_of<var> start = y0.cast<var>(), parameters = p.cast<var>();
  const std::vector<vector_of<var>> y = solve(start, parameters);
  var loss = 0;
  for (const auto& each : y) loss += each.squaredNorm();
  loss.grad();
  gradient g{loss.val(), VectorXd(y0.size()), VectorXd(p.size())};
  for (Index i = 0; i < y0.size(); ++i) g.states[i] = start[i].adj();
  for (Index i = 0; i < p.size(); ++i) g.parameters[i] = parameters[i].adj();
  return g;
}

void check_same(const gradient& a, const gradient& b, double tolerance) {
  CHECK(a.value == Approx(b.value).epsilon(tolerance));
  CHECK((a.states - b.states).norm() <= tolerance * b.states.norm());
  CHECK((a.parameters - b.parameters).norm() <= tolerance * b.parameters.norm());
}

template <class F>
void check_methods(const F& f, Index n, double stiff_tolerance) {
  const VectorXd y0 = VectorXd::LinSpaced(n, 0.3, 0.9), p = VectorXd::LinSpaced(n, 0.5, 1.7);
  const std::vector<double> times{0.3, 0.7, 1.5};
  agrad::step_options options;
  options.states.relative = 1e-7;
  options.states.absolute = VectorXd::Constant(n, 1e-7);
  for (const auto method :
       {ode_one_step_method::tsit5, ode_one_step_method::dop853, ode_one_step_method::automatic, ode_one_step_method::rodas4}) {
    CAPTURE(static_cast<int>(method));
    const auto by = [&](const auto& g) {
      return through([&](const auto& s, const auto& q) { return agrad::ode_solve(options, method, g, s, 0.0, times, q); }, y0,
                     p);
    };
    check_same(by(recorded(f)), by(f), method == ode_one_step_method::rodas4 ? stiff_tolerance : 1e-12);
  }
}

}  // namespace

TEST_CASE("one-step methods: few directions, more than four, a program") {
  for (const Index n : {1, 2, 3, 6, 11}) {
    CAPTURE(n);
    check_methods(reaction<>(), n, 1e-7);  // without a recording Rodas4 differentiates its matrix by differences
  }
  for (const Index n : {2, 5, 9}) {
    CAPTURE(n);
    check_methods(coupled(), n, 1e-7);
  }
}

TEST_CASE("Rodas4 with the exact derivative of its matrix, in every algebra") {
  const Index n = 7;
  const VectorXd y0 = VectorXd::LinSpaced(n, 0.3, 0.9), p = VectorXd::LinSpaced(n, 0.5, 1.7);
  agrad::step_options options;
  options.states.relative = 0.1;
  options.states.absolute = VectorXd::Constant(n, 0.1);
  options.first_step = 0.05, options.max_step = 0.05;  // always this one, so that differences see the derivative of the steps
  const auto f = recorded(reaction<false>());
  const auto solve = [&](const auto& s, const auto& q) {
    return agrad::ode_solve(options, ode_one_step_method::rodas4, f, s, 0.0, {0.2, 0.4}, q);
  };
  const gradient dense = through(solve, y0, p);
  for (Index i = 0; i < n; ++i) {
    VectorXd more = p, less = p;
    more[i] += 1e-5, less[i] -= 1e-5;
    CHECK(dense.parameters[i] ==
          Approx((through(solve, y0, more).value - through(solve, y0, less).value) / 2e-5).epsilon(1e-8));
    more = y0, less = y0;
    more[i] += 1e-5, less[i] -= 1e-5;
    CHECK(dense.states[i] == Approx((through(solve, more, p).value - through(solve, less, p).value) / 2e-5).epsilon(1e-8));
  }
  options.algebra.bandwidths = agrad::half_bandwidths{1, 1};
  check_same(through(solve, y0, p), dense, 1e-12);
  options.algebra = {};
  options.algebra.kind = agrad::ode_algebra_kind::sparse;
  check_same(through(solve, y0, p), dense, 1e-12);
}

TEST_CASE("CVODES backwards and forwards, events, steady states") {
  const VectorXd y0 = VectorXd::LinSpaced(5, 0.3, 0.9), p = VectorXd::LinSpaced(5, 0.5, 1.7);
  const std::vector<double> times{0.3, 1.5};
  const auto check = [&](const auto& by, double tolerance) {
    check_same(through([&](const auto& s, const auto& q) { return by(recorded(reaction<>()), s, q); }, y0, p),
               through([&](const auto& s, const auto& q) { return by(reaction<>(), s, q); }, y0, p), tolerance);
  };
  check([&](const auto& f, const auto& s,
            const auto& q) { return agrad::ode_adjoint_tol(f, s, 0.0, times, 1e-8, 1e-8, 10000, q); },
        1e-6);
  check([&](const auto& f, const auto& s, const auto& q) { return agrad::ode_bdf_tol(f, s, 0.0, times, 1e-8, 1e-8, 10000, q); },
        1e-6);
  check(
      [&](const auto& f, const auto& s, const auto& q) { return agrad::ode_adams_tol(f, s, 0.0, times, 1e-8, 1e-8, 10000, q); },
      1e-6);
  agrad::step_options options;
  options.states.relative = 1e-8;
  options.states.absolute = VectorXd::Constant(5, 1e-8);
  check(
      [&](const auto& f, const auto& s, const auto& q) {
        const std::vector<agrad::ode_dose<var>> doses{{0.5, 2, s[0] * 1.0}};
        return agrad::ode_solve_events(options, ode_one_step_method::tsit5, doses, std::tuple<>(), {}, f, s, 0.0, times, q)
            .states;
      },
      1e-12);
  const auto still = [](const auto&, const auto& y, const auto& rates) {
    using std::exp;
    return (rates.array() - y.array() - 0.1 * exp(y.array())).matrix().eval();
  };
  const auto rest = [&](const auto& f) {
    return through([&](const auto& s, const auto& q) { return std::vector{agrad::steady_state(f, s, q)}; }, y0, p);
  };
  check_same(rest(recorded(still)), rest(still), 1e-9);
}

TEST_CASE("time is an input of the recording") {
  const auto f = recorded([](const auto& t, const auto& y, const auto& k) {
    using std::cos;
    auto slope = y;
    slope[0] = k * cos(t);
    return slope;
  });
  const agrad::scope own;
  const var k = 1.5;
  const vector_of<var> y0 = VectorXd::Constant(1, 0.5).cast<var>();
  const auto y = agrad::ode_tsit5_tol(f, y0, 0.0, {1.0, 2.0}, 1e-11, 1e-11, 10000, k);
  CHECK(y[1][0].val() == Approx(0.5 + 1.5 * std::sin(2.0)).epsilon(1e-9));
  y[1][0].grad();
  CHECK(k.adj() == Approx(std::sin(2.0)).epsilon(1e-9));
}

TEST_CASE("recorded once for arguments of the same types, sizes and constants") {
  int recordings = 0;
  const auto f = recorded(counted{&recordings});
  const auto solve = [&](Index n, auto k, auto... more) {
    return agrad::ode_tsit5_tol(f, VectorXd::Constant(n, 2.0), 0.0, {1.0}, 1e-10, 1e-10, 1000, k, more...)[0][0];
  };
  const agrad::scope own;
  CHECK(solve(2, var(0.5)).val() == Approx(2 * std::exp(-0.5)).epsilon(1e-8));
  CHECK(solve(2, var(0.7)).val() == Approx(2 * std::exp(-0.7)).epsilon(1e-8));  // a variable's value is an input
  CHECK(recordings == 1);
  solve(3, var(0.5));
  CHECK(recordings == 2);
  const auto copy = f;
  agrad::ode_tsit5(copy, VectorXd::Constant(3, 2.0), 0.0, {1.0}, var(0.1));
  CHECK(recordings == 2);
  CHECK(solve(3, var(0.5), 2.0).val() == Approx(2 * std::exp(-1.0)).epsilon(1e-8));
  CHECK(recordings == 3);
  CHECK(solve(3, var(0.5), 3.0).val() == Approx(2 * std::exp(-1.5)).epsilon(1e-8));  // a double's value is a constant
  CHECK(recordings == 4);
  const var k = 0.5;
  solve(3, k, 3.0).grad();
  CHECK(recordings == 4);
  CHECK(k.adj() == Approx(-6 * std::exp(-1.5)).epsilon(1e-8));
  CHECK(solve(3, 0.5) == Approx(2 * std::exp(-0.5)).epsilon(1e-8));  // no variable at all
}

TEST_CASE("recorded for each choice of active arguments, also beside constants of zero") {
  const auto f = recorded([](const auto&, const auto& y, const auto& a, const auto& b) { return ((a + 3.0 * b) * y).eval(); });
  const auto end = [&](auto a, auto b) {
    return agrad::ode_tsit5_tol(f, VectorXd::Constant(1, 2.0), 0.0, {1.0}, 1e-10, 1e-10, 1000, a, b)[0][0];
  };
  const agrad::scope own;
  const var a = 0.4, b = 0.1;
  CHECK(end(0.0, 0.0) == Approx(2));
  end(a, 0.0).grad();
  CHECK(a.adj() == Approx(2 * std::exp(0.4)).epsilon(1e-8));
  end(0.0, b).grad();
  CHECK(b.adj() == Approx(6 * std::exp(0.3)).epsilon(1e-8));
  end(a, b).grad();
  CHECK(b.adj() == Approx(6 * std::exp(0.7)).epsilon(1e-8));
  using moving = agrad::dual<double, 1>;
  CHECK(end(0.0, moving(0.1, {1.0})).tangent[0] == Approx(6 * std::exp(0.3)).epsilon(1e-8));
  const auto vectors = recorded([](const auto&, const auto& y, const auto& k) { return (-(k[0] + 2.0 * k[1]) * y).eval(); });
  const VectorXd y0 = VectorXd::Ones(1);
  CHECK(agrad::ode_rk45(vectors, y0, 0.0, {1.0}, VectorXd(VectorXd::Zero(2)))[0][0] == Approx(1));
  const vector_of<var> k = VectorXd::Zero(2).cast<var>();
  agrad::ode_rk45(vectors, y0, 0.0, {1.0}, k)[0][0].grad();
  CHECK(k[1].adj() == Approx(-2));
  const auto signs =
      recorded([](const auto&, const auto& y, const auto& p, double z) { return (std::copysign(1.0, z) * p * y).eval(); });
  for (const double z : {0.0, -0.0}) {
    const var p = 0.5;
    agrad::ode_tsit5(signs, y0, 0.0, {1.0}, p, z)[0][0].grad();
    CHECK(p.adj() == Approx(std::copysign(1, z) * std::exp(std::copysign(0.5, z))).epsilon(1e-5));
  }
}

TEST_CASE("a captured value that has changed since the recording is an error") {
  double c = 1;
  const auto f =
      recorded([&c](const auto&, const auto& y, const auto& a) { return (c * a * (1.0 - y.array())).matrix().eval(); });
  const agrad::scope own;
  const auto solve = [&](double y0) {
    return agrad::ode_tsit5(f, VectorXd::Constant(1, y0), 0.0, {1.0}, var(0.5))[0][0].val();
  };
  CHECK(solve(2) == Approx(1 + std::exp(-0.5)).epsilon(1e-5));
  CHECK(solve(1) == 1);  // at rest
  c = 2;
  CHECK_THROWS_WITH_AS(solve(2),
                       "ode_tsit5: f is another function than when it was recorded, but must be the same; pass what changes as "
                       "an argument, or call agrad::recorded again",
                       agrad::DomainError);
  c = 1;
  CHECK(solve(2) == Approx(1 + std::exp(-0.5)).epsilon(1e-5));
}

TEST_CASE("nested arguments, and a choice without a branch") {
  using rates = std::vector<std::tuple<var, double>>;
  const auto f = recorded([](const auto& t, const auto& y, const auto& k) {
    auto slope = y;
    const auto rate = std::get<0>(k[0]) * std::get<1>(k[0]) + std::get<0>(k[1]);
    slope[0] = agrad::select(t < 1.0, -rate * y[0], 0.0 * y[0]);
    return slope;
  });
  const agrad::scope own;
  const rates k{{0.2, 2.0}, {0.3, 0.0}};
  const vector_of<var> y0 = VectorXd::Constant(1, 1.0).cast<var>();
  const auto plain = agrad::ode_tsit5_tol(f, y0, 0.0, {1.0, 3.0}, 1e-10, 1e-10, 10000, k);
  CHECK(plain[1][0].val() == Approx(std::exp(-0.7)).epsilon(1e-7));
  plain[1][0].grad();
  CHECK(std::get<0>(k[0]).adj() == Approx(-2 * std::exp(-0.7)).epsilon(1e-7));
  CHECK(std::get<0>(k[1]).adj() == Approx(-std::exp(-0.7)).epsilon(1e-7));
}

TEST_CASE("faults: a wrong length, what f throws, an infinite derivative that nothing is multiplied with") {
  const VectorXd y0 = VectorXd::Constant(2, 1.0);
  const auto longer = recorded([](const auto&, const auto& y, const auto& k) {
    std::decay_t<decltype(y)> slope(2 * y.size());
    slope.setConstant(k * y[0]);
    return slope;
  });
  const agrad::scope own;
  const var k = 0.5;
  CHECK_THROWS_WITH_AS(agrad::ode_tsit5(longer, y0, 0.0, {1.0}, k),
                       "ode_tsit5: the result of f is of length 4, but must be of length 2; one for each state",
                       agrad::ShapeError);
  const auto thrower = recorded([](const auto&, const auto& y, const auto& rate) {
    if (y.size() == 2) throw std::runtime_error("no pair");
    return (rate * y).eval();
  });
  CHECK_THROWS_WITH_AS(agrad::ode_tsit5(thrower, y0, 0.0, {1.0}, k), "no pair", std::runtime_error);
  CHECK(agrad::ode_tsit5(thrower, VectorXd::Constant(1, 1.0), 0.0, {1.0}, k)[0][0].val() ==
        Approx(std::exp(0.5)).epsilon(1e-5));
  const auto rooted = recorded([](const auto&, const auto& y, const auto& rate) {
    using std::sqrt;
    auto slope = (-rate * y).eval();
    slope[1] = -rate * sqrt(y[1]);
    return slope;
  });
  const vector_of<var> start = Eigen::Vector2d(1.0, 0.0).cast<var>();
  const auto y = agrad::ode_tsit5_tol(rooted, start, 0.0, {1.0}, 1e-10, 1e-10, 1000, k);
  y[0][0].grad();
  CHECK(k.adj() == Approx(-std::exp(-0.5)).epsilon(1e-8));
}

TEST_CASE("threads may share one") {
  const auto f = recorded(reaction<>());
  const VectorXd y0 = VectorXd::LinSpaced(4, 0.3, 0.9);
  std::vector<double> found(4);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < found.size(); ++k)
    threads.emplace_back([&, k] {
      const auto solve = [&](const auto& s, const auto& q) { return agrad::ode_tsit5(f, s, 0.0, {1.0}, q); };
      for (int i = 0; i < 20; ++i) found[k] = through(solve, y0, y0).parameters.sum();
    });
  for (std::thread& each : threads) each.join();
  for (const double each : found) CHECK(each == found[0]);
}

}  // namespace test_recorded
