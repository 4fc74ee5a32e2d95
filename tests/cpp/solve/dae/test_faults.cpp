// Faults of differential-algebraic solves: index 2 and more, inconsistent values, values that are not finite, exceptions,
// limits, bad arguments, leaks.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "dae_systems.hpp"
#include "resident_memory.hpp"

namespace test_dae_faults {

using agrad::dae_initial;
using agrad::dae_options;
using agrad::dae_solver;
using agrad::DomainError;
using agrad::ShapeError;
using agrad::SolverError;
using agrad::var;
using namespace dae_systems;
using doctest::Approx;

// Second derivatives are refused when a file is compiled: no dual passes through a solve.
static_assert(agrad::detail::hold_duals<vector_of<agrad::dual<var>>> &&
              agrad::detail::hold_duals<std::tuple<double, std::vector<agrad::dual<double, 4>>>> &&
              !agrad::detail::hold_duals<std::tuple<vector_of<var>, std::vector<double>>>);

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// y0' = -p y0, 0 = y1 - y0^2 by hand, with places for faults.
struct faulty final : agrad::dae_system {
  double p = 0.5;
  double throw_after = infinity, nan_after = infinity, nan_jacobian_after = infinity;
  double throw_in_vjp_before = -infinity, nan_in_vjp_before = -infinity, throw_in_parameters_before = -infinity;

  Eigen::Index states() const override { return 2; }
  Eigen::Index parameters() const override { return 1; }
  void residual(const agrad::dae_point& at, double* r) override {
    if (at.t > throw_after) throw std::domain_error("the residual refuses");
    r[0] = at.yp[0] + p * at.y[0];
    r[1] = at.t > nan_after ? nan : at.y[1] - at.y[0] * at.y[0];
  }
  void jacobian(const agrad::dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) override {
    J << of_y * p + of_yp, 0, -of_y * 2 * at.y[0], of_y;
    if (at.t > nan_jacobian_after) J(1, 0) = nan;
  }
  void vjp(const agrad::dae_point& at, const double* lambda, const agrad::dae_adjoints& to) override {
    if (at.t < throw_in_vjp_before && to.y != nullptr) throw std::domain_error("the vjp refuses");
    if (at.t < throw_in_parameters_before && to.parameters != nullptr) throw std::domain_error("the quadrature refuses");
    if (to.t != nullptr) *to.t = 0;
    if (to.y != nullptr) to.y[0] = p * lambda[0] - 2 * at.y[0] * lambda[1], to.y[1] = lambda[1];
    if (to.y != nullptr && at.t < nan_in_vjp_before) to.y[0] = nan;
    if (to.yp != nullptr) to.yp[0] = lambda[0], to.yp[1] = 0;
    if (to.parameters != nullptr) to.parameters[0] = at.y[0] * lambda[0];
  }
};

const Eigen::VectorXd y0 = vec(2.0, 0.0), yp0 = vec(0.0, 0.0);
const std::vector<double> times{1.0, 2.0};

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Eigen::MatrixXd seeds() {
  Eigen::MatrixXd s = Eigen::MatrixXd::Zero(4, 2);
  s.topRows(2).setOnes();
  return s;
}

}  // namespace

TEST_CASE("what the system throws comes out unchanged, forwards and backwards, and the solver can go on") {
  faulty system;
  dae_solver solver("decay", system, options(2, 1e-8), {true, false, true, true});
  system.throw_after = 1.5;
  CHECK_THROWS_WITH_AS(solver.integrate(y0, yp0, 0, times), "the residual refuses", std::domain_error);
  CHECK_THROWS_AS(solver.reverse(seeds()), std::logic_error);
  system.throw_after = infinity;
  solver.integrate(y0, yp0, 0, times);
  system.throw_in_vjp_before = 0.5;
  CHECK_THROWS_WITH_AS(solver.reverse(seeds()), "the vjp refuses", std::domain_error);
  system.throw_in_vjp_before = -1;
  system.throw_in_parameters_before = 0.5;
  CHECK_THROWS_WITH_AS(solver.reverse(seeds()), "the quadrature refuses", std::domain_error);
  system.throw_in_parameters_before = -1;
  const agrad::dae_gradient g = solver.reverse(seeds());  // a (e^-p + e^-2p) + a^2 (e^-2p + e^-4p)
  CHECK(g.parameters[0] ==
        Approx(2 * (-std::exp(-0.5) - 2 * std::exp(-1)) + 4 * (-2 * std::exp(-1) - 4 * std::exp(-2))).epsilon(1e-6));
  CHECK(g.initial_state[0] == Approx(std::exp(-0.5) + std::exp(-1) + 4 * (std::exp(-1) + std::exp(-2))).epsilon(1e-6));
  CHECK(g.initial_time == Approx(g.initial_state[0] * 0.5 * 2).epsilon(1e-6));
  CHECK(g.times[1] == Approx(-0.5 * 2 * std::exp(-1) - 4 * std::exp(-2)).epsilon(1e-6));
  CHECK(g.initial_time + g.times.sum() == Approx(0).scale(1).epsilon(1e-6));  // a system that does not depend on t
}

