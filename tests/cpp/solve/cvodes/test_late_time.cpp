// Solves late in time by CVODES: of a system that does not depend on t they are those that begin at zero, wherever t0 is.
//
// t0 and the output times below are numbers, so their differences are exact.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/ode_events.hpp>

#include "solve/systems.hpp"

namespace test_late_time {

using agrad::cvodes_adjoint;
using agrad::cvodes_forward;
using agrad::ode_gradient;
using agrad::ode_method;
using agrad::SolverError;
using agrad::var;
using namespace systems;
using doctest::Approx;

namespace {

const std::vector<double> starts{1e8, 1e12, 1e13, -1e12};
const std::vector<ode_method> methods{ode_method::adams, ode_method::bdf};

std::vector<double> later(double t0, std::vector<double> times) {
  for (double& t : times) t += t0;
  return times;
}

agrad::ode_adjoint_options adjoint_options(ode_method method, double tolerance = 1e-9) {
  agrad::ode_adjoint_options o = options(2, tolerance);
  o.solver_forward = o.solver_backward = method;
  return o;
}

agrad::ode_forward_options forward_options(ode_method method) {
  agrad::ode_forward_options o;
  o.states.relative = 1e-9;
  o.states.absolute = Eigen::VectorXd::Constant(2, 1e-9);
  o.max_num_steps = 100000;
  o.method = method;
  return o;
}

struct outcome {
  Eigen::MatrixXd states;
  ode_gradient gradient;
  long steps = 0, backward_steps = 0;
};

template <class Solver, class Options>
outcome solve(const Options& o, double t0, agrad::ode_required required = everything) {
  lotka_volterra system(rates);
  Solver solver("late", system, o, required);
  outcome found{solver.integrate(pelts, t0, later(t0, steps_of(0.5, 12))), {}};
  found.gradient = solver.reverse(Eigen::MatrixXd::Ones(2, 12));
  found.steps = solver.statistics().forward.steps, found.backward_steps = solver.statistics().backward.steps;
  return found;
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(a.states == b.states);
  systems::check_same(a.gradient, b.gradient);
  CHECK(a.steps == b.steps);
  CHECK(a.backward_steps == b.backward_steps);
}

/// How far apart the clock's numbers are.
double resolution(double t0) { return std::nextafter(std::abs(t0), HUGE_VAL) - std::abs(t0); }

}  // namespace

TEST_CASE("values and gradients by adjoints have the bits of a solve from zero") {
  for (const ode_method method : methods) {
    for (const auto interpolation : {agrad::ode_interpolation::hermite, agrad::ode_interpolation::polynomial}) {
      for (const long segment : {250L, 7L}) {
        agrad::ode_adjoint_options o = adjoint_options(method);
        o.interpolation_polynomial = interpolation;
        o.num_steps_between_checkpoints = segment;
        const outcome expected = solve<cvodes_adjoint>(o, 0);
        for (const double t0 : starts) check_same(solve<cvodes_adjoint>(o, t0), expected);
      }
    }
  }
}

TEST_CASE("values and gradients by sensitivities have the bits of a solve from zero") {
  for (const ode_method method : methods) {
    for (const agrad::ode_required required : {everything, agrad::ode_required{false, true, false}}) {
      const outcome expected = solve<cvodes_forward>(forward_options(method), 0, required);
      for (const double t0 : starts) check_same(solve<cvodes_forward>(forward_options(method), t0, required), expected);
    }
  }
}

TEST_CASE("an exponential over a few thousand numbers of the clock, and from one number to the next") {
  for (const ode_method method : methods) {
    agrad::ode_adjoint_options o = options(1, 1e-10);
    o.solver_forward = o.solver_backward = method;
    decay system(1.5);
    cvodes_adjoint solver("late", system, o, everything);
    for (const double t0 : {1e12, 1e13}) {
      const double h = resolution(t0);
      for (const double span : {1.0, 2 * h, h}) {
        CHECK(solver.integrate(Eigen::VectorXd::Ones(1), t0, {t0 + span})(0, 0) == Approx(std::exp(-1.5 * span)).epsilon(1e-8));
        const ode_gradient g = solver.reverse(Eigen::MatrixXd::Ones(1, 1));
        CHECK(g.parameters[0] == Approx(-span * std::exp(-1.5 * span)).epsilon(1e-7));
        CHECK(g.initial_time == Approx(1.5 * std::exp(-1.5 * span)).epsilon(1e-7));
      }
    }
  }
}

TEST_CASE("events, resets and doses: states as from zero, times as far as the clock tells them") {
  const auto falls = [](double, const auto& y, const auto& g) {
    Eigen::Matrix<agrad::promoted_t<std::decay_t<decltype(y[0])>, std::decay_t<decltype(g)>>, Eigen::Dynamic, 1> slope(2);
    slope << y[1], -g;
    return slope;
  };
  const auto root = [](const auto&, const auto& y, const auto&) { return y[0]; };
  const auto bounce = [](const auto&, const auto& y, const auto&) {
    auto after = y;
    after[0] = 0 * y[0], after[1] = -0.8 * y[1];
    return after;
  };
  struct found {
    double event, height, by_g, by_start;
  };
  for (const ode_method method : methods) {
    const agrad::ode_adjoint_options o = adjoint_options(method, 1e-10);
    const auto fall = [&](double t0) {
      const agrad::scope own;
      const var g = 9.0, height = 2.0;
      Eigen::Matrix<var, Eigen::Dynamic, 1> y0(2);
      y0 << height, var(0.0);
      const std::vector<agrad::ode_dose<var>> doses{{var(t0 + 0.25), 1, var(0.5)}};
      const auto events = std::make_tuple(agrad::ode_event{root, bounce, -1});
      const auto solution = agrad::ode_solve_events(o, doses, events, {}, falls, y0, t0, later(t0, {0.5, 1.0, 1.5}), g);
      var end = solution.states[2][0];
      const found values{solution.event_times[0].at(0).val() - t0, end.val(), 0, 0};
      CHECK(std::abs(solution.event_states[0].at(0)[0].val()) < 1e-14);
      end.grad();
      return found{values.event, values.height, g.adj(), height.adj()};
    };
    const found expected = fall(0);
    for (const double t0 : starts) {
      CAPTURE(t0);
      // An event's time is rounded to a number of the clock, and what follows is as much later.
      const double rounding = 1e-7 + 20 * resolution(t0);
      const found late = fall(t0);
      CHECK(std::abs(late.event - expected.event) <= rounding);
      CHECK(std::abs(late.height - expected.height) <= rounding);
      CHECK(std::abs(late.by_g - expected.by_g) <= rounding);
      CHECK(std::abs(late.by_start - expected.by_start) <= rounding);
    }
  }
}

TEST_CASE("between two stops, a few numbers of the clock are solved like any span") {
  const auto falls = [](double, const auto& y, const auto& k) { return (-k * y).eval(); };
  for (const ode_method method : methods) {
    agrad::ode_adjoint_options o = agrad::tolerance_options("late", 1, 1e-9, 1e-9, 1000);
    o.solver_forward = o.solver_backward = method;
    for (const double t0 : {1.0, 1e8, 1e13}) {
      for (const double count : {1.0, 5.0, 100.0, 300.0}) {
        CAPTURE(t0);
        CAPTURE(count);
        const double span = 2 * count * resolution(t0), rate = std::min(1.0, 2 / span);
        agrad::ode_events_options stops;
        stops.stops = {t0 + span / 2};
        const agrad::scope own;
        const var k = rate;
        const Eigen::Matrix<var, Eigen::Dynamic, 1> y0 = Eigen::VectorXd::Ones(1).cast<var>();
        const std::vector<agrad::ode_dose<var>> none;
        var end = agrad::ode_solve_events(o, none, std::tuple<>(), stops, falls, y0, t0, std::vector<double>{t0 + span}, k)
                      .states[0][0];
        CHECK(end.val() == Approx(std::exp(-rate * span)).epsilon(1e-7));
        end.grad();
        CHECK(k.adj() == Approx(-span * std::exp(-rate * span)).epsilon(1e-6));
        CHECK(y0[0].adj() == Approx(std::exp(-rate * span)).epsilon(1e-7));
      }
    }
  }
}

TEST_CASE("a system that depends on t is told the time of the problem, and none outside") {
  struct forced : decay {  // y' = t - t0 - y
    using decay::decay;
    double t0 = 0, earliest = HUGE_VAL, latest = -HUGE_VAL;
    void rhs(double t, const double* y, double* dydt) override {
      earliest = std::min(earliest, t), latest = std::max(latest, t);
      dydt[0] = (t - t0) - k * y[0];
    }
  };
  for (const double t0 : {1e8, 1.0 / 3, -0.7}) {
    forced system(1.0);
    system.t0 = t0;
    cvodes_adjoint adjoint("late", system, options(1, 1e-9), everything);
    agrad::ode_forward_options o = forward_options(ode_method::bdf);
    o.states.absolute = Eigen::VectorXd::Constant(1, 1e-9);
    cvodes_forward forward("late", system, o, everything);
    for (agrad::ode_solver* solver : {static_cast<agrad::ode_solver*>(&adjoint), static_cast<agrad::ode_solver*>(&forward)}) {
      const double end = t0 + 2.1, expected = 1.1 + 2 * std::exp(-2.1);
      CHECK(solver->integrate(Eigen::VectorXd::Ones(1), t0, {end})(0, 0) == Approx(expected).epsilon(1e-7));
      CHECK(solver->reverse(Eigen::MatrixXd::Ones(1, 1)).initial_state[0] == Approx(std::exp(-2.1)).epsilon(1e-6));
      CHECK(system.earliest == t0);
      CHECK(system.latest <= end);
    }
  }
}

TEST_CASE("messages, errors and the log speak of the time of the problem") {
  const double t0 = 1e8;
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-8);
  o.max_num_steps = 20;
  cvodes_adjoint few("late", system, o, everything);
  try {
    few.integrate(pelts, t0, {t0 + 100});
    FAIL("twenty steps are too few");
  } catch (const SolverError& e) {
    CHECK((e.t > t0 && e.t < t0 + 10));
    CHECK(std::string(e.what()).find("late: stopped at t = 10000000") == 0);
  }

