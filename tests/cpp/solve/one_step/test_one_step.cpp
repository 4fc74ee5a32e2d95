// One-step methods: order conditions, the steps' discrete adjoints against closed forms, differences and CVODES, the functions
// for C++ functors, memory, faults.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_ode_one_step {

using agrad::explicit_runge_kutta;
using agrad::scope;
using agrad::step_options;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::everything;
using systems::steps_of;

namespace {

step_options steps(Eigen::Index states, double tolerance) {
  step_options o;
  o.states.relative = tolerance;
  o.states.absolute = Eigen::VectorXd::Constant(states, tolerance);
  return o;
}

/// A method's coefficients as matrices.
template <class Tableau>
struct coefficients {
  static constexpr int n = Tableau::stages;
  Eigen::Matrix<double, n, n> a = Eigen::Matrix<double, n, n>::Zero();
  Eigen::Matrix<double, n, 1> b, c, e;
  coefficients() {
    for (int s = 1; s < n; ++s)
      for (int j = 0; j < s; ++j) a(s, j) = Tableau::a[s * (s - 1) / 2 + j];
    for (int s = 0; s < n; ++s) b[s] = Tableau::b[s], c[s] = Tableau::c[s], e[s] = Tableau::e[s];
  }
  /// The conditions for orders 1 to 5 that weights w of the slopes must meet (Butcher 2008, table 302I), as what is missing.
  std::vector<double> missing(const Eigen::Matrix<double, n, 1>& w) const {
    const Eigen::Matrix<double, n, 1> ac = a * c, acc = a * c.cwiseAbs2(), aac = a * ac, c2 = c.cwiseAbs2();
    const Eigen::Matrix<double, n, 1> c3 = c2.cwiseProduct(c);
    return {w.sum() - 1,
            w.dot(c) - 1.0 / 2,
            w.dot(c2) - 1.0 / 3,
            w.dot(ac) - 1.0 / 6,
            w.dot(c3) - 1.0 / 4,
            w.dot(c.cwiseProduct(ac)) - 1.0 / 8,
            w.dot(acc) - 1.0 / 12,
            w.dot(aac) - 1.0 / 24,
            w.dot(c2.cwiseProduct(c2)) - 1.0 / 5,
            w.dot(c2.cwiseProduct(ac)) - 1.0 / 10,
            w.dot(ac.cwiseAbs2()) - 1.0 / 20,
            w.dot(c.cwiseProduct(acc)) - 1.0 / 15,
            w.dot(a * c3) - 1.0 / 20,
            w.dot(c.cwiseProduct(aac)) - 1.0 / 30,
            w.dot(a * c.cwiseProduct(ac)) - 1.0 / 40,
            w.dot(a * acc) - 1.0 / 60,
            w.dot(a * aac) - 1.0 / 120};
  }
};

template <class Tableau>
void check_tableau(int embedded_order) {
  const coefficients<Tableau> k;
  CHECK((k.a.rowwise().sum() - k.c).cwiseAbs().maxCoeff() < 1e-14);
  for (const double missing : k.missing(k.b)) CHECK(std::abs(missing) < 2e-15);
  const auto growth = [&](double z) {  // of y' = z y in a step of 1
    using matrix = Eigen::Matrix<double, coefficients<Tableau>::n, coefficients<Tableau>::n>;
    const matrix m = matrix::Identity() - z * k.a;
    return std::abs(1 + z * k.b.dot(m.template triangularView<Eigen::UnitLower>().solve(decltype(k.b)::Ones())));
  };
  CHECK(growth(-0.999 * Tableau::real_stability) < 1);
  CHECK(growth(-1.001 * Tableau::real_stability) > 1);
  const std::vector<double> embedded = k.missing(k.b - k.e);
  for (std::size_t i = 0; i < (embedded_order == 4 ? 8U : 17U); ++i) CHECK(std::abs(embedded[i]) < 2e-15);
  double worst = 0;
  for (const double missing : embedded) worst = std::max(worst, std::abs(missing));
  if (embedded_order == 4) CHECK(worst > 1e-5);  // it is not the method itself
}

/// y' = -k (y - cos t), which depends on time.
class driven : public agrad::ode_system {
 public:
  double k = 2;
  Eigen::Index states() const override { return 1; }
  Eigen::Index parameters() const override { return 1; }
  void rhs(double t, const double* y, double* dydt) override { dydt[0] = -k * (y[0] - std::cos(t)); }
  void jacobian(double, const double*, Eigen::Ref<Eigen::MatrixXd> J) override { J(0, 0) = -k; }
  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* p_adjoint) override {
    if (y_adjoint != nullptr) y_adjoint[0] = -k * lambda[0];
    if (p_adjoint != nullptr) p_adjoint[0] = -(y[0] - std::cos(t)) * lambda[0];
  }
  double exact(double y0, double t) const {
    const double a = k * k / (k * k + 1), b = k / (k * k + 1);
    return a * std::cos(t) + b * std::sin(t) + (y0 - a) * std::exp(-k * t);
  }
};

