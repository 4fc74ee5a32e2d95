// The CVODES engine on hand-written systems: values and gradients. No tape takes part.
#include <doctest/doctest.h>

#include <string>

#include "repetitions.hpp"
#include "solve/systems.hpp"

namespace test_cvodes {

using agrad::cvodes_adjoint;
using agrad::ode_interpolation;
using agrad::ode_method;
using agrad::SolverError;
using namespace systems;
using doctest::Approx;

namespace {

double loss_at(const Eigen::Vector4d& p, const Eigen::Vector2d& y0, double t0, const std::vector<double>& times) {
  lotka_volterra system(p);
  cvodes_adjoint solver("loss", system, options(2, 1e-12), {});
  return residuals(solver.integrate(y0, t0, times)).squaredNorm();
}

}  // namespace

TEST_CASE("decay has a closed form: values and every gradient") {
  const double k = 0.7, t0 = 0.25, y0 = 2;
  const std::vector<double> times{0.5, 1.0, 3.0};
  for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
    for (const ode_interpolation interpolation : {ode_interpolation::hermite, ode_interpolation::polynomial}) {
      decay system(k);
      agrad::ode_adjoint_options o = options(1, 1e-10);
      o.solver_forward = o.solver_backward = method;
      o.interpolation_polynomial = interpolation;
      cvodes_adjoint solver("decay", system, o, everything);
      const Eigen::MatrixXd states = solver.integrate(Eigen::VectorXd::Constant(1, y0), t0, times);
      Eigen::MatrixXd adjoints(1, 3);
      adjoints << 1, -2, 3;
      const agrad::ode_gradient g = solver.reverse(adjoints);
      double by_y0 = 0, by_k = 0, by_t0 = 0;
      for (int i = 0; i < 3; ++i) {
        const double span = times[static_cast<std::size_t>(i)] - t0, e = std::exp(-k * span), a = adjoints(0, i);
        CHECK(states(0, i) == Approx(y0 * e).epsilon(1e-8));
        CHECK(g.times[i] == Approx(-a * k * y0 * e).epsilon(1e-8));
        by_y0 += a * e, by_k -= a * span * y0 * e, by_t0 += a * k * y0 * e;
      }
      CHECK(g.initial_state[0] == Approx(by_y0).epsilon(1e-7));
      CHECK(g.parameters[0] == Approx(by_k).epsilon(1e-7));
      CHECK(g.initial_time == Approx(by_t0).epsilon(1e-7));
    }
  }
}

TEST_CASE("an oscillator without parameters sets up no quadrature") {
  const double w = 3;
  oscillator system(w);
  cvodes_adjoint solver("oscillator", system, options(2, 1e-10), {true, false, false});
  const std::vector<double> times = steps_of(0.5, 10);
  const Eigen::MatrixXd states = solver.integrate(Eigen::Vector2d(1, 0), 0, times);
  for (Eigen::Index i = 0; i < 10; ++i)
    CHECK(states(0, i) == Approx(std::cos(w * times[static_cast<std::size_t>(i)])).epsilon(1e-7));
  Eigen::MatrixXd adjoints = Eigen::MatrixXd::Zero(2, 10);
  adjoints(0, 9) = 1;
  const agrad::ode_gradient g = solver.reverse(adjoints);
  CHECK(g.initial_state[0] == Approx(std::cos(w * 5)).epsilon(1e-7));
  CHECK(g.initial_state[1] == Approx(std::sin(w * 5) / w).epsilon(1e-7));
  CHECK(g.parameters.size() == 0);
  CHECK(g.initial_time == 0);
  CHECK(g.times.isZero(0));
  CHECK(solver.statistics().quadrature.rhs_evaluations == 0);
  CHECK(solver.statistics().restarts == 1);
}

TEST_CASE("Lotka-Volterra meets its reference with every method, and closer with tighter tolerances") {
  for (const ode_method forward : {ode_method::adams, ode_method::bdf}) {
    for (const ode_method backward : {ode_method::adams, ode_method::bdf}) {
      double before = 1;
      for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
        lotka_volterra system(rates);
        agrad::ode_adjoint_options o = options(2, tolerance);
        o.solver_forward = forward, o.solver_backward = backward;
        cvodes_adjoint solver("pelts", system, o, everything);
        const Eigen::MatrixXd r = residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
        CHECK(r.squaredNorm() == Approx(reference_loss).epsilon(5000 * tolerance));
        const double error = largest_relative_difference(solver.reverse(2 * r));
        CHECK(error < 5000 * tolerance);
        CHECK(error < before);
        before = error;
        CHECK(system.latest <= 20);
      }
    }
  }
}

