// Hosts: every number of every kind of problem is differentiable on the tape and in duals, to the order that the solve has.
#include <agrad/agrad.hpp>
#include <agrad/dae.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "solve/systems.hpp"

namespace test_hosts {

using agrad::dual;
using agrad::ode_one_step_method;
using agrad::promoted_t;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

struct decay {
  template <class Y, class K>
  auto operator()(double, const vector_of<Y>& y, const K& k) const {
    vector_of<promoted_t<Y, K>> dy(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) dy[i] = -k * y[i];
    return dy;
  }
};
struct decay_and_square {  // y0' = -k y0, 0 = y1 - y0^2
  template <class Y, class K>
  auto operator()(double, const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) const {
    vector_of<promoted_t<Y, K>> r(2);
    r << yp[0] + k * y[0], y[1] - y[0] * y[0];
    return r;
  }
};

template <class X>
using scalar_of = typename std::decay_t<X>::Scalar;

agrad::step_options tight() {
  agrad::step_options o;
  o.states.relative = 1e-10;
  o.states.absolute = Eigen::VectorXd::Constant(1, 1e-11);
  return o;
}
agrad::ode_adjoint_options tight_adjoint() { return agrad::tolerance_options("test", 1, 1e-10, 1e-11, 100000); }

/// Of y0, t0, two output times and k: the sum of the squared outputs.
template <class Solve>
auto loss_by(const Solve& solve) {
  return [solve](const auto& x) {
    using scalar = scalar_of<decltype(x)>;
    const vector_of<scalar> y0 = x.head(1);
    const auto y = solve(y0, scalar(x[1]), std::vector<scalar>{x[2], x[3]}, scalar(x[4]));
    return scalar(y[0][0] * y[0][0] + y[1][0] * y[1][0]);
  };
}

template <class Loss>
Eigen::VectorXd by_tape(const Loss& loss, const Eigen::VectorXd& x) {
  double value = 0;
  Eigen::VectorXd g;
  agrad::gradient(loss, x, value, g);
  return g;
}
template <int N, class Loss>
Eigen::VectorXd by_duals(const Loss& loss, const Eigen::VectorXd& x) {
  vector_of<dual<double, N>> along(N);
  for (int i = 0; i < N; ++i) along[i] = dual<double, N>(x[i]), along[i].tangent[static_cast<std::size_t>(i)] = 1;
  const dual<double, N> y = loss(along);
  return Eigen::Map<const Eigen::VectorXd>(y.tangent.data(), N);
}

void check_near(const Eigen::VectorXd& found, const Eigen::VectorXd& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (Eigen::Index i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == Approx(expected[i]).epsilon(tolerance));
  }
}

}  // namespace

TEST_CASE("hosts: times move in duals as on the tape") {
  Eigen::VectorXd x(5), exact(5);
  x << 1.3, 0.2, 0.9, 1.7, 0.8;
  const double a = 2 * x[0] * x[0] * std::exp(-2 * x[4] * (x[2] - x[1])),
               b = 2 * x[0] * x[0] * std::exp(-2 * x[4] * (x[3] - x[1]));
  exact << (a + b) / x[0], x[4] * (a + b), -x[4] * a, -x[4] * b, -(x[2] - x[1]) * a - (x[3] - x[1]) * b;
  const auto check = [&](const auto& solve, double tolerance) {
    const auto loss = loss_by(solve);
    check_near(by_tape(loss, x), exact, tolerance);
    check_near(by_duals<5>(loss, x), exact, tolerance);
  };
  for (const auto method : {ode_one_step_method::tsit5, ode_one_step_method::rodas5p, ode_one_step_method::automatic})
    check([=](const auto&... all) { return agrad::ode_solve(tight(), method, decay(), all...); }, 1e-8);
  check([](const auto& y0, const auto& t0, const auto& times,
           const auto& k) { return agrad::ode_bdf_tol(decay(), y0, t0, times, 1e-10, 1e-11, 100000, k); },
        1e-6);
  check([](const auto&... all) { return agrad::ode_solve(tight_adjoint(), decay(), all...); }, 1e-6);
}

