// Linear algebra behind Newton's method and Rosenbrock steps: every kind gives the same gradient, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_ode_algebra {

using agrad::csr_pattern;
using agrad::half_bandwidths;
using agrad::ode_algebra;
using agrad::ode_algebra_kind;
using agrad::ode_one_step_method;
using agrad::scope;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

csr_pattern arrow(std::size_t n) {
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = {0, static_cast<csr_pattern::index>(i)};
    rows[0].push_back(static_cast<csr_pattern::index>(i));
  }
  return agrad::pattern_of_rows(n, rows);
}

/// Cells in a row that react and diffuse; a rate for each.
struct brusselator {
  template <class Y, class P>
  auto operator()(double, const Y& y, const P& p) const {
    const Eigen::Index cells = p.size();
    vector_of<agrad::promoted_t<typename Y::Scalar, typename P::Scalar>> slope(2 * cells);
    for (Eigen::Index j = 0; j < cells; ++j) {
      const auto& u = y[2 * j];
      const auto& v = y[2 * j + 1];
      slope[2 * j] = 1.0 + u * u * v - (p[j] + 1.0) * u - 40.0 * u;
      slope[2 * j + 1] = p[j] * u - u * u * v - 40.0 * v;
      for (const Eigen::Index side : {j - 1, j + 1}) {
        const bool is_wall = side < 0 || side == cells;
        if (is_wall) {
          slope[2 * j] += 20.0;
          slope[2 * j + 1] += 60.0;
        } else {
          slope[2 * j] += 20.0 * y[2 * side];
          slope[2 * j + 1] += 20.0 * y[2 * side + 1];
        }
      }
    }
    return slope;
  }
};

/// One state that all others exchange with, whose rates depend on time.
struct hub {
  template <class Y, class P>
  auto operator()(double t, const Y& y, const P& p) const {
    vector_of<agrad::promoted_t<typename Y::Scalar, typename P::Scalar>> slope(y.size());
    slope[0] = std::sin(t) - y[0] * y[0];
    for (Eigen::Index i = 1; i < y.size(); ++i) {
      slope[i] = p[i % p.size()] * y[0] - 30.0 * (1.0 + 0.5 * std::cos(t)) * y[i] * y[i];
      slope[0] += 0.1 * y[i] - 0.01 * p[i % p.size()] * y[0];
    }
    return slope;
  }
};

agrad::step_options steps(Eigen::Index states, ode_algebra algebra) {
  agrad::step_options o;
  o.states.relative = 1e-6;
  o.states.absolute = Eigen::VectorXd::Constant(states, 1e-8);
  o.algebra = std::move(algebra);
  return o;
}

ode_algebra of_kind(ode_algebra_kind kind, std::optional<half_bandwidths> widths = {}) {
  ode_algebra a;
  a.kind = kind;
  a.bandwidths = widths;
  return a;
}
ode_algebra on_pattern(ode_algebra_kind kind, csr_pattern p) {
  ode_algebra a;
  a.kind = kind;
  a.pattern = std::move(p);
  return a;
}

/// The gradient of a sum of squares with respect to parameters and initial state, by Rodas4.
template <class F>
Eigen::VectorXd gradient_by_steps(const F& f, Eigen::Index states, const Eigen::VectorXd& p, const agrad::step_options& o) {
  const scope own;
  vector_of<var> rates = p.cast<var>(), y0 = Eigen::VectorXd::LinSpaced(states, 0.8, 1.2).cast<var>();
  const auto y = agrad::ode_solve(o, ode_one_step_method::rodas4, f, y0, 0.0, std::vector<double>{0.5, 1.0}, rates);
  var loss = 0;
  for (const auto& at : y)
    for (Eigen::Index i = 0; i < states; ++i) loss += at[i] * at[i] * (1.0 + 0.1 * static_cast<double>(i));
  loss.grad();
  Eigen::VectorXd g(p.size() + states);
  for (Eigen::Index j = 0; j < p.size(); ++j) g[j] = rates[j].adj();
  for (Eigen::Index i = 0; i < states; ++i) g[p.size() + i] = y0[i].adj();
  return g;
}

