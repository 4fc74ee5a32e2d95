// The CVODES engine on hand-written systems: values, gradients, faults. No tape takes part.
#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>

#include <unistd.h>

#include "systems.hpp"

using agrad::cvodes_adjoint;
using agrad::ode_interpolation;
using agrad::ode_method;
using agrad::SolverError;
using namespace systems;
using doctest::Approx;

namespace {

const Eigen::Vector4d rates(0.55, 0.028, 0.84, 0.026);
const Eigen::Vector2d pelts(33.956, 5.933);

// Observations and gradient (rates, then initial state) of a sum of squares: forward sensitivities at rtol 1e-12.
constexpr std::array<double, 40> observed{
    48.807285126605308, 4.7836388559887162, 61.728520947373717, 15.179459075705159, 56.6318483717547,   32.618174238679465,
    33.529040249409647, 48.111592527464879, 17.332445937505859, 32.28199400795183,  15.362184333622871, 19.337190464628961,
    17.497608364275546, 10.065195604600099, 11.279439009086744, 7.450228225086815,  27.770788618210752, 6.2837254703877621,
    39.606401206794217, 5.4271741215147317, 53.6908410429226,   9.3829349688032675, 63.874511826690082, 15.522118937090303,
    46.561068395575084, 37.245167740851379, 25.879280922214548, 48.535741381780909, 18.61043707396389,  30.13577413216013,
    10.960193506799252, 21.317482436206674, 13.891123894472843, 7.986029839876049,  13.646503815994929, 9.9047803436036546,
    22.542314316399352, 8.7254586587077831, 39.658845836786192, 2.8979245050617504};
constexpr double reference_loss = 401.52249329942384;
constexpr std::array<double, 6> reference_gradient{-9403.4012495278839, -73834.867961281692, -4457.3158303816126,
                                                   -174843.54687025549, -95.632925885538228, -261.35453914212889};

Eigen::MatrixXd residuals(const Eigen::MatrixXd& states) {
  return states - Eigen::Map<const Eigen::MatrixXd>(observed.data(), 2, 20);
}

double largest_relative_difference(const agrad::ode_gradient& g) {
  double largest = 0;
  for (int i = 0; i < 6; ++i) {
    const double value = i < 4 ? g.parameters[i] : g.initial_state[i - 4];
    const double reference = reference_gradient[static_cast<std::size_t>(i)];
    largest = std::max(largest, std::abs(value / reference - 1));
  }
  return largest;
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

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
      const agrad::ode_gradient g = solver.sweep(adjoints);
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
  const agrad::ode_gradient g = solver.sweep(adjoints);
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
        const double error = largest_relative_difference(solver.sweep(2 * r));
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
  const agrad::ode_gradient g = solver.sweep(2 * residuals(solver.integrate(pelts, 0, times)));
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
  // interpolation goes wrong (solve/cvodes_interpolation.hpp).
  for (const ode_interpolation interpolation : {ode_interpolation::hermite, ode_interpolation::polynomial}) {
    for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
      for (long steps = 1; steps < 450; ++steps) {
        lotka_volterra system(rates);
        agrad::ode_adjoint_options o = options(2, 1e-8);
        o.solver_forward = o.solver_backward = method;
        o.interpolation_polynomial = interpolation;
        o.num_steps_between_checkpoints = steps;
        cvodes_adjoint solver("pelts", system, o, everything);
        const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
        CAPTURE(steps);
        CHECK(largest_relative_difference(solver.sweep(adjoints)) < 2e-5);
        CHECK(largest_relative_difference(solver.sweep(adjoints)) < 2e-5);
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
    o.absolute_tolerance_forward.setConstant(1e-14);
    o.num_steps_between_checkpoints = steps;
    cvodes_adjoint solver("robertson", system, o, everything);
    const Eigen::MatrixXd states = solver.integrate(Eigen::Vector3d(1, 0, 0), 0, times);
    CHECK((states.colwise().sum().array() - 1).abs().maxCoeff() < 1e-10);
    const Eigen::Vector3d gradient = solver.sweep(adjoints).parameters.cwiseProduct(system.p);  // by the log rates
    if (steps == 10000) first = gradient;
    CAPTURE(steps);
    CHECK((gradient - first).cwiseAbs().maxCoeff() < 2e-5 * first.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("sweeps repeat, are linear in the adjoints, and skip what has none") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-10), everything);
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  const agrad::ode_gradient first = solver.sweep(adjoints);
  const Eigen::MatrixXd other = Eigen::MatrixXd::Identity(2, 20);
  const agrad::ode_gradient second = solver.sweep(other);
  CHECK(solver.statistics().restarts == 22);
  const agrad::ode_gradient again = solver.sweep(adjoints);
  CHECK(again.parameters == first.parameters);
  CHECK(again.initial_state == first.initial_state);
  const agrad::ode_gradient sum = solver.sweep(adjoints + 1000 * other);
  CHECK((sum.parameters - first.parameters - 1000 * second.parameters).norm() < 1e-6 * first.parameters.norm());
  const agrad::ode_gradient none = solver.sweep(Eigen::MatrixXd::Zero(2, 20));
  CHECK(none.parameters.isZero(0));
  CHECK(none.initial_time == 0);
  CHECK(solver.statistics().restarts == 22 + 20 + 20);
}

TEST_CASE("a solver is used again for other initial values") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-8), everything);
  solver.sweep(Eigen::MatrixXd::Ones(2, 3) + 0 * solver.integrate(Eigen::Vector2d(10, 10), -3, {-2, 4, 5}));
  const Eigen::MatrixXd used = solver.integrate(pelts, 0, steps_of(1, 20));
  const agrad::ode_gradient g = solver.sweep(2 * residuals(used));
  cvodes_adjoint fresh("pelts", system, options(2, 1e-8), everything);
  CHECK(fresh.integrate(pelts, 0, steps_of(1, 20)) == used);
  const agrad::ode_gradient h = fresh.sweep(2 * residuals(used));
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
  const agrad::ode_gradient g = timed.sweep(Eigen::MatrixXd::Ones(2, 2));
  CHECK(g.times[1] == Approx(states(1, 1) - 4 * states(0, 1)));
  CHECK(timed.statistics().backward.steps == 0);
}