TEST_CASE("gradients by t0 and by the times agree with finite differences") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-10), everything);
  const std::vector<double> times = steps_of(1, 20);
  const agrad::ode_gradient g = solver.reverse(2 * residuals(solver.integrate(pelts, 0, times)));
  const double h = 1e-5;
  const double by_t0 = (loss_at(rates, pelts, h, times) - loss_at(rates, pelts, -h, times)) / (2 * h);
  CHECK(g.initial_time == Approx(by_t0).epsilon(1e-6));
  for (const std::size_t k : {0U, 7U, 19U}) {
    std::vector<double> later = times, earlier = times;
    later[k] += h, earlier[k] -= h;
    const double by_time = (loss_at(rates, pelts, 0, later) - loss_at(rates, pelts, 0, earlier)) / (2 * h);
    CHECK(g.times[static_cast<Eigen::Index>(k)] == Approx(by_time).epsilon(1e-5));
  }
}

TEST_CASE("the gradient does not depend on where the checkpoints lie") {
  // Segments that end with one to four points, and output times in a segment's first interval, are where CVODES' own
  // interpolation goes wrong (solve/cvodes/interpolation.hpp).
  for (const ode_interpolation interpolation : {ode_interpolation::hermite, ode_interpolation::polynomial}) {
    for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
      for (long steps = 1; steps < 450; steps += steps < 50 ? 1 : 4 / repetitions(4)) {
        lotka_volterra system(rates);
        agrad::ode_adjoint_options o = options(2, 1e-8);
        o.solver_forward = o.solver_backward = method;
        o.interpolation_polynomial = interpolation;
        o.num_steps_between_checkpoints = steps;
        cvodes_adjoint solver("pelts", system, o, everything);
        const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
        CAPTURE(steps);
        CHECK(largest_relative_difference(solver.reverse(adjoints)) < 2e-5);
        CHECK(largest_relative_difference(solver.reverse(adjoints)) < 2e-5);
      }
    }
  }
}

TEST_CASE("Robertson's kinetics, stiff over eleven decades, with few and many checkpoints") {
  std::vector<double> times;
  for (double t = 0.4; t < 5e7; t *= 10) times.push_back(t);
  Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(3, 9);
  adjoints.row(0) *= 2, adjoints.row(1) *= 1e4;
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  for (const long steps : {10000L, 250L, 50L, 10L, 6L, 3L, 2L, 1L}) {
    robertson system;
    agrad::ode_adjoint_options o = options(3, 1e-8);
    o.forward.absolute.setConstant(1e-14);
    o.num_steps_between_checkpoints = steps;
    cvodes_adjoint solver("robertson", system, o, everything);
    const Eigen::MatrixXd states = solver.integrate(Eigen::Vector3d(1, 0, 0), 0, times);
    CHECK((states.colwise().sum().array() - 1).abs().maxCoeff() < 1e-10);
    const Eigen::Vector3d gradient = solver.reverse(adjoints).parameters.cwiseProduct(system.p);  // by the log rates
    if (steps == 10000) first = gradient;
    CAPTURE(steps);
    CHECK((gradient - first).cwiseAbs().maxCoeff() < 2e-5 * first.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("reverse passes repeat, are linear in the adjoints, and skip what has none") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-10), everything);
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  const agrad::ode_gradient first = solver.reverse(adjoints);
  const Eigen::MatrixXd other = Eigen::MatrixXd::Identity(2, 20);
  const agrad::ode_gradient second = solver.reverse(other);
  CHECK(solver.statistics().restarts == 22);
  const agrad::ode_gradient again = solver.reverse(adjoints);
  CHECK(again.parameters == first.parameters);
  CHECK(again.initial_state == first.initial_state);
  const agrad::ode_gradient sum = solver.reverse(adjoints + 1000 * other);
  CHECK((sum.parameters - first.parameters - 1000 * second.parameters).norm() < 1e-6 * first.parameters.norm());
  const agrad::ode_gradient none = solver.reverse(Eigen::MatrixXd::Zero(2, 20));
  CHECK(none.parameters.isZero(0));
  CHECK(none.initial_time == 0);
  CHECK(solver.statistics().restarts == 22 + 20 + 20);
}