/// y' = -k y.
struct decay {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    return (-(k * y)).eval();
  }
};

}  // namespace

TEST_CASE("tableaus meet the conditions of their orders") {
  check_tableau<agrad::tsitouras_tableau>(4);
  check_tableau<agrad::dormand_prince_tableau>(4);
  check_tableau<agrad::cash_karp_tableau>(4);
  check_tableau<agrad::dormand_prince_8_tableau>(5);
}

TEST_CASE_TEMPLATE("gradients in closed form, with respect to everything", Tableau, agrad::tsitouras_tableau,
                   agrad::dormand_prince_tableau, agrad::cash_karp_tableau, agrad::dormand_prince_8_tableau) {
  systems::decay system(0.7);
  agrad::explicit_runge_kutta_second<Tableau> solver("f", system, steps(1, 1e-12), everything);
  const std::vector<double> times{0.5, 1.0, 3.0};
  const Eigen::VectorXd y0 = Eigen::VectorXd::Constant(1, 2.0);
  const Eigen::MatrixXd y = solver.integrate(y0, 0.25, times);
  const Eigen::RowVector3d seeds(1, -2, 3);
  const agrad::ode_gradient g = solver.reverse(seeds);
  double by_state = 0, by_rate = 0;
  for (Eigen::Index k = 0; k < 3; ++k) {
    const double t = times[static_cast<std::size_t>(k)] - 0.25, e = std::exp(-0.7 * t);
    CHECK(y(0, k) == Approx(2 * e).epsilon(1e-10));
    CHECK(g.times[k] == Approx(-seeds[k] * 0.7 * 2 * e).epsilon(1e-9));
    by_state += seeds[k] * e;
    by_rate -= seeds[k] * t * 2 * e;
  }
  CHECK(g.initial_state[0] == Approx(by_state).epsilon(1e-9));
  CHECK(g.initial_time == Approx(0.7 * 2 * by_state).epsilon(1e-9));
  CHECK(g.parameters[0] == Approx(by_rate).epsilon(1e-9));
}

TEST_CASE("the gradient is that of the steps taken, however coarse") {
  systems::lotka_volterra system(systems::rates);
  step_options o = steps(2, 1e6);
  o.first_step = o.max_step = 0.25;
  explicit_runge_kutta<agrad::tsitouras_tableau> solver("f", system, o, everything);
  const std::vector<double> times = steps_of(1.0, 10);
  const auto loss = [&](const Eigen::Vector2d& y0) { return solver.integrate(y0, 0.0, times).squaredNorm() / 2; };
  const agrad::ode_gradient g = solver.reverse(Eigen::MatrixXd(solver.integrate(systems::pelts, 0.0, times)));
  for (Eigen::Index i = 0; i < 2; ++i) {
    const Eigen::Vector2d d = 1e-3 * Eigen::Vector2d::Unit(i);
    const Eigen::Vector2d at = systems::pelts;
    const double slope = (8 * (loss(at + d) - loss(at - d)) - (loss(at + 2 * d) - loss(at - 2 * d))) / 12e-3;
    CHECK(g.initial_state[i] == Approx(slope).epsilon(1e-9));
  }
  for (Eigen::Index j = 0; j < 4; ++j) {
    const double p = system.p[j], d = 1e-4 * p;
    std::array<double, 4> at{};
    for (int k = 0; k < 4; ++k) {
      system.p[j] = p + d * std::array<double, 4>{1, -1, 2, -2}[static_cast<std::size_t>(k)];
      at[static_cast<std::size_t>(k)] = loss(systems::pelts);
    }
    system.p[j] = p;
    CHECK(g.parameters[j] == Approx((8 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * d)).epsilon(1e-9));
  }
}

