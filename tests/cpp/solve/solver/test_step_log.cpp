// What a solver tells of itself: logs of its steps, statistics of its passes, and how far it has come.
#include <agrad/solve/cvodes/forward_or_adjoint.hpp>
#include <agrad/solve/events/solver.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/switching.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "solve/systems.hpp"

namespace test_step_log {

using agrad::detail::step_entry;
using agrad::detail::step_limit;
using agrad::detail::step_log;
using solver_pointer = std::unique_ptr<agrad::ode_solver>;

namespace {

agrad::step_options steps(Eigen::Index states, double tolerance) {
  agrad::step_options o;
  o.states.relative = tolerance;
  o.states.absolute = Eigen::VectorXd::Constant(states, tolerance);
  o.error_control = agrad::step_error_control::states;  // the same steps with a reverse pass and without
  return o;
}

solver_pointer made(int method, agrad::ode_system& system, double tolerance, agrad::ode_required required = {}) {
  const Eigen::Index n = system.states();
  agrad::ode_adjoint_options adams = systems::options(n, tolerance);
  adams.solver_forward = adams.solver_backward = agrad::ode_method::adams;
  adams.interpolation_polynomial = agrad::ode_interpolation::polynomial;
  adams.num_steps_between_checkpoints = 20;
  agrad::ode_forward_options forward;
  forward.states.relative = tolerance, forward.states.absolute = Eigen::VectorXd::Constant(n, tolerance);
  forward.max_num_steps = 100000;
  switch (method) {
    case 0:
      return std::make_unique<agrad::explicit_runge_kutta_second<agrad::tsitouras_tableau>>("f", system, steps(n, tolerance),
                                                                                            required);
    case 1:
      return std::make_unique<agrad::explicit_runge_kutta_second<agrad::dormand_prince_8_tableau>>(
          "f", system, steps(n, tolerance), required);
    case 2:
      return std::make_unique<agrad::rosenbrock>(agrad::rodas4_tableau, "f", system, steps(n, tolerance), required);
    case 3:
      return std::make_unique<agrad::switching_solver>("f", system, steps(n, tolerance), required);
    case 4:
      return std::make_unique<agrad::cvodes_adjoint>("f", system, systems::options(n, tolerance), required);
    case 5:
      return std::make_unique<agrad::cvodes_adjoint>("f", system, adams, required);
    default:
      return std::make_unique<agrad::cvodes_forward>("f", system, forward, required);
  }
}
constexpr int methods = 7;

bool is_cvodes(int method) { return method >= 4; }

long count(const step_log& log, step_limit limit) {
  return std::count_if(log.steps.begin(), log.steps.end(), [&](const step_entry& row) { return row.limit == limit; });
}

/// y - 1/2.
struct half : agrad::differentiable_function {
  Eigen::Index outputs() const override { return 1; }
  Eigen::Index parameters() const override { return 0; }
  int order() const override { return 0; }
  void value(double, const double* y, double* to) override { *to = y[0] - 0.5; }
  void vjp(double t, const double* y, const double* lambda, double* to, double& by_t, double* by_y, double*) override {
    value(t, y, to);
    by_t = 0, by_y[0] = *lambda;
  }
};

struct heard : agrad::progress_listener {
  std::vector<double> times;
  double ended = -1;
  bool refuses = false;
  void at(double t) override {
    times.push_back(t);
    if (refuses) throw std::runtime_error("enough");
  }
  void done(double t) override { ended = t; }
};

}  // namespace

TEST_CASE("a log has a row for each step, end to end, and the solution is the same to the bit") {
  const std::vector<double> times{1.0, 3.0, 20.0};
  for (int method = 0; method < methods; ++method) {
    CAPTURE(method);
    systems::lotka_volterra system(systems::rates);
    const solver_pointer plain = made(method, system, 1e-7), logged = made(method, system, 1e-7);
    step_log log;
    REQUIRE(logged->log_steps(&log));
    CHECK(logged->integrate(systems::pelts, 0.0, times) == plain->integrate(systems::pelts, 0.0, times));
    const Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 3);
    CHECK(logged->reverse(adjoints).parameters == plain->reverse(adjoints).parameters);
    REQUIRE(static_cast<long>(log.steps.size()) == plain->statistics().forward.steps);
    CHECK(static_cast<long>(log.rejected.size()) ==
          plain->statistics().forward.error_test_failures + plain->statistics().forward.convergence_failures);
    double t = 0;
    for (const step_entry& row : log.steps) {
      CHECK(row.t == doctest::Approx(t).epsilon(1e-12));
      CHECK(row.h > 0);
      CHECK(row.error <= 1);
      CHECK(row.order >= 1);
      if (row.error > 0) {
        CHECK((row.state == 0 || row.state == 1));
        CHECK(row.by_absolute > 0);
        CHECK(row.by_absolute < 0.5);  // of 1e-7 and 1e-7 times populations of 4 and more
      }
      t = row.t + row.h;
    }
    CHECK(t == doctest::Approx(20.0).epsilon(1e-12));
    CHECK(count(log, step_limit::end) >= 1);
    CHECK((count(log, step_limit::output) > 0) == !is_cvodes(method));
    CHECK(2 * count(log, step_limit::error) > static_cast<long>(log.steps.size()));
    REQUIRE(logged->log_steps(nullptr));
    const std::size_t before = log.steps.size();
    logged->integrate(systems::pelts, 0.0, times);
    CHECK(log.steps.size() == before);
  }
}