/// The same by CVODES.
template <class F>
Eigen::VectorXd gradient_by_cvodes(const F& f, Eigen::Index states, const Eigen::VectorXd& p, const ode_algebra& algebra,
                                   double tolerance, agrad::ode_statistics* counts = nullptr) {
  const scope own;
  const vector_of<var> rates = p.cast<var>();
  agrad::detail::functor_system<F, vector_of<var>> system("solve", f, states, rates);
  agrad::ode_adjoint_options o = systems::options(states, tolerance);
  o.algebra = algebra;
  agrad::cvodes_adjoint solver("solve", system, o, systems::everything);
  const Eigen::MatrixXd y = solver.integrate(Eigen::VectorXd::LinSpaced(states, 0.8, 1.2), 0, {0.5, 1.0});
  const Eigen::VectorXd weights =
      Eigen::VectorXd::NullaryExpr(states, [](Eigen::Index i) { return 2 + 0.2 * static_cast<double>(i); });
  const agrad::ode_gradient g = solver.reverse(weights.asDiagonal() * y);
  if (counts != nullptr) *counts = solver.statistics();
  Eigen::VectorXd all(p.size() + states);
  all << g.parameters, g.initial_state;
  return all;
}

double difference(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / b.norm(); }

const Eigen::VectorXd brusselator_rates = Eigen::VectorXd::LinSpaced(12, 2.5, 3.5);
const Eigen::VectorXd hub_rates = Eigen::Vector3d(0.5, 1.0, 1.5);

}  // namespace

TEST_CASE("every kind of linear algebra gives the same gradient of the same steps") {
  const Eigen::Index states = 24;
  const auto by = [&](const ode_algebra& a) {
    return gradient_by_steps(brusselator{}, states, brusselator_rates, steps(states, a));
  };
  const Eigen::VectorXd dense = by(of_kind(ode_algebra_kind::dense));
  CHECK(difference(by(of_kind(ode_algebra_kind::banded, half_bandwidths{2, 2})), dense) < 1e-9);
  CHECK(difference(by(of_kind(ode_algebra_kind::sparse, half_bandwidths{2, 2})), dense) < 1e-9);
  CHECK(difference(by(of_kind(ode_algebra_kind::dense, half_bandwidths{2, 2})), dense) < 1e-9);
  CHECK(difference(by(of_kind(ode_algebra_kind::automatic, half_bandwidths{2, 2})), dense) < 1e-9);
  CHECK(difference(by(of_kind(ode_algebra_kind::automatic)), dense) < 1e-9);

  const Eigen::Index spokes = 40;
  const auto around = [&](const ode_algebra& a) { return gradient_by_steps(hub{}, spokes, hub_rates, steps(spokes, a)); };
  const Eigen::VectorXd full = around(of_kind(ode_algebra_kind::dense));
  CHECK(difference(around(on_pattern(ode_algebra_kind::sparse, arrow(40))), full) < 1e-8);
  CHECK(difference(around(on_pattern(ode_algebra_kind::banded, arrow(40))), full) < 1e-8);
  CHECK(difference(around(on_pattern(ode_algebra_kind::automatic, arrow(40))), full) < 1e-8);
}

TEST_CASE("gradients of Rodas4 on a pattern are those of differences of solves") {
  const Eigen::Index spokes = 20;
  agrad::step_options o = steps(spokes, on_pattern(ode_algebra_kind::sparse, arrow(20)));
  o.states.relative = 1e-9;
  o.states.absolute.setConstant(1e-11);
  const Eigen::VectorXd g = gradient_by_steps(hub{}, spokes, hub_rates, o);
  const auto loss = [&](const Eigen::VectorXd& p) {
    const auto y =
        agrad::ode_solve(o, ode_one_step_method::rodas4, hub{}, Eigen::VectorXd(Eigen::VectorXd::LinSpaced(spokes, 0.8, 1.2)),
                         0.0, std::vector<double>{0.5, 1.0}, p);
    double sum = 0;
    for (const Eigen::VectorXd& at : y)
      for (Eigen::Index i = 0; i < spokes; ++i) sum += at[i] * at[i] * (1.0 + 0.1 * static_cast<double>(i));
    return sum;
  };
  for (Eigen::Index j = 0; j < 3; ++j) {
    Eigen::VectorXd up = hub_rates, down = hub_rates;
    up[j] += 1e-4, down[j] -= 1e-4;
    CHECK(g[j] == Approx((loss(up) - loss(down)) / 2e-4).epsilon(1e-6));
  }
}

