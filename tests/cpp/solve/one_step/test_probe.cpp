// Step probe: gradients of systems at rest, whatever kind of callable f is, and what the probe is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_step_probe {

using agrad::ode_one_step_method;
using agrad::scope;
using agrad::step_error_control;
using agrad::step_options;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;

namespace {

constexpr ode_one_step_method all_methods[] = {
    ode_one_step_method::tsit5,  ode_one_step_method::rk45,    ode_one_step_method::ckrk,     ode_one_step_method::dop853,
    ode_one_step_method::rodas4, ode_one_step_method::rodas5p, ode_one_step_method::automatic};

step_options options(double tolerance, step_error_control control = step_error_control::automatic) {
  step_options o;
  o.states.relative = tolerance;
  o.states.absolute = Eigen::VectorXd::Constant(1, tolerance / 100);
  o.error_control = control;
  return o;
}

/// y' = s - y of any scalars.
struct turnover {
  template <class T, class Y, class S>
  auto operator()(const T& /*t*/, const Y& y, const S& s) const {
    vector_of<agrad::promoted_t<typename Y::Scalar, S>> slope(1);
    slope[0] = s - y[0];
    return slope;
  }
};

/// The same of doubles and variables only, so without tangents.
struct plain_turnover {
  Eigen::VectorXd operator()(double /*t*/, const Eigen::VectorXd& y, double s) const {
    return Eigen::VectorXd::Constant(1, s - y[0]);
  }
  vector_of<var> operator()(double /*t*/, const vector_of<var>& y, double s) const {
    return vector_of<var>::Constant(1, s - y[0]);
  }
  vector_of<var> operator()(double /*t*/, const Eigen::VectorXd& y, const var& s) const {
    return vector_of<var>::Constant(1, s - y[0]);
  }
  vector_of<var> operator()(double /*t*/, const vector_of<var>& y, const var& s) const {
    return vector_of<var>::Constant(1, s - y[0]);
  }
};

/// d y(50) / d s from y = s = 1, which is 1.
template <class F>
double slope_at_rest(const F& f, ode_one_step_method method, const step_options& o) {
  const scope here;
  const var s = 1.0;
  const auto y = agrad::ode_solve(o, method, f, Eigen::VectorXd::Ones(1), 0.0, std::vector<double>{50.0}, s);
  y[0][0].grad();
  return s.adj();
}

}  // namespace

TEST_CASE("a gradient at rest is right, and is lost where steps see the state alone") {
  for (const ode_one_step_method method : all_methods) {
    CAPTURE(static_cast<int>(method));
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      CAPTURE(tolerance);
      CHECK(slope_at_rest(turnover(), method, options(tolerance)) == Approx(1).epsilon(100 * tolerance));
      CHECK(slope_at_rest(agrad::recorded(turnover()), method, options(tolerance)) == Approx(1).epsilon(100 * tolerance));
      CHECK(slope_at_rest(plain_turnover(), method, options(tolerance)) == Approx(1).epsilon(100 * tolerance));
    }
    const double blind = slope_at_rest(turnover(), method, options(1e-6, step_error_control::states));
    CHECK(std::abs(blind - 1) > 1e-5);
  }
}

TEST_CASE("a gradient that steps of the states spoil is told") {
  for (const ode_one_step_method method : all_methods) {
    if (method == ode_one_step_method::rodas5p) continue;  // two digits better than what is told
    CAPTURE(static_cast<int>(method));
    std::vector<std::string> told;
    step_options o = options(1e-6, step_error_control::states);
    o.warn = [&](agrad::step_concern of, const std::string& text) {
      CHECK(of == agrad::step_concern::gradient);
      told.push_back(text);
    };
    slope_at_rest(turnover(), method, o);
    REQUIRE(told.size() == 1);
    CHECK(told[0].find("the estimated relative error of the gradient is ") != std::string::npos);
    o.error_control = step_error_control::automatic;
    slope_at_rest(turnover(), method, o);
    CHECK(told.size() == 1);
  }
}

TEST_CASE("the short functions have it, and doses, events and duals") {
  const scope here;
  const Eigen::VectorXd rest = Eigen::VectorXd::Ones(1);
  const std::vector<double> end{50.0};
  const auto check = [&](const auto& solve) {
    const scope inner;
    const var s = 1.0;
    solve(s)[0][0].grad();
    CHECK(s.adj() == Approx(1).epsilon(1e-4));
  };
  check([&](const var& s) { return agrad::ode_tsit5(turnover(), rest, 0.0, end, s); });
  check([&](const var& s) { return agrad::ode_rodas4(turnover(), rest, 0.0, end, s); });
  check([&](const var& s) {
    const std::vector<agrad::ode_dose<double>> doses{{10.0, 0, 0.5, 0.0}};
    return agrad::ode_solve_events(options(1e-6), ode_one_step_method::tsit5, doses, std::tuple<>(), {}, turnover(), rest, 0.0,
                                   end, s)
        .states;
  });
  const agrad::dual<double> moving = agrad::ode_tsit5(turnover(), rest, 0.0, end, agrad::dual<double>(1.0, {1.0}))[0][0];
  CHECK(moving.tangent[0] == Approx(1).epsilon(1e-4));
}

TEST_CASE("factors have either sign, are neither small nor equal, and cancel for no group") {
  std::set<double> seen;
  double sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const double x = agrad::detail::generic_factor(i);
    CHECK(std::abs(x) >= 0.5);
    CHECK(std::abs(x) <= 1.5);
    seen.insert(x);
    sum += x;
  }
  CHECK(seen.size() == 1000);
  CHECK(std::abs(sum) < 120);
  CHECK(agrad::detail::generic_factor(0) == agrad::detail::generic_factor(0));
}

TEST_CASE("a system by hand has directions by its products") {
  systems::decay system(2.0);
  const double y = 3, v = 0.7, w = -0.4;
  double to = 0;
  system.along(0.0, &y, &v, &w, &to);
  CHECK(to == Approx(-2.0 * 0.7 - 3 * -0.4).epsilon(1e-12));
}

TEST_CASE("a direction that is a difference is that of the tangent") {
  const agrad::detail::functor_tangents<turnover, var> with("f", turnover(), 1, var(2.0));
  agrad::detail::functor_tangents<turnover, var> exact = with;
  agrad::detail::functor_tangents<plain_turnover, var> coarse("f", plain_turnover(), 1, var(2.0));
  const double y = 3, v = 0.7, w = -0.4;
  double one = 0, other = 0;
  exact.along(0.0, &y, &v, &w, &one);
  coarse.along(0.0, &y, &v, &w, &other);
  CHECK(exact.has_first_tangents());
  CHECK_FALSE(coarse.has_first_tangents());
  CHECK(one == Approx(-1.1).epsilon(1e-14));
  CHECK(other == Approx(-1.1).epsilon(1e-8));
}

}  // namespace test_step_probe
