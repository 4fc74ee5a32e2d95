// Tangents through CVODES: along directions by the adjoint solver and by forward sensitivities, and duals in the functions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_cvodes_tangents {

using agrad::cvodes_adjoint;
using agrad::cvodes_forward;
using agrad::dual;
using agrad::ode_directions;
using agrad::ode_method;
using agrad::vector_of;
using namespace systems;
using doctest::Approx;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

agrad::ode_adjoint_options both(double tolerance, ode_method method) {
  agrad::ode_adjoint_options o = options(2, tolerance);
  o.solver_forward = o.solver_backward = method;
  return o;
}

agrad::ode_forward_options forward(double tolerance, ode_method method) {
  return agrad::detail::forward_part(both(tolerance, method));
}

/// Six directions, of which the last is of nothing, two that stand still and one that is no number, side by side.
ode_directions eight_directions() {
  ode_directions along{8, std::vector<double>(2 * 8), std::vector<double>(4 * 8)};
  for (std::size_t k = 0; k < 5; ++k) {
    along.initial_state[k] = k == 4 ? 3 : 0, along.initial_state[8 + k] = k == 4 ? -1 : 0;
    along.parameters[(k % 4) * 8 + k] = k == 4 ? 0.1 : rates[static_cast<Eigen::Index>(k)];
  }
  along.parameters[7] = std::numeric_limits<double>::quiet_NaN();
  return along;
}

ode_directions one_of(const ode_directions& all, std::size_t k) {
  ode_directions one;
  for (std::size_t i = 0; i < 2; ++i) one.initial_state.push_back(all.initial_state[i * 8 + k]);
  for (std::size_t i = 0; i < 4; ++i) one.parameters.push_back(all.parameters[i * 8 + k]);
  return one;
}

/// The sensitivities of the states at all times to the initial state and the parameters.
MatrixXd jacobian_of(lotka_volterra& system, const std::vector<double>& times) {
  cvodes_forward solver("f", system, forward(1e-12, ode_method::bdf), everything);
  solver.integrate(pelts, 0, times);
  MatrixXd rows(2 * static_cast<Eigen::Index>(times.size()), 6);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    MatrixXd adjoints = MatrixXd::Zero(2, static_cast<Eigen::Index>(times.size()));
    adjoints.data()[i] = 1;
    const agrad::ode_gradient g = solver.reverse(adjoints);
    rows.row(i) << g.initial_state.transpose(), g.parameters.transpose();
  }
  return rows;
}

struct decay {
  template <class T, class Y, class K>
  auto operator()(const T&, const Y& y, const K& k) const {
    vector_of<agrad::promoted_t<Y, K>> f(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) f[i] = -k * y[i];
    return f;
  }
};

/// It takes no duals.
struct of_variables {
  VectorXd operator()(double, const VectorXd& y, double k) const { return -k * y; }
  vector_of<agrad::var> operator()(double, const vector_of<agrad::var>& y, double k) const { return decay()(0.0, y, k); }
  vector_of<agrad::var> operator()(double, const VectorXd& y, const agrad::var& k) const { return decay()(0.0, y, k); }
};

}  // namespace

TEST_CASE("tangents along directions side by side are those of a Jacobian") {
  const std::vector<double> times = steps_of(2, 5);
  lotka_volterra system(rates);
  const MatrixXd rows = jacobian_of(system, times);
  const ode_directions all = eight_directions();
  const auto check = [&](agrad::ode_solver& solver, double tolerance) {
    CHECK(solver.has_first_tangents());
    CHECK(!solver.has_tangents());
    solver.integrate(pelts, 0, times);
    std::vector<double> together(10 * 8, 1.0), alone(10);
    solver.tangent(all, together.data());
    for (std::size_t k = 0; k < 8; ++k) {
      const ode_directions one = one_of(all, k);
      VectorXd direction(6);
      for (std::size_t i = 0; i < 6; ++i)
        direction[static_cast<Eigen::Index>(i)] = i < 2 ? one.initial_state[i] : one.parameters[i - 2];
      solver.tangent(one, alone.data());
      const VectorXd expected = rows * direction;
      for (std::size_t i = 0; i < 10; ++i) {
        const double entry = expected[static_cast<Eigen::Index>(i)];
        if (k == 7)
          CHECK((std::isnan(together[i * 8 + k]) && std::isnan(alone[i])));
        else
          CHECK((std::abs(together[i * 8 + k] - entry) <= tolerance * expected.norm() &&
                 std::abs(alone[i] - entry) <= tolerance * expected.norm()));
      }
    }
  };
  for (const ode_method method : {ode_method::adams, ode_method::bdf}) {
    cvodes_adjoint by_adjoint("f", system, both(1e-9, method), everything);
    check(by_adjoint, 1e-6);
    CHECK(by_adjoint.statistics().sensitivities.rhs_evaluations > 0);
    CHECK(!by_adjoint.tangents_match());
    cvodes_forward by_forward("f", system, forward(1e-9, method), everything);
    check(by_forward, 1e-6);
    CHECK(by_forward.tangents_match());
  }
}