TEST_CASE("steps that are computed twice have the same bits, whatever the linear algebra") {
  for (const ode_algebra_kind kind : {ode_algebra_kind::dense, ode_algebra_kind::banded, ode_algebra_kind::sparse}) {
    agrad::step_options o = steps(24, of_kind(kind, half_bandwidths{2, 2}));
    const Eigen::VectorXd kept = gradient_by_steps(brusselator{}, 24, brusselator_rates, o);
    o.max_memory = 5000;
    const Eigen::VectorXd again = gradient_by_steps(brusselator{}, 24, brusselator_rates, o);
    CHECK((kept.array() == again.array()).all());
  }
}

TEST_CASE("CVODES' gradient is the same with every kind of linear algebra") {
  const Eigen::Index states = 24;
  agrad::ode_statistics counts;
  const auto by = [&](const ode_algebra& a) {
    return gradient_by_cvodes(brusselator{}, states, brusselator_rates, a, 1e-8, &counts);
  };
  const Eigen::VectorXd dense = by(of_kind(ode_algebra_kind::dense));
  const Eigen::VectorXd exact = gradient_by_steps(brusselator{}, states, brusselator_rates, [] {
    agrad::step_options o = steps(24, of_kind(ode_algebra_kind::dense));
    o.states.relative = 1e-9;
    o.states.absolute.setConstant(1e-10);
    return o;
  }());
  CHECK(difference(dense, exact) < 1e-5);
  for (const ode_algebra_kind kind : {ode_algebra_kind::banded, ode_algebra_kind::sparse, ode_algebra_kind::automatic}) {
    CHECK(difference(by(of_kind(kind, half_bandwidths{2, 2})), dense) < 1e-7);
    CHECK(counts.forward.jacobian_evaluations > 0);
    CHECK(counts.backward.factorizations > 0);
  }
  CHECK(difference(by(of_kind(ode_algebra_kind::gmres)), dense) < 1e-5);
  CHECK(counts.forward.jacobian_evaluations == 0);
  CHECK(difference(gradient_by_cvodes(hub{}, 40, hub_rates, on_pattern(ode_algebra_kind::sparse, arrow(40)), 1e-8),
                   gradient_by_cvodes(hub{}, 40, hub_rates, of_kind(ode_algebra_kind::dense), 1e-8)) < 1e-7);
}

TEST_CASE("wrong descriptions of the Jacobian are refused by name") {
  const auto solve = [](const ode_algebra& a, ode_one_step_method method = ode_one_step_method::rodas4) {
    return message_of([&] {
      agrad::ode_solve(steps(24, a), method, brusselator{}, Eigen::VectorXd(Eigen::VectorXd::Ones(24)), 0.0,
                       std::vector<double>{1.0}, brusselator_rates);
    });
  };
  CHECK(solve(of_kind(ode_algebra_kind::banded, half_bandwidths{-1, 2})) ==
        "ode_solve: algebra is a half-bandwidth of -1, but must be 0 or more and less than the number of states, 24");
  CHECK(solve(of_kind(ode_algebra_kind::banded, half_bandwidths{2, 24})) ==
        "ode_solve: algebra is a half-bandwidth of 24, but must be 0 or more and less than the number of states, 24");
  CHECK(solve(of_kind(ode_algebra_kind::banded)) ==
        "ode_solve: algebra is without half-bandwidths and pattern, but must be with one of them for banded or sparse "
        "matrices; agrad does not know which entries of df/dy are zero");
  CHECK(solve(on_pattern(ode_algebra_kind::sparse, arrow(23))) ==
        "ode_solve: algebra is of shape 23 x 23, but must be of shape 24 x 24; a row and a column for each state");
  ode_algebra both = on_pattern(ode_algebra_kind::sparse, arrow(24));
  both.bandwidths = half_bandwidths{1, 1};
  CHECK(solve(both) == "ode_solve: algebra is half-bandwidths and a pattern, but must be one of the two");
  CHECK(solve(of_kind(ode_algebra_kind::gmres)) ==
        "ode_solve: the kind of linear algebra is gmres, but must be another one for Rodas4; the method needs factors of the "
        "Newton matrix; "
        "CVODES' "
        "methods take gmres");
  CHECK(solve(of_kind(ode_algebra_kind::banded, half_bandwidths{2, 1})) ==
        "ode_solve: algebra is without the entry (0, 2), but must be with every entry of df/dy that is not zero; "
        "df[0]/dy[2] is 20 at t = 0");
  CHECK(solve(of_kind(ode_algebra_kind::banded, half_bandwidths{2, 1}), ode_one_step_method::tsit5) == "nothing was thrown");
  const std::string text = message_of([] {
    gradient_by_cvodes(brusselator{}, 24, brusselator_rates, of_kind(ode_algebra_kind::banded, half_bandwidths{1, 2}), 1e-6);
  });
  CHECK(text.find("solve: algebra is without the entry (2, 0), but must be with every entry of df/dy that is not zero; "
                  "df[2]/dy[0] is 20 at t = ") == 0);
}