TEST_CASE("hosts: times of a recorded right-hand side have second derivatives") {
  const auto f = agrad::recorded([](const auto&, const auto& y, const auto& k) { return (-k * y).eval(); });
  const auto last = [&](const auto& x) {  // of y0, t0, the output time, k
    using scalar = scalar_of<decltype(x)>;
    const vector_of<scalar> y0 = x.head(1);
    return agrad::ode_solve(tight(), ode_one_step_method::tsit5, f, y0, scalar(x[1]), std::vector<scalar>{x[2]},
                            scalar(x[3]))[0][0];
  };
  Eigen::VectorXd x(4), g;
  x << 1.3, 0.2, 0.9, 0.8;
  const double d = x[2] - x[1], k = x[3], y = x[0] * std::exp(-k * d);
  const Eigen::Vector4d slope(1 / x[0], k, -k, -d);  // of log y, whose second derivatives are those of 1 / y0 and of k (t - t0)
  Eigen::MatrixXd exact = y * slope * slope.transpose(), H;
  exact(0, 0) -= y / (x[0] * x[0]);
  exact(1, 3) += y, exact(3, 1) += y, exact(2, 3) -= y, exact(3, 2) -= y;
  double value = 0;
  agrad::hessian(last, x, value, g, H);
  CHECK(value == Approx(y).epsilon(1e-9));
  CHECK((g - y * slope).norm() < 1e-8);
  CHECK((H - exact).norm() < 1e-7);
}

TEST_CASE("hosts: doses and events pass duals, and doses second derivatives") {
  const agrad::ode_event event{[](const auto&, const auto& y, const auto&) { return y[0] - 0.5; },
                               [](const auto& t, const auto& y, const auto& k) { return (y * (1.0 + k) + t * y).eval(); }};
  const auto loss_of = [](const auto& events) {
    return [events](const auto& x) {  // of y0, t0, an output time, k, time and amount of a bolus, and all of an infusion
      using scalar = scalar_of<decltype(x)>;
      const vector_of<scalar> y0 = x.head(1);
      const std::vector<agrad::ode_dose<scalar>> doses{{x[4], 0, x[5]}, {x[6], 0, x[7], x[8]}};
      const auto s = agrad::ode_solve_events(tight(), ode_one_step_method::tsit5, doses, events, {}, decay(), y0, scalar(x[1]),
                                             std::vector<scalar>{x[2]}, scalar(x[3]));
      scalar sum = s.states[0][0] * s.states[0][0];
      for (const auto& each : s.event_times)
        for (const auto& t : each) sum += t * t;
      for (const auto& each : s.event_states)
        for (const auto& y : each) sum += y[0];
      return sum;
    };
  };
  Eigen::VectorXd x(9);
  x << 0.7, 0.0, 1.9, 1.1, 0.9, 0.25, 1.2, 0.4, 0.5;
  const auto with_event = loss_of(std::tuple{event});
  check_near(by_duals<9>(with_event, x), by_tape(with_event, x), 1e-9);
  check_near(by_duals<9>(loss_of(std::tuple<>()), x), by_tape(loss_of(std::tuple<>()), x), 1e-9);

  const auto doses_alone = [&](const auto& p) {  // of y0, k, both amounts
    using scalar = scalar_of<decltype(p)>;
    const vector_of<scalar> y0 = p.head(1);
    const std::vector<agrad::ode_dose<scalar, double>> doses{{0.9, 0, p[2]}, {1.2, 0, p[3], 0.5}};
    const auto s = agrad::ode_solve_events(tight(), ode_one_step_method::tsit5, doses, std::tuple<>(), {}, decay(), y0, 0.0,
                                           {1.9}, scalar(p[1]));
    return scalar(s.states[0][0]);
  };
  const auto closed = [](const auto& p) {
    using std::exp;
    const auto& k = p[1];
    return p[0] * exp(-1.9 * k) + p[2] * exp(-1.0 * k) + p[3] / (0.5 * k) * (exp(-0.2 * k) - exp(-0.7 * k));
  };
  Eigen::VectorXd p(4), g, g_closed;
  p << 0.7, 1.1, 0.25, 0.4;
  Eigen::MatrixXd H, H_closed;
  double value = 0, expected = 0;
  agrad::hessian(doses_alone, p, value, g, H);
  agrad::hessian([&](const auto& q) { return scalar_of<decltype(q)>(closed(q)); }, p, expected, g_closed, H_closed);
  CHECK(value == Approx(expected).epsilon(1e-9));
  CHECK((g - g_closed).norm() < 1e-8);
  CHECK((H - H_closed).norm() < 1e-7);
  const auto second = [&] {
    Eigen::VectorXd at = x;
    agrad::hessian(with_event, at, value, g, H);
  };
  CHECK(message_of(second).find("has first derivatives only") != std::string::npos);
}

