// Forward sensitivities by CVODES on hand-written systems: values, gradients, what is set up, faults. No tape takes part.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/cvodes/forward_or_adjoint.hpp>

#include "solve/systems.hpp"

namespace test_cvodes_forward {

using agrad::cvodes_adjoint;
using agrad::cvodes_forward;
using agrad::ode_corrector;
using agrad::ode_method;
using agrad::SolverError;
using namespace systems;
using doctest::Approx;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

agrad::ode_forward_options forward_options(Eigen::Index states, double tolerance, ode_method method = ode_method::bdf,
                                           ode_corrector corrector = ode_corrector::staggered) {
  agrad::ode_forward_options o;
  o.states.relative = tolerance;
  o.states.absolute = Eigen::VectorXd::Constant(states, tolerance);
  o.max_num_steps = 100000;
  o.method = method;
  o.corrector = corrector;
  return o;
}

// Every method with every corrector.
template <class Check>
void for_all(const Check& check) {
  for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
    for (const ode_corrector corrector : {ode_corrector::simultaneous, ode_corrector::staggered}) check(method, corrector);
  }
}

/// A chain of n compartments, y_0' = -k_0 y_0, y_i' = k_(i-1) y_(i-1) - k_i y_i, with n rates and with tangents.
class chain : public agrad::ode_system {
 public:
  explicit chain(Eigen::VectorXd rates) : k(std::move(rates)) {}
  Eigen::VectorXd k;
  long tangents = 0, widest = 0;
  Eigen::Index states() const override { return k.size(); }
  bool fixed = false;  // no parameters then
  Eigen::Index parameters() const override { return fixed ? 0 : k.size(); }
  void parameter_values(double* p) const override { std::copy_n(k.data(), parameters(), p); }
  void rhs(double, const double* y, double* dydt) override {
    for (Eigen::Index i = 0; i < k.size(); ++i) dydt[i] = (i > 0 ? k[i - 1] * y[i - 1] : 0) - k[i] * y[i];
  }
  void jacobian(double, const double*, Eigen::Ref<Eigen::MatrixXd> J) override {
    J.setZero();
    for (Eigen::Index i = 0; i < k.size(); ++i) {
      J(i, i) = -k[i];
      if (i > 0) J(i, i - 1) = k[i - 1];
    }
  }
  void vjp(double, const double* y, const double* l, double* y_adjoint, double* p_adjoint) override {
    for (Eigen::Index i = 0; i < k.size(); ++i) {
      const double next = i + 1 < k.size() ? l[i + 1] : 0;
      if (y_adjoint != nullptr) y_adjoint[i] = k[i] * (next - l[i]);
      if (p_adjoint != nullptr) p_adjoint[i] = y[i] * (next - l[i]);
    }
  }
  bool has_first_tangents() const override { return use_tangents; }
  bool use_tangents = true;
  void tangent(int width, double, const double* y, const double* dy, const double* dk, double* to) override {
    ++tangents, widest = std::max<long>(widest, width);
    const auto flow = [&](Eigen::Index i, int d) { return (fixed ? 0 : dk[i * width + d]) * y[i] + k[i] * dy[i * width + d]; };
    for (Eigen::Index i = 0; i < k.size(); ++i) {
      for (int d = 0; d < width; ++d) to[i * width + d] = (i > 0 ? flow(i - 1, d) : 0) - flow(i, d);
    }
  }
};

Eigen::VectorXd chain_rates(Eigen::Index n) { return Eigen::VectorXd::LinSpaced(n, 0.5, 1.5); }
Eigen::VectorXd chain_start(Eigen::Index n) { return Eigen::VectorXd::LinSpaced(n, 1.0, 0.1); }

