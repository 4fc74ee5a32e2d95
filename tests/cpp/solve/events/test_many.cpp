// Populations: values and derivatives against closed forms and single solves, in any number of threads, and failing subjects.
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/solve/ode_many.hpp>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace test_many {

using agrad::var;
using vector = Eigen::VectorXd;
template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;

namespace {

constexpr std::size_t subjects = 7;
constexpr auto tsit5 = agrad::ode_one_step_method::tsit5;

agrad::step_options tight() {
  agrad::step_options o;
  o.states.relative = 1e-10;
  o.states.absolute = vector::Constant(1, 1e-12);
  return o;
}

const auto decay = [](double, const auto& y, const auto& k) { return (-k * y).eval(); };
/// The state falls to 0.5 and is raised by 1.
const auto is_low = [](const auto&, const auto& y, const auto&) { return (0.5 - y[0]); };
const auto raised = [](const auto&, const auto& y, const auto&) {
  auto after = y.eval();
  after[0] = after[0] + 1.0;
  return after;
};

/// q: rate, amount and time of the dose. Subject i begins at 1 + i / 10, and is seen at 2 and 3.
template <class T>
std::vector<agrad::ode_subject<T, T, T>> population(const vector_of<T>& q) {
  std::vector<agrad::ode_subject<T, T, T>> all;
  for (std::size_t i = 0; i < subjects; ++i) {
    const double by = 0.1 * static_cast<double>(i);
    all.push_back({vector_of<T>::Constant(1, T(1 + by)), T(0.0), {T(2.0), T(3.0)}, {q[0]}, {{q[2], 0, q[1]}}, {}});
  }
  return all;
}

template <class T>
T seen(const std::vector<agrad::ode_many_solution<T>>& all) {
  T sum = 0;
  for (const auto& each : all)
    for (const auto& state : each.states) sum = sum + state[0] * state[0];
  return sum;
}

template <class T>
T closed(const vector_of<T>& q) {
  T sum = 0;
  for (std::size_t i = 0; i < subjects; ++i)
    for (const double t : {2.0, 3.0}) {
      const T y = (1 + 0.1 * static_cast<double>(i)) * exp(-t * q[0]) + q[1] * exp(-q[0] * (t - q[2]));
      sum = sum + y * y;
    }
  return sum;
}

const vector at = (vector(3) << 0.3, 0.7, 0.9).finished();

}  // namespace

TEST_CASE("a population has the closed form's gradient, with the same bits in every number of threads") {
  double value = 0, expected = 0;
  vector gradient, of_one, expected_gradient;
  agrad::gradient([](const vector_of<var>& q) { return closed(q); }, at, expected, expected_gradient);
  for (const std::size_t threads : {1, 2, 5, 0}) {
    const auto solved = [&](const vector_of<var>& q) {
      return seen(agrad::ode_solve_many(tight(), tsit5, population(q), std::tuple<>(), decay, {threads, false}));
    };
    agrad::gradient(solved, at, value, gradient);
    CHECK(value == doctest::Approx(expected).epsilon(1e-9));
    CHECK((gradient - expected_gradient).norm() < 1e-8 * expected_gradient.norm());
    if (threads == 1) of_one = gradient;
    CHECK(gradient == of_one);
  }
}

TEST_CASE("a population with CVODES, and one without variables") {
  agrad::ode_adjoint_options o = agrad::tolerance_options("test", 1, 1e-10, 1e-11, 100000);
  const auto solved = [&](const vector_of<var>& q) {
    return seen(agrad::ode_solve_many(o, population(q), std::tuple<>(), decay, {3, false}));
  };
  double value = 0, expected = 0;
  vector gradient, expected_gradient;
  agrad::gradient(solved, at, value, gradient);
  agrad::gradient([](const vector_of<var>& q) { return closed(q); }, at, expected, expected_gradient);
  CHECK((gradient - expected_gradient).norm() < 1e-7 * expected_gradient.norm());
  const double plain = seen(agrad::ode_solve_many(tight(), tsit5, population(vector_of<double>(at)), std::tuple<>(), decay));
  CHECK(plain == doctest::Approx(expected).epsilon(1e-9));
  CHECK(agrad::ode_solve_many(tight(), tsit5, std::vector<agrad::ode_subject<var, double, var>>(), std::tuple<>(), decay)
            .empty());
}

TEST_CASE("second derivatives of a population") {
  const auto f = [](const auto& q) {
    using T = std::decay_t<decltype(q[0])>;
    std::vector<agrad::ode_subject<T, double, T>> all;
    for (std::size_t i = 0; i < subjects; ++i)
      all.push_back({vector_of<T>::Constant(1, q[1]), 0.0, {1.0 + 0.1 * static_cast<double>(i)}, {q[0]}, {}, {}});
    return seen(agrad::ode_solve_many(tight(), tsit5, all, std::tuple<>(), decay, {2, false}));
  };
  const auto formula = [](const auto& q) {
    using T = std::decay_t<decltype(q[0])>;
    T sum = 0;
    for (std::size_t i = 0; i < subjects; ++i) {
      const T y = q[1] * exp(-(1.0 + 0.1 * static_cast<double>(i)) * q[0]);
      sum = sum + y * y;
    }
    return sum;
  };
  double value = 0, expected = 0;
  vector gradient, expected_gradient;
  Eigen::MatrixXd hessian, expected_hessian;
  agrad::hessian(f, at.head(2).eval(), value, gradient, hessian);
  agrad::hessian(formula, at.head(2).eval(), expected, expected_gradient, expected_hessian);
  CHECK((hessian - expected_hessian).norm() < 1e-7 * expected_hessian.norm());
}

TEST_CASE("events of a population are each subject's own") {
  const auto count = [](const vector_of<var>& q, std::size_t threads) {
    const auto events = std::make_tuple(agrad::ode_event{is_low, raised, 1});
    return agrad::ode_solve_many(tight(), tsit5, population(q), events, decay, {threads, false});
  };
  const vector fast = (vector(3) << 2.0, 0.1, 2.9).finished();
  const auto all = count(vector_of<var>(fast), 3);
  for (std::size_t i = 0; i < subjects; ++i) {
    CAPTURE(i);
    CHECK(all[i].event_times[0].size() >= 2);
    const double first = all[i].event_times[0][0].val();
    CHECK(first == doctest::Approx(std::log((1 + 0.1 * static_cast<double>(i)) / 0.5) / 2.0).epsilon(1e-8));
  }
}

TEST_CASE("a subject that fails loses its own end only") {
  const auto explodes = [](double, const auto& y, const auto& k) { return (k * y.array() * y.array()).matrix().eval(); };
  const auto solve = [&](const vector_of<var>& q, bool partial) {
    std::vector<agrad::ode_subject<var, double, var>> all;
    for (const double y0 : {0.2, 0.6, 4.0})  // infinite at 1 / (y0 k)
      all.push_back({vector_of<var>::Constant(1, var(y0)), 0.0, {0.5, 1.0, 3.0}, {q[0]}, {}, {{}, 1000, {0, 2}}});
    return agrad::ode_solve_many(tight(), tsit5, all, std::tuple<>(), explodes, {2, partial});
  };
  const vector k = vector::Constant(1, 1.0);
  CHECK_THROWS_WITH_AS(solve(vector_of<var>(k), false), doctest::Contains("ode_solve_many(subjects[1])"), agrad::SolverError);
  const auto sum = [&](const vector_of<var>& q) {
    const auto all = solve(q, true);
    REQUIRE(all.size() == 3);
    CHECK(all[0].failure == nullptr);
    CHECK(all[0].states.size() == 3);
    REQUIRE(all[1].failure != nullptr);
    CHECK(all[1].states.size() == 2);
    CHECK(all[1].before.size() == 1);
    CHECK(all[1].failure->t == doctest::Approx(1 / 0.6).epsilon(1e-3));
    REQUIRE(all[2].failure != nullptr);
    CHECK(all[2].states.empty());
    return var(all[0].states[2][0] + all[1].states[1][0]);
  };
  const auto formula = [](const vector_of<var>& q) { return var(1 / (1 / 0.2 - 3.0 * q[0]) + 1 / (1 / 0.6 - q[0])); };
  double value = 0, expected = 0;
  vector gradient, expected_gradient;
  agrad::gradient(sum, k, value, gradient);
  agrad::gradient(formula, k, expected, expected_gradient);
  CHECK(value == doctest::Approx(expected).epsilon(1e-8));
  CHECK(gradient[0] == doctest::Approx(expected_gradient[0]).epsilon(1e-7));
}

}  // namespace test_many
