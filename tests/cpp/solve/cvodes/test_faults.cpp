// Faults of the CVODES engine: exceptions, values that are not finite, too many steps, bad arguments, leaks.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "resident_memory.hpp"
#include "solve/systems.hpp"

namespace test_cvodes_faults {

using agrad::cvodes_adjoint;
using agrad::SolverError;
using namespace systems;
using doctest::Approx;

TEST_CASE("what the system throws comes out unchanged, and the solver can go on") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("pelts", system, options(2, 1e-8), everything);
  system.throw_in_rhs_after = 7;
  CHECK_THROWS_WITH_AS(solver.integrate(pelts, 0, steps_of(1, 20)), "the rhs refuses", std::domain_error);
  CHECK_THROWS_AS(solver.reverse(Eigen::MatrixXd::Ones(2, 20)), std::logic_error);
  system.throw_in_rhs_after = std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  system.throw_in_vjp_before = 7;
  CHECK_THROWS_WITH_AS(solver.reverse(adjoints), "the vjp refuses", std::domain_error);
  system.throw_in_vjp_before = -1;
  system.throw_in_quadrature_before = 7;
  CHECK_THROWS_WITH_AS(solver.reverse(adjoints), "the quadrature refuses", std::domain_error);
  system.throw_in_quadrature_before = -1;
  CHECK(largest_relative_difference(solver.reverse(adjoints)) < 2e-5);
}

TEST_CASE("a throw while a checkpoint's steps are taken again") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-8);
  o.num_steps_between_checkpoints = 50;
  cvodes_adjoint solver("pelts", system, o, {true, false, false});
  const Eigen::MatrixXd adjoints = 2 * residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
  system.throw_in_rhs_after = 5;
  CHECK_THROWS_WITH_AS(solver.reverse(adjoints), "the rhs refuses", std::domain_error);
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
  const std::string backward = message_of([&] { solver.reverse(adjoints); });
  CHECK(backward.find("pelts: the reverse pass stopped at t = ") == 0);
  CHECK(backward.find("the derivative of the adjoint of y[0] is nan at t = ") != std::string::npos);
}

TEST_CASE("too many steps: where, how many, the code and what to try") {
  lotka_volterra system(rates);
  agrad::ode_adjoint_options o = options(2, 1e-8);
  o.max_num_steps = 60;
  o.backward.relative = 1e-12;
  cvodes_adjoint solver("ode_adjoint_tol_ctl", system, o, everything);
  try {
    solver.integrate(pelts, 0, {20});
    FAIL("60 steps are too few");
  } catch (const SolverError& e) {
    CHECK(e.code == "CV_TOO_MUCH_WORK");
    CHECK(e.steps == 60);
    CHECK(e.t > 0);
    CHECK(e.t < 20);
    CHECK(e.advice.find("raise max_num_steps or loosen the tolerances; the last step was 0.") == 0);
    CHECK(e.advice.find("; the error of y[") != std::string::npos);
    const std::string text = e.what();
    CHECK(text.find("ode_adjoint_tol_ctl: stopped at t = ") == 0);
    CHECK(text.find(" after 60 steps (CV_TOO_MUCH_WORK); raise max_num_steps") != std::string::npos);
  }
  solver.integrate(pelts, 0, steps_of(1, 20));  // the count begins anew at each output time
  const Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 20);
  const std::string backward = message_of([&] { solver.reverse(adjoints); });
  CHECK(backward.find("ode_adjoint_tol_ctl: the reverse pass stopped at t = ") == 0);
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
  for (const bool required : {false, true}) {
    cvodes_adjoint solver("pole", system, options(1, 1e-6), {required, false, false});
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
  CHECK(with([](o_t& o) { o.forward.relative = std::nan(""); }) ==
        "f: relative_tolerance_forward is nan, but must be positive and finite");
  CHECK(with([](o_t& o) { o.forward.absolute[1] = 0; }) ==
        "f: absolute_tolerance_forward[1] is 0, but must be positive and finite");
  CHECK(with([](o_t& o) { o.backward.absolute.resize(3); }) ==
        "f: absolute_tolerance_backward is of length 3, but must be of length 2; one for each state");
  CHECK(with([](o_t& o) { o.quadrature.relative = -1e-3; }) ==
        "f: relative_tolerance_quadrature is -0.001, but must be positive and finite");
  CHECK(with([](o_t& o) { o.quadrature.absolute = Eigen::VectorXd(Eigen::VectorXd::Ones(3)); }) ==
        "f: absolute_tolerance_quadrature is of length 3, but must be of length 4; one for each active parameter");
  CHECK(with([](o_t& o) { o.max_num_steps = 0; }) == "f: max_num_steps is 0, but must be positive");
  CHECK(with([](o_t& o) { o.num_steps_between_checkpoints = -2; }) ==
        "f: num_steps_between_checkpoints is -2, but must be positive");
  const std::string of_first = ", but must be positive and finite, or 0 for an automatic choice";
  CHECK(with([](o_t& o) { o.first_step = -1; }) == "f: first_step is -1" + of_first);
  CHECK(with([](o_t& o) { o.first_step = HUGE_VAL; }) == "f: first_step is inf" + of_first);
  CHECK(with([](o_t& o) { o.first_step = std::nan(""); }) == "f: first_step is nan" + of_first);
  CHECK(with([](o_t& o) { o.max_step = 0; }) == "f: max_step is 0, but must be positive");
  CHECK(with([](o_t& o) { o.max_step = std::nan(""); }) == "f: max_step is nan, but must be positive");
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
        "f: times[3] is 1.5, but must be greater than times[2] = 2; times must increase strictly");
  CHECK(problem(pelts, 0, {1, 1}) == "f: times[1] is 1, but must be greater than times[0] = 1; times must increase strictly");
  solver.integrate(pelts, 0, {1, 2});
  CHECK(message_of([&] { solver.reverse(Eigen::MatrixXd::Ones(2, 3)); }) ==
        "f: adjoints is of length 6, but must be of length 4; one for each state at each time");
}

TEST_CASE("a thousand failing solves leave the memory as it was") {
  const auto fail = [](int how) {
    lotka_volterra system(rates);
    agrad::ode_adjoint_options o = options(2, 1e-6);
    if (how == 0) o.max_num_steps = 3;
    cvodes_adjoint solver("pelts", system, o, everything);
    if (how == 1) system.throw_in_rhs_after = 3;
    if (how == 2) system.nan_after = 3;
    if (how == 3) system.throw_in_vjp_before = 2;
    solver.reverse(Eigen::MatrixXd::Ones(2, 5) + 0 * solver.integrate(pelts, 0, steps_of(1, 5)));
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
  const long before = resident_bytes();
  CHECK(fail_all(1000) == 1000);
  CHECK(resident_bytes() - before < 256 * 1024);
}

}  // namespace test_cvodes_faults