double largest_difference(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("forward sensitivities of decay have a closed form") {
  const double k = 0.7, t0 = 0.25, y0 = 2;
  const std::vector<double> times{0.5, 1.0, 3.0};
  for_all([&](ode_method method, ode_corrector corrector) {
    decay system(k);
    cvodes_forward solver("decay", system, forward_options(1, 1e-10, method, corrector), everything);
    const Eigen::MatrixXd states = solver.integrate(Eigen::VectorXd::Constant(1, y0), t0, times);
    for (int i = 0; i < 3; ++i) {  // each row by itself: a reverse pass is repeated with other adjoints
      const double span = times[static_cast<std::size_t>(i)] - t0, e = std::exp(-k * span);
      Eigen::MatrixXd adjoints = Eigen::MatrixXd::Zero(1, 3);
      adjoints(0, i) = 3;
      const agrad::ode_gradient g = solver.reverse(adjoints);
      CHECK(states(0, i) == Approx(y0 * e).epsilon(1e-8));
      CHECK(g.initial_state[0] == Approx(3 * e).epsilon(1e-8));
      CHECK(g.parameters[0] == Approx(-3 * span * y0 * e).epsilon(1e-8));
      CHECK(g.initial_time == Approx(3 * k * y0 * e).epsilon(1e-8));
      for (int j = 0; j < 3; ++j) CHECK(g.times[j] == Approx(i == j ? -3 * k * y0 * e : 0).epsilon(1e-8));
    }
  });
}

TEST_CASE("forward sensitivities to arguments near zero are as accurate as at zero") {
  for (const double small : {0.0, 1e-120, 1e-99, 1e-30, 1e-12, 1e-6, -1e-12, 1e-2}) {
    auto options = forward_options(1, 1e-8);
    options.states.absolute.setConstant(1e-10);
    decay system(1);
    cvodes_forward of_state("decay", system, options, {true, false, false});
    of_state.integrate(Eigen::VectorXd::Constant(1, small), 0, {1});
    CHECK(of_state.reverse(Eigen::VectorXd::Ones(1)).initial_state[0] == Approx(std::exp(-1)).epsilon(1e-6));

    decay slow(small);
    cvodes_forward of_rate("decay", slow, options, everything);
    of_rate.integrate(Eigen::VectorXd::Ones(1), 0, {1});
    CHECK(of_rate.reverse(Eigen::VectorXd::Ones(1)).parameters[0] == Approx(-std::exp(-small)).epsilon(1e-6));
  }
  // States in another unit: the tolerances go with it, and so does the floor.
  auto options = forward_options(1, 1e-8);
  options.states.absolute.setConstant(1e-19);
  decay system(1);
  cvodes_forward in_units("decay", system, options, everything);
  in_units.integrate(Eigen::VectorXd::Constant(1, 1e-9), 0, {1});
  const agrad::ode_gradient g = in_units.reverse(Eigen::VectorXd::Ones(1));
  CHECK(g.initial_state[0] == Approx(std::exp(-1)).epsilon(1e-6));
  CHECK(g.parameters[0] == Approx(-1e-9 * std::exp(-1)).epsilon(1e-6));
}

TEST_CASE("forward sensitivities of an oscillator, and to t0 alone") {
  const double w = 3;
  oscillator system(w);
  cvodes_forward of_state("oscillator", system, forward_options(2, 1e-11), {true, false, false});
  const double c = std::cos(w * 5), s = std::sin(w * 5);
  CHECK(of_state.integrate(Eigen::Vector2d(1, 0.5), 0, {5})(0, 0) == Approx(c + 0.5 * s / w).epsilon(1e-7));
  const agrad::ode_gradient g = of_state.reverse(Eigen::Vector2d(1, 0));
  CHECK(g.initial_state[0] == Approx(c).epsilon(1e-7));
  CHECK(g.initial_state[1] == Approx(s / w).epsilon(1e-7));
  CHECK(g.parameters.size() == 0);
  CHECK(g.initial_time == 0);
  cvodes_forward of_time("oscillator", system, forward_options(2, 1e-11), {false, true, false});
  of_time.integrate(Eigen::Vector2d(1, 0.5), 0, {5});
  const agrad::ode_gradient by_time = of_time.reverse(Eigen::Vector2d(1, 0));
  CHECK(by_time.initial_time == Approx(w * s - 0.5 * c).epsilon(1e-7));
  CHECK(by_time.initial_state.isZero(0));
}

TEST_CASE("forward meets the reference of Lotka-Volterra, and closer with tighter tolerances") {
  for_all([&](ode_method method, ode_corrector corrector) {
    double before = 1;
    for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
      lotka_volterra system(rates);
      cvodes_forward solver("pelts", system, forward_options(2, tolerance, method, corrector), everything);
      const Eigen::MatrixXd r = residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
      CHECK(r.squaredNorm() == Approx(reference_loss).epsilon(5000 * tolerance));
      const double error = largest_relative_difference(solver.reverse(2 * r));
      CHECK(error < 5000 * tolerance);
      CHECK(error < before);
      before = error;
      CHECK(system.latest <= 20);
    }
  });
}