TEST_CASE("methods and CVODES agree") {
  systems::lotka_volterra system(systems::rates);
  const std::vector<double> times = steps_of(1.0, 12);
  agrad::cvodes_adjoint reference("f", system, systems::options(2, 1e-12), everything);
  const Eigen::MatrixXd y = reference.integrate(systems::pelts, 0.0, times);
  const agrad::ode_gradient expected = reference.reverse(y);
  explicit_runge_kutta<agrad::dormand_prince_8_tableau> solver("f", system, steps(2, 1e-12), everything);
  const Eigen::MatrixXd mine = solver.integrate(systems::pelts, 0.0, times);
  CHECK((mine - y).cwiseAbs().maxCoeff() < 1e-7);
  const agrad::ode_gradient g = solver.reverse(y);
  for (Eigen::Index j = 0; j < 4; ++j) CHECK(g.parameters[j] == Approx(expected.parameters[j]).epsilon(1e-7));
  for (Eigen::Index i = 0; i < 2; ++i) CHECK(g.initial_state[i] == Approx(expected.initial_state[i]).epsilon(1e-7));
  CHECK(g.initial_time == Approx(expected.initial_time).epsilon(1e-7));
}

TEST_CASE("Rosenbrock tableaus: d and c follow from gamma, a and C") {
  for (const agrad::rosenbrock_tableau* method : {&agrad::rodas4_tableau, &agrad::rodas5p_tableau}) {
    CAPTURE(method->name);
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(method->stages, method->stages), c = a;
    for (int s = 0; s < method->stages; ++s)
      for (int j = 0; j < s; ++j) a(s, j) = method->a_of(s, j), c(s, j) = -method->C_of(s, j);
    c.diagonal().setConstant(1 / method->gamma);
    const Eigen::VectorXd d = c.inverse() * Eigen::VectorXd::Ones(method->stages), times = a * d;
    for (int s = 0; s < method->stages; ++s) {
      CHECK(std::abs(method->d[s] - d[s]) < 1e-12);
      CHECK(std::abs(method->c[s] - times[s]) < 1e-12);
    }
  }
}

TEST_CASE_TEMPLATE("Rosenbrock methods have their order, also where time moves the system, and the gradient of their steps",
                   solver_type, agrad::rosenbrock_by<agrad::rosenbrock, agrad::rodas4_tableau>,
                   agrad::rosenbrock_by<agrad::rosenbrock, agrad::rodas5p_tableau>) {
  driven system;
  const Eigen::VectorXd y0 = Eigen::VectorXd::Constant(1, 0.3);
  std::vector<double> errors;
  int order = 0;
  for (const double h : {0.2, 0.1, 0.05}) {
    step_options o = steps(1, 1e6);
    o.first_step = o.max_step = h;
    solver_type solver("f", system, o, everything);
    order = solver.method().order;
    const auto end = [&](double k) {
      system.k = k;
      return solver.integrate(y0, 0.0, {2.0})(0, 0);
    };
    errors.push_back(std::abs(end(2) - system.exact(0.3, 2)));
    const agrad::ode_gradient g = solver.reverse(Eigen::MatrixXd::Ones(1, 1));
    const double d = 1e-3, slope = (8 * (end(2 + d) - end(2 - d)) - (end(2 + 2 * d) - end(2 - 2 * d))) / (12 * d);
    CHECK(g.parameters[0] == Approx(slope).epsilon(1e-7));
    system.k = 2;
  }
  CHECK(std::log2(errors[0] / errors[1]) == Approx(order).epsilon(0.05));
  CHECK(std::log2(errors[1] / errors[2]) == Approx(order).epsilon(0.05));
}

TEST_CASE_TEMPLATE("Robertson's kinetics by Rosenbrock methods and by CVODES", solver_type,
                   agrad::rosenbrock_by<agrad::rosenbrock, agrad::rodas4_tableau>,
                   agrad::rosenbrock_by<agrad::rosenbrock, agrad::rodas5p_tableau>) {
  systems::robertson system;
  const Eigen::Vector3d y0(1, 0, 0), weights(1, 1e4, 0.3);
  std::vector<double> times;
  for (double t = 0.4; t < 1e5; t *= 10) times.push_back(t);
  const Eigen::MatrixXd seeds = weights.replicate(1, static_cast<Eigen::Index>(times.size()));
  auto tight = systems::options(3, 1e-11);
  tight.forward.absolute = Eigen::Vector3d(1e-12, 1e-16, 1e-12);
  agrad::cvodes_adjoint reference("f", system, tight, {true, false, false});
  reference.integrate(y0, 0, times);
  const agrad::ode_gradient expected = reference.reverse(seeds);
  const auto gradient = [&](double tolerance, double memory) {
    step_options o = steps(3, tolerance);
    o.states.absolute = tolerance * Eigen::Vector3d(1e-2, 1e-6, 1e-2);
    o.max_memory = memory;
    solver_type solver("f", system, o, {true, false, false});
    solver.integrate(y0, 0, times);
    return solver.reverse(seeds);
  };
  const agrad::ode_gradient g = gradient(1e-8, 1e9);
  for (Eigen::Index j = 0; j < 3; ++j) CHECK(g.parameters[j] == Approx(expected.parameters[j]).epsilon(1e-6));
  CHECK(gradient(1e-5, 3e4).parameters == gradient(1e-5, 1e9).parameters);
}

