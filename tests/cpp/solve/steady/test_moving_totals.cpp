// Conserved totals whose coefficients depend on parameters: values, derivatives by every way, and where none exist.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_moving_totals {

using agrad::dual;
using agrad::scope;
using agrad::steady_state;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

/// Concentrations in two compartments of volumes p[0] and p[1], and a flow p[2]: the total amount is conserved, and at rest
/// both are (p0 y0 + p1 y1) / (p0 + p1).
struct compartments {
  template <class T, class Y, class P>
  auto operator()(const T&, const Y& y, const P& p) const {
    using scalar = agrad::promoted_t<T, Y, P>;
    const scalar flow = p[2] * (y[0] - y[1]);
    vector_of<scalar> dy(2);
    dy[0] = -flow / p[0];
    dy[1] = flow / p[1];
    return dy;
  }
};

/// Two pairs of compartments, one 1e9 times as fast, with nonlinear flows; the volumes of the second ones are p[0] and p[1].
struct fast_and_slow {
  template <class Y, class P>
  auto operator()(double, const Y& y, const P& p) const {
    using scalar = agrad::promoted_t<Y, P>;
    const scalar fast = 1e9 * (y[0] * y[0] - y[1] * y[1]), slow = y[2] * y[2] - y[3] * y[3];
    vector_of<scalar> dy(4);
    dy[0] = -fast;
    dy[1] = fast / p[0];
    dy[2] = -slow;
    dy[3] = slow / p[1];
    return dy;
  }
};

/// a <-> b with rates p[0] and p[1], and a loss p[2] of a: at rest a = (a0 + b0) p1 / (p0 + p1) without a loss, else 0.
struct leaking {
  template <class Y, class P>
  auto operator()(double, const Y& y, const P& p) const {
    vector_of<agrad::promoted_t<Y, P>> dy(2);
    dy[0] = p[1] * y[1] - p[0] * y[0] - p[2] * y[0];
    dy[1] = p[0] * y[0] - p[1] * y[1];
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

}  // namespace

TEST_CASE("a total whose coefficients are parameters: values and gradients") {
  const double V = 2, W = 5, a = 3, b = 1, sum = V + W, rest = (V * a + W * b) / sum;
  const Eigen::VectorXd plain = steady_state(compartments{}, Eigen::Vector2d(a, b), Eigen::Vector3d(V, W, 0.7));
  CHECK(plain[0] == Approx(rest).epsilon(1e-12));
  const auto check = [&](const auto& f) {
    const scope own;
    const auto y0 = vector<var>({a, b});
    const auto p = vector<var>({V, W, 0.7});
    const auto y = steady_state(f, y0, p);
    for (int i = 0; i < 2; ++i) {
      CHECK(y[i].val() == Approx(rest).epsilon(1e-12));
      y[i].grad();
      CHECK(y0[0].adj() == Approx(V / sum).epsilon(1e-10));
      CHECK(y0[1].adj() == Approx(W / sum).epsilon(1e-10));
      CHECK(p[0].adj() == Approx((a - rest) / sum).epsilon(1e-10));
      CHECK(p[1].adj() == Approx((b - rest) / sum).epsilon(1e-10));
      CHECK(std::abs(p[2].adj()) < 1e-12);
    }
    auto along = vector<dual<double, 2>>({V, W, 0.7});
    auto from = vector<dual<double, 2>>({a, b});
    along[0].tangent[0] = 1, along[1].tangent[1] = 1, from[0].tangent[1] = 2;
    const auto z = steady_state(f, from, along);
    CHECK(z[1].tangent[0] == Approx((a - rest) / sum).epsilon(1e-10));
    CHECK(z[1].tangent[1] == Approx((b - rest + 2 * V) / sum).epsilon(1e-10));
  };
  check(compartments{});
  check(agrad::recorded(compartments{}));
}

TEST_CASE("totals of rates that differ by nine orders of magnitude") {
  const double v = 2, w = 4;
  const scope own;
  const auto p = vector<var>({v, w});
  const auto y = steady_state(fast_and_slow{}, Eigen::Vector4d(3, 1, 1, 3), p);  // (y0 + v y1) / (1 + v) of each pair
  CHECK(y[0].val() == Approx(5.0 / 3).epsilon(1e-10));
  CHECK(y[3].val() == Approx(13.0 / 5).epsilon(1e-10));
  y[0].grad();
  CHECK(p[0].adj() == Approx((1 - 3) / ((1 + v) * (1 + v))).epsilon(1e-8));
  CHECK(std::abs(p[1].adj()) < 1e-8);
  y[3].grad();
  CHECK(p[1].adj() == Approx((3 - 1) / ((1 + w) * (1 + w))).epsilon(1e-8));
  CHECK(std::abs(p[0].adj()) < 1e-8);
}

TEST_CASE("a total that exists at one value of a parameter has no derivative there, and one by the others") {
  const std::string message =
      "steady_state: parameters[2] is at a value where a total is conserved, but must be one near which the system conserves "
      "the same totals; the steady state jumps here and has no derivative; leave the parameter out of the derivatives, or "
      "differentiate solve_ivp up to a late time";
  const Eigen::Vector2d y0(5, 0);
  CHECK(steady_state(leaking{}, y0, Eigen::Vector3d(1, 3, 0))[0] == Approx(3.75).epsilon(1e-12));
  const scope own;
  const auto p = vector<var>({1, 3, 0});
  const auto y = steady_state(leaking{}, y0, p);
  CHECK(y[0].val() == Approx(3.75).epsilon(1e-12));
  CHECK(message_of([&] { y[0].grad(); }) == message);
  const auto passive = [](double t, const auto& s, const auto& k) {
    vector_of<std::decay_t<decltype(k[0])>> all(3);
    all[0] = k[0], all[1] = k[1], all[2] = 0.0;
    return leaking{}(t, s, all);
  };
  const auto k = vector<var>({1, 3});
  steady_state(passive, y0, k)[0].grad();
  CHECK(k[0].adj() == Approx(-5.0 * 3 / 16).epsilon(1e-10));
  CHECK(k[1].adj() == Approx(5.0 / 16).epsilon(1e-10));
  auto along = vector<dual<double, 1>>({1, 3, 0});
  along[1].tangent[0] = 1;
  CHECK(steady_state(leaking{}, y0, along)[0].tangent[0] == Approx(5.0 / 16).epsilon(1e-10));
  along[2].tangent[0] = 1;
  CHECK(message_of([&] { steady_state(leaking{}, y0, along); }) == message);
}

TEST_CASE("second derivatives are refused where totals depend on parameters") {
  const auto amount = [](const auto& p) { return steady_state(compartments{}, Eigen::Vector2d(3, 1), p)[0]; };
  double value = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  CHECK(message_of([&] { agrad::hessian(amount, Eigen::Vector3d(2, 5, 0.7), value, gradient, hessian); }) ==
        "steady_state: the coefficients of a conserved total depend on a parameter, and such steady states have first "
        "derivatives only; write the right-hand side in amounts, whose totals are sums");
}

}  // namespace test_moving_totals
