// Solvers that are used again: the same bits as from new ones, whatever came before; what they may not be used for.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <agrad/solve/cvodes/reuse.hpp>

#include "solve/systems.hpp"

namespace test_kept_cvodes {

using agrad::cvodes_adjoint;
using agrad::ode_gradient;
using agrad::pooled_cvodes;
using namespace systems;

namespace {

struct outcome {
  Eigen::MatrixXd states;
  ode_gradient gradient;
};

template <class Solver>
outcome solve(const Eigen::Vector4d& p, const agrad::ode_adjoint_options& o, const std::string& name = "kept") {
  const auto system = std::make_unique<lotka_volterra>(p);  // gone before the next one
  Solver solver(name, *system, o, everything);
  outcome found{solver.integrate(pelts, 0, steps_of(1, 20)), {}};
  found.gradient = solver.reverse(Eigen::MatrixXd::Ones(2, 20));
  return found;
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(a.states == b.states);
  systems::check_same(a.gradient, b.gradient);
}

}  // namespace

TEST_CASE("a solver that is used again gives the bits of a new one") {
  for (const agrad::ode_method method : {agrad::ode_method::adams, agrad::ode_method::bdf}) {
    for (const auto interpolation : {agrad::ode_interpolation::hermite, agrad::ode_interpolation::polynomial}) {
      for (const long segment : {250L, 7L}) {
        agrad::ode_adjoint_options o = options(2, 1e-8);
        o.solver_forward = o.solver_backward = method;
        o.interpolation_polynomial = interpolation;
        o.num_steps_between_checkpoints = segment;
        for (const double factor : {1.0, 1.3, 0.8, 1.0}) {
          const Eigen::Vector4d p = factor * rates;
          check_same(solve<pooled_cvodes>(p, o), solve<cvodes_adjoint>(p, o));
        }
      }
    }
  }
}

TEST_CASE("sizes of steps are kept to, in both passes, and not inherited") {
  const agrad::ode_adjoint_options free = options(2, 1e-8);
  agrad::ode_adjoint_options held = free;
  held.first_step = 1e-9, held.max_step = 1e-2;
  const outcome expected = solve<cvodes_adjoint>(rates, free), short_steps = solve<cvodes_adjoint>(rates, held);
  CHECK(short_steps.states.isApprox(expected.states, 1e-6));
  CHECK(short_steps.gradient.parameters.isApprox(expected.gradient.parameters, 1e-5));
  for (int i = 0; i < 2; ++i) {
    check_same(solve<pooled_cvodes>(rates, held), short_steps);
    check_same(solve<pooled_cvodes>(rates, free), expected);
  }
  lotka_volterra system(rates);
  cvodes_adjoint solver("f", system, held, everything);
  solver.integrate(pelts, 0, {20});
  CHECK(solver.statistics().forward.steps >= 2000);
  solver.reverse(Eigen::MatrixXd::Ones(2, 1));
  CHECK(solver.statistics().backward.steps >= 2000);
}

TEST_CASE("solvers are held when their solves have ended, a few of them, and leave again") {
  using agrad::detail::cvodes_pool;
  for (int i = 0; i < 9; ++i) solve<pooled_cvodes>(rates, options(2, 1e-6 / (1 + i)));
  CHECK(cvodes_pool::held() == 4);
  lotka_volterra system(rates);
  {
    const pooled_cvodes same("kept", system, options(2, 1e-6 / 9), everything);
    CHECK(cvodes_pool::held() == 3);
    const pooled_cvodes other("other", system, options(2, 1e-6 / 9), everything);
    CHECK(cvodes_pool::held() == 3);
  }
  CHECK(cvodes_pool::held() == 4);
}

TEST_CASE("after a fault, and after several rows, the next solve is that of a new solver") {
  const agrad::ode_adjoint_options o = options(2, 1e-8);
  const outcome expected = solve<cvodes_adjoint>(rates, o);
  {
    lotka_volterra system(rates);
    system.throw_in_rhs_after = 5;
    pooled_cvodes solver("kept", system, o, everything);
    CHECK_THROWS_AS(solver.integrate(pelts, 0, steps_of(1, 20)), std::domain_error);
  }
  check_same(solve<pooled_cvodes>(rates, o), expected);
  {
    lotka_volterra system(rates);
    system.throw_in_vjp_before = 5;
    pooled_cvodes solver("kept", system, o, everything);
    solver.integrate(pelts, 0, steps_of(1, 20));
    CHECK_THROWS_AS(solver.reverse(Eigen::MatrixXd::Ones(2, 20)), std::domain_error);
  }
  check_same(solve<pooled_cvodes>(rates, o), expected);
  {
    lotka_volterra system(rates);
    pooled_cvodes solver("kept", system, o, everything);
    solver.integrate(pelts, 0, steps_of(1, 20));
    const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(2, 20);
    const Eigen::Map<const Eigen::MatrixXd> row(ones.data(), 2, 20);
    CHECK(solver.reverse_rows({row, row, row}).size() == 3);
  }
  check_same(solve<pooled_cvodes>(rates, o), expected);
}

TEST_CASE("other options, names, sizes and wishes get solvers of their own") {
  const agrad::ode_adjoint_options o = options(2, 1e-8);
  agrad::ode_adjoint_options tighter = o, backward = o, quadrature = o, fewer = o;
  tighter.forward.relative = 1e-10;
  backward.backward.absolute *= 0.1;
  quadrature.quadrature.absolute = Eigen::VectorXd::Constant(4, 1e-11);
  fewer.max_num_steps = 10;
  solve<pooled_cvodes>(rates, o);
  for (const auto& other : {tighter, backward, quadrature})
    check_same(solve<pooled_cvodes>(rates, other), solve<cvodes_adjoint>(rates, other));
  CHECK_THROWS_AS(solve<pooled_cvodes>(rates, fewer), agrad::SolverError);
  try {
    agrad::ode_adjoint_options few = fewer;
    solve<pooled_cvodes>(rates, few, "another name");
    FAIL("ten steps are too few");
  } catch (const agrad::SolverError& e) {
    CHECK(std::string(e.what()).find("another name: stopped") == 0);
  }
  decay one(0.5);
  pooled_cvodes small("kept", one, options(1, 1e-8), everything);
  CHECK(small.integrate(Eigen::VectorXd::Ones(1), 0, {1.0})(0, 0) == doctest::Approx(std::exp(-0.5)).epsilon(1e-6));
  lotka_volterra values(rates);
  pooled_cvodes only_values("kept", values, o, {});
  CHECK(only_values.integrate(pelts, 0, {20.0}).allFinite());
}

TEST_CASE("two solves at once, and a solve that ends in another thread") {
  const agrad::ode_adjoint_options o = options(2, 1e-8);
  const outcome expected = solve<cvodes_adjoint>(rates, o);
  lotka_volterra first(rates), second(rates);
  pooled_cvodes a("kept", first, o, everything);
  a.integrate(pelts, 0, steps_of(1, 20));
  pooled_cvodes b("kept", second, o, everything);
  b.integrate(2 * pelts, 0, steps_of(1, 20));
  CHECK(a.reverse(Eigen::MatrixXd::Ones(2, 20)).parameters == expected.gradient.parameters);
  auto moved = std::make_unique<pooled_cvodes>("kept", first, o, everything);
  moved->integrate(pelts, 0, steps_of(1, 20));
  std::thread([&] {
    moved.reset();
    check_same(solve<pooled_cvodes>(rates, o), expected);
  }).join();
  check_same(solve<pooled_cvodes>(rates, o), expected);
}

}  // namespace test_kept_cvodes
