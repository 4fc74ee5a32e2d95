// Differential-algebraic equations: values and gradients against closed forms, each other, differences and reference values.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <agrad/solve/dae_forward.hpp>

#include "dae_systems.hpp"

namespace test_dae {

using agrad::dae_initial;
using agrad::dae_sensitivities;
using agrad::var;
using namespace dae_systems;
using doctest::Approx;

namespace {

constexpr dae_sensitivities ways[] = {dae_sensitivities::adjoint, dae_sensitivities::forward};
const Eigen::VectorXd none2 = Eigen::VectorXd::Zero(2);

/// y0' = -k y0 and 0 = y1 - k y0^2, with overloads for doubles and variables only.
struct plain {
  Eigen::VectorXd operator()(double, const Eigen::VectorXd& y, const Eigen::VectorXd& yp, double k) const {
    return of(y, yp, k);
  }
  vector_of<var> operator()(double, const vector_of<var>& y, const vector_of<var>& yp, double k) const { return of(y, yp, k); }
  vector_of<var> operator()(double, const Eigen::VectorXd& y, const Eigen::VectorXd& yp, const var& k) const {
    return of(y, yp, k);
  }
  template <class Y, class K>
  static vector_of<agrad::promoted_t<Y, K>> of(const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) {
    vector_of<agrad::promoted_t<Y, K>> r(2);
    r[0] = yp[0] + k * y[0], r[1] = y[1] - k * y[0] * y[0];
    return r;
  }
};

double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / std::max(1e-300, b.norm()); }

}  // namespace

TEST_CASE("dae and dae_tol: closed forms, and errors by name") {
  const double a = 2, k = 0.5, c = 3;
  const agrad::scope own;
  const vector_of<var> y0 = vec(a, 0.3).cast<var>(), p = vec(k, c).cast<var>();
  const auto usual = agrad::dae(square{}, y0, none2, 0.0, {0.0, 1.0}, p);
  const auto loose = agrad::dae_tol(square{}, y0, none2, 0.0, {0.0, 1.0}, 1e-7, 1e-7, 10000, p);
  for (const bool is_usual : {true, false}) {
    const auto& y = is_usual ? usual : loose;
    const double tolerance = is_usual ? 1e-8 : 1e-5, decayed = std::exp(-2 * k);
    CHECK(y[0][1].val() == Approx(c * a * a).epsilon(1e-12));
    CHECK(y[1][0].val() == Approx(a * std::exp(-k)).epsilon(tolerance));
    var(y[1][1] * 1.0).grad();  // c a^2 exp(-2 k)
    CHECK(y0[0].adj() == Approx(2 * c * a * decayed).epsilon(tolerance));
    CHECK(p[0].adj() == Approx(-2 * c * a * a * decayed).epsilon(tolerance));
    CHECK(p[1].adj() == Approx(a * a * decayed).epsilon(tolerance));
  }
  CHECK_THROWS_WITH_AS(agrad::dae(square{}, y0, none2, 0.0, {-1.0}, p), doctest::Contains("dae: "), agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::dae_tol(square{}, y0, none2, 0.0, {1.0}, 0.0, 1e-6, 100, p), doctest::Contains("dae_tol: "),
                       agrad::DomainError);
}

TEST_CASE("an algebraic state at several times, one of them t0: values and gradient in closed form") {
  const double a = 2, k = 0.5, c = 3;
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-10);
    o.sensitivities = way;
    const agrad::scope own;
    const vector_of<var> y0 = vec(a, 0.3).cast<var>(), p = vec(k, c).cast<var>();
    const auto y = agrad::dae_solve(o, square{}, y0, none2, 0.0, {0.0, 1.0, 2.0}, p);
    CHECK(y[0][0].val() == a);
    CHECK(y[0][1].val() == Approx(c * a * a).epsilon(1e-14));
    CHECK(y[2][1].val() == Approx(c * a * a * std::exp(-4 * k)).epsilon(1e-8));
    var loss = y[0][1] + 2 * y[1][1] + y[2][0] * y[2][1];  // c a^2 (1 + 2 e^(-2k)) + c a^3 e^(-6k)
    loss.grad();
    CHECK(y0[0].adj() == Approx(2 * c * a * (1 + 2 * std::exp(-2 * k)) + 3 * c * a * a * std::exp(-6 * k)).epsilon(1e-8));
    CHECK(y0[1].adj() == 0);
    CHECK(p[0].adj() == Approx(-4 * c * a * a * std::exp(-2 * k) - 6 * c * a * a * a * std::exp(-6 * k)).epsilon(1e-8));
    CHECK(p[1].adj() == Approx(a * a * (1 + 2 * std::exp(-2 * k)) + a * a * a * std::exp(-6 * k)).epsilon(1e-8));
  }
}