TEST_CASE("a log of an integration that is made again for its segments has the last one") {
  // Polynomial interpolation lengthens segments until the last one is not short; 14 numbers of steps in 250 are.
  for (double end = 10; end < 11; end += 0.02) {
    systems::lotka_volterra system(systems::rates);
    const solver_pointer by = made(5, system, 1e-9, systems::everything);
    step_log log;
    by->log_steps(&log);
    by->integrate(systems::pelts, 0.0, {end});
    CHECK(static_cast<long>(log.steps.size()) == by->statistics().forward.steps);
  }
}

TEST_CASE("the state whose tolerance is tight dominates, by its absolute tolerance") {
  systems::oscillator system(2.0);
  agrad::step_options o = steps(2, 1e-6);
  o.states.absolute << 1.0, 1e-12;
  o.states.relative = 1e-14;
  agrad::explicit_runge_kutta_second<agrad::tsitouras_tableau> solver("f", system, o, {});
  step_log log;
  solver.log_steps(&log);
  solver.integrate(Eigen::Vector2d(1, 0), 0.0, {3.0});
  std::size_t limited = 0;
  for (const step_entry& row : log.steps) {
    if (row.error < agrad::detail::idle_error) continue;  // of the first steps, which are so short that errors are rounding
    ++limited;
    CHECK(row.state == 1);
    CHECK(row.by_absolute > 0.9);
    CHECK(row.size <= 2.0 * (1 + 1e-9));
  }
  CHECK(10 * limited > 9 * log.steps.size());
}

TEST_CASE("damping tells a stiff system from one that oscillates") {
  systems::decay stiff(1e4);
  systems::oscillator swinging(1e2);
  const auto most = [](agrad::ode_system& system, const Eigen::VectorXd& y0) {
    agrad::explicit_runge_kutta_second<agrad::tsitouras_tableau> solver("f", system, steps(y0.size(), 1e-4), {});
    step_log log;
    solver.log_steps(&log);
    solver.integrate(y0, 0.0, {1.0});
    std::vector<double> all;
    for (const step_entry& row : log.steps) all.push_back(row.damping);
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
  };
  CHECK(most(stiff, Eigen::VectorXd::Ones(1)) > 2.5);
  CHECK(most(swinging, Eigen::Vector2d(1, 0)) < 1.5);
}

