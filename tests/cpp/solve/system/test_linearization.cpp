// Derivatives of a recorded right-hand side at several points at once: products with adjoints are those of single reverse
// passes.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

namespace test_linearization {

using agrad::linearization;
using agrad::program_structure;
using agrad::program_system;
using agrad::recorded;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

template <class... X>
using result = vector_of<agrad::promoted_t<X...>>;

/// Neighbours react, driven in time; the rates come from logarithms.
constexpr auto reaction = [](const auto& t, const auto& y, const auto& log_rates) {
  using std::exp;
  using std::sin;
  const Index n = y.size();
  result<decltype(y[0] * t * log_rates[0])> f(n);
  for (Index i = 0; i < n; ++i) {
    f[i] = exp(log_rates[i]) * y[i] * (1.0 - y[i]) + 0.2 * sin(t * y[i]);
    if (i > 0) f[i] += log_rates[0] * (y[i - 1] - y[i]);
    if (i + 1 < n) f[i] += 2.0 * y[i + 1] / (1.0 + y[i] * y[i]);
  }
  return f;
};

/// Every state on the sum of all: entries everywhere, and next to nothing to compute.
constexpr auto by_sum = [](const auto&, const auto& y, const auto& p) {
  auto sum = y[0] * 1.0;
  for (Index i = 1; i < y.size(); ++i) sum = sum + y[i];
  result<decltype(sum * p[0])> f(y.size());
  for (Index i = 0; i < y.size(); ++i) f[i] = sum * p[i];
  return f;
};

/// The derivative of the first is infinite at zero.
constexpr auto roots = [](const auto&, const auto& y, const auto& p) {
  using std::sqrt;
  result<decltype(y[0] * p[0])> f(2);
  f[0] = p[0] * sqrt(y[0]);
  f[1] = p[1] * y[0] * y[1];
  return f;
};

/// Each state on itself and the one before, with an infinite derivative at zero.
constexpr auto cascade = [](const auto&, const auto& y, const auto& p) {
  const Index n = y.size();
  result<decltype(y[0] * p[0])> f = (p.array() * y.array().sqrt()).matrix();
  for (Index i = 1; i < n; ++i) f[i] += p[i - 1] * y[i - 1] * y[i];
  return f;
};

/// Entries that are constants, of which each is in one place.
constexpr auto transport = [](const auto&, const auto& y, const auto& p) {
  result<decltype(y[0] * p[0])> f = (p.array() - 2.0 * y.array()).matrix();
  for (Index i = 1; i < y.size(); ++i) f[i] += 3.0 * y[i - 1];
  return f;
};

template <class F>
program_system system_of(const F& f, const VectorXd& p, Index n, bool differentiated = true) {
  const auto made = recorded(f).template program_for<vector_of<var>>("test", n, vector_of<var>(p.cast<var>()));
  program_system system(made.f, n, differentiated, made.structure);
  system.set_parameters(p.data());
  return system;
}

MatrixXd random(Index rows, Index columns, unsigned seed) {
  std::mt19937 numbers(seed);
  return MatrixXd::NullaryExpr(rows, columns, [&] { return std::uniform_real_distribution<double>(-1, 2)(numbers); });
}

/// At so many points: each product as by one reverse pass, in any order.
template <class System>
void check_products(System& system, int points, unsigned seed, bool is_positive = false) {
  const Index n = system.states(), m = system.parameters();
  const VectorXd t = random(points, 1, seed);
  const MatrixXd of_any_sign = random(n, points, seed + 1), y = is_positive ? MatrixXd(of_any_sign.cwiseAbs()) : of_any_sign,
                 lambda = random(n, points, seed + 2);
  system.linearize(points, t.data(), y.data());
  for (int k = points; k-- > 0;) {
    VectorXd of_y(n), of_p(m), y_expected(n), p_expected(m);
    system.linear_vjp(k, lambda.col(k).data(), of_y.data(), of_p.data());
    system.vjp(t[k], y.col(k).data(), lambda.col(k).data(), y_expected.data(), p_expected.data());
    CHECK((of_y - y_expected).norm() <= 1e-14 * y_expected.norm());
    CHECK((of_p - p_expected).norm() <= 1e-14 * p_expected.norm());
    VectorXd alone(n);
    system.linear_vjp(k, lambda.col(k).data(), alone.data(), nullptr);
    CHECK(alone == of_y);
  }
}

}  // namespace

