// Residuals that jump at known times: values and gradients against closed forms and differences, and the times' own
// derivatives.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dae_systems.hpp"

namespace test_dae_stops {

using agrad::dae_options;
using agrad::dae_sensitivities;
using agrad::dae_solver;
using agrad::DomainError;
using agrad::SolverError;
using agrad::var;
using namespace dae_systems;
using doctest::Approx;

namespace {

constexpr dae_sensitivities ways[] = {dae_sensitivities::adjoint, dae_sensitivities::forward};
const Eigen::VectorXd none2 = Eigen::VectorXd::Zero(2);

/// y0' = -k0 y0 and y1 = k1 y0^2, until `on`; then y0' = -2 k0 y0 and y1^3 = -k1 y0.
struct switched {
  double on;
  template <class Y, class K>
  auto operator()(double t, const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) const {
    result<Y, K> r(2);
    r[0] = yp[0] + (t < on ? 1.0 : 2.0) * k[0] * y[0];
    if (t < on)
      r[1] = y[1] - k[1] * y[0] * y[0];
    else
      r[1] = y[1] * y[1] * y[1] + k[1] * y[0];
    return r;
  }
};

/// A pendulum that is pulled to the side, too, between two times: its tension jumps at both.
struct pulled {
  double from, to;
  template <class Y, class P>
  auto operator()(double t, const vector_of<Y>& s, const vector_of<Y>& sp, const P& p) const {
    const double on = t < from || t >= to ? 0.0 : 1.0;
    result<Y, P> r(5);
    r[0] = sp[0] - s[2];
    r[1] = sp[1] - s[3];
    r[2] = sp[2] + s[4] * s[0] - on * p[1];
    r[3] = sp[3] + s[4] * s[1] + p[0];
    r[4] = s[2] * s[2] + s[3] * s[3] - p[0] * s[1] + on * p[1] * s[0] - s[4] * (s[0] * s[0] + s[1] * s[1]);
    return r;
  }
};

dae_options with(dae_options o, std::vector<double> stops, dae_sensitivities way = dae_sensitivities::adjoint) {
  o.tstops = std::move(stops), o.sensitivities = way;
  return o;
}
double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / b.norm(); }

}  // namespace

TEST_CASE("an algebraic state jumps, the differential one has a corner: values and gradients in closed form") {
  const double a = 2, k = 0.5, c = 3;
  for (const dae_sensitivities way : ways) {
    const agrad::scope own;
    const vector_of<var> y0 = vec(a, 0.3).cast<var>(), p = vec(k, c).cast<var>();
    const auto y = agrad::dae_solve(with(options(2, 1e-10), {1.0}, way), switched{1}, y0, none2, 0.0, {0.5, 1.0, 2.0}, p);
    CHECK(y[0][1].val() == Approx(c * a * a * std::exp(-k)).epsilon(1e-8));
    CHECK(y[1][0].val() == Approx(a * std::exp(-k)).epsilon(1e-8));
    CHECK(y[1][1].val() == Approx(-std::cbrt(c * a * std::exp(-k))).epsilon(1e-8));  // behind the jump
    CHECK(y[2][0].val() == Approx(a * std::exp(-3 * k)).epsilon(1e-8));
    var loss = y[0][1] + y[1][1] * y[1][1] * y[1][1] + 2 * y[2][0];  // c a^2 e^-k - c a e^-k + 2 a e^-3k
    loss.grad();
    CHECK(y0[0].adj() == Approx(2 * c * a * std::exp(-k) - c * std::exp(-k) + 2 * std::exp(-3 * k)).epsilon(1e-8));
    CHECK(y0[1].adj() == 0);
    CHECK(p[0].adj() == Approx(-(c * a * a - c * a) * std::exp(-k) - 6 * a * std::exp(-3 * k)).epsilon(1e-8));
    CHECK(p[1].adj() == Approx((a * a - a) * std::exp(-k)).epsilon(1e-8));
  }
}

TEST_CASE("a source behind a capacitor that is switched: the differential quantity is a combination of states") {
  const auto circuit = [](double t, const auto& v, const auto& vp, const auto& p) {
    auto r = room_for(2, v, p);
    const auto source = (t < 0.7 ? 1.0 : -2.0) * p[3];
    r[0] = p[2] * (vp[0] - vp[1]) + (v[0] - source) / p[0];
    r[1] = p[2] * (vp[1] - vp[0]) + v[1] / p[1];
    return r;
  };
  const Eigen::VectorXd p = vec(2.0, 3.0, 0.5, 1.5), v0 = vec(1.0, 0.4);
  const std::vector<double> times{0.0, 0.5, 0.7, 2.5};
  const dae_options tight = with(options(2, 1e-12), {0.7});
  const auto v = agrad::dae_solve(tight, circuit, v0, none2, 0.0, times, p);
  const double u = 1.5 + (0.6 - 1.5) * std::exp(-0.7 / 2.5);  // v0 - v1 at the switch
  CHECK(v[2][0] - v[2][1] == Approx(u).epsilon(1e-9));
  CHECK(v[2][1] == Approx((-3 - u) * 3 / 5).epsilon(1e-9));
  CHECK(v[3][0] - v[3][1] == Approx(-3 + (u + 3) * std::exp(-1.8 / 2.5)).epsilon(1e-9));
  for (const dae_sensitivities way : ways) {
    const gradients g = gradients_of(with(options(2, 1e-10), {0.7}, way), circuit, v0, none2, times, p);
    const auto by_p = [&](const Eigen::VectorXd& x) { return value_of(tight, circuit, v0, none2, times, x); };
    const auto by_v = [&](const Eigen::VectorXd& x) { return value_of(tight, circuit, x, none2, times, p); };
    CHECK(distance(g.p, differences(by_p, p, 1e-4)) < 1e-7);
    CHECK(distance(g.y0, differences(by_v, v0, 1e-2)) < 1e-7);
  }
}