TEST_CASE("steps that are cut by max_step, and attempts that fail, are told apart") {
  systems::decay system(1.0);
  agrad::step_options o = steps(1, 1e-6);
  o.max_step = 1e-2, o.first_step = 1e-2;
  agrad::explicit_runge_kutta_second<agrad::tsitouras_tableau> solver("f", system, o, {});
  step_log log;
  solver.log_steps(&log);
  solver.integrate(Eigen::VectorXd::Ones(1), 0.0, {1.0});
  CHECK(count(log, step_limit::largest) >= 95);
  systems::lotka_volterra failing(systems::rates);
  failing.nan_after = 1.0;
  for (int method = 0; method < methods; ++method) {
    CAPTURE(method);
    const solver_pointer by = made(method, failing, 1e-7);
    step_log found;
    by->log_steps(&found);
    CHECK_THROWS_AS(by->integrate(systems::pelts, 0.0, {2.0}), agrad::SolverError);
    REQUIRE(!found.rejected.empty());
    CHECK(std::any_of(found.rejected.begin(), found.rejected.end(), [](const auto& row) { return !row.by_error; }));
    CHECK(found.rejected.back().t == doctest::Approx(1.0).epsilon(0.5));
  }
}

TEST_CASE("events and doses are named as the ends of their steps, and reverse passes are counted in all segments") {
  for (int method = 0; method < methods - 1; ++method) {
    CAPTURE(method);
    systems::decay system(1.0);
    agrad::event_solver::functions events;
    events.push_back(std::make_unique<agrad::event_function>(std::make_unique<half>(), nullptr, system.states()));
    agrad::event_plan plan;
    plan.doses.push_back({0, false});
    plan.events.push_back({-1, 0});
    const auto make = [&](const std::string&, agrad::ode_system& of, agrad::ode_required required) {
      return made(method, of, 1e-8, required);
    };
    agrad::event_values v;
    v.initial_state = Eigen::VectorXd::Ones(1);
    v.times = {0.5, 3.0};
    v.dose_times = {1.0}, v.amounts = {1.0}, v.durations = {0.0};
    agrad::event_solver logged("f", system, events, make, plan, false);
    step_log log;
    REQUIRE(logged.log_steps(&log));
    const agrad::event_solution solution = logged.integrate(v);
    CHECK(solution.hits.size() == 2);  // at log 2, and once more after the dose
    CHECK(count(log, step_limit::event) == 2);
    CHECK(count(log, step_limit::stop) >= 1);
    CHECK(count(log, step_limit::end) >= 1);
    for (const step_entry& row : log.steps)
      if (row.limit == step_limit::event && row.t < 1) CHECK(row.t + row.h == doctest::Approx(std::log(2.0)).epsilon(1e-6));

    agrad::event_solver differentiable("f", system, events, make, plan, true);
    differentiable.integrate(v);
    const long forward = differentiable.statistics().forward.steps;
    CHECK(logged.statistics().forward.steps == static_cast<long>(log.steps.size()));
    if (method != 5)
      CHECK(forward == static_cast<long>(log.steps.size()));  // which makes its segments longer for a reverse pass
    CHECK(differentiable.statistics().backward.steps == 0);
    agrad::event_adjoints adjoints{
        Eigen::MatrixXd::Ones(1, 2), 0, Eigen::VectorXd::Zero(1), {0, 0}, Eigen::MatrixXd::Zero(1, 2)};
    differentiable.reverse(adjoints);
    const long once = differentiable.statistics().backward.steps;
    CHECK(once > 0);
    CHECK(differentiable.statistics().backward.rhs_evaluations > 0);
    CHECK(differentiable.statistics().forward.steps == forward);
    CHECK((differentiable.statistics().quadrature.rhs_evaluations > 0) == is_cvodes(method));
    differentiable.reverse(adjoints);
    CHECK(differentiable.statistics().backward.steps == 2 * once);
  }
}

