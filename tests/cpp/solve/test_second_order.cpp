// Second derivatives through solves: Hessians in closed form and against differences of gradients, of plain and of recorded
// right-hand sides, by every one-step method.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/reaction.hpp"
#include "solve/systems.hpp"

namespace test_second_order {

using agrad::ode_one_step_method;
using agrad::recorded;
using agrad::var;
using agrad::vector_of;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using systems::message_of;
using systems::reaction;
using systems::steps_of;

namespace {

template <class X>
using scalar_of = typename std::decay_t<X>::Scalar;

using forced = reaction<true>;
using resting = reaction<false>;

/// A loss of the initial states and rates, n each, through a method with given options.
template <class F>
struct loss_of {
  F f;
  agrad::step_options options;
  ode_one_step_method method;
  std::vector<double> times;
  Index n;

  template <class X>
  auto operator()(const X& x) const {
    const vector_of<scalar_of<X>> y0 = x.head(n), p = x.tail(n);
    const auto y = agrad::ode_solve(options, method, f, y0, 0.0, times, p);
    scalar_of<X> loss = 0;
    for (const auto& each : y) loss += each.squaredNorm() + each[0] * p[n - 1];
    return loss;
  }
};
template <class F>
loss_of<F> loss_by(const F& f, ode_one_step_method method, Index n, const std::vector<double>& times) {
  agrad::step_options options;  // the same steps of 0.25 whatever the arguments
  options.states.relative = 1e6;
  options.states.absolute = VectorXd::Constant(n, 1e6);
  options.first_step = options.max_step = 0.25;
  return {f, options, method, times, n};
}

VectorXd point_of(Index n) {
  VectorXd x(2 * n);
  x << VectorXd::LinSpaced(n, 0.3, 0.9), VectorXd::LinSpaced(n, 0.5, 1.7);
  return x;
}

struct second {
  double value = 0;
  VectorXd g;
  MatrixXd H;
};
template <class Loss>
second hessian_of(const Loss& loss, const VectorXd& x) {
  second s;
  agrad::hessian(loss, x, s.value, s.g, s.H);
  return s;
}
template <class Loss>
VectorXd gradient_of(const Loss& loss, const VectorXd& x) {
  double value = 0;
  VectorXd g;
  agrad::gradient(loss, x, value, g);
  return g;
}

/// Central differences of the gradient, extrapolated once.
template <class Loss>
MatrixXd differences(const Loss& loss, const VectorXd& x) {
  const auto at = [&](Index j, double h) {
    VectorXd up = x, down = x;
    up[j] += h, down[j] -= h;
    return VectorXd((gradient_of(loss, up) - gradient_of(loss, down)) / (2 * h));
  };
  MatrixXd H(x.size(), x.size());
  for (Index j = 0; j < x.size(); ++j) H.col(j) = (4 * at(j, 1e-3) - at(j, 2e-3)) / 3;
  return H;
}

double apart(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

/// The solution 2 exp(-0.7 * 1.5) of decay, by any function of the one-step methods, has the derivatives of the closed form.
template <class Solve>
void check_decay(const Solve& solve, double tolerance) {
  const auto last = [&](const auto& x) {
    const vector_of<scalar_of<decltype(x)>> y0 = x.head(1);
    return solve(y0, std::vector<double>{0.5, 1.5}, x[1])[1][0];
  };
  const VectorXd x = Eigen::Vector2d(2.0, 0.7);
  const double t = 1.5, e = std::exp(-0.7 * t);
  const second s = hessian_of(last, x);
  MatrixXd exact(2, 2);
  exact << 0, -t * e, -t * e, t * t * 2 * e;
  CHECK(s.value == doctest::Approx(2 * e).epsilon(tolerance));
  CHECK(apart(s.g, Eigen::Vector2d(e, -t * 2 * e)) < tolerance);
  CHECK(apart(s.H, exact) < tolerance);
  CHECK(hessian_of(last, x).H == s.H);
  const VectorXd v = Eigen::Vector2d(0.3, -1.1);
  double value = 0;
  VectorXd product;
  agrad::hessian_times_vector(last, x, v, value, product);
  CHECK(value == s.value);
  CHECK(apart(product, exact * v) < tolerance);
}

/// y' = -k y for any scalars.
struct decay {
  template <class T, class Y, class K>
  auto operator()(const T&, const Y& y, const K& k) const {
    vector_of<agrad::promoted_t<Y, K>> f(1);
    f[0] = -k * y[0];
    return f;
  }
};

}  // namespace

TEST_CASE("Hessians in closed form, by every function") {
  const auto check = [](const auto& f) {
    const auto by = [&f](const auto& method, double tolerance) {
      check_decay([&](const auto&... arguments) { return method(f, arguments...); }, tolerance);
    };
    by([](const auto& g, const auto& y0, const auto& times,
          const auto& k) { return agrad::ode_tsit5_tol(g, y0, 0.0, times, 1e-12, 1e-12, 10000, k); },
       1e-9);
    by([](const auto& g, const auto& y0, const auto& times,
          const auto& k) { return agrad::ode_rk45_tol(g, y0, 0.0, times, 1e-12, 1e-12, 10000, k); },
       1e-9);
    by([](const auto& g, const auto& y0, const auto& times,
          const auto& k) { return agrad::ode_ckrk_tol(g, y0, 0.0, times, 1e-12, 1e-12, 10000, k); },
       1e-9);
    by([](const auto& g, const auto& y0, const auto& times,
          const auto& k) { return agrad::ode_dop853_tol(g, y0, 0.0, times, 1e-12, 1e-12, 10000, k); },
       1e-9);
    by([](const auto& g, const auto& y0, const auto& times,
          const auto& k) { return agrad::ode_rodas4_tol(g, y0, 0.0, times, 1e-10, 1e-10, 10000, k); },
       1e-7);
    by([](const auto& g, const auto& y0, const auto& times, const auto& k) { return agrad::ode_tsit5(g, y0, 0.0, times, k); },
       1e-4);
  };
  check(decay());
  check(recorded(decay()));
}

TEST_CASE("Hessians are those of the steps taken, at their ends and within them, of plain and of recorded functions") {
  const Index n = 3;
  const VectorXd x = point_of(n);
  for (const auto& times : {std::vector<double>{0.5, 1.5}, steps_of(0.07, 20)}) {
    for (const auto method : {ode_one_step_method::tsit5, ode_one_step_method::rk45, ode_one_step_method::ckrk,
                              ode_one_step_method::dop853, ode_one_step_method::rodas4}) {
      CAPTURE(times.size());
      CAPTURE(static_cast<int>(method));
      const auto f = recorded(forced());
      const second with_program = hessian_of(loss_by(f, method, n, times), x);
      const second with_duals = hessian_of(loss_by(forced(), method, n, times), x);
      if (method != ode_one_step_method::rodas4) {  // whose differences in time round
        CHECK(apart(with_program.H, differences(loss_by(f, method, n, times), x)) < 1e-8);
        CHECK(apart(with_program.g, gradient_of(loss_by(f, method, n, times), x)) < 1e-11);
      }
      CHECK(with_duals.value == doctest::Approx(with_program.value).epsilon(1e-13));
      CHECK(apart(with_duals.H, with_program.H) < 1e-10);
    }
  }
}

TEST_CASE("more arguments than a Hessian has lanes, and products with one vector") {
  const Index n = 7;
  const VectorXd x = point_of(n), v = VectorXd::LinSpaced(2 * n, -1.0, 2.0);
  for (const auto method : {ode_one_step_method::dop853, ode_one_step_method::rodas4, ode_one_step_method::rodas5p}) {
    CAPTURE(static_cast<int>(method));
    const auto check = [&](const auto& loss) {
      const second s = hessian_of(loss, x);
      const MatrixXd& H = s.H;
      CHECK(apart(H, differences(loss_by(recorded(resting()), method, n, {0.5, 1.25}), x)) < 1e-8);
      double value = 0;
      VectorXd product;
      agrad::hessian_times_vector(loss, x, v, value, product);
      CHECK(apart(product, H * v) < 1e-12);
    };
    check(loss_by(resting(), method, n, {0.5, 1.25}));
    check(loss_by(recorded(resting()), method, n, {0.5, 1.25}));
  }
}

TEST_CASE("a banded Jacobian has its derivatives on the band") {
  const Index n = 5;
  const VectorXd x = point_of(n);
  auto banded = loss_by(resting(), ode_one_step_method::rodas4, n, {0.5, 1.25});
  const MatrixXd dense = hessian_of(banded, x).H;
  banded.options.algebra.bandwidths = agrad::half_bandwidths{1, 1};
  CHECK(apart(hessian_of(banded, x).H, dense) < 1e-12);
}

TEST_CASE("steady states: through conserved totals, of plain and of recorded functions") {
  const auto exchange = [](const auto& t, const auto& y, const auto& k) {  // y0 <-> y1, whose sum stays
    vector_of<agrad::promoted_t<decltype(t), decltype(y), decltype(k)>> f(2);
    f[0] = k[1] * y[1] - k[0] * y[0];
    f[1] = -f[0];
    return f;
  };
  const VectorXd x = Eigen::Vector4d(1.0, 2.0, 0.7, 1.1), v = Eigen::Vector4d(0.3, -0.2, 0.5, 1.0);
  const double total = 3.0, sum = 1.8, k0 = 0.7, k1 = 1.1;  // y0 = total k1 / sum
  Eigen::Vector4d g(k1 / sum, k1 / sum, -total * k1 / (sum * sum), total * k0 / (sum * sum));
  MatrixXd exact = MatrixXd::Zero(4, 4);
  exact.block(0, 2, 2, 1).setConstant(-k1 / (sum * sum));
  exact.block(0, 3, 2, 1).setConstant(k0 / (sum * sum));
  exact(2, 2) = 2 * total * k1 / std::pow(sum, 3), exact(3, 3) = -2 * total * k0 / std::pow(sum, 3);
  exact(2, 3) = total * (k1 - k0) / std::pow(sum, 3);
  exact.triangularView<Eigen::StrictlyLower>() = exact.transpose();
  const auto check = [&](const auto& f) {
    const auto first = [&](const auto& at) {
      using S = scalar_of<decltype(at)>;
      return agrad::steady_state(f, vector_of<S>(at.head(2)), vector_of<S>(at.tail(2)))[0];
    };
    const second s = hessian_of(first, x);
    CHECK(s.value == doctest::Approx(total * k1 / sum).epsilon(1e-10));
    CHECK(apart(s.g, g) < 1e-9);
    CHECK(apart(s.H, exact) < 1e-9);
    double value = 0, slope = 0;
    VectorXd product;
    agrad::hessian_times_vector(first, x, v, value, product);
    CHECK(apart(product, exact * v) < 1e-9);
    agrad::gradient_dot_vector(first, x, v, value, slope);
    CHECK(slope == doctest::Approx(g.dot(v)).epsilon(1e-9));
  };
  check(exchange);
  check(recorded(exchange));
}

TEST_CASE("through the change to a stiff method") {
  const auto van_der_pol = [](const auto& t, const auto& y, const auto& p) {
    vector_of<agrad::promoted_t<decltype(t), decltype(y), decltype(p)>> f(2);
    f[0] = y[1];
    f[1] = p[0] * ((1.0 - y[0] * y[0]) * y[1]) - p[1] * y[0];
    return f;
  };
  const VectorXd x = Eigen::Vector4d(2.0, 0.1, 100.0, 1.0);
  const auto by = [&](const auto& f, ode_one_step_method method) {
    auto loss = loss_by(f, method, 2, {0.01, 5.0, 20.0, 60.0});
    loss.options.states.relative = 1e-9;
    loss.options.states.absolute.setConstant(1e-9);
    loss.options.first_step = 0;
    loss.options.max_step = std::numeric_limits<double>::infinity();
    return hessian_of(loss, x).H;
  };
  const MatrixXd changed = by(recorded(van_der_pol), ode_one_step_method::automatic);
  CHECK(apart(by(van_der_pol, ode_one_step_method::automatic), changed) < 1e-9);
  CHECK(apart(by(recorded(van_der_pol), ode_one_step_method::rodas4), changed) < 1e-5);
}

TEST_CASE("a method without second derivatives of a function says so before it solves") {
  const auto by_sum = [](const auto&, const auto& y, const auto& p) {  // its Jacobian has more entries than a program should
    auto sum = y[0] * 1.0;
    for (Index i = 1; i < y.size(); ++i) sum = sum + y[i];
    vector_of<agrad::promoted_t<decltype(sum), decltype(p[0])>> f(y.size());
    for (Index i = 0; i < y.size(); ++i) f[i] = -sum * p[i];
    return f;
  };
  const VectorXd x = point_of(60);
  for (const auto method : {ode_one_step_method::rodas4, ode_one_step_method::automatic})
    CHECK(message_of([&] { hessian_of(loss_by(recorded(by_sum), method, 60, {1.0}), x); }) ==
          "ode_solve: has first derivatives only with this method and right-hand side, but must have more; tsit5, rk45, ckrk, "
          "dop853, rodas4, rodas5p, automatic and steady states have second derivatives of every f that is not recorded, "
          "and those with respect to times need a recorded f");
}

}  // namespace test_second_order