TEST_CASE("values that are not finite name their place") {
  faulty system;
  dae_solver solver("decay", system, options(2, 1e-8), {true, false, false, false});
  system.nan_after = -1;
  CHECK_THROWS_WITH_AS(solver.integrate(y0, yp0, 0, times), "decay: the residual[1] is nan at t = 0", SolverError);
  system.nan_after = 1.5;
  const std::string forward = message_of([&] { solver.integrate(y0, yp0, 0, times); });
  CHECK(forward.find("decay: stopped at t = 1.") == 0);
  CHECK(has(forward, "the residual[1] is nan at t = 1.5"));
  system.nan_after = infinity, system.nan_jacobian_after = 1.2;
  CHECK(has(message_of([&] { solver.integrate(y0, yp0, 0, times); }), "the Jacobian[1, 0] is nan at t = "));
  system.nan_jacobian_after = infinity;
  solver.integrate(y0, yp0, 0, times);
  system.nan_in_vjp_before = 0.7;
  const std::string backward = message_of([&] { solver.reverse(seeds()); });
  CHECK(backward.find("decay: the reverse pass stopped at t = 0.7") == 0);
  CHECK(has(backward, "the residual of the adjoint of y[0] is nan at t = 0.6"));
  system.nan_in_vjp_before = -1;
  Eigen::MatrixXd bad = seeds();
  bad(0, 1) = nan;
  CHECK(std::isnan(solver.reverse(bad).parameters[0]));
  CHECK(std::isfinite(solver.reverse(seeds()).parameters[0]));
}

TEST_CASE("index 2 and 3 are refused by name") {
  const Eigen::VectorXd s0 = vec(0.6, -0.8, 0.0, 0.0, 0.0), none = Eigen::VectorXd::Zero(5), p = vec(9.81, 1.0);
  for (const int differentiated : {0, 1}) {
    for (const dae_initial initial : {dae_initial::differential, dae_initial::consistent}) {
      dae_options o = options(5, 1e-8);
      o.initial = initial;
      const Eigen::VectorXd slope = vec(0.0, 0.0, -0.6 * 7.848, 0.8 * 7.848 - 9.81, 0.0);
      Eigen::VectorXd start = s0;
      start[4] = 7.848;
      const std::string text = message_of([&] { agrad::dae_solve(o, pendulum{differentiated}, start, slope, 0.0, {1.0}, p); });
      CHECK(text ==
            "dae_solve: the system is of index 2 or more, or singular at t = 0; y[4] is not determined by the equations there; "
            "differentiate algebraic equations, or add some");
    }
  }
}

TEST_CASE("equations that are singular at the guess only are no system of index 2") {
  const auto root = [](double, const auto& y, const auto& yp, const auto& k) {  // y1^2 = y0, at y1 = 0
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0] * y[0], r[1] = y[1] * y[1] - y[0];
    return r;
  };
  for (const double guess : {0.0, 0.3, -0.2}) {
    const auto y = agrad::dae_solve(options(2, 1e-9), root, vec(4.0, guess), yp0, 0.0, {0.0, 1.0}, vec(0.5));
    CHECK(y[0][1] == Approx(guess < 0 ? -2 : 2).epsilon(1e-14));
  }
  const auto none = [](double, const auto& y, const auto& yp, const auto& k) {  // y1^2 = -1
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0], r[1] = y[1] * y[1] + 1.0;
    return r;
  };
  const std::string text = message_of([&] { agrad::dae_solve(options(2, 1e-6), none, y0, yp0, 0.0, {1.0}, vec(0.5)); });
  CHECK(text ==
        "dae_solve: the equations are singular at the guess, and no consistent values were found at t = 0; the residual of "
        "equation 1 is 1; give a better guess of y0's algebraic entries and of yp0, or look for a singularity there");
  const auto steady = [](double, const auto& y, const auto& yp, const auto& k) {  // y0^2 = yp0 + k
    auto r = room_for(1, y, k);
    r[0] = yp[0] + k[0] - y[0] * y[0];
    return r;
  };
  dae_options o = options(1, 1e-9);
  o.initial = dae_initial::derivatives;
  CHECK(agrad::dae_solve(o, steady, vec(0.0), vec(0.0), 0.0, {0.0}, vec(9.0))[0][0] == Approx(3).epsilon(1e-13));
}