TEST_CASE("adjoint and forward agree, in every argument") {
  lotka_volterra system(rates);
  cvodes_adjoint adjoint("pelts", system, options(2, 1e-10), everything);
  cvodes_forward forward("pelts", system, forward_options(2, 1e-10), everything);
  const Eigen::MatrixXd weights = 2 * residuals(adjoint.integrate(pelts, 0.5, steps_of(1, 20)));
  forward.integrate(pelts, 0.5, steps_of(1, 20));
  const agrad::ode_gradient a = adjoint.reverse(weights), f = forward.reverse(weights);
  CHECK(largest_difference(f.initial_state, a.initial_state) < 1e-6);
  CHECK(largest_difference(f.parameters, a.parameters) < 1e-6);
  CHECK(largest_difference(f.times, a.times) < 1e-6);
  CHECK(f.initial_time == Approx(a.initial_time).epsilon(1e-6));
}

TEST_CASE("a stiff system: Robertson's sensitivities are controlled in the size of their rates") {
  class scaled : public robertson {
   public:
    void parameter_values(double* to) const override { std::copy_n(p.data(), 3, to); }
  } system;
  const Eigen::Vector3d y0(1, 0, 0);
  const std::vector<double> times{0.4, 4, 40, 400};
  const auto gradient = [&](double tolerance, ode_corrector corrector) {
    agrad::ode_forward_options o = forward_options(3, tolerance, ode_method::bdf, corrector);
    o.states.absolute = Eigen::Vector3d(1e-8, 1e-12, 1e-8) * (tolerance / 1e-6);
    cvodes_forward solver("robertson", system, o, {});
    solver.integrate(y0, 0, times);
    return Eigen::VectorXd(solver.reverse(Eigen::MatrixXd::Identity(3, 4)).parameters.cwiseProduct(system.p));
  };
  const Eigen::VectorXd fine = gradient(1e-10, ode_corrector::staggered);
  for (const ode_corrector corrector : {ode_corrector::simultaneous, ode_corrector::staggered}) {
    const Eigen::VectorXd coarse = gradient(1e-6, corrector);
    for (int i = 0; i < 3; ++i) CHECK(coarse[i] == Approx(fine[i]).epsilon(1e-4));
  }
  agrad::ode_adjoint_options o = options(3, 1e-10);
  o.forward.absolute.setConstant(1e-14), o.quadrature.absolute.setConstant(1e-16);
  cvodes_adjoint adjoint("robertson", system, o, {});
  adjoint.integrate(y0, 0, times);
  const Eigen::VectorXd by_adjoint = adjoint.reverse(Eigen::MatrixXd::Identity(3, 4)).parameters.cwiseProduct(system.p);
  for (int i = 0; i < 3; ++i) CHECK(by_adjoint[i] == Approx(fine[i]).epsilon(1e-4));
}

TEST_CASE("a chain: tangents in blocks of eight and one, products without them") {
  for (const Eigen::Index n : {1, 2, 4, 9, 12}) {  // 2, 4, 8, 18, 24 sensitivities
    chain system(chain_rates(n));
    cvodes_forward solver("chain", system, forward_options(n, 1e-10), everything);
    const Eigen::MatrixXd last = solver.integrate(chain_start(n), 0, {1.0, 2.5});
    Eigen::MatrixXd weights = Eigen::MatrixXd::Constant(n, 2, 0.5);
    weights(0, 1) = -1;
    const agrad::ode_gradient g = solver.reverse(weights);
    CHECK(system.tangents > 0);
    CHECK(system.widest == 8);
    system.use_tangents = false, system.tangents = 0;
    cvodes_forward other("chain", system, forward_options(n, 1e-10), everything);
    CHECK(largest_difference(other.integrate(chain_start(n), 0, {1.0, 2.5}).col(1), last.col(1)) < 1e-12);
    const agrad::ode_gradient by_products = other.reverse(weights);
    CHECK(system.tangents == 0);
    CHECK(largest_difference(by_products.parameters, g.parameters) < 1e-8);
    CHECK(largest_difference(by_products.initial_state, g.initial_state) < 1e-8);
    cvodes_adjoint adjoint("chain", system, options(n, 1e-10), everything);
    adjoint.integrate(chain_start(n), 0, {1.0, 2.5});
    CHECK(largest_difference(adjoint.reverse(weights).parameters, g.parameters) < 1e-6);
  }
}

