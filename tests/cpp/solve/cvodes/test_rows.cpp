// Several adjoints through CVODES at once: the gradients of each alone, by fewer steps; rows that come and go, or are nan.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "solve/systems.hpp"

namespace test_cvodes_rows {

using agrad::cvodes_adjoint;
using agrad::ode_gradient;
using agrad::ode_method;
using namespace systems;
using adjoint_map = Eigen::Map<const Eigen::MatrixXd>;

namespace {

/// One adjoint for each state at each of a few times.
std::vector<Eigen::MatrixXd> unit_rows(Eigen::Index states, Eigen::Index times, Eigen::Index count) {
  std::vector<Eigen::MatrixXd> rows;
  for (Eigen::Index r = 0; r < count; ++r) {
    rows.emplace_back(Eigen::MatrixXd::Zero(states, times));
    rows.back()(r % states, (times - 1 - r / states) % times) = 1;
  }
  return rows;
}

std::vector<adjoint_map> maps_of(const std::vector<Eigen::MatrixXd>& rows) {
  std::vector<adjoint_map> maps;
  for (const auto& row : rows) maps.emplace_back(row.data(), row.rows(), row.cols());
  return maps;
}

void check_near(const ode_gradient& a, const ode_gradient& b, double tolerance) {
  CHECK((a.parameters - b.parameters).norm() <= tolerance * b.parameters.norm());
  CHECK((a.initial_state - b.initial_state).norm() <= tolerance * b.initial_state.norm());
  CHECK((a.times - b.times).norm() <= 1e-12 * b.times.norm());
  CHECK(std::abs(a.initial_time - b.initial_time) <= tolerance * (1 + std::abs(b.initial_time)));
}

}  // namespace

TEST_CASE("rows together are the rows alone, within tolerances and by fewer steps") {
  for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
    for (const double tolerance : {1e-6, 1e-9}) {
      lotka_volterra system(rates);
      agrad::ode_adjoint_options o = options(2, tolerance);
      o.solver_forward = o.solver_backward = method;
      cvodes_adjoint together("together", system, o, everything), alone("alone", system, o, everything);
      const auto rows = unit_rows(2, 20, 8);
      together.integrate(pelts, 0, steps_of(1, 20));
      alone.integrate(pelts, 0, steps_of(1, 20));
      const std::vector<ode_gradient> all = together.reverse_rows(maps_of(rows));
      REQUIRE(all.size() == 8);
      long steps_alone = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        check_near(all[r], alone.reverse(rows[r]), 2e4 * tolerance);
        const long steps = alone.statistics().backward.steps;
        steps_alone = std::max(steps_alone, steps);
      }
      CHECK(together.statistics().backward.steps < steps_alone);  // which are those of all reverse passes
    }
  }
}

TEST_CASE("fewer rows than before share the same problem, more rows get a new one") {
  lotka_volterra system(rates);
  const agrad::ode_adjoint_options o = options(2, 1e-9);
  cvodes_adjoint solver("rows", system, o, everything), alone("alone", system, o, everything);
  solver.integrate(pelts, 0, steps_of(1, 20));
  alone.integrate(pelts, 0, steps_of(1, 20));
  for (const Eigen::Index count : {1, 3, 2, 6, 1}) {
    const auto rows = unit_rows(2, 20, count);
    const std::vector<ode_gradient> all = solver.reverse_rows(maps_of(rows));
    for (std::size_t r = 0; r < rows.size(); ++r) check_near(all[r], alone.reverse(rows[r]), 1e-5);
  }
  solver.integrate(pelts, 0, steps_of(1, 20));  // and the next solve
  const auto rows = unit_rows(2, 20, 4);
  check_near(solver.reverse_rows(maps_of(rows))[3], alone.reverse(rows[3]), 1e-5);
}

TEST_CASE("a row that is not finite leaves the others alone") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("rows", system, options(2, 1e-9), everything);
  solver.integrate(pelts, 0, steps_of(1, 20));
  auto rows = unit_rows(2, 20, 3);
  const ode_gradient first = solver.reverse_rows(maps_of(rows))[0];
  rows[1](0, 4) = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ode_gradient> all = solver.reverse_rows(maps_of(rows));
  CHECK(all[1].parameters.array().isNaN().all());
  CHECK(all[1].initial_state.array().isNaN().all());
  check_near(all[0], first, 1e-6);
  CHECK(all[2].parameters.allFinite());
  CHECK(solver.reverse_rows({}).empty());
}

TEST_CASE("a fault in one row is told as in one reverse pass") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("rows", system, options(2, 1e-9), everything);
  solver.integrate(pelts, 0, steps_of(1, 20));
  const auto rows = unit_rows(2, 20, 4);
  system.throw_in_vjp_before = 10;
  CHECK_THROWS_WITH_AS(solver.reverse_rows(maps_of(rows)), "the vjp refuses", std::domain_error);
  system.throw_in_vjp_before = -1;
  CHECK(solver.reverse_rows(maps_of(rows))[2].parameters.allFinite());
}

}  // namespace test_cvodes_rows
