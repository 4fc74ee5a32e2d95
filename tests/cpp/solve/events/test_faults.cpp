// What doses and events refuse, and what stops a solve with events; solvers that are used again.
#include <agrad/agrad.hpp>
#include <agrad/solve/ode_events.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "solve/systems.hpp"

namespace test_event_faults {

using agrad::var;
using vector = Eigen::VectorXd;

namespace {

const auto still = [](double, const auto& y) { return (0.0 * y).eval(); };

agrad::step_options options(Eigen::Index states = 1) {
  agrad::step_options o;
  o.states.absolute = vector::Constant(states, 1e-8);
  o.max_step = 1e-3;  // between two events of the quickest one
  return o;
}

template <class... Events>
auto solve(const std::vector<agrad::ode_dose<>>& doses, const std::tuple<Events...>& events, long max_events = 1000) {
  agrad::ode_events_options more;
  more.max_events = max_events;
  return agrad::ode_solve_events(options(), agrad::ode_one_step_method::tsit5, doses, events, more, still, vector::Ones(1), 0.0,
                                 std::vector<double>{1.0});
}

std::string message_of(const agrad::ode_dose<>& dose) {
  try {
    solve({dose}, std::tuple<>());
  } catch (const agrad::DomainError& e) {
    return e.what();
  }
  return "nothing";
}

template <class Event>
agrad::SolverError stopped_by(const Event& event, long max_events = 1000) {
  try {
    solve({}, std::make_tuple(event), max_events);
  } catch (const agrad::SolverError& e) {
    return e;
  }
  return {"nothing", 0, 0, "", ""};
}

}  // namespace

TEST_CASE("doses are checked") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of({-1.0, 0, 1.0}) ==
        "ode_solve_events: doses[0].time is -1, but must be t0 = 0 or later; add earlier doses to the initial state");
  CHECK(message_of({nan, 0, 1.0}) == "ode_solve_events: doses[0].time is nan, but must be finite");
  CHECK(message_of({0.0, 1, 1.0}) == "ode_solve_events: doses[0].state is 1, but must be one of 0 to 0");
  CHECK(message_of({0.0, 0, nan}) == "ode_solve_events: doses[0].amount is nan, but must be finite");
  CHECK(message_of({0.0, 0, 1.0, -2.0}) == "ode_solve_events: doses[0].duration is -2, but must be positive and finite");
  CHECK(message_of({0.0, 0, 1.0, 2.0, agrad::dose_kind::set}) ==
        "ode_solve_events: doses[0] takes a while and sets or scales a state, but must add to it");
  CHECK(message_of({0.5, 0, 1.0}) == "nothing");
}

TEST_CASE("conditions are checked, and a cascade without end is named") {
  const auto root = [](const auto& t, const auto&) { return t - 0.5; };
  agrad::event_firing condition, priority, kept;
  condition.is_condition = kept.is_condition = true;
  priority.priority = std::numeric_limits<double>::quiet_NaN(), kept.kept = {true, false};
  CHECK_THROWS_WITH_AS(solve({}, std::make_tuple(agrad::ode_event{root, agrad::no_reset{}, 0, 0, condition})),
                       "ode_solve_events: events[0].direction is 0, but must be 1 where the event is a condition",
                       agrad::DomainError);
  CHECK_THROWS_WITH_AS(solve({}, std::make_tuple(agrad::ode_event{root, agrad::no_reset{}, 1, 0, priority})),
                       "ode_solve_events: events[0].priority is nan, but must be finite", agrad::DomainError);
  CHECK_THROWS_AS(solve({}, std::make_tuple(agrad::ode_event{root, agrad::no_reset{}, 1, 0, kept})), agrad::ShapeError);
  const auto high = [](const auto&, const auto& y) { return y[0] - 1.5; };
  const auto low = [](const auto&, const auto& y) { return 1.5 - y[0]; };
  const auto down = [](const auto&, const auto& y) { return (0.0 * y).eval(); };
  const auto up = [](const auto&, const auto& y) { return (y.array() + 2.0).matrix().eval(); };
  try {
    solve({{0.5, 0, 1.0}},
          std::make_tuple(agrad::ode_event{high, down, 1, 0, condition}, agrad::ode_event{low, up, 1, 0, condition}));
    CHECK(false);
  } catch (const agrad::SolverError& e) {
    CHECK(e.code == "endless_cascade");
    CHECK(std::string(e.what()).find("the resets of events[0], events[1] make the conditions true") != std::string::npos);
  }
}

