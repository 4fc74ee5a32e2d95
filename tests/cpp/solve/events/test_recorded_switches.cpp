// Recorded right-hand sides that jump: ode_solve_events finds the jumps, and all derivatives have their part.
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/solve/ode_events.hpp>
#include <agrad/solve/system/program/recorded_system.hpp>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace test_recorded_switches {

using vector = Eigen::VectorXd;

namespace {

/// The slope is 1 + a from y = a on, and 1 before.
const auto of_state = [](const auto&, const auto& y, const auto& a) {
  auto slope = (0.0 * y).eval();
  slope[0] += 1.0 + agrad::select(y[0] > a, a, 0.0);
  return slope;
};
/// The slope is 1 to t = a, and 3 from there on.
const auto of_time = [](const auto& t, const auto& y, const auto& a) {
  auto slope = (0.0 * y).eval();
  slope[0] += agrad::select(t < a, 1.0, 3.0);
  return slope;
};

/// The slope is |y - a|, with y = t: the integral to t = 2 is (a^2 + (2 - a)^2) / 2.
const auto of_kink = [](const auto&, const auto& y, const auto& a) {
  auto slope = (0.0 * y).eval();
  slope[0] += 1.0;
  slope[1] += abs(y[0] - a);
  return slope;
};

template <class Options, class F, class A>
A end(const Options& options, const F& f, const A& a) {
  const vector y0 = vector::Zero(1);
  const std::vector<agrad::ode_dose<>> none;
  const std::vector<double> times{2.0};
  return std::apply(
      [&](const auto&... by) {
        return A(agrad::ode_solve_events(by..., none, std::tuple<>(), {}, f, y0, 0.0, times, a).states[0][0]);
      },
      options);
}

template <class Options, class F>
double slope_of(const Options& options, const F& f, double at, double& value) {
  vector gradient;
  agrad::gradient([&](const auto& x) { return end(options, f, x[0]); }, vector::Constant(1, at), value, gradient);
  return gradient[0];
}

agrad::step_options tight(Eigen::Index states = 1) {
  agrad::step_options o;
  o.states.relative = 1e-9;
  o.states.absolute = vector::Constant(states, 1e-11);
  return o;
}

constexpr agrad::ode_one_step_method methods[] = {agrad::ode_one_step_method::tsit5,    agrad::ode_one_step_method::rk45,
                                                  agrad::ode_one_step_method::ckrk,     agrad::ode_one_step_method::dop853,
                                                  agrad::ode_one_step_method::rodas4,   agrad::ode_one_step_method::rodas5p,
                                                  agrad::ode_one_step_method::automatic};
constexpr double a = 0.8;

/// Checks value and derivative of y(2) against the closed forms.
template <class Options>
void check(const Options& options) {
  double value = 0;
  CHECK(slope_of(options, agrad::recorded(of_state), a, value) == doctest::Approx(2 - 2 * a).epsilon(1e-6));
  CHECK(value == doctest::Approx(a + (1 + a) * (2 - a)).epsilon(1e-7));
  CHECK(slope_of(options, agrad::recorded(of_time), a, value) == doctest::Approx(-2).epsilon(1e-6));
  CHECK(value == doctest::Approx(a + 3 * (2 - a)).epsilon(1e-7));
}

}  // namespace

TEST_CASE("jumps of a recorded right-hand side are found by every method") {
  for (const auto method : methods) check(std::tuple(tight(), method));
  for (const auto method : {agrad::ode_method::bdf, agrad::ode_method::adams}) {
    agrad::ode_adjoint_options o = agrad::tolerance_options("test", 1, 1e-9, 1e-11, 100000);
    o.solver_forward = o.solver_backward = method;
    check(std::tuple(o));
  }
}

TEST_CASE("second derivatives have the part of a jump") {
  const auto f = agrad::recorded(of_state);
  for (const auto method : methods) {
    double value = 0;
    vector gradient;
    Eigen::MatrixXd hessian;
    const auto loss = [&](const auto& x) { return end(std::tuple(tight(), method), f, x[0]); };
    agrad::hessian(loss, vector::Constant(1, a), value, gradient, hessian);
    CHECK(hessian(0, 0) == doctest::Approx(-2).epsilon(1e-5));
  }
}

TEST_CASE("second derivatives have the part of a kink that moves") {
  const auto f = agrad::recorded(of_kink);
  for (const auto method : methods) {
    const auto loss = [&](const auto& x) {
      using scalar = std::decay_t<decltype(x[0])>;
      const vector y0 = vector::Zero(2);
      const std::vector<agrad::ode_dose<>> none;
      const std::vector<double> times{2.0};
      const auto solution = agrad::ode_solve_events(tight(2), method, none, std::tuple<>(), {}, f, y0, 0.0, times, x[0]);
      return scalar(solution.states[0][1]);
    };
    double value = 0;
    vector gradient;
    Eigen::MatrixXd hessian;
    agrad::hessian(loss, vector::Constant(1, a), value, gradient, hessian);
    CHECK(value == doctest::Approx((a * a + (2 - a) * (2 - a)) / 2).epsilon(1e-7));
    CHECK(gradient[0] == doctest::Approx(2 * a - 2).epsilon(1e-7));
    CHECK(hessian(0, 0) == doctest::Approx(2).epsilon(1e-7));
  }
}

TEST_CASE("without derivatives, steps end at the jumps, too") {
  const double found = end(std::tuple(tight(), agrad::ode_one_step_method::tsit5), agrad::recorded(of_state), a);
  CHECK(found == doctest::Approx(a + (1 + a) * (2 - a)).epsilon(1e-12));
}

TEST_CASE("a captured value that has changed is seen where sides are held") {
  double threshold = 0.5;
  const auto f = agrad::recorded([&threshold](const auto&, const auto& y, const auto& k) {
    auto slope = (0.0 * y).eval();
    slope[0] += k * threshold + agrad::select(y[0] > threshold, k, 0.0 * k);
    return slope;
  });
  const auto options = std::tuple(tight(), agrad::ode_one_step_method::tsit5);
  double value = 0;
  slope_of(options, f, a, value);
  threshold = 0.75;
  CHECK_THROWS_AS(slope_of(options, f, a, value), agrad::DomainError);
}

TEST_CASE("a right-hand side that is not recorded is not searched") {
  double value = 0;
  const auto options = std::tuple(tight(), agrad::ode_one_step_method::tsit5);
  CHECK(slope_of(options, of_time, a, value) == 0.0);
  CHECK(value == doctest::Approx(a + 3 * (2 - a)).epsilon(1e-6));
}

}  // namespace test_recorded_switches