TEST_CASE("products at points that are known beforehand are those of single reverse passes") {
  for (const Index n : {1, 2, 5, 33}) {
    program_system system = system_of(reaction, random(n, 1, 7), n);
    for (const int points : {6, 1, 12, 6}) check_products(system, points, static_cast<unsigned>(points));
  }
}

TEST_CASE("a functor that is recorded has them by duals or by its program") {
  for (const Index n : {2, 4, 40}) {
    const VectorXd p = random(n, 1, 3);
    const agrad::scope scope;
    const vector_of<var> rates = p.cast<var>();
    agrad::detail::recorded_system<std::decay_t<decltype(reaction)>, vector_of<var>> system("test", recorded(reaction), n,
                                                                                            rates);
    check_products(system, 6, 1);
    check_products(system, 12, 2);
  }
}

TEST_CASE("parameters that are constants have no products") {
  program_system system = system_of(reaction, random(4, 1, 7), 4, false);
  CHECK(system.parameters() == 0);
  check_products(system, 6, 5);
}

TEST_CASE("where there are more entries than f has operations reverse passes stay") {
  const auto p = random(60, 1, 2);
  const auto dense = recorded(by_sum).program_for<vector_of<var>>("test", 60, vector_of<var>(p.cast<var>()));
  CHECK(dense.structure->linear(*dense.f, 60, 60, 6) == nullptr);
  program_system system = system_of(by_sum, p, 60);
  check_products(system, 6, 5);
  const auto few = recorded(reaction).program_for<vector_of<var>>("test", 60, vector_of<var>(p.cast<var>()));
  const auto all = few.structure->linear(*few.f, 60, 60, 6);
  REQUIRE(all != nullptr);
  CHECK(few.structure->linear(*few.f, 60, 60, 6) == all);  // once for all systems
  CHECK(all->points() == 6);
}

TEST_CASE("products along diagonals of one constant") {
  const VectorXd p = random(64, 1, 2);
  const auto made = recorded(transport).program_for<vector_of<var>>("test", 64, vector_of<var>(p.cast<var>()));
  CHECK(made.structure->linear(*made.f, 64, 64, 6)->has_ranges());
  program_system system = system_of(transport, p, 64);
  check_products(system, 6, 3);
}

TEST_CASE("products along long diagonals, and those of short ones") {
  for (const Index n : {8, 64, 65}) {
    const VectorXd p = random(n, 1, 2);
    const auto made = recorded(cascade).program_for<vector_of<var>>("test", n, vector_of<var>(p.cast<var>()));
    const auto size = static_cast<std::size_t>(n);
    CHECK(made.structure->linear(*made.f, size, size, 6)->has_ranges() == (n > 8));
    program_system system = system_of(cascade, p, n);
    for (const int points : {6, 1, 12}) check_products(system, points, 3, true);
    VectorXd y = VectorXd::Constant(n, 4), lambda = VectorXd::Ones(n), of_y(n), of_p(n);
    const double t = 0;
    y[5] = 0, lambda[5] = 0;
    system.linearize(1, &t, y.data());
    system.linear_vjp(0, lambda.data(), of_y.data(), of_p.data());
    CHECK(of_y[5] == p[5] * 4);
    CHECK(of_y.allFinite());
    lambda[5] = 1;
    system.linear_vjp(0, lambda.data(), of_y.data(), of_p.data());
    CHECK(std::abs(of_y[5]) == std::numeric_limits<double>::infinity());
    CHECK(of_y[4] == Approx(p[4] / 4 + p[3] * 4).epsilon(1e-15));
  }
}

TEST_CASE("nothing comes of an infinite derivative whose adjoint is zero") {
  program_system system = system_of(roots, Eigen::Vector2d(1.5, 2.5), 2);
  const VectorXd t = VectorXd::Zero(2);
  MatrixXd y(2, 2);
  y << 0, 4, 3, 5;
  system.linearize(2, t.data(), y.data());
  VectorXd of_y(2), of_p(2);
  system.linear_vjp(0, Eigen::Vector2d(0, 1).data(), of_y.data(), of_p.data());
  CHECK(of_y[0] == 7.5);
  CHECK(of_p[0] == 0);
  system.linear_vjp(0, Eigen::Vector2d(1, 1).data(), of_y.data(), of_p.data());
  CHECK(of_y[0] == std::numeric_limits<double>::infinity());
  CHECK(of_y[1] == 0);
  system.linear_vjp(1, Eigen::Vector2d(1, 0).data(), of_y.data(), of_p.data());
  CHECK(of_y[0] == Approx(1.5 / 4).epsilon(1e-15));
}

}  // namespace test_linearization