TEST_CASE("the explicit method hands over where a system turns stiff, and adjoints pass") {
  driven system;
  system.k = 3000;
  const Eigen::VectorXd y0 = Eigen::VectorXd::Constant(1, 0.3);
  const std::vector<double> times{0.0005, 0.5, 1.0, 2.0};
  agrad::switching_solver solver("f", system, steps(1, 1e-7), everything);
  const Eigen::MatrixXd y = solver.integrate(y0, 0.0, times);
  REQUIRE(y.cols() == 4);
  CHECK(solver.statistics().stiff_from > 0.0005);
  CHECK(solver.statistics().stiff_from < 0.5);
  for (Eigen::Index k = 0; k < 4; ++k)
    CHECK(y(0, k) == Approx(system.exact(0.3, times[static_cast<std::size_t>(k)])).epsilon(1e-5));
  const Eigen::RowVector4d seeds(1, -2, 3, 0.5);
  const agrad::ode_gradient g = solver.reverse(seeds);
  REQUIRE(g.times.size() == 4);
  double slope = 0, by_state = 0;
  for (Eigen::Index k = 0; k < 4; ++k) {
    const double t = times[static_cast<std::size_t>(k)], h = 1e-3;
    driven up, down;
    up.k = 3000 * (1 + h), down.k = 3000 * (1 - h);
    slope += seeds[k] * (up.exact(0.3, t) - down.exact(0.3, t)) / (2 * h * 3000);
    by_state += seeds[k] * std::exp(-3000 * t);
    CHECK(g.times[k] == Approx(seeds[k] * -3000 * (y(0, k) - std::cos(t))).epsilon(1e-9));
  }
  CHECK(g.parameters[0] == Approx(slope).epsilon(1e-3));
  CHECK(g.initial_state[0] == Approx(by_state).epsilon(1e-3));
  CHECK(solver.reverse(seeds).parameters == g.parameters);
  system.k = 0.5;
  solver.integrate(y0, 0.0, times);
  CHECK(std::isnan(solver.statistics().stiff_from));
  CHECK(solver.reverse(seeds).times.size() == 4);
}

TEST_CASE("less memory gives the same bits") {
  systems::lotka_volterra system(systems::rates);
  const std::vector<double> times = steps_of(1.0, 10);
  const auto gradient = [&](double memory) {
    step_options o = steps(2, 1e-9);
    o.max_memory = memory;
    explicit_runge_kutta<agrad::tsitouras_tableau> solver("f", system, o, everything);
    const Eigen::MatrixXd y = solver.integrate(systems::pelts, 0.0, times);
    const agrad::ode_gradient g = solver.reverse(y);
    CHECK((solver.statistics().recomputed_rhs_evaluations > 0) == (memory < 2e4));
    return g;
  };
  const agrad::ode_gradient whole = gradient(1e9);
  for (const double memory : {1e4, 3e3, 100.0}) {
    const agrad::ode_gradient thin = gradient(memory);
    CHECK(thin.parameters == whole.parameters);
    CHECK(thin.initial_state == whole.initial_state);
  }
}

TEST_CASE("functors with variables anywhere") {
  const scope s;
  const var k = 0.7, t0 = 0.25, t1 = 1.0;
  vector_of<var> y0(2);
  y0 << 2.0, 3.0;
  const auto y = agrad::ode_tsit5_tol(decay{}, y0, t0, std::vector<var>{t1, 2.0}, 1e-11, 1e-12, 1000, k);
  const var loss = y[0].sum() + y[1][0];
  loss.grad();
  const double e = std::exp(-0.7 * 0.75), late = std::exp(-0.7 * 1.75);
  CHECK(loss.val() == Approx(5 * e + 2 * late).epsilon(1e-9));
  CHECK(y0[0].adj() == Approx(e + late).epsilon(1e-9));
  CHECK(y0[1].adj() == Approx(e).epsilon(1e-9));
  CHECK(t1.adj() == Approx(-0.7 * 5 * e).epsilon(1e-9));
  CHECK(t0.adj() == Approx(0.7 * (5 * e + 2 * late)).epsilon(1e-9));
  CHECK(k.adj() == Approx(-0.75 * 5 * e - 1.75 * 2 * late).epsilon(1e-9));
}