TEST_CASE("a pendulum that is pulled for a while: adjoint, forward and differences are one gradient") {
  const Eigen::VectorXd p = vec(9.81, 4.0), s0 = vec(0.6, -0.8, 0.0, 0.0, 0.0), none = Eigen::VectorXd::Zero(5);
  const std::vector<double> times{0.0, 0.3, 0.4, 0.7, 1.0};
  const pulled f{0.4, 0.75};
  const dae_options tight = with(options(5, 1e-12), {0.75, 0.4});
  const auto s = agrad::dae_solve(tight, f, s0, none, 0.0, times, p);
  CHECK(s[4].head(2).norm() == Approx(1).epsilon(1e-9));
  const auto by_p = [&](const Eigen::VectorXd& x) { return value_of(tight, f, s0, none, times, x); };
  const auto by_s = [&](const Eigen::VectorXd& x) { return value_of(tight, f, x, none, times, p); };
  const Eigen::VectorXd of_p = differences(by_p, p, 1e-4), of_s = differences(by_s, s0, 1e-4);
  for (const dae_sensitivities way : ways) {
    const gradients g = gradients_of(with(options(5, 1e-10), {0.75, 0.4}, way), f, s0, none, times, p);
    CHECK(distance(g.p, of_p) < 1e-6);
    CHECK(distance(g.y0, of_s) < 1e-6);
  }
}

TEST_CASE("times at which the residual jumps have derivatives: of two, of one that is an output, of one that is given twice") {
  for (const dae_sensitivities way : ways) {
    const Eigen::VectorXd p = vec(0.5, 3.0), start = vec(2.0, 12.0);
    switched f{0.8};
    agrad::detail::functor_dae<switched, Eigen::VectorXd> system("stops", f, 2, p);
    dae_solver solver("stops", system, with(options(2, 1e-10), {}, way), {true, false, true, true, true});
    Eigen::MatrixXd seeds = Eigen::MatrixXd::Zero(4, 2);
    seeds(0, 0) = 1, seeds(0, 1) = 10;
    const Eigen::MatrixXd y = solver.integrate(start, none2, 0, {0.8, 2.0}, {3.0, 0.8, 0.8});
    const double first = 2 * std::exp(-0.5 * 0.8), last = 2 * std::exp(-0.5 * 0.8 - 1.2);
    CHECK(y(0, 0) == Approx(first).epsilon(1e-8));
    CHECK(y(0, 1) == Approx(last).epsilon(1e-8));
    const agrad::dae_gradient g = solver.reverse(seeds);
    CHECK(g.stops[2] == Approx(0.5 * first + 10 * 0.5 * last).epsilon(1e-7));  // -k y0 before, -2 k y0 after it
    CHECK(g.stops.head(2).norm() == 0);
    CHECK(g.times[0] == Approx(-1.0 * first).epsilon(1e-7));
    CHECK(g.times[1] == Approx(-10.0 * last).epsilon(1e-7));
    CHECK(g.initial_time == Approx(0.5 * (first + 10 * last)).epsilon(1e-7));
    CHECK(g.initial_time + g.times.sum() + g.stops.sum() == Approx(0).scale(1).epsilon(1e-6));
  }
}

TEST_CASE("stops that do not count, and a solver that is used again without any") {
  const Eigen::VectorXd p = vec(0.5, 3.0), y0 = vec(2.0, 0.0);
  const std::vector<double> times{0.0, 1.0, 2.0};
  const auto run = [&](std::vector<double> stops) {
    return agrad::dae_solve(with(options(2, 1e-8), std::move(stops)), switched{1}, y0, none2, 0.0, times, p);
  };
  const auto once = run({1.0}), more = run({1.0, -1.0, 0.0, 2.0, 7.0, 1.0});
  for (std::size_t k = 0; k < times.size(); ++k) CHECK(once[k] == more[k]);
  agrad::detail::functor_dae<square, Eigen::VectorXd> system("stops", square{}, 2, p);
  dae_solver solver("stops", system, options(2, 1e-8), {});
  const Eigen::MatrixXd plain = solver.integrate(y0, none2, 0, times);
  const Eigen::MatrixXd stopped = solver.integrate(y0, none2, 0, times, {0.5, std::nextafter(0.5, 1.0), 1.5});
  CHECK((stopped - plain).norm() < 1e-6 * plain.norm());
  CHECK(solver.integrate(y0, none2, 0, times) == plain);
}

TEST_CASE("faults at stops name their time") {
  const auto lost = [](double t, const auto& y, const auto& yp, const auto& k) {  // y1^2 = -1 from t = 1 on
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0] * y[0], r[1] = y[1] * y[1] - (t < 1 ? 1.0 : -1.0);
    return r;
  };
  const auto message = [&](const std::vector<double>& stops) {
    try {
      agrad::dae_solve(with(options(2, 1e-8), stops), lost, vec(1.0, 1.0), none2, 0.0, {2.0}, vec(0.5));
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(message({1.0}).find("dae_solve: no consistent values were found at t = 1; the residual of equation 1 is ") == 0);
  CHECK(message({0.5, std::numeric_limits<double>::quiet_NaN()}) == "dae_solve: tstops[1] is nan, but must be finite");
}

}  // namespace test_dae_stops