TEST_CASE("vector tolerances of the quadrature control each parameter") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-7);
  o.relative_tolerance_quadrature = 1e-3;
  o.absolute_tolerance_quadrature = 1e6;
  cvodes_adjoint loose("pelts", system, o, everything);
  const Eigen::MatrixXd adjoints = 2 * residuals(loose.integrate(pelts, 0, steps_of(1, 20)));
  loose.sweep(adjoints);
  o.relative_tolerance_quadrature = 1e-10;
  o.absolute_tolerance_quadrature = Eigen::VectorXd(Eigen::Vector4d(1e6, 1e6, 1e6, 1e-6));
  cvodes_adjoint tight("pelts", system, o, everything);
  tight.integrate(pelts, 0, steps_of(1, 20));
  tight.sweep(adjoints);
  CHECK(tight.statistics().backward.steps > loose.statistics().backward.steps);
}

TEST_CASE("an adjoint that is not finite gives nan, as in any operation") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-6), everything);
  solver.integrate(pelts, 0, {1, 2});
  Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 2);
  adjoints(1, 1) = std::numeric_limits<double>::infinity();
  const agrad::ode_gradient g = solver.sweep(adjoints);
  CHECK(g.parameters.array().isNaN().all());
  CHECK(g.initial_state.array().isNaN().all());
  CHECK(std::isnan(g.initial_time));
  CHECK(solver.sweep(Eigen::MatrixXd::Ones(2, 2)).parameters.allFinite());
}

TEST_CASE("times that CVODES cannot tell apart") {
  decay system(1);
  cvodes_adjoint solver("decay", system, options(1, 1e-8), everything);
  const double next = std::nextafter(2.0, 3.0);
  const Eigen::MatrixXd states = solver.integrate(Eigen::VectorXd::Ones(1), 0, {2.0, next});
  CHECK(states(0, 1) == Approx(std::exp(-2.0)));
  CHECK(solver.sweep(Eigen::MatrixXd::Ones(1, 2)).parameters[0] == Approx(-4 * std::exp(-2.0)));
  CHECK_THROWS_WITH_AS(solver.integrate(Eigen::VectorXd::Ones(1), 2, {next}),
                       "decay: stopped at t = 2 after 0 steps (CV_TOO_CLOSE); move the first of the times away from t0",
                       SolverError);
}

TEST_CASE("what the system throws comes out unchanged, and the solver can go on") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-8), everything);
  system.throw_in_rhs_after = 7;
  CHECK_THROWS_WITH_AS(solver.integrate(pelts, 0, steps_of(1, 20)), "the rhs refuses", std::domain_error);
  CHECK_THROWS_AS(solver.sweep(Eigen::MatrixXd::Ones(2, 20)), std::logic_error);
  system.throw_in_rhs_after = std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  system.throw_in_vjp_before = 7;
  CHECK_THROWS_WITH_AS(solver.sweep(adjoints), "the vjp refuses", std::domain_error);
  system.throw_in_vjp_before = -1;
  system.throw_in_quadrature_before = 7;
  CHECK_THROWS_WITH_AS(solver.sweep(adjoints), "the quadrature refuses", std::domain_error);
  system.throw_in_quadrature_before = -1;
  CHECK(largest_relative_difference(solver.sweep(adjoints)) < 2e-5);
}