TEST_CASE("a derivative that the guess hides is seen: y'^3 = -k y at y' = 0, and a mass that vanishes there") {
  const auto cube = [](double, const auto& y, const auto& yp, const auto& k) {  // y^(2/3) falls by 2/3 k^(1/3) t
    auto r = room_for(1, y, k);
    r[0] = yp[0] * yp[0] * yp[0] + k[0] * y[0];
    return r;
  };
  const auto fallen = agrad::dae_solve(options(1, 1e-10), cube, vec(1.0), vec(0.0), 0.0, {0.0, 1.0}, vec(0.5));
  CHECK(fallen[0][0] == 1);
  CHECK(fallen[1][0] == Approx(std::pow(1 - 2.0 / 3 * std::cbrt(0.5), 1.5)).epsilon(1e-8));
  const auto melting = [](double, const auto& y, const auto& yp, const auto& k) {  // at y1 = 0, as which it is guessed
    auto r = room_for(2, y, k);
    r[0] = y[1] * yp[0] + k[0] * y[0], r[1] = y[1] - 1.0 - y[0];
    return r;
  };
  const auto z = agrad::dae_solve(options(2, 1e-10), melting, vec(1.0, 0.0), yp0, 0.0, {1.0}, vec(0.5));
  CHECK(std::log(z[0][0]) + z[0][0] == Approx(1 - 0.5).epsilon(1e-8));
}

TEST_CASE("a system that turns singular on its way stops there, and says so") {
  const auto fold = [](double, const auto& y, const auto& yp, const auto& k) {  // y1^2 = y0, until y0 = 0 at t = 1
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0], r[1] = y[1] * y[1] - y[0];
    return r;
  };
  const std::string text = message_of([&] {
    agrad::dae_solve(options(2, 1e-8), fold, vec(1.0, 1.0), yp0, 0.0, {0.5, 2.0}, vec(1.0));
  });
  CHECK(text.find("dae_solve: stopped at t = ") == 0);
  CHECK(has(text, "the system is close to singular there, or to index 2"));
}

TEST_CASE("initial values that are not consistent") {
  dae_options o = options(2, 1e-6);
  o.initial = dae_initial::consistent;
  const std::string text =
      message_of([&] { agrad::dae_solve(o, square{}, vec(2.0, 11.0), vec(-1.0, 0.0), 0.0, {1.0}, vec(0.5, 3.0)); });
  CHECK(text.find("dae_solve: the residual at t0, y0 and yp0[1] is -1, but must be 0 to within ") == 0);
  const auto none = [](double, const auto& y, const auto& yp, const auto& k) {  // y1^2 = -1
    auto r = room_for(2, y, k);
    r[0] = yp[0] + k[0], r[1] = y[1] * y[1] + 1.0;
    return r;
  };
  CHECK_THROWS_AS(agrad::dae_solve(options(2, 1e-6), none, vec(1.0, 0.7), yp0, 0.0, {1.0}, vec(0.5)), SolverError);
}

TEST_CASE("a null space of dF/dyp that moves is refused") {
  const auto turning = [](double t, const auto& y, const auto& yp, const auto& k) {
    auto r = room_for(2, y, k);
    r[0] = std::cos(t) * yp[0] + std::sin(t) * yp[1] + k[0] * y[0];
    r[1] = y[1] - y[0];
    return r;
  };
  CHECK_THROWS_AS(agrad::dae_solve(options(2, 1e-6), turning, vec(1.0, 1.0), yp0, 0.5, {1.0}, vec(0.5)), DomainError);
}