TEST_CASE("hosts: events of callables have second derivatives where the right-hand side is recorded") {
  const auto f = agrad::recorded([](const auto&, const auto& y, const auto& k) { return (-k * y).eval(); });
  const agrad::ode_event event{[](const auto&, const auto& y, const auto&) { return y[0] - 0.5; },
                               [](const auto& t, const auto& y, const auto& k) { return (y * (1.0 + k) + t * y).eval(); }};
  for (const auto method : {ode_one_step_method::tsit5, ode_one_step_method::rodas5p}) {
    const auto loss = [&](const auto& x) {  // of y0, t0, the output time, k
      using scalar = scalar_of<decltype(x)>;
      const vector_of<scalar> y0 = x.head(1);
      const std::vector<agrad::ode_dose<double, double>> none;
      const auto s = agrad::ode_solve_events(tight(), method, none, std::tuple{event}, {}, f, y0, scalar(x[1]),
                                             std::vector<scalar>{x[2]}, scalar(x[3]));
      return scalar(s.states[0][0] * s.event_times[0][0] + s.event_states[0][0][0]);
    };
    const auto closed = [](const auto& x) {
      const auto hit = scalar_of<decltype(x)>(x[1] + log(2.0 * x[0]) / x[3]);
      return scalar_of<decltype(x)>(0.5 * (1.0 + x[3] + hit) * exp(-x[3] * (x[2] - hit)) * hit + 0.5);
    };
    Eigen::VectorXd x(4), g, g_closed;
    x << 0.7, 0.1, 0.8, 1.1;
    Eigen::MatrixXd H, H_closed;
    double value = 0, expected = 0;
    agrad::hessian(loss, x, value, g, H);
    agrad::hessian(closed, x, expected, g_closed, H_closed);
    CHECK(value == Approx(expected).epsilon(1e-9));
    CHECK((g - g_closed).norm() < 1e-8);
    CHECK((H - H_closed).norm() < 1e-7);
  }
}

TEST_CASE("hosts: the times of a differential-algebraic system are variables and duals") {
  const auto loss = [](const auto& x) {  // of y0, t0, the output time, k
    using scalar = scalar_of<decltype(x)>;
    vector_of<scalar> y0(2);
    y0 << x[0], 1.0;
    const auto y = agrad::dae_adjoint_tol(decay_and_square(), y0, Eigen::VectorXd::Zero(2), scalar(x[1]),
                                          std::vector<scalar>{x[2]}, 1e-9, 1e-10, 100000, scalar(x[3]));
    return scalar(y[0][1]);
  };
  Eigen::VectorXd x(4);
  x << 1.3, 0.2, 0.9, 0.8;
  const double d = x[2] - x[1], k = x[3], y1 = x[0] * x[0] * std::exp(-2 * k * d);
  const Eigen::VectorXd exact = y1 * Eigen::Vector4d(2 / x[0], 2 * k, -2 * k, -2 * d);
  check_near(by_tape(loss, x), exact, 1e-6);
  check_near(by_duals<4>(loss, x), exact, 1e-6);
}

}  // namespace test_hosts