TEST_CASE("outputs satisfy the algebraic equations to rounding at any tolerance") {
  const auto y = agrad::dae_solve(options(2, 1e-3), square{}, vec(2.0, 0.0), none2, 0.0, {0.5, 3.0}, vec(0.5, 3.0));
  for (const Eigen::VectorXd& at : y) CHECK(at[1] == Approx(3 * at[0] * at[0]).epsilon(1e-13));
}

TEST_CASE("errors of values and gradients fall with the tolerances") {
  double before = 1;
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const agrad::scope own;
    const vector_of<var> p = vec(0.7, 1.5).cast<var>();
    var end = agrad::dae_adjoint_tol(square{}, vec(1.2, 0.0), none2, 0.0, {2.0}, tolerance, tolerance, 100000, p)[0][1];
    end.grad();
    const double exact = -2 * 2 * 1.5 * 1.44 * std::exp(-4 * 0.7), error = std::abs(p[0].adj() - exact);
    CHECK(error < 10 * tolerance);
    CHECK(error < before);
    before = error;
  }
}

TEST_CASE("a mass that depends on the state, with equations in another order than states") {
  const double a = 1.1, k = 0.8, t = 1.7;
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-10);
    o.sensitivities = way;
    const agrad::scope own;
    const vector_of<var> y0 = vec(a, 0.5).cast<var>(), p = vec(k, 1.3).cast<var>();
    var end = agrad::dae_solve(o, heavy{}, y0, none2, 0.0, {0.4, t}, p)[1][0];
    const double y = end.val(), u = (a + a * a * a / 3) * std::exp(-k * t);
    CHECK(y + y * y * y / 3 == Approx(u).epsilon(1e-8));
    end.grad();
    CHECK(p[0].adj() == Approx(-t * u / (1 + y * y)).epsilon(1e-8));
    CHECK(p[1].adj() == 0);
    CHECK(y0[0].adj() == Approx((1 + a * a) * std::exp(-k * t) / (1 + y * y)).epsilon(1e-8));
  }
  const auto sum = [&](const Eigen::VectorXd& p) {
    return value_of(options(2, 1e-11), heavy{}, vec(a, 0.5), none2, {0.4, t}, p);
  };
  const gradients g = gradients_of(options(2, 1e-10), heavy{}, vec(a, 0.5), none2, {0.4, t}, vec(k, 1.3));
  CHECK(distance(g.p, differences(sum, vec(k, 1.3), 1e-3)) < 1e-8);
}

TEST_CASE("a capacitor between two nodes: the differential quantity is a combination of states") {
  const Eigen::VectorXd p = vec(2.0, 3.0, 0.5, 1.5), v0 = vec(1.0, 0.4), times = vec(0.0, 1.0, 2.5);
  const std::vector<double> when(times.data(), times.data() + times.size());
  const auto v = agrad::dae_solve(options(2, 1e-11), capacitor{}, v0, none2, 0.0, when, p);
  for (std::size_t k = 0; k < when.size(); ++k) {
    const double u = 1.5 + (0.6 - 1.5) * std::exp(-when[k] / (5.0 * 0.5));
    CHECK(v[k][0] - v[k][1] == Approx(u).epsilon(1e-9));
    CHECK(v[k][0] == Approx((u + 3.0 / 2.0 * 1.5) / (1 + 3.0 / 2.0)).epsilon(1e-9));
  }
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-10);
    o.sensitivities = way;
    const gradients g = gradients_of(o, capacitor{}, v0, none2, when, p);
    const auto by_p = [&](const Eigen::VectorXd& x) { return value_of(options(2, 1e-12), capacitor{}, v0, none2, when, x); };
    const auto by_v = [&](const Eigen::VectorXd& x) { return value_of(options(2, 1e-12), capacitor{}, x, none2, when, p); };
    CHECK(distance(g.p, differences(by_p, p, 1e-4)) < 1e-7);
    CHECK(distance(g.y0, differences(by_v, v0, 1e-4)) < 1e-7);
    CHECK(g.y0[0] == Approx(-g.y0[1]));  // v0 - v1 is what counts
  }
}

