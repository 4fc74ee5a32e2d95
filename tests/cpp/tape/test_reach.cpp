// What a reverse pass reaches: all open scopes, to whole derivatives; and in functionals and closures their own scope only.
#include <doctest/doctest.h>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/density.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include <memory>
#include <vector>

namespace test_reach {

using agrad::custom;
using agrad::isolated_scope;
using agrad::matrix;
using agrad::scope;
using agrad::ScopeError;
using agrad::tape;
using agrad::var;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("a reverse pass in a scope goes through what lies outside") {
  const scope own;
  const var x = 3.0;
  const var y = x * x;
  {
    const scope inner;
    y.grad();
    CHECK(x.adj() == 6);
    CHECK(y.adj() == 1);
  }
  {
    const scope inner;
    const var z = y * 2 + x;
    const scope innermost;
    const var w = z * x;  // 2 x^3 + x^2
    w.grad();
    CHECK(z.adj() == 3);
    CHECK(y.adj() == 6);
    CHECK(x.adj() == 6 * 9 + 2 * 3);
    z.grad();
    CHECK(x.adj() == 4 * 3 + 1);
    CHECK(w.adj() == 0);
    std::vector<double> g;
    w.grad(std::vector<var>{z, x}, g);
    CHECK(g == std::vector<double>{3, 60});
  }
  CHECK(x.adj() == 60);  // until the next reverse pass
}

TEST_CASE("closures outside are part of the way, and scopes in which nothing arrives are not") {
  const scope own;
  int calls = 0;
  const var x = 2.0;
  const matrix<var> m(MatrixXd::Constant(2, 2, 3.0));
  const var y = custom(4.0, [x](auto& adjoint, const var& r) { adjoint[x] += 4 * adjoint[r]; });
  agrad::push([&calls](auto&) { ++calls; });
  const scope middle;
  const var unused = y * 2;
  agrad::push([&calls](auto&) { calls += 100; });
  const scope inner;
  const var z = sum(m * m) * y;
  z.grad();
  CHECK(calls == 1);
  CHECK(unused.adj() == 0);
  CHECK(x.adj() == 4 * 72);
  CHECK(m.adj() == MatrixXd::Constant(2, 2, 4 * 12.0));
}

TEST_CASE("an isolated scope keeps what lies outside constant, adjoints and all") {
  const scope own;
  const var x = 3.0;
  const matrix<var> m(MatrixXd::Constant(2, 2, 3.0));
  const var y = x * x + sum(m);
  y.grad();
  {
    const isolated_scope inner;
    const var u = 2.0;
    const matrix<var> v(MatrixXd::Ones(2, 2));
    const var z = u * x * y + sum(v * m) + sum(elementwise_product(m.col(1), v.col(0))) + u * sum(exp(m));
    z.grad();
    CHECK(u.adj() == doctest::Approx(3 * y.val() + 4 * std::exp(3.0)));
    CHECK(v.adj() == (MatrixXd(2, 2) << 9, 6, 9, 6).finished());
    CHECK_THROWS_WITH_AS(x.adj(),
                         "adj: the variable lies outside of an isolated scope, of a functional or a closure, in which it is "
                         "constant; make a variable of its value inside",
                         ScopeError);
    CHECK_THROWS_AS(m.adj(), ScopeError);
    CHECK_THROWS_AS(y.grad(), ScopeError);
    std::vector<double> g;
    CHECK_THROWS_AS(z.grad(std::vector<var>{u, x}, g), ScopeError);
    const scope innermost;
    const var w = z * x;
    w.grad();
    CHECK(z.adj() == 3);
    CHECK_THROWS_AS(x.adj(), ScopeError);
  }
  CHECK(x.adj() == 6);
  CHECK(m.adj() == MatrixXd::Ones(2, 2));
}

TEST_CASE("functionals leave no adjoints on what f captures") {
  const scope own;
  const var x = 3.0;
  const matrix<var> m(MatrixXd::Constant(2, 2, 3.0));
  const var y = x * x + sum(m);
  y.grad();
  const auto f = [&](const auto& u) { return u[0] * u[0] * x + u[1] * y; };
  const auto of_matrices = [&](const auto& u) -> var { return u[0] * u[0] * x * sum(m * m) + u[1] * y; };
  const VectorXd at = VectorXd::Constant(2, 2.0), w = VectorXd::Ones(1);
  VectorXd g, fx, gv;
  MatrixXd J, H;
  double value;
  agrad::gradient(f, at, value, g);
  CHECK(g[0] == 12);
  CHECK(g[1] == 21);
  agrad::gradient(of_matrices, at, value, g);
  CHECK(g[0] == 12 * 72);
  agrad::gradient([&](const auto&) { return x; }, at, value, g);  // a constant
  CHECK(value == 3);
  CHECK(g.isZero(0));
  const auto rows = [&](const auto& u) {
    agrad::vector_of<var> r(3);
    r << u[0] * u[0] * x, y, u[1] * y * sum(m);
    return r;
  };
  agrad::reverse_jacobian(rows, at, fx, J);
  CHECK(J == (MatrixXd(3, 2) << 12, 0, 0, 0, 0, 21 * 12).finished());
  agrad::hessian(f, at, value, g, H);
  CHECK(H == (MatrixXd(2, 2) << 6, 0, 0, 0).finished());
  agrad::hessian_times_vector(f, at, at, value, gv);
  CHECK(gv == (VectorXd(2) << 12, 0).finished());
  agrad::vjp(f, at, w, fx, gv);
  CHECK(gv == g);
  CHECK(x.adj() == 6);
  CHECK(m.adj() == MatrixXd::Ones(2, 2));
  CHECK(y.adj() == 1);
}

TEST_CASE("a closure that reverse passes a scope of its own over what it captures adds nothing to it") {
  const scope own;
  const var x = 3.0;
  const auto square_of = [](const var& of, auto reverse) {
    return custom(of.val() * of.val(), [of, reverse](auto& adjoint, const var& r) {
      const scope inner;
      const var u = of.val();
      const var v = u * of;
      const var w = v + u * u;  // 2 u = dw/du - of
      w.grad();
      reverse(of);
      adjoint[of] += adjoint[r] * (u.adj() - of.val());
    });
  };
  const var y = square_of(x, [](const var&) {});
  for (int repetition = 0; repetition < 2; ++repetition) {
    const var z = y * x;
    z.grad();
    CHECK(x.adj() == 27);
  }
  const var nested = square_of(square_of(x, [](const var&) {}), [](const var& of) { CHECK_THROWS_AS(of.adj(), ScopeError); });
  nested.grad();
  CHECK(x.adj() == 4 * 27);
  VectorXd g, at = VectorXd::Constant(1, 3.0);
  MatrixXd J;
  agrad::reverse_jacobian(
      [&](const agrad::vector_of<var>& u) {
        const var s = square_of(u[0], [](const var&) {});
        agrad::vector_of<var> r(2);
        r << s, s * s;
        return r;
      },
      at, g, J);
  CHECK(J == (MatrixXd(2, 1) << 6, 4 * 27).finished());
}

TEST_CASE("a closure without a scope of its own cannot reverse pass or reset") {
  const scope own;
  const var x = 3.0;
  const var y = x * x;
  const var passes = custom(1.0, [y](auto&, const var&) { y.grad(); });
  const var resets = custom(1.0, [](auto&, const var&) { agrad::reset(); });
  CHECK_THROWS_WITH_AS(passes.grad(),
                       "grad: a reverse pass of the innermost scope is running; open a scope in the closure first", ScopeError);
  CHECK_THROWS_AS(resets.grad(), ScopeError);
  y.grad();
  CHECK(x.adj() == 6);
}

TEST_CASE("a scope that ends before one inside of it is given back with that one") {
  const scope own;
  const var x = 3.0;
  const auto before = tape::current().statistics().bytes;
  auto outer = std::make_unique<scope>();
  const var y = x * 2;
  auto middle = std::make_unique<scope>();
  auto inner = std::make_unique<scope>();
  const var z = y * y;
  outer.reset();
  middle.reset();
  z.grad();
  CHECK(x.adj() == 24);
  inner.reset();
  CHECK_THROWS_AS(y.adj(), ScopeError);
  CHECK(tape::current().statistics().bytes == before);
  const var w = x * x;
  w.grad();
  CHECK(x.adj() == 6);
}

TEST_CASE("a density of variables from outside of an isolated scope") {
  const scope own;
  const matrix<var> m(VectorXd::LinSpaced(5, -1.0, 1.0));
  std::vector<var> across{var(0.5), var(0.25)};
  {
    const isolated_scope inner;
    const var mu = 0.5, sigma = 2.0;
    across.push_back(mu);  // its index follows those of the variables outside
    across.push_back(sigma);
    const var y = agrad::normal_lpdf(m, mu, sigma) + agrad::normal_lpdf(across, mu, sigma);
    for (int again = 0; again < 2; ++again) {
      y.grad();
      CHECK(mu.adj() == doctest::Approx((-2.5 + 0.0 - 0.25 + 0.0 + 1.5) / 4));
    }
  }
  const var y = agrad::normal_lpdf(m, 0.5, 2.0);
  y.grad();
  CHECK(m.adj()(0, 0) == doctest::Approx(1.5 / 4));
}

}  // namespace test_reach