TEST_CASE("an entry that is zero at first is refused by name, too") {
  const auto follower = [](double, const auto& y, const auto& p) {
    vector_of<agrad::promoted_t<std::decay_t<decltype(y[0])>, std::decay_t<decltype(p[0])>>> slope(2);
    slope << p[0] - y[0], 1e4 * (y[0] * y[0] - y[1]);
    return slope;
  };
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2), p = Eigen::VectorXd::Ones(1);
  const ode_algebra diagonal = of_kind(ode_algebra_kind::banded, half_bandwidths{0, 0});
  for (const auto method : {ode_one_step_method::rodas4, ode_one_step_method::rodas5p}) {
    const std::string text =
        message_of([&] { agrad::ode_solve(steps(2, diagonal), method, follower, zero, 0.0, std::vector<double>{1.0}, p); });
    CHECK(text.find("ode_solve: algebra is without the entry (1, 0), but must be with every entry of df/dy that is not zero; "
                    "df[1]/dy[0] is ") == 0);
  }
}

TEST_CASE("CVODES finds the entry of a pattern that is not finite") {
  systems::lotka_volterra system(systems::rates);
  system.nan_jacobian_after = 1;
  agrad::ode_adjoint_options o = systems::options(2, 1e-8);
  o.algebra = on_pattern(ode_algebra_kind::sparse, arrow(2));
  agrad::cvodes_adjoint solver("solve", system, o, {});
  const std::string text = message_of([&] { solver.integrate(systems::pelts, 0, {20}); });
  CHECK(text.find("the Jacobian's entry [1, 0] is nan at t = ") != std::string::npos);
}

TEST_CASE("CVODES is there with every option") {
  const scope own;
  agrad::ode_adjoint_options o = systems::options(24, 1e-8);
  o.algebra = of_kind(ode_algebra_kind::banded, half_bandwidths{2, 2});
  vector_of<var> rates = brusselator_rates.cast<var>();
  const Eigen::VectorXd y0 = Eigen::VectorXd::LinSpaced(24, 0.8, 1.2);
  const auto y = agrad::ode_solve(o, brusselator{}, y0, 0.0, std::vector<double>{0.5, 1.0}, rates);
  var loss = 0;
  for (Eigen::Index i = 0; i < 24; ++i) loss += (y[0][i] * y[0][i] + y[1][i] * y[1][i]) * (1.0 + 0.1 * static_cast<double>(i));
  loss.grad();
  const Eigen::VectorXd expected = gradient_by_cvodes(brusselator{}, 24, brusselator_rates, o.algebra, 1e-8);
  for (Eigen::Index j = 0; j < 12; ++j) CHECK(rates[j].adj() == Approx(expected[j]).epsilon(1e-7));
}

TEST_CASE("all methods are there under their names") {
  const auto end = [](ode_one_step_method method) {
    const auto f = [](double, const auto& y, double k) { return (-k * y).eval(); };
    return agrad::ode_solve(steps(1, {}), method, f, Eigen::VectorXd(Eigen::VectorXd::Ones(1)), 0.0, std::vector<double>{1.0},
                            0.5)[0][0];
  };
  for (const auto method : {ode_one_step_method::tsit5, ode_one_step_method::rk45, ode_one_step_method::ckrk,
                            ode_one_step_method::dop853, ode_one_step_method::rodas4, ode_one_step_method::automatic})
    CHECK(end(method) == Approx(std::exp(-0.5)).epsilon(1e-5));
  CHECK(message_of([&] { end(static_cast<ode_one_step_method>(17)); }) ==
        "ode_solve: method is 17, but must be one of ode_one_step_method");
}

}  // namespace test_ode_algebra