TEST_CASE("Robertson with its conservation law is Robertson") {
  const auto f = [](double, const auto& y, const auto& k) {
    auto dy = room_for(3, y, k);
    dy[0] = -k[0] * y[0] + k[1] * y[1] * y[2];
    dy[2] = k[2] * y[1] * y[1];
    dy[1] = -dy[0] - dy[2];
    return dy;
  };
  const Eigen::VectorXd y0 = vec(1.0, 0.0, 0.0), yp0 = Eigen::VectorXd::Zero(3);
  const std::vector<double> times{0.4, 40.0, 4000.0};
  const auto run = [&](const auto& solve) {
    const agrad::scope own;
    const vector_of<var> k = vec(0.04, 1e4, 3e7).cast<var>();
    const auto y = solve(k);
    for (const auto& at : y) CHECK(std::abs(at[0].val() + at[1].val() + at[2].val() - 1) < 1e-6);
    var loss = y[0][2] + y[1][0] + 1e4 * y[2][1] + y[2][2];
    loss.grad();
    return adjoints(k);
  };
  const Eigen::VectorXd by_ode =
      run([&](const auto& k) { return agrad::ode_adjoint_tol(f, y0, 0.0, times, 1e-10, 1e-12, 1000000, k); });
  const Eigen::VectorXd by_dae =
      run([&](const auto& k) { return agrad::dae_adjoint_tol(robertson{}, y0, yp0, 0.0, times, 1e-9, 1e-12, 1000000, k); });
  CHECK(by_dae.cwiseQuotient(by_ode).array().log().abs().maxCoeff() < 1e-5);
}

TEST_CASE("a pendulum reduced to index 1: adjoint, forward and differences are one gradient") {
  const Eigen::VectorXd p = vec(9.81, 1.0), s0 = vec(0.6, -0.8, 0.0, 0.0, 0.0), none = Eigen::VectorXd::Zero(5);
  const std::vector<double> times{0.0, 0.3, 0.7, 1.0};
  const auto s = agrad::dae_solve(options(5, 1e-10), pendulum{}, s0, none, 0.0, times, p);
  for (const Eigen::VectorXd& at : s) {
    CHECK(at.head(2).norm() == Approx(1).epsilon(1e-7));
    CHECK(at.segment(2, 2).squaredNorm() / 2 + 9.81 * at[1] == Approx(9.81 * -0.8).epsilon(1e-7));
  }
  CHECK(s[0][4] == Approx(9.81 * 0.8));
  // In the length alone: y0 stays where it is, so that it is not consistent with another length.
  const auto by_p = [&](const Eigen::VectorXd& x) { return value_of(options(5, 1e-13), pendulum{}, s0, none, times, x); };
  const auto by_s = [&](const Eigen::VectorXd& x) { return value_of(options(5, 1e-13), pendulum{}, x, none, times, p); };
  const Eigen::VectorXd of_p = differences(by_p, p, 1e-4), of_s = differences(by_s, s0, 1e-4);
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(5, 1e-10);
    o.sensitivities = way;
    const gradients g = gradients_of(o, pendulum{}, s0, none, times, p);
    CHECK(distance(g.p, of_p) < 1e-6);
    CHECK(distance(g.y0, of_s) < 1e-6);
    CHECK(g.y0[4] == 0);
    CHECK(g.yp0.norm() == 0);
  }
}

TEST_CASE("given derivatives: y0 is solved for, and differentiable in them") {
  const auto F = [](double, const auto& y, const auto& yp, const auto& p) {
    auto r = room_for(2, y, p);
    r[0] = yp[0] - p[0] + y[0] * y[0];
    r[1] = y[1] * y[1] - y[0] - p[1];
    return r;
  };
  const std::vector<double> times{0.0, 0.5};
  const Eigen::VectorXd p = vec(2.0, 0.3), guess = vec(1.0, 1.0);
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-10);
    o.initial = dae_initial::derivatives, o.sensitivities = way;
    const auto rest = agrad::dae_solve(o, F, guess, none2, 0.0, times, p);
    CHECK(rest[0][0] == Approx(std::sqrt(2.0)).epsilon(1e-14));
    CHECK(rest[1][1] == Approx(std::sqrt(0.3 + std::sqrt(2.0))).epsilon(1e-8));
    agrad::dae_options tight = options(2, 1e-12);
    tight.initial = dae_initial::derivatives;
    const gradients g = gradients_of(o, F, guess, vec(0.7, 0.0), times, p);
    const auto by_p = [&](const Eigen::VectorXd& x) { return value_of(tight, F, guess, vec(0.7, 0.0), times, x); };
    const auto by_yp = [&](const Eigen::VectorXd& x) { return value_of(tight, F, guess, x, times, p); };
    CHECK(distance(g.p, differences(by_p, p, 5e-3)) < 1e-7);
    CHECK(distance(g.yp0, differences(by_yp, vec(0.7, 0.0), 1e-4)) < 1e-7);
    CHECK(g.y0.norm() == 0);
  }
}