TEST_CASE("a throw while a checkpoint's steps are taken again") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-8);
  o.num_steps_between_checkpoints = 50;
  cvodes_adjoint solver("pelts", system, o, {true, false, false});
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  system.throw_in_rhs_after = 5;
  CHECK_THROWS_WITH_AS(solver.sweep(adjoints), "the rhs refuses", std::domain_error);
}

TEST_CASE("values that are not finite name their place") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-6), everything);
  system.nan_after = -1;
  CHECK_THROWS_WITH_AS(solver.integrate(pelts, 0, {1}),
                       "pelts: stopped at t = 0 after 0 steps (CV_FIRST_RHSFUNC_ERR); the derivative of y[1] is nan at t = 0",
                       SolverError);
  system.nan_after = 3;
  const std::string forward = message_of([&] { solver.integrate(pelts, 0, steps_of(1, 20)); });
  CHECK(forward.find("pelts: stopped at t = ") == 0);
  CHECK(forward.find(" (CV_RHSFUNC_FAIL); the derivative of y[1] is nan at t = 3") != std::string::npos);
  system.nan_after = 100;
  system.nan_jacobian_after = 3;
  const std::string jacobian = message_of([&] { solver.integrate(pelts, 0, steps_of(1, 20)); });
  CHECK(jacobian.find("the Jacobian's entry [1, 0] is nan at t = ") != std::string::npos);
  system.nan_jacobian_after = 100;
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  system.nan_in_vjp_before = 3;
  const std::string backward = message_of([&] { solver.sweep(adjoints); });
  CHECK(backward.find("pelts: the backward pass stopped at t = ") == 0);
  CHECK(backward.find("the derivative of the adjoint of y[0] is nan at t = ") != std::string::npos);
}

TEST_CASE("too many steps: where, how many, the code and what to try") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-8);
  o.max_num_steps = 60;
  o.relative_tolerance_backward = 1e-12;
  cvodes_adjoint solver("ode_adjoint_tol_ctl", system, o, everything);
  try {
    solver.integrate(pelts, 0, {20});
    FAIL("60 steps are too few");
  } catch (const SolverError& e) {
    CHECK(e.code == "CV_TOO_MUCH_WORK");
    CHECK(e.steps == 60);
    CHECK(e.t > 0);
    CHECK(e.t < 20);
    CHECK(e.advice.find("raise max_num_steps or loosen the tolerances; the error of y[") == 0);
    const std::string text = e.what();
    CHECK(text.find("ode_adjoint_tol_ctl: stopped at t = ") == 0);
    CHECK(text.find(" after 60 steps (CV_TOO_MUCH_WORK); raise max_num_steps") != std::string::npos);
  }
  solver.integrate(pelts, 0, steps_of(1, 20));  // the count begins anew at each output time
  const Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 20);
  const std::string backward = message_of([&] { solver.sweep(adjoints); });
  CHECK(backward.find("ode_adjoint_tol_ctl: the backward pass stopped at t = ") == 0);
  CHECK(backward.find("CV_TOO_MUCH_WORK") != std::string::npos);
}