TEST_CASE("a solver is used again for other initial values") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-8), everything);
  solver.reverse(Eigen::MatrixXd::Ones(2, 3) + 0 * solver.integrate(Eigen::Vector2d(10, 10), -3, {-2, 4, 5}));
  const Eigen::MatrixXd used = solver.integrate(pelts, 0, steps_of(1, 20));
  const agrad::ode_gradient g = solver.reverse(2 * residuals(used));
  cvodes_adjoint fresh("pelts", system, options(2, 1e-8), everything);
  CHECK(fresh.integrate(pelts, 0, steps_of(1, 20)) == used);
  const agrad::ode_gradient h = fresh.reverse(2 * residuals(used));
  CHECK(h.parameters == g.parameters);
  CHECK(h.initial_time == g.initial_time);
}

TEST_CASE("without wanted derivatives no adjoint is set up, times alone need no backward pass") {
  oscillator system(2);
  cvodes_adjoint plain("plain", system, options(2, 1e-8), {});
  plain.integrate(Eigen::Vector2d(1, 0), 0, {1, 2});
  CHECK(plain.statistics().checkpoints == 0);
  cvodes_adjoint timed("timed", system, options(2, 1e-8), {false, false, true});
  const Eigen::MatrixXd states = timed.integrate(Eigen::Vector2d(1, 0), 0, {1, 2});
  const agrad::ode_gradient g = timed.reverse(Eigen::MatrixXd::Ones(2, 2));
  CHECK(g.times[1] == Approx(states(1, 1) - 4 * states(0, 1)));
  CHECK(timed.statistics().backward.steps == 0);
}

TEST_CASE("vector tolerances of the quadrature control each parameter") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-7);
  o.quadrature.relative = 1e-3;
  o.quadrature.absolute.setConstant(1e6);
  cvodes_adjoint loose("pelts", system, o, everything);
  const Eigen::MatrixXd adjoints = 2 * residuals(loose.integrate(pelts, 0, steps_of(1, 20)));
  loose.reverse(adjoints);
  o.quadrature.relative = 1e-10;
  o.quadrature.absolute = Eigen::VectorXd(Eigen::Vector4d(1e6, 1e6, 1e6, 1e-6));
  cvodes_adjoint tight("pelts", system, o, everything);
  tight.integrate(pelts, 0, steps_of(1, 20));
  tight.reverse(adjoints);
  CHECK(tight.statistics().backward.steps > loose.statistics().backward.steps);
}

TEST_CASE("an adjoint that is not finite gives nan, as in any operation") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-6), everything);
  solver.integrate(pelts, 0, {1, 2});
  Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 2);
  adjoints(1, 1) = std::numeric_limits<double>::infinity();
  const agrad::ode_gradient g = solver.reverse(adjoints);
  CHECK(g.parameters.array().isNaN().all());
  CHECK(g.initial_state.array().isNaN().all());
  CHECK(std::isnan(g.initial_time));
  CHECK(solver.reverse(Eigen::MatrixXd::Ones(2, 2)).parameters.allFinite());
}

TEST_CASE("times that CVODES cannot tell apart") {
  decay system(1);
  cvodes_adjoint solver("decay", system, options(1, 1e-8), everything);
  const double next = std::nextafter(2.0, 3.0);
  const Eigen::MatrixXd states = solver.integrate(Eigen::VectorXd::Ones(1), 0, {2.0, next});
  CHECK(states(0, 1) == Approx(std::exp(-2.0)));
  CHECK(solver.reverse(Eigen::MatrixXd::Ones(1, 2)).parameters[0] == Approx(-4 * std::exp(-2.0)));
  CHECK(solver.integrate(Eigen::VectorXd::Ones(1), 2, {next})(0, 0) == Approx(1.0));
  CHECK(solver.reverse(Eigen::MatrixXd::Ones(1, 1)).parameters[0] == Approx(2 - next).epsilon(1e-6));
}

}  // namespace test_cvodes