TEST_CASE("given consistent values are kept to the bit, and have the derivatives of computed ones") {
  agrad::dae_options o = options(2, 1e-9);
  o.initial = dae_initial::consistent;
  const Eigen::VectorXd p = vec(0.5, 3.0), y0 = vec(2.0, 12.0), yp0 = vec(-1.0, 0.0);
  CHECK(agrad::dae_solve(o, square{}, y0, yp0, 0.0, {0.0, 1.0}, p)[0] == y0);
  const gradients given = gradients_of(o, square{}, y0, yp0, {0.0, 1.0}, p);
  const gradients computed = gradients_of(options(2, 1e-9), square{}, y0, none2, {0.0, 1.0}, p);
  CHECK(distance(given.p, computed.p) < 1e-8);
  CHECK(distance(given.y0, computed.y0) < 1e-8);
}

TEST_CASE("an algebraic state that starts at zero, where its tolerance is the absolute one alone") {
  const auto shifted = [](double, const auto& y, const auto& yp, const auto& k) {
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0] * y[0], r[1] = y[1] - 1e6 * (y[0] - 1.0);
    return r;
  };
  for (const dae_sensitivities way : ways) {
    for (const double rtol : {1e-3, 1e-6}) {
      agrad::dae_options o = options(2, rtol);
      o.sensitivities = way, o.forward.absolute.setConstant(1e-8);
      const agrad::scope own;
      const vector_of<var> k = vec(2.0).cast<var>();
      agrad::dae_solve(o, shifted, vec(1.0, 0.0), none2, 0.0, {1.0}, k)[0][1].grad();
      CHECK(k[0].adj() == Approx(-1e6 * std::exp(-2.0)).epsilon(100 * rtol));
    }
  }
}

TEST_CASE("derivatives of the residual that change by orders of magnitude, with k = 2 over a time of 5") {
  const auto square = [](double, const auto& y, const auto& yp, const auto& k) {
    auto r = room_for(1, y, k);
    r[0] = y[0] * (yp[0] - k[0] * y[0]);
    return r;
  };
  const auto falling = [](double t, const auto& y, const auto& yp, const auto& k) {
    auto r = room_for(1, y, k);
    r[0] = std::exp(-6 * t) * (yp[0] - k[0] * y[0]);
    return r;
  };
  const auto check = [](const auto& residual, const agrad::dae_options& o, double rtol) {
    const agrad::scope own;
    const vector_of<var> k = vec(2.0).cast<var>();
    var end = agrad::dae_solve(o, residual, vec(1.0), vec(0.0), 0.0, {5.0}, k)[0][0];
    CHECK(end.val() == Approx(std::exp(10.0)).epsilon(100 * rtol));
    end.grad();
    CHECK(k[0].adj() == Approx(5 * std::exp(10.0)).epsilon(100 * rtol));
  };
  for (const dae_sensitivities way : ways) {
    for (const double rtol : {1e-3, 1e-5, 1e-8}) {
      agrad::dae_options o = options(1, rtol);
      o.sensitivities = way;
      check(square, o, rtol), check(falling, o, rtol);
    }
  }
}

TEST_CASE("the transistor amplifier: eight nodes, rank five") {
  const double u2 = 3, u5 = 3;
  const Eigen::VectorXd y0 = vec(0.0, u2, u2, 6.0, u5, u5, 6.0, 0.0), none = Eigen::VectorXd::Zero(8), one = vec(1.0);
  const auto y = agrad::dae_solve(options(8, 1e-6), transistor_amplifier{}, y0, none, 0.0, {0.2}, one);
  const Eigen::VectorXd reference =
      vec(-0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1, 0.2704617865010554e1,
          0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1);  // of the test set
  CHECK((y[0] - reference).cwiseAbs().maxCoeff() < 1e-5);
  agrad::dae_options forward = options(8, 1e-6);
  forward.sensitivities = dae_sensitivities::forward;
  const gradients by_adjoint = gradients_of(options(8, 1e-6), transistor_amplifier{}, y0, none, {0.005, 0.01}, one);
  const gradients by_forward = gradients_of(forward, transistor_amplifier{}, y0, none, {0.005, 0.01}, one);
  CHECK(distance(by_adjoint.p, by_forward.p) < 1e-4);
  CHECK(distance(by_adjoint.y0, by_forward.y0) < 1e-4);
}