TEST_CASE("tangents come after an integration, and second derivatives do not come at all") {
  lotka_volterra system(rates);
  cvodes_adjoint solver("f", system, options(2, 1e-6), everything);
  std::vector<double> to(2);
  const ode_directions along{1, {1, 0}, {0, 0, 0, 0}};
  CHECK_THROWS_AS(solver.tangent(along, to.data()), std::logic_error);
  solver.integrate(pelts, 0, {1});
  solver.tangent(along, to.data());
  CHECK(to[0] > 0);
  ode_directions back;
  CHECK_THROWS_AS(solver.second(MatrixXd::Ones(2, 1), to.data(), back), agrad::DerivativeError);
}

TEST_CASE("kept solvers have tangents of the system that they are used for") {
  const std::vector<double> times{1, 2};
  for (const double factor : {1.0, 1.2, 1.0}) {
    lotka_volterra system(factor * rates);  // gone before the next one
    const MatrixXd rows = jacobian_of(system, times);
    agrad::pooled_cvodes solver("kept tangents", system, options(2, 1e-9), everything);
    CHECK(solver.has_first_tangents());
    solver.integrate(pelts, 0, times);
    std::vector<double> to(4);
    solver.tangent({1, {0, 0}, {1, 0, 0, 0}}, to.data());
    for (std::size_t i = 0; i < 4; ++i) CHECK(to[i] == Approx(rows(static_cast<Eigen::Index>(i), 2)).epsilon(1e-6));
  }
}

TEST_CASE("duals of numbers pass through every function by CVODES") {
  using dual2 = dual<double, 2>;
  dual2 k(0.7), start(2.0);
  k.tangent[0] = 1, start.tangent[1] = 1;
  vector_of<dual2> y0(1);
  y0[0] = start;
  const std::vector<double> times{0.5, 2};
  const auto check = [&](const auto& solution, double of_start) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double e = std::exp(-0.7 * times[i]);
      CHECK(solution[i][0].value == Approx(2 * e).epsilon(1e-7));
      CHECK(solution[i][0].tangent[0] == Approx(-2 * times[i] * e).epsilon(1e-6));
      CHECK(solution[i][0].tangent[1] == Approx(of_start * e).epsilon(1e-6));
    }
  };
  const auto all = [&](const auto& f) {
    const auto with = [&](const auto& first, double of_start) {
      check(agrad::ode_adjoint_tol(f, first, 0.0, times, 1e-10, 1e-10, 10000, k), of_start);
      check(agrad::ode_bdf_tol(f, first, 0.0, times, 1e-10, 1e-10, 10000, k), of_start);
      check(agrad::ode_adams_tol(f, first, 0.0, times, 1e-10, 1e-10, 10000, k), of_start);
      check(agrad::ode_solve(options(1, 1e-10), f, first, 0.0, times, k), of_start);
    };
    with(y0, 1);
    with(VectorXd(VectorXd::Constant(1, 2)), 0);
  };
  all(decay());
  all(of_variables());
  all(agrad::recorded(decay()));
  static_assert(agrad::detail::hold_second_duals<vector_of<dual<agrad::var>>> &&
                agrad::detail::hold_second_duals<double, dual<dual<double>>> &&
                !agrad::detail::hold_second_duals<vector_of<dual2>, double> &&
                !agrad::detail::hold_second_duals<vector_of<agrad::var>, double>);
}

}  // namespace test_cvodes_tangents