TEST_CASE("events are checked, and stop what goes on for ever") {
  const auto root = [](const auto& t, const auto&) { return t - 0.5; };
  CHECK_THROWS_AS(solve({}, std::make_tuple(agrad::ode_event{root, agrad::no_reset{}, 2})), agrad::DomainError);
  CHECK_THROWS_AS(solve({}, std::make_tuple(agrad::ode_event{root, agrad::no_reset{}, 0, -1})), agrad::DomainError);
  CHECK_THROWS_AS(solve({}, std::make_tuple(agrad::ode_event{root}), 0), agrad::DomainError);
  const auto longer = [](const auto&, const auto&) { return vector::Ones(2).eval(); };
  CHECK_THROWS_AS(solve({}, std::make_tuple(agrad::ode_event{root, longer})), agrad::ShapeError);

  const auto logarithm = [](const auto& t, const auto&) { return log(t - 0.5); };
  CHECK(stopped_by(agrad::ode_event{logarithm}).code == "not_finite");
  const auto infinite = [](const auto&, const auto& y) { return (y / 0.0).eval(); };
  CHECK(stopped_by(agrad::ode_event{root, infinite}).code == "not_finite");
  const auto waves = [](const auto& t, const auto&) { return sin(1000.0 * t); };
  const agrad::SolverError many = stopped_by(agrad::ode_event{waves}, 20);
  CHECK(many.code == "too_many_events");
  CHECK(many.t == doctest::Approx(21 * std::acos(-1.0) / 1000).epsilon(1e-10));
}

TEST_CASE("an event does not happen again where it has happened, nor at t0, nor where a jump crosses zero") {
  const auto root = [](const auto& t, const auto&) { return t - 0.5; };
  const auto same = [](const auto&, const auto& y) { return y.eval(); };
  const auto once = solve({}, std::make_tuple(agrad::ode_event{root}, agrad::ode_event{root, same}));
  CHECK(once.event_times[0].size() == 1);
  CHECK(once.event_times[1].size() == 1);
  const auto start = [](const auto& t, const auto&) { return 1.0 * t; };
  CHECK(solve({}, std::make_tuple(agrad::ode_event{start})).event_times[0].empty());
  const auto above = [](const auto&, const auto& y) { return y[0] - 2.0; };
  CHECK(solve({{0.5, 0, 3.0}}, std::make_tuple(agrad::ode_event{above})).event_times[0].empty());
}

TEST_CASE("a solver of a problem with doses and events is used again, for other numbers and other adjoints") {
  // y' = -k y, with a dose, that is halved where it falls to 1: k and all numbers have derivatives in closed form.
  systems::decay system(0.5);
  struct line final : agrad::differentiable_function {  // a y + b
    double a, b;
    line(double slope, double at_zero) : a(slope), b(at_zero) {}
    Eigen::Index outputs() const override { return 1; }
    Eigen::Index parameters() const override { return 0; }
    int order() const override { return 0; }
    void value(double, const double* y, double* to) override { *to = a * y[0] + b; }
    void vjp(double t, const double* y, const double* lambda, double* to, double& by_t, double* by_y, double*) override {
      value(t, y, to);
      by_t = 0, by_y[0] = a * *lambda;
    }
  };
  agrad::event_solver::functions events;
  events.push_back(std::make_unique<agrad::event_function>(std::make_unique<line>(1, -1), std::make_unique<line>(0.5, 0), 1));
  agrad::event_plan plan;
  plan.doses = {{0, false}};
  plan.events = {{-1, 0}};
  agrad::step_options tight = options();
  tight.states.relative = 1e-10, tight.states.absolute[0] = 1e-12;
  const auto make = [tight](const std::string& function, agrad::ode_system& of, agrad::ode_required required) {
    return agrad::make_one_step_solver(agrad::ode_one_step_method::tsit5, function, of, tight, required);
  };
  agrad::event_solver solver("test", system, events, make, plan, true);
  for (const double dose_time : {0.5, 0.25, 1.0}) {
    CAPTURE(dose_time);
    agrad::event_values v{vector::Constant(1, 2.0), 0.0, {5.0}, {dose_time}, {1.5}, {0.0}, {}};
    const agrad::event_solution& s = solver.integrate(v);
    REQUIRE(s.hits.size() == 1);
    const double first = std::log(2.0 + 1.5 * std::exp(0.5 * dose_time)) / 0.5;
    CHECK(s.hits[0].t == doctest::Approx(first).epsilon(1e-9));
    CHECK(s.states(0, 0) == doctest::Approx(0.5 * std::exp(-0.5 * (5.0 - first))).epsilon(1e-9));
    // first = log(y0 + a e^(k d)) / k, and the state at 5 is e^(k first) e^(-5 k) / 2.
    const double whole = 2.0 + 1.5 * std::exp(0.5 * dose_time), by_amount = std::exp(0.5 * dose_time) / whole / 0.5;
    for (const double seed : {1.0, -3.0}) {
      agrad::event_adjoints a{
          Eigen::MatrixXd::Constant(1, 1, seed), 0.0, vector::Zero(1), {2 * seed}, Eigen::MatrixXd::Zero(1, 1)};
      const agrad::event_gradient g = solver.reverse(a);
      const double by_first = seed * (2 + 0.5 * s.states(0, 0));
      CHECK(g.amounts[0] == doctest::Approx(by_first * by_amount).epsilon(1e-8));
      CHECK(g.dose_times[0] == doctest::Approx(by_first * 1.5 * std::exp(0.5 * dose_time) / whole).epsilon(1e-8));
      CHECK(g.initial_state[0] == doctest::Approx(by_first / whole / 0.5).epsilon(1e-8));
      CHECK(g.times[0] == doctest::Approx(-0.5 * seed * s.states(0, 0)).epsilon(1e-8));
      CHECK(g.initial_time == doctest::Approx(by_first * 2.0 / whole).epsilon(1e-8));
    }
  }
}

}  // namespace test_event_faults