TEST_CASE("a fast transient late in time: steps that the clock does not resolve, forwards and backwards") {
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-8);
    o.sensitivities = way;
    const agrad::scope own;
    const double k = 1e5, c = 3, first = 1e6 + 1e-5, passed = first - 1e6;
    const vector_of<var> p = vec(k, c).cast<var>();
    const auto y = agrad::dae_solve(o, square{}, vec(1.0, 0.0), none2, 1e6, {first, 1e6 + 1}, p);
    CHECK(y[0][1].val() == Approx(c * std::exp(-2 * k * passed)).epsilon(1e-6));
    var end = y[0][1];
    end.grad();
    CHECK(p[0].adj() == Approx(-2 * passed * c * std::exp(-2 * k * passed)).epsilon(1e-6));
  }
  const auto resting = [](double, const auto& y, const auto& yp, const auto& p) {  // q / k, and its square
    auto r = room_for(2, y, p);
    r[0] = yp[0] + p[0] * y[0] - p[1], r[1] = y[1] - y[0] * y[0];
    return r;
  };
  const agrad::scope own;
  const vector_of<var> p = vec(1e5, 2e5).cast<var>();
  var end = agrad::dae_solve(options(2, 1e-8), resting, vec(2.0, 0.0), none2, 0.0, {1e6}, p)[0][1];
  end.grad();
  CHECK(p[1].adj() == Approx(4e-5).epsilon(1e-6));
}

TEST_CASE("arguments of any kind, callables of doubles and variables only, plain values, one node swept twice") {
  const agrad::scope own;
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(2, 1e-10);
    o.sensitivities = way;
    var k = 0.5;
    const auto y = agrad::dae_solve(o, plain{}, vec(2.0, 0.0), none2, 0.0, {1.0}, k);
    var first = y[0][0], second = y[0][1];
    first.grad();
    CHECK(k.adj() == Approx(-2 * std::exp(-0.5)).epsilon(1e-8));
    agrad::tape::current().clear_adjoints();
    second.grad();
    CHECK(k.adj() == Approx((1 - 2 * 0.5) * 4 * std::exp(-1.0)).epsilon(1e-8).scale(1));
  }
  const auto nested = [](double, const auto& y, const auto& yp, const auto& some, double c) {
    auto r = room_for(2, y, std::get<0>(some));
    r[0] = yp[0] + std::get<0>(some)[1] * y[0], r[1] = y[1] - c * std::get<0>(some)[0] * y[0];
    return r;
  };
  const std::tuple<std::vector<var>, double> some{{3.0, 0.5}, 1.0};
  var end = agrad::dae_adjoint_tol(nested, vec(2.0, 0.0), none2, 0.0, {1.0}, 1e-10, 1e-10, 10000, some, 2.0)[0][1];
  end.grad();
  CHECK(std::get<0>(some)[0].adj() == Approx(4 * std::exp(-0.5)).epsilon(1e-8));
  CHECK(std::get<0>(some)[1].adj() == Approx(-12 * std::exp(-0.5)).epsilon(1e-8));
}

TEST_CASE("no algebraic state, and nothing but algebraic ones") {
  const auto ode = [](double, const auto& y, const auto& yp, const auto& k) {
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0] * y[0], r[1] = yp[1] + k[0] * y[1];
    return r;
  };
  const gradients g = gradients_of(options(2, 1e-10), ode, vec(1.0, 2.0), none2, {0.5, 1.0}, vec(0.5));
  const auto by_k = [&](const Eigen::VectorXd& x) {
    return value_of(options(2, 1e-12), ode, vec(1.0, 2.0), none2, {0.5, 1.0}, x);
  };
  CHECK(distance(g.p, differences(by_k, vec(0.5), 1e-5)) < 1e-8);
  const auto root = [](double t, const auto& y, const auto&, const auto& k) {
    auto r = room_for(1, y, k);
    r[0] = y[0] * y[0] - k[0] * (1 + t);
    return r;
  };
  for (const dae_sensitivities way : ways) {
    agrad::dae_options o = options(1, 1e-10);
    o.sensitivities = way;
    const agrad::scope own;
    const vector_of<var> k = vec(2.0).cast<var>();
    var end = agrad::dae_solve(o, root, vec(1.0), vec(0.0), 0.0, {1.0}, k)[0][0];
    CHECK(end.val() == Approx(2).epsilon(1e-12));
    end.grad();
    CHECK(k[0].adj() == Approx(0.5).epsilon(1e-10));
  }
}

}  // namespace test_dae