TEST_CASE("limits and arguments") {
  const Eigen::VectorXd p = vec(0.5, 3.0);
  const auto message = [&](const dae_options& o, const std::vector<double>& at, const Eigen::VectorXd& start,
                           const Eigen::VectorXd& slope) {
    return message_of([&] { agrad::dae_solve(o, square{}, start, slope, 0.0, at, p); });
  };
  dae_options few = options(2, 1e-8);
  few.max_num_steps = 5;
  const std::string limited = message(few, {1.0}, y0, yp0);
  CHECK(limited.find("dae_solve: stopped at t = ") == 0);
  CHECK(has(limited, " after 5 steps (IDA_TOO_MUCH_WORK); raise max_num_steps or loosen the tolerances; the last step was "));
  CHECK(has(limited, "the error of y["));

  CHECK(message(options(2, 1e-8), {}, y0, yp0) == "dae_solve: times is of length 0, but must be of length 1 or more");
  CHECK(has(message(options(2, 1e-8), {1.0, 1.0}, y0, yp0), "times[1] is 1, but must be greater than times[0] = 1"));
  CHECK(has(message(options(2, 1e-8), {-1.0}, y0, yp0), "times[0] is -1, but must be greater than t0 = 0"));
  CHECK(has(message(options(2, 1e-8), {nan}, y0, yp0), "times[0] is nan, but must be finite"));
  CHECK(message(options(2, 1e-8), {1.0}, vec(1.0, nan), yp0) == "dae_solve: y0[1] is nan, but must be finite");
  CHECK(message(options(2, 1e-8), {1.0}, y0, vec(1.0)) ==
        "dae_solve: yp0 is of length 1, but must be of length 2; one for each state");
  CHECK(has(message(options(3, 1e-8), {1.0}, y0, yp0), "absolute_tolerance_forward is of length 3, but must be of length 2"));
  dae_options zero = options(2, 1e-8);
  zero.backward.relative = 0;
  CHECK(has(message(zero, {1.0}, y0, yp0), "relative_tolerance_backward is 0, but must be positive and finite"));
  CHECK_THROWS_AS(options(2, -1.0), DomainError);
  dae_options flags = options(2, 1e-8);
  flags.differential = {true, true};
  CHECK(has(message(flags, {1.0}, y0, yp0), "differential[1] is True, but must be False; no equation depends on yp[1]"));
  flags.differential = {false, false};
  CHECK(has(message(flags, {1.0}, y0, yp0), "differential[0] is False, but must be True; the residual depends on yp[0]"));
  flags.differential = {true};
  CHECK_THROWS_AS(agrad::dae_solve(flags, square{}, y0, yp0, 0.0, {1.0}, p), ShapeError);
  const auto one = [](double, const auto& y, const auto&, const auto&) { return y.head(1).eval(); };
  CHECK(message_of([&] { agrad::dae_solve(options(2, 1e-8), one, y0, yp0, 0.0, {1.0}, p); }) ==
        "dae_solve: the result of f is of length 1, but must be of length 2; one equation for each state");
}

TEST_CASE("the slope of an algebraic state has no gradient, that of a differential one has") {
  faulty system;
  dae_solver solver("decay", system, options(2, 1e-10), {true, false, false, false});
  const Eigen::MatrixXd solution = solver.integrate(y0, yp0, 0, {1.0});
  CHECK(solution(2, 0) == Approx(-std::exp(-0.5)).epsilon(1e-8));
  CHECK(solution(3, 0) == Approx(-4 * std::exp(-1)).epsilon(1e-8));
  const agrad::dae_gradient g = solver.reverse(Eigen::MatrixXd(vec(0.0, 0.0, 1.0, 0.0)));  // -p a e^-p
  CHECK(g.initial_state[0] == Approx(-0.5 * std::exp(-0.5)).epsilon(1e-7));
  CHECK(g.parameters[0] == Approx(-2 * 0.5 * std::exp(-0.5)).epsilon(1e-7));
  CHECK_THROWS_AS(solver.reverse(Eigen::MatrixXd(vec(0.0, 0.0, 0.0, 1.0))), agrad::DerivativeError);
}

namespace {

int fail_all(int count) {
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    faulty system;
    dae_options o = options(2, 1e-6);
    o.sensitivities = i % 5 == 4 ? agrad::dae_sensitivities::forward : agrad::dae_sensitivities::adjoint;
    try {
      dae_solver solver("decay", system, o, {true, false, false, false});
      if (i % 3 == 0) system.throw_after = 0.5;
      if (i % 3 == 1) system.nan_after = 0.5;
      solver.integrate(y0, yp0, 0, times);
      system.throw_in_vjp_before = 3;
      solver.reverse(seeds());
    } catch (const std::exception&) {
      ++failures;
    }
  }
  return failures;
}

}  // namespace

TEST_CASE("a thousand failures leave nothing behind") {
  fail_all(200);
  const long before = resident_bytes();
  CHECK(fail_all(1000) == 1000);
  CHECK(resident_bytes() - before < 256 * 1024);
}

}  // namespace test_dae_faults