  o.max_num_steps = 10000;
  system.nan_after = t0 + 2;
  cvodes_adjoint adjoint("late", system, o, everything);
  agrad::ode_forward_options own = forward_options(ode_method::bdf);
  cvodes_forward forward("late", system, own, everything);
  for (agrad::ode_solver* solver : {static_cast<agrad::ode_solver*>(&adjoint), static_cast<agrad::ode_solver*>(&forward)}) {
    try {
      solver->integrate(pelts, t0, {t0 + 4});
      FAIL("nan was passed");
    } catch (const SolverError& e) {
      CHECK(e.t == Approx(t0 + 2).epsilon(1e-14));
      CHECK(e.advice.find("the derivative of y[1] is nan at t = 100000002") == 0);
    }
  }

  system.nan_after = HUGE_VAL;
  system.nan_in_vjp_before = t0 + 1;
  adjoint.integrate(pelts, t0, {t0 + 4});
  try {
    adjoint.reverse(Eigen::MatrixXd::Ones(2, 1));
    FAIL("nan was passed");
  } catch (const SolverError& e) {
    CHECK(e.t == Approx(t0 + 1).epsilon(1e-14));
    CHECK(std::string(e.what()).find("late: the reverse pass stopped at t = 10000000") == 0);
  }

  agrad::detail::step_log log;
  adjoint.log_steps(&log);
  adjoint.integrate(pelts, t0, {t0 + 4});
  CHECK(log.steps.front().t == t0);
  CHECK(log.steps.back().t + log.steps.back().h == Approx(t0 + 4).epsilon(1e-14));
}

TEST_CASE("what is not finite asks for a shorter step where the clock resolves none") {
  struct interrupted : oscillator {
    using oscillator::oscillator;
    long calls = 0;
    void rhs(double t, const double* y, double* dydt) override {
      oscillator::rhs(t, y, dydt);
      if (++calls % 100 == 0) dydt[0] = std::numeric_limits<double>::quiet_NaN();
    }
  };
  const auto end = [](double t0) {
    interrupted system(1e4);  // a step is a tenth of what the clock resolves
    cvodes_adjoint solver("late", system, options(2, 1e-8), {});
    const double y = solver.integrate(Eigen::Vector2d(1, 0), t0, {t0 + 16 * resolution(1e12)})(0, 0);
    CHECK(system.calls > 300);
    return y;
  };
  CHECK(end(1e12) == end(0));
}

}  // namespace test_late_time