TEST_CASE("a single sensitivity travels alone") {
  chain system(chain_rates(3));
  cvodes_forward solver("chain", system, forward_options(3, 1e-8), {false, true, false});
  chain alone(chain_rates(3));
  alone.fixed = true;
  cvodes_forward of_time("chain", alone, forward_options(3, 1e-8), {false, true, false});
  of_time.integrate(chain_start(3), 0, {1});
  CHECK(alone.widest == 1);
  solver.integrate(chain_start(3), 0, {1});
  CHECK(of_time.reverse(Eigen::Vector3d(1, 2, 3)).initial_time ==
        Approx(solver.reverse(Eigen::Vector3d(1, 2, 3)).initial_time).epsilon(1e-6));
}

TEST_CASE("nothing is set up without derivatives, and f at the times is all that they take") {
  chain system(chain_rates(3));
  chain plain(chain_rates(3));
  plain.fixed = true;
  cvodes_forward solver("chain", plain, forward_options(3, 1e-8), {false, false, true});
  const Eigen::VectorXd end = solver.integrate(chain_start(3), 0, {1});
  const agrad::ode_gradient g = solver.reverse(Eigen::Vector3d(1, 2, 3));
  CHECK(plain.tangents == 0);
  CHECK(solver.statistics().sensitivities.rhs_evaluations == 0);
  Eigen::Vector3d slope;
  plain.rhs(1, end.data(), slope.data());
  CHECK(g.times[0] == Approx(slope.dot(Eigen::Vector3d(1, 2, 3))).epsilon(1e-14));
  CHECK(g.initial_state.isZero(0));
  cvodes_forward with("chain", system, forward_options(3, 1e-8), everything);
  with.integrate(chain_start(3), 0, {1});
  CHECK(with.statistics().sensitivities.rhs_evaluations > 10);
  CHECK(with.statistics().forward.steps > 10);
}

TEST_CASE("memory is reused for other initial values, and the results are the same bits") {
  lotka_volterra system(rates);
  cvodes_forward solver("pelts", system, forward_options(2, 1e-8), everything);
  const auto run = [&](cvodes_forward& with, const Eigen::Vector2d& y0) {
    const Eigen::MatrixXd states = with.integrate(y0, 0, steps_of(1, 20));
    return with.reverse(2 * residuals(states));
  };
  const agrad::ode_gradient first = run(solver, pelts);
  run(solver, Eigen::Vector2d(10, 20));
  const agrad::ode_gradient again = run(solver, pelts);
  CHECK(again.parameters == first.parameters);
  CHECK(again.initial_state == first.initial_state);
}

TEST_CASE("tolerances of the sensitivities alone make the gradient more accurate") {
  lotka_volterra system(rates);
  const auto error = [&](double relative, double absolute) {
    agrad::ode_forward_options o = forward_options(2, 1e-5);
    o.sensitivities.relative = relative;
    if (absolute > 0) o.sensitivities.absolute = Eigen::Vector2d::Constant(absolute);
    cvodes_forward solver("pelts", system, o, {true, false, false});
    const Eigen::MatrixXd r = residuals(solver.integrate(pelts, 0, steps_of(1, 20)));
    return largest_relative_difference(solver.reverse(2 * r));
  };
  CHECK(error(1e-8, 1e-8) < 0.1 * error(0, 0));
}

TEST_CASE("weighing takes forward sensitivities while they are few, and both kinds agree") {
  using agrad::forward_is_cheaper;
  CHECK(forward_is_cheaper(2, 4, {true, false, false}));
  CHECK(forward_is_cheaper(64, 1, {}));
  CHECK(forward_is_cheaper(64, 1, {false, true, false}));
  CHECK_FALSE(forward_is_cheaper(64, 1, {true, false, false}));
  CHECK_FALSE(forward_is_cheaper(16, 16, {}));
  CHECK_FALSE(forward_is_cheaper(1000, 1000, everything));
  for (const Eigen::Index n : {3, 12}) {
    chain system(chain_rates(n));
    const agrad::weighed_maker make{forward_options(n, 1e-9), options(n, 1e-9)};
    const std::unique_ptr<agrad::ode_solver> chosen = make("chain", system, everything);
    CHECK((dynamic_cast<cvodes_forward*>(chosen.get()) != nullptr) == (n == 3));
    cvodes_forward forward("chain", system, forward_options(n, 1e-9), everything);
    const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(n, -1, 2);
    chosen->integrate(chain_start(n), 0, {2}), forward.integrate(chain_start(n), 0, {2});
    CHECK(largest_difference(chosen->reverse(weights).parameters, forward.reverse(weights).parameters) < 1e-6);
  }
}