TEST_CASE("a solution that ends in a pole stops with a name") {
  struct pole : agrad::ode_system {  // y' = y^2, which leaves all bounds at t = 1
    Eigen::Index states() const override { return 1; }
    Eigen::Index parameters() const override { return 0; }
    void rhs(double, const double* y, double* dydt) override { dydt[0] = y[0] * y[0]; }
    void jacobian(double, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override { J(0, 0) = 2 * y[0]; }
    void vjp(double, const double* y, const double* l, double* a, double*) override { a[0] = 2 * y[0] * l[0]; }
  } system;
  for (const bool wanted : {false, true}) {
    cvodes_adjoint solver("pole", system, options(1, 1e-6), {wanted, false, false});
    try {
      solver.integrate(Eigen::VectorXd::Ones(1), 0, {0.5, 2});
      FAIL("there is no state at t = 2");
    } catch (const SolverError& e) {
      CHECK(e.t == Approx(1).epsilon(1e-3));
      CHECK(e.code.find("CV_") == 0);
    }
  }
}

TEST_CASE("bad arguments are refused before anything is allocated") {
  lotka_volterra system(rates);
  const auto with = [&](const std::function<void(agrad::ode_adjoint_options&)>& change) {
    agrad::ode_adjoint_options o = options(2, 1e-6);
    change(o);
    return message_of([&] { cvodes_adjoint("f", system, o, everything); });
  };
  using o_t = agrad::ode_adjoint_options;
  CHECK(with([](o_t& o) { o.relative_tolerance_forward = std::nan(""); }) ==
        "f: relative_tolerance_forward is nan, but must be positive and finite");
  CHECK(with([](o_t& o) { o.absolute_tolerance_forward[1] = 0; }) ==
        "f: absolute_tolerance_forward[1] is 0, but must be positive and finite");
  CHECK(with([](o_t& o) { o.absolute_tolerance_backward.resize(3); }) ==
        "f: absolute_tolerance_backward is of length 3, but must be of length 2; one for each state");
  CHECK(with([](o_t& o) { o.relative_tolerance_quadrature = -1e-3; }) ==
        "f: relative_tolerance_quadrature is -0.001, but must be positive and finite");
  CHECK(with([](o_t& o) { o.absolute_tolerance_quadrature = Eigen::VectorXd(Eigen::VectorXd::Ones(3)); }) ==
        "f: absolute_tolerance_quadrature is of length 3, but must be of length 4; one for each active parameter");
  CHECK(with([](o_t& o) { o.max_num_steps = 0; }) == "f: max_num_steps is 0, but must be positive");
  CHECK(with([](o_t& o) { o.num_steps_between_checkpoints = -2; }) ==
        "f: num_steps_between_checkpoints is -2, but must be positive");
  CHECK(message_of([] { agrad::method_from_code("f", "solver_forward", 3); }) ==
        "f: solver_forward is 3, but must be 1 (Adams) or 2 (BDF)");
  CHECK(message_of([] { agrad::interpolation_from_code("f", "interpolation_polynomial", 0); }) ==
        "f: interpolation_polynomial is 0, but must be 1 (Hermite) or 2 (polynomial)");

  cvodes_adjoint solver("f", system, options(2, 1e-6), everything);
  const auto problem = [&](const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) {
    return message_of([&] { solver.integrate(y0, t0, times); });
  };
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(problem(Eigen::Vector3d::Ones(), 0, {1}) == "f: y0 is of length 3, but must be of length 2; one for each state");
  CHECK(problem(Eigen::Vector2d(1, inf), 0, {1}) == "f: y0[1] is inf, but must be finite");
  CHECK(problem(pelts, -inf, {1}) == "f: t0 is -inf, but must be finite");
  CHECK(problem(pelts, 0, {}) == "f: times is of length 0, but must be of length 1 or more");
  CHECK(problem(pelts, 0, {1, std::nan("")}) == "f: times[1] is nan, but must be finite");
  CHECK(problem(pelts, 1, {1, 2}) == "f: times[0] is 1, but must be greater than t0 = 1; the state at t0 is y0 itself");
  CHECK(problem(pelts, 0, {1, 1.75, 2, 1.5}) ==
        "f: times[3] is 1.5, but must be greater than times[2] = 2; times are to increase strictly");
  CHECK(problem(pelts, 0, {1, 1}) == "f: times[1] is 1, but must be greater than times[0] = 1; times are to increase strictly");
  solver.integrate(pelts, 0, {1, 2});
  CHECK(message_of([&] { solver.sweep(Eigen::MatrixXd::Ones(2, 3)); }) ==
        "f: adjoints is of length 6, but must be of length 4; one for each state at each time");
}

namespace {
[[maybe_unused]] long resident_pages() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}
}  // namespace

TEST_CASE("a thousand failing solves leave the memory as it was") {
  const auto fail = [](int how) {
    lotka_volterra system(rates);
    agrad::ode_adjoint_options o = options(2, 1e-6);
    if (how == 0) o.max_num_steps = 3;
    cvodes_adjoint solver("pelts", system, o, everything);
    if (how == 1) system.throw_in_rhs_after = 3;
    if (how == 2) system.nan_after = 3;
    if (how == 3) system.throw_in_vjp_before = 2;
    solver.sweep(Eigen::MatrixXd::Ones(2, 5) + 0 * solver.integrate(pelts, 0, steps_of(1, 5)));
  };
  const auto fail_all = [&](int count) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
      try {
        fail(i % 4);
      } catch (const std::exception&) {
        ++failures;
      }
    }
    return failures;
  };
  CHECK(fail_all(200) == 200);
  [[maybe_unused]] const long before = resident_pages();
  CHECK(fail_all(1000) == 1000);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps freed memory for a while, and counts leaks itself
  CHECK((resident_pages() - before) * sysconf(_SC_PAGESIZE) < 256 * 1024);
#endif
}
