// Steady states among many: lines of them, pieces of linear systems, centres.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <type_traits>

#include <agrad/agrad.hpp>
#include <agrad/solve/steady_state.hpp>

#include "solve/systems.hpp"

namespace test_steady_choice {

using agrad::scope;
using agrad::steady_state;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

template <class F>
struct posed {
  agrad::detail::functor_system<F, double> system;
  agrad::steady_solver<> solver;
  posed(const F& f, double k)
      : system("rest", f, 2, k), solver("rest", system, {{1e-10, Eigen::VectorXd::Constant(2, 1e-12)}}) {}
};

}  // namespace

TEST_CASE("on a line of steady states the way decides, to the tolerances, and derivatives are refused") {
  const auto epidemic = [](double, const auto& y,
                           const auto& k) {  // y1 = y1(0) exp(-t), y0 = y0(0) exp(-k y1(0) (1 - exp(-t)))
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = -k * y[0] * y[1];
    dy[1] = -y[1];
    return dy;
  };
  for (const double tolerance : {1e-6, 1e-10, 1e-12}) {
    const Eigen::VectorXd y = agrad::steady_state_tol(epidemic, Eigen::Vector2d(1, 5), tolerance, 1e-2 * tolerance, 50, 1.0);
    CHECK(std::abs(y[0] - std::exp(-5.0)) <= tolerance * std::exp(-5.0) + 1e-2 * tolerance);
    CHECK(std::abs(y[1]) <= 1e-2 * tolerance);
  }
  const auto line = [](double, const auto& y, const auto& k) {  // (y0 + y1 - k) drives both, and y0 + y1 is not conserved
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = -(y[0] + y[1] - k) * (1.0 + y[0] * y[0]);
    dy[1] = 2.0 * (y[0] + y[1] - k) * (y[1] * y[1] - 3.0);
    return dy;
  };
  const std::string message =
      "steady_state: the steady state is singular beyond conserved totals, as on a line of steady states, but must be one with "
      "an invertible Jacobian for derivatives; differentiate solve_ivp up to a late time";
  const scope own;
  const var k = 2;
  const auto y = steady_state(line, Eigen::Vector2d(0.5, 0.5), k);
  CHECK(y[0].val() + y[1].val() == Approx(2).epsilon(1e-10));
  CHECK(message_of([&] { y[0].grad(); }) == message);
  const auto last = steady_state(epidemic, Eigen::Vector2d(1, 5), k);
  CHECK(message_of([&] { last[0].grad(); }) == message);
  agrad::dual<double, 1> along(2.0);
  along.tangent[0] = 1;
  CHECK(message_of([&] { steady_state(epidemic, Eigen::Vector2d(1, 5), along); }) == message);
}

TEST_CASE("what is linear in pieces, or does not decay, is no linear system that comes to rest") {
  const auto pieces = [](double, const auto& y, const auto& k) {  // y0 rises to 10 / e before it would return to 0
    using scalar = agrad::promoted_t<decltype(y), decltype(k)>;
    vector_of<scalar> dy(2);
    dy[0] = (y[0] > k ? scalar(3.0) : scalar(0.0)) - y[0] + 10.0 * y[1];
    dy[1] = -y[1];
    return dy;
  };
  for (const double threshold : {1.0, 2.0, 2.9}) {
    posed<decltype(pieces)> crossed(pieces, threshold);
    CHECK(crossed.solver.solve(Eigen::Vector2d(0, 1))[0] == Approx(3).epsilon(1e-9));
  }
  posed<decltype(pieces)> below(pieces, 4.0);  // never crossed
  CHECK(std::abs(below.solver.solve(Eigen::Vector2d(0, 1))[0]) < 1e-10);
  CHECK_FALSE(below.solver.report().by_integration);

  const auto turning = [](double, const auto& y, const auto& k) {  // eigenvalues k +- i
    vector_of<agrad::promoted_t<decltype(y), decltype(k)>> dy(2);
    dy[0] = k * y[0] + y[1];
    dy[1] = k * y[1] - y[0];
    return dy;
  };
  posed<decltype(turning)> centre(turning, 0.0), outwards(turning, 0.1), inwards(turning, -0.1);
  for (auto* each : {&centre, &outwards}) {
    const auto complaint = message_of([&] { each->solver.solve(Eigen::Vector2d(1, 0)); });
    CHECK_MESSAGE(complaint.find("NO_STEADY_STATE") != std::string::npos, complaint);
  }
  CHECK(inwards.solver.solve(Eigen::Vector2d(1, 0)).isZero(1e-10));
  CHECK_FALSE(inwards.solver.report().by_integration);
  CHECK(centre.solver.solve(Eigen::Vector2d(0, 0)).isZero());  // at rest
  CHECK(centre.solver.report().growth_rate == Approx(0));
}

}  // namespace test_steady_choice