TEST_CASE("a switch adds up the reverse passes of both methods") {
  systems::decay system(3000);
  agrad::switching_solver solver("f", system, steps(1, 1e-7), systems::everything);
  solver.integrate(Eigen::VectorXd::Ones(1), 0.0, {1.0});
  REQUIRE(!std::isnan(solver.statistics().stiff_from));
  const long forward = solver.statistics().forward.steps;
  solver.reverse(Eigen::MatrixXd::Ones(1, 1));
  CHECK(solver.statistics().backward.steps == forward);
  CHECK(solver.statistics().forward.steps == forward);
}

TEST_CASE("a listener hears of both passes, by none of a solve inside, and may end one") {
  for (int method = 0; method < methods; ++method) {
    CAPTURE(method);
    systems::lotka_volterra system(systems::rates);
    const solver_pointer by = made(method, system, 1e-7, systems::everything);
    heard forwards, backwards;
    {
      const agrad::progress_listener::scope scope(&forwards);
      by->integrate(systems::pelts, 0.0, {5.0, 10.0});
      const agrad::progress_listener::scope nobody(nullptr);
      const solver_pointer inside = made(method, system, 1e-7);
      const std::size_t before = forwards.times.size();
      inside->integrate(systems::pelts, 0.0, {5.0, 10.0});
      CHECK(forwards.times.size() == before);
    }
    REQUIRE(forwards.times.size() >= 10);
    CHECK(forwards.times.back() >= forwards.times.front());
    CHECK(forwards.times.back() <= 10.0);
    {
      const agrad::progress_listener::scope scope(&backwards);
      by->reverse(Eigen::MatrixXd::Ones(2, 2));
    }
    if (method < 6) {  // a reverse pass of sensitivities is a product
      REQUIRE(backwards.times.size() >= 10);
      CHECK(backwards.times.back() < backwards.times.front());
      CHECK(backwards.times.back() >= 0.0);
      // CVODES takes forward steps again between checkpoints; they are no progress.
      for (std::size_t i = 1; i < backwards.times.size(); ++i) CHECK(backwards.times[i] <= backwards.times[i - 1] + 2.0);
    }
    const std::size_t silent = backwards.times.size();
    by->reverse(Eigen::MatrixXd::Ones(2, 2));
    CHECK(backwards.times.size() == silent);
    heard refusing;
    refusing.refuses = true;
    const agrad::progress_listener::scope scope(&refusing);
    CHECK_THROWS_AS(by->integrate(systems::pelts, 0.0, {5.0}), std::runtime_error);
    CHECK(refusing.times.size() == 1);
  }
}

TEST_CASE("a pass tells its end, unless it fails, and a host has a listener for each") {
  struct host : agrad::progress_host {
    mutable std::vector<std::pair<bool, double>> ends;
    struct one : heard {
      explicit one(const host& to, bool is_backwards) : of(to), back(is_backwards) {}
      void done(double t) override { of.ends.emplace_back(back, t); }
      const host& of;
      bool back;
    };
    std::unique_ptr<agrad::progress_listener> begin(bool backwards) const override {
      return std::make_unique<one>(*this, backwards);
    }
  };
  const host h;
  agrad::run_pass(&h, true, [] {
    CHECK(agrad::progress_listener::current() != nullptr);
    agrad::run_pass(nullptr, false, [] {
      CHECK(agrad::progress_listener::current() == nullptr);
      return 0.0;
    });
    CHECK(agrad::progress_listener::current() != nullptr);
    return 2.5;
  });
  CHECK_THROWS(agrad::run_pass(&h, false, []() -> double { throw std::runtime_error("it stops"); }));
  CHECK(h.ends == std::vector<std::pair<bool, double>>{{true, 2.5}});
  CHECK(agrad::progress_listener::current() == nullptr);
}

}  // namespace test_step_log