TEST_CASE("faults of the sensitivities say so, leave the solver usable, and bad options are named") {
  class faulty : public chain {
   public:
    using chain::chain;
    double nan_after = 100, throw_after = 100;
    void tangent(int width, double t, const double* y, const double* dy, const double* dk, double* to) override {
      if (t > throw_after) throw std::domain_error("the tangent refuses");
      chain::tangent(width, t, y, dy, dk, to);
      if (t > nan_after) to[width] = no_number;
    }
  } system(chain_rates(3));
  for_all([&](ode_method method, ode_corrector corrector) {
    cvodes_forward solver("chain", system, forward_options(3, 1e-8, method, corrector), everything);
    const auto solve = [&] { solver.integrate(chain_start(3), 0, {1, 2}); };
    system.throw_after = 0.5;
    CHECK_THROWS_WITH_AS(solve(), "the tangent refuses", std::domain_error);
    CHECK_THROWS_AS(solver.reverse(Eigen::MatrixXd::Ones(3, 2)), std::logic_error);
    system.throw_after = 100, system.nan_after = -1;
    CHECK_THROWS_WITH_AS(solve(),
                         "chain: the sensitivities stopped at t = 0 after 0 steps (CV_FIRST_SRHSFUNC_ERR); the derivative of "
                         "the sensitivity of y[1] is nan at t = 0",
                         SolverError);
    system.nan_after = 0.5;
    const std::string later = message_of(solve);
    CHECK_MESSAGE(later.find("the derivative of the sensitivity of y[1] is nan at t = 0.5") != std::string::npos, later);
    system.nan_after = 100;
    CHECK_NOTHROW(solve());
    CHECK_NOTHROW(solver.reverse(Eigen::MatrixXd::Ones(3, 2)));
  });
  agrad::ode_forward_options o = forward_options(3, 1e-8);
  o.max_num_steps = 5;
  cvodes_forward few("chain", system, o, everything);
  const std::string message = message_of([&] { few.integrate(chain_start(3), 0, {10}); });
  CHECK_MESSAGE(message.find("after 5 steps (CV_TOO_MUCH_WORK); raise max_num_steps") != std::string::npos, message);

  const auto complaint = [&](const auto& change) {
    agrad::ode_forward_options bad = forward_options(3, 1e-8);
    change(bad);
    return message_of([&] { cvodes_forward("f", system, bad, everything); });
  };
  CHECK(complaint([](auto& b) { b.states.relative = 0; }) == "f: relative_tolerance is 0, but must be positive and finite");
  CHECK(complaint([](auto& b) { b.states.absolute = Eigen::Vector2d(1, 1); }) ==
        "f: absolute_tolerance is of length 2, but must be of length 3; one for each state");
  CHECK(complaint([](auto& b) { b.corrector = static_cast<ode_corrector>(3); }) ==
        "f: corrector is 3, but must be 1 (simultaneous) or 2 (staggered)");
  CHECK(complaint([](auto& b) { b.sensitivities.relative = -1; }) ==
        "f: relative_tolerance_sensitivities is -1, but must be positive and finite");
  CHECK(complaint([](auto& b) { b.sensitivities.absolute = Eigen::Vector3d(1, no_number, 1); }) ==
        "f: absolute_tolerance_sensitivities[1] is nan, but must be positive and finite");
}

TEST_CASE("a slope that is not finite at t0 is the state's fault, also where t0 is differentiated") {
  lotka_volterra system(rates);
  system.nan_after = -1;
  cvodes_forward solver("pelts", system, forward_options(2, 1e-6), {false, true, false});
  CHECK_THROWS_WITH_AS(solver.integrate(pelts, 0, {1}),
                       "pelts: stopped at t = 0 after 0 steps (CV_FIRST_RHSFUNC_ERR); the derivative of y[1] is nan at t = 0",
                       SolverError);
}

TEST_CASE("an adjoint that is not finite makes the gradient nan") {
  lotka_volterra system(rates);
  cvodes_forward solver("pelts", system, forward_options(2, 1e-6), everything);
  solver.integrate(pelts, 0, {1, 2});
  Eigen::MatrixXd adjoints = Eigen::MatrixXd::Ones(2, 2);
  adjoints(0, 1) = no_number;
  const agrad::ode_gradient g = solver.reverse(adjoints);
  CHECK(g.parameters.array().isNaN().all());
  CHECK(g.initial_state.array().isNaN().all());
  CHECK(std::isnan(g.initial_time));
}

}  // namespace test_cvodes_forward
