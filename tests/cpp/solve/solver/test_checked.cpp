// Two solvers side by side: the first one's gradient comes out, and where the second one's differs by more than is allowed,
// that is reported.
#include <doctest/doctest.h>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/solver/checked.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "solve/systems.hpp"

namespace test_checked_solver {

using agrad::checked_solver;
using agrad::gradient_difference;
using agrad::ode_gradient;
using tsit5 = agrad::explicit_runge_kutta_second<agrad::tsitouras_tableau>;

namespace {

const agrad::ode_required everything{true, true, true};
const std::vector<double> times{0.5, 2.0};
const Eigen::VectorXd start = Eigen::VectorXd::Constant(1, 3.0);
const Eigen::MatrixXd adjoints = Eigen::RowVector2d(1.0, -2.0);

std::unique_ptr<agrad::ode_solver> solver_of(agrad::ode_system& system, double tolerance) {
  agrad::step_options options;
  options.states.relative = tolerance;
  options.states.absolute = Eigen::VectorXd::Constant(1, tolerance);
  return std::make_unique<tsit5>("f", system, options, everything);
}

/// What is reported of a decay solved at a tolerance beside one of 1e-10.
std::vector<gradient_difference> reports(double tolerance, double allowed, int passes = 1) {
  systems::decay system(0.7);
  std::vector<gradient_difference> found;
  checked_solver both(solver_of(system, tolerance), solver_of(system, 1e-10), allowed,
                      [&](const gradient_difference& d) { found.push_back(d); });
  const auto alone = solver_of(system, tolerance);
  CHECK(both.integrate(start, 0.25, times) == alone->integrate(start, 0.25, times));
  const ode_gradient expected = alone->reverse(adjoints);
  for (int k = 0; k < passes; ++k) {
    const ode_gradient g = both.reverse(adjoints);
    CHECK(g.initial_state == expected.initial_state);
    CHECK(g.initial_time == expected.initial_time);
    CHECK(g.times == expected.times);
    CHECK(g.parameters == expected.parameters);
  }
  CHECK(both.statistics().forward.steps == alone->statistics().forward.steps);
  return found;
}

}  // namespace

TEST_CASE("a gradient whose error is allowed is not reported") {
  CHECK(reports(1e-8, 1e-5).empty());
  CHECK(reports(1e-2, 1.0).empty());
}

TEST_CASE("a gradient of loose tolerances is reported at each reverse pass, with its error and what has it") {
  const auto found = reports(1e-2, 1e-6, 3);
  REQUIRE(found.size() == 3);
  CHECK(found[0].relative > 1e-6);
  CHECK(found[0].relative < 0.1);
  CHECK(std::string(found[0].of).rfind("the ", 0) == 0);
  CHECK(found[2].relative == found[0].relative);
}

TEST_CASE("where parts of a gradient cancel, their size counts, and rounding errors are none") {
  systems::decay system(0.7);
  int count = 0;
  checked_solver both(solver_of(system, 1e-6), solver_of(system, 1e-10), 1e-4, [&](const gradient_difference&) { ++count; });
  both.integrate(start, 0, times);
  // t exp(-k t) times these adjoints adds up to nothing: the derivative with respect to the rate is zero.
  both.reverse(Eigen::RowVector2d(2.0 * std::exp(-1.4), -0.5 * std::exp(-0.35)));
  CHECK(count == 0);
}

TEST_CASE("the second solver follows when another problem is integrated") {
  systems::decay system(0.7);
  int count = 0;
  checked_solver both(solver_of(system, 1e-8), solver_of(system, 1e-10), 1e-5, [&](const gradient_difference&) { ++count; });
  for (const double from : {3.0, 5.0}) {
    both.integrate(Eigen::VectorXd::Constant(1, from), 0, times);
    both.reverse(adjoints);
  }
  CHECK(count == 0);
}

TEST_CASE("a difference that is not a number is reported, none is not") {
  ode_gradient g{start, 1.0, Eigen::VectorXd::Zero(2), start}, other = g;
  CHECK(agrad::difference_of(g, other).relative == 0);
  other.times[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!(agrad::difference_of(g, other).relative <= 1e300));
  other.times[1] = 1e-3;
  CHECK(agrad::difference_of(g, other).relative == 1);
  CHECK(std::string(agrad::difference_of(g, other).of) == "the times");
}

}  // namespace test_checked_solver
