// Derivatives that occur in combinations whose coefficients are parameters: gradients through a corrected start and through
// jumps, against closed forms and differences.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dae_systems.hpp"

namespace test_dae_combinations {

using agrad::dae_initial;
using agrad::dae_options;
using agrad::dae_sensitivities;
using agrad::DomainError;
using namespace dae_systems;
using doctest::Approx;

namespace {

constexpr dae_sensitivities ways[] = {dae_sensitivities::adjoint, dae_sensitivities::forward};
const Eigen::VectorXd none2 = Eigen::VectorXd::Zero(2);

/// Two capacitors c0 and c1, joined by a source that jumps from 0 to 1 at the time `on`, with a resistor of `ohm`.
/// c0 v0 + c1 v1 is kept at the jump.
struct joined_capacitors {
  double on, ohm;
  template <class Y, class P>
  auto operator()(double t, const vector_of<Y>& v, const vector_of<Y>& vp, const P& c) const {
    result<Y, P> r(2);
    r[0] = c[0] * vp[0] + c[1] * vp[1] + v[0] / ohm;
    r[1] = v[0] - v[1] - (t < on ? 0.0 : 1.0);
    return r;
  }
};

/// A residual that is not linear in the combination p0 y0' + p1 y1', with y1 = p2 y0^2, to which p3 is added at t = 0.5.
struct curved {
  template <class Y, class P>
  auto operator()(double t, const vector_of<Y>& y, const vector_of<Y>& yp, const P& p) const {
    result<Y, P> r(2);
    const auto rate = p[0] * yp[0] + p[1] * yp[1];
    r[0] = rate + rate * rate * rate + p[2] * y[0];
    r[1] = y[1] - p[2] * y[0] * y[0] - (t < 0.5 ? 0.0 : 1.0) * p[3];
    return r;
  }
};

/// p y0' + y1' = -y0 and y1 = 2 y0, with a term in the first equation that vanishes for y0' below 0.3.
struct cornered {
  template <class Y, class P>
  auto operator()(double, const vector_of<Y>& y, const vector_of<Y>& yp, const P& p) const {
    result<Y, P> r(2);
    r[0] = p[0] * yp[0] + yp[1] + y[0];
    if (yp[0] > 0.3) r[0] += yp[0] - 0.3;
    r[1] = y[1] - 2.0 * y[0];
    return r;
  }
};

dae_options with(dae_options o, std::vector<double> stops, dae_sensitivities way) {
  o.tstops = std::move(stops), o.sensitivities = way;
  return o;
}
double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / b.norm(); }

/// Checks the gradient of v0 at twice the time of the jump, in units in which capacitors are of size `farad`.
void check_capacitors(double farad, double ohm, dae_sensitivities way) {
  const agrad::scope own;
  const double unit = farad * ohm, sum = 5, e = std::exp(-1 / sum);
  vector_of<agrad::var> v0 = vec(1.0, 1.0).cast<agrad::var>(), c = vec(2 * farad, 3 * farad).cast<agrad::var>();
  const auto v =
      agrad::dae_solve(with(options(2, 1e-10), {unit}, way), joined_capacitors{unit, ohm}, v0, none2, 0.0, {unit, 2 * unit}, c);
  CHECK(v[0][0].val() == Approx(e + 3 / sum).epsilon(1e-9));  // after the jump
  agrad::var loss = v[1][0];
  CHECK(loss.val() == Approx(e * (e + 3 / sum)).epsilon(1e-9));
  loss.grad();
  const double both = 2 * e * e / (sum * sum) + 3 * e * (1 / (sum * sum * sum) - 1 / (sum * sum));
  CHECK(farad * c[0].adj() == Approx(both).epsilon(1e-7));
  CHECK(farad * c[1].adj() == Approx(both + e / sum).epsilon(1e-7));
  CHECK(v0[0].adj() / v0[1].adj() == Approx(2.0 / 3).epsilon(1e-9));
}

}  // namespace

TEST_CASE("a corrected start keeps a combination that depends on a parameter") {
  const auto f = [](double, const auto& y, const auto& yp, const auto& p) {
    auto r = room_for(2, y, p);
    r[0] = p[0] * yp[0] + yp[1];
    r[1] = y[1] - 2 * y[0];
    return r;
  };
  for (const dae_sensitivities way : ways)
    for (const double size : {1.0, 1e-9, 1e9}) {
      const agrad::scope own;
      const vector_of<agrad::var> y0 = vec(size, 0.5 * size).cast<agrad::var>(), p = vec(3.0).cast<agrad::var>();
      const auto y = agrad::dae_solve(with(options(2, 1e-10), {}, way), f, y0, none2, 0.0, {0.0, 1.0}, p);
      agrad::var loss = y[0][0] + 2 * y[1][0];  // (p + 0.5) / (p + 2) at both times
      CHECK(loss.val() == Approx(2.1 * size).epsilon(1e-9));
      loss.grad();
      CHECK(p[0].adj() == Approx(0.18 * size).epsilon(1e-9));
      CHECK(y0[0].adj() == Approx(1.8).epsilon(1e-9));
      CHECK(y0[1].adj() == Approx(0.6).epsilon(1e-9));
    }
}