TEST_CASE("all functions, on plain numbers") {
  const Eigen::VectorXd y0 = Eigen::VectorXd::Constant(1, 2.0);
  const std::vector<double> times{1.0};
  const double exact = 2 * std::exp(-0.5);
  for (const auto& y : {agrad::ode_tsit5(decay{}, y0, 0.0, times, 0.5), agrad::ode_rk45(decay{}, y0, 0.0, times, 0.5),
                        agrad::ode_ckrk(decay{}, y0, 0.0, times, 0.5), agrad::ode_dop853(decay{}, y0, 0.0, times, 0.5),
                        agrad::ode_rodas4(decay{}, y0, 0.0, times, 0.5), agrad::ode_rodas5p(decay{}, y0, 0.0, times, 0.5)})
    CHECK(y[0][0] == Approx(exact).epsilon(1e-5));
  for (const auto& y : {agrad::ode_tsit5_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 1000, 0.5),
                        agrad::ode_rk45_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 1000, 0.5),
                        agrad::ode_ckrk_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 1000, 0.5),
                        agrad::ode_dop853_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 1000, 0.5),
                        agrad::ode_rodas4_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 10000, 0.5),
                        agrad::ode_rodas5p_tol(decay{}, y0, 0.0, times, 1e-12, 1e-12, 10000, 0.5)})
    CHECK(y[0][0] == Approx(exact).epsilon(1e-10));
}

TEST_CASE("faults say where and why, and the solver goes on") {
  systems::lotka_volterra system(systems::rates);
  explicit_runge_kutta<agrad::tsitouras_tableau> solver("f", system, steps(2, 1e-8), everything);
  const std::vector<double> times{5.0, 10.0};
  const auto integrate = [&] { return Eigen::MatrixXd(solver.integrate(systems::pelts, 0.0, times)); };
  const Eigen::MatrixXd y = integrate();
  system.throw_in_rhs_after = 7.0;
  CHECK_THROWS_WITH_AS(integrate(), "the rhs refuses", std::domain_error);
  CHECK_THROWS_AS(solver.reverse(y), std::logic_error);
  system.throw_in_rhs_after = std::numeric_limits<double>::infinity();
  system.nan_after = 7.0;
  CHECK_THROWS_AS(integrate(), agrad::SolverError);
  try {
    integrate();
  } catch (const agrad::SolverError& e) {
    CHECK(e.t == Approx(7.0).epsilon(1e-6));
    CHECK(e.code == "step_too_short");
    CHECK(std::string(e.what()).find("the derivative of y[1] is nan") != std::string::npos);
  }
  system.nan_after = std::numeric_limits<double>::infinity();
  CHECK(integrate() == y);
  system.throw_in_vjp_before = 3.0;
  CHECK_THROWS_WITH_AS(solver.reverse(y), "the vjp refuses", std::domain_error);
  system.throw_in_vjp_before = -std::numeric_limits<double>::infinity();
  CHECK(solver.reverse(y).parameters.allFinite());
}

TEST_CASE("options out of range") {
  systems::decay system(1.0);
  const auto made = [&](const step_options& o) { explicit_runge_kutta<agrad::tsitouras_tableau>("f", system, o, everything); };
  step_options o = steps(1, 1e-6);
  o.states.relative = 0;
  CHECK_THROWS_WITH(made(o), "f: relative_tolerance is 0, but must be positive and finite");
  o = steps(2, 1e-6);
  CHECK_THROWS_AS(made(o), agrad::ShapeError);
  o = steps(1, 1e-6);
  o.max_step = -1;
  CHECK_THROWS_WITH(made(o), "f: max_step is -1, but must be positive");
  o = steps(1, 1e-6);
  o.first_step = std::nan("");
  CHECK_THROWS_WITH(made(o), "f: first_step is nan, but must be positive and finite, or 0 for an automatic choice");
}

}  // namespace test_ode_one_step