TEST_CASE("capacitors that a source joins: the charge at the jump depends on the capacitors, in any units") {
  for (const dae_sensitivities way : ways) {
    check_capacitors(1, 1, way);
    check_capacitors(1e-12, 1e3, way);
  }
}

TEST_CASE("a residual that is not linear in the combination, with a corrected start and a jump: gradients by differences") {
  const Eigen::VectorXd y0 = vec(1.2, 0.4), p = vec(1.5, 0.8, 0.7, 0.6);
  const std::vector<double> times{0.0, 0.3, 0.5, 1.5};
  const auto by_p = [&](const Eigen::VectorXd& x) {
    return value_of(with(options(2, 1e-12), {0.5}, ways[0]), curved(), y0, none2, times, x);
  };
  const auto by_y = [&](const Eigen::VectorXd& x) {
    return value_of(with(options(2, 1e-12), {0.5}, ways[0]), curved(), x, none2, times, p);
  };
  const Eigen::VectorXd of_p = differences(by_p, p, 1e-2 / 4), of_y = differences(by_y, y0, 1e-2 / 4);
  for (const dae_sensitivities way : ways) {
    const gradients g = gradients_of(with(options(2, 1e-10), {0.5}, way), curved(), y0, none2, times, p);
    CHECK(distance(g.p, of_p) < 1e-7);
    CHECK(distance(g.y0, of_y) < 1e-7);
  }
}

TEST_CASE("given derivatives count as given, also in a combination that depends on a parameter") {
  const auto f = [](double, const auto& y, const auto& yp, const auto& p) {
    auto r = room_for(2, y, p);
    r[0] = p[0] * yp[0] + yp[1] + y[0];
    r[1] = y[1] - p[1] * y[0];
    return r;
  };
  const double p0 = 1.5, p1 = 0.8, end = 0.9, decay = std::exp(-end / (p0 + p1)), begin = -(0.3 * p0 + 0.7);
  for (const dae_sensitivities way : ways) {
    const agrad::scope own;
    dae_options o = with(options(2, 1e-10), {}, way);
    o.initial = dae_initial::derivatives;
    const vector_of<agrad::var> yp0 = vec(0.3, 0.7).cast<agrad::var>(), p = vec(p0, p1).cast<agrad::var>();
    const auto y = agrad::dae_solve(o, f, none2, yp0, 0.0, {0.0, end}, p);
    CHECK(y[0][0].val() == Approx(begin).epsilon(1e-9));
    agrad::var loss = y[1][0];
    CHECK(loss.val() == Approx(begin * decay).epsilon(1e-9));
    loss.grad();
    const double of_decay = begin * decay * end / ((p0 + p1) * (p0 + p1));
    CHECK(p[0].adj() == Approx(-0.3 * decay + of_decay).epsilon(1e-8));
    CHECK(p[1].adj() == Approx(of_decay).epsilon(1e-8));
    CHECK(yp0[0].adj() == Approx(-p0 * decay).epsilon(1e-8));
    CHECK(yp0[1].adj() == Approx(-decay).epsilon(1e-8));
  }
}

TEST_CASE("a null space that is another one at other derivatives has no gradient through a correction") {
  const std::string message = "dae_solve: the null space of dF/dyp at t = 0 differs from the one at t0";
  for (const dae_sensitivities way : ways) {
    const dae_options o = with(options(2, 1e-8), {}, way);
    const auto gradient = [&](const Eigen::VectorXd& y0) { gradients_of(o, cornered(), y0, none2, {0.0, 1.0}, vec(3.0)); };
    CHECK_NOTHROW(value_of(o, cornered(), vec(-4.0, 8.0), none2, {0.0, 1.0}, vec(3.0)));
    CHECK_NOTHROW(gradient(vec(1.0, 2.0)));  // consistent
    CHECK_THROWS_WITH_AS(gradient(vec(-4.0, 8.0)), doctest::Contains(message.c_str()), DomainError);
  }
}

}  // namespace test_dae_combinations
