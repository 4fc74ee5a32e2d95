// The tape's scalar: the sources' examples, expressions however they are held, repeated and re-seeded reverse passes,
// statistics and memory. Accumulation is in tape/test_accumulation.cpp, scopes are in tape/test_scope.cpp, closures in
// tape/test_closures.cpp.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "repetitions.hpp"
#include "resident_memory.hpp"

namespace test_tape {

using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

/// A function that returns an expression, not a variable.
auto product_plus(const var& a, const var& b, double c) { return a * b + c; }

}  // namespace

TEST_CASE("the product example of the sources") {
  const scope own;
  const var x1 = 10.3, x2 = 1.1;
  const var y = x1 * x2 * 2 + 7;
  y.grad();
  CHECK(y.val() == Approx(29.66).epsilon(1e-15));
  CHECK(x1.adj() == Approx(2.2).epsilon(1e-15));
  CHECK(x2.adj() == Approx(20.6).epsilon(1e-15));
  CHECK(y.adj() == 1);
}

TEST_CASE("the normal log density of the sources") {
  const scope own;
  using std::log;
  const double y = 1.3;
  var mu = 0.5, sigma = 1.2;
  var lp = 0;
  lp -= 0.5 * log(2 * 3.141592653589793);
  lp -= log(sigma);
  lp -= 0.5 * (y - mu) * (y - mu) / (sigma * sigma);

  const double z = (1.3 - 0.5) / 1.2;
  CHECK(lp.val() == Approx(-0.5 * z * z - std::log(1.2) - 0.9189385332046727).epsilon(1e-14));
  lp.grad();
  CHECK(mu.adj() == Approx(z / 1.2).epsilon(1e-14));
  CHECK(sigma.adj() == Approx((z * z - 1) / 1.2).epsilon(1e-14));

  const std::vector<var> theta{mu, sigma};
  std::vector<double> g;
  lp.grad(theta, g);
  REQUIRE(g.size() == 2);
  CHECK(g[0] == mu.adj());
  CHECK(g[1] == sigma.adj());
  CHECK(g[0] == Approx(z / 1.2).epsilon(1e-14));
}

TEST_CASE("a reverse pass can be repeated, from any variable") {
  const scope own;
  const var x = 0.7;
  const var u = x * x;
  const var v = sin(u) * x;
  for (int repetition = 0; repetition < 3; ++repetition) {
    v.grad();
    CHECK(x.adj() == Approx(2 * 0.49 * std::cos(0.49) + std::sin(0.49)).epsilon(1e-14));
    CHECK(u.adj() == Approx(0.7 * std::cos(0.49)).epsilon(1e-14));
    u.grad();
    CHECK(x.adj() == Approx(1.4).epsilon(1e-15));
    CHECK(v.adj() == 0);
    CHECK(u.adj() == 1);
  }
  const var w = v * 2.0;  // the tape grows between reverse passes
  w.grad();
  CHECK(x.adj() == Approx(2 * (2 * 0.49 * std::cos(0.49) + std::sin(0.49))).epsilon(1e-14));
}

TEST_CASE("several seeds of one reverse pass add up") {
  const scope own;
  const var x = 2.0, y = 3.0;
  const var a = x * y, b = x * x;
  tape& t = tape::current();
  t.clear_adjoints();
  t.adjoint(a.index()) = 10;
  t.adjoint(b.index()) = -1;
  t.reverse();
  CHECK(x.adj() == 10 * 3 - 2 * 2);
  CHECK(y.adj() == 10 * 2);
}

TEST_CASE("adjoints are zero before a reverse pass, also where an earlier gradient left its own") {
  const scope own;
  for (int round = 0; round < 3; ++round) {
    agrad::reset();
    std::vector<var> x;
    for (int i = 0; i < 50 + 100 * round; ++i) x.emplace_back(i + 1.0);
    var y = 0.0;
    for (const var& v : x) y += v * v;
    for (const var& v : x) CHECK(v.adj() == 0);
    y.grad();
    for (const var& v : x) CHECK(v.adj() == 2 * v.val());
  }
}

TEST_CASE("a default-constructed variable is the constant zero") {
  const scope own;
  const auto before = tape::current().statistics();
  var zero;
  CHECK(zero.val() == 0);
  CHECK(zero.adj() == 0);
  zero.grad();
  CHECK(zero.adj() == 0);
  CHECK(tape::current().statistics().statements == before.statements);

  const var x = 3.0;
  var y = zero * x + x;
  y += zero;
  zero += x;  // is no constant any more
  y += zero;
  y.grad();
  CHECK(y.val() == 6);
  CHECK(x.adj() == 2);
  CHECK(var().adj() == 0);
  var number;
  number += 1.5;
  CHECK(number.val() == 1.5);
  number.grad();
  CHECK(number.adj() == 1);
}

TEST_CASE("a variable that depends on nothing has a gradient of zeros") {
  const scope own;
  const var x = 1.0, y = 5.0;
  y.grad();
  CHECK(x.adj() == 0);
  CHECK(y.adj() == 1);
}

TEST_CASE("expressions may be held, returned and chosen") {
  const scope own;
  using std::max;
  var a = 2.0, b = 3.0, c = 5.0;

  SUBCASE("auto") {
    const auto product = a * b;
    const auto sum = product + c * product;
    a = 100.0;  // the expression keeps the old a
    const var y = sum;
    y.grad();
    CHECK(y.val() == 36);
    CHECK(b.adj() == 2 * 6);
    CHECK(c.adj() == 6);
    CHECK(a.adj() == 0);
  }
  SUBCASE("a function that returns auto") {
    const auto e = product_plus(a, b, 0.5);
    const var y = e * product_plus(b, c, 0.25);
    y.grad();
    CHECK(y.val() == Approx(6.5 * 15.25));
    CHECK(a.adj() == Approx(3 * 15.25));
    CHECK(b.adj() == Approx(2 * 15.25 + 5 * 6.5));
    CHECK(c.adj() == Approx(3 * 6.5));
  }
  SUBCASE("a lambda that returns auto of temporaries") {
    const auto make = [&] { return exp(a * 0.5) * (b - 1); };
    const var y = make();
    y.grad();
    CHECK(a.adj() == Approx(std::exp(1.0)).epsilon(1e-15));
    CHECK(b.adj() == Approx(std::exp(1.0)).epsilon(1e-15));
  }
  SUBCASE("conditional operator with an expression and a variable") {
    for (const bool first : {true, false}) {
      const var y = first ? a * b : c;
      y.grad();
      CHECK(y.val() == (first ? 6 : 5));
      CHECK(a.adj() == (first ? 3 : 0));
      CHECK(c.adj() == (first ? 0 : 1));
    }
    const var z = a > b ? a : 1.0;
    z.grad();
    CHECK(z.val() == 1);
    CHECK(a.adj() == 0);
  }
  SUBCASE("std::max of variables and of expressions of one type") {
    const var larger = max(a, b);
    larger.grad();
    CHECK(b.adj() == 1);
    const var y = max(a * b, b * c);
    y.grad();
    CHECK(y.val() == 15);
    CHECK(c.adj() == 3);
    const var z = max<var>(a * b, c);
    z.grad();
    CHECK(z.val() == 6);
    CHECK(a.adj() == 3);
  }
  SUBCASE("extremes of anything: fmax, maximum") {
    const var y = fmax(a * b, c) + maximum(1.0, a + b) + fmin(a, 7);
    y.grad();
    CHECK(y.val() == 6 + 5 + 2);
    CHECK(a.adj() == 3 + 1 + 1);
    CHECK(b.adj() == 2 + 1);
    CHECK(c.adj() == 0);
  }
}

TEST_CASE("operators mix variables, expressions, doubles and integers on either side") {
  const scope own;
  var x = 1.7;
  const auto derivative = [&](const var& y) {
    y.grad();
    return x.adj();
  };
  CHECK(derivative(x + 1) == 1);
  CHECK(derivative(1u + x) == 1);
  CHECK(derivative(x - 2L) == 1);
  CHECK(derivative(2 - x) == -1);
  CHECK(derivative(2.5f * x) == 2.5);
  CHECK(derivative(x / 4) == 0.25);
  CHECK(derivative(4 / x) == Approx(-4 / (1.7 * 1.7)).epsilon(1e-15));
  CHECK(derivative(-x) == -1);
  CHECK(derivative(+x) == 1);
  CHECK(derivative((x + 1) * (x - 1)) == Approx(2 * 1.7).epsilon(1e-15));
  CHECK(derivative((x * 3 - 1) / (2 - x * x)) == Approx((3 * (2 - 2.89) + (5.1 - 1) * 3.4) / (0.89 * 0.89)).epsilon(1e-13));
  var y = x;
  y *= 2, y /= x + 1, y -= 1, y += x * x;
  CHECK(y.val() == Approx(2 * 1.7 / 2.7 - 1 + 2.89).epsilon(1e-15));
  CHECK(derivative(y) == Approx(2 / (2.7 * 2.7) + 3.4).epsilon(1e-14));
  ++y;
  --y;
  CHECK(derivative(y) == Approx(2 / (2.7 * 2.7) + 3.4).epsilon(1e-14));
}

TEST_CASE("comparison, streaming and limits go by value") {
  const scope own;
  const var a = 1.5, b = 2.5;
  CHECK(a < b);
  CHECK(a <= 1.5);
  CHECK(2 > a);
  CHECK(a * 2 >= b);
  CHECK(a + 1 == b);
  CHECK(a != b);
  CHECK_FALSE(1.5 < a);
  std::ostringstream out;
  out << a << ' ' << a * b << ' ' << std::numeric_limits<double>::quiet_NaN() * a;
  CHECK(out.str() == "1.5 3.75 nan");
  CHECK(std::numeric_limits<var>::is_specialized);
  CHECK(std::numeric_limits<var>::epsilon() == std::numeric_limits<double>::epsilon());
  CHECK(std::numeric_limits<var>::infinity() > 1e308);
  std::vector<var> values{3.0, 1.0, 2.0};
  std::sort(values.begin(), values.end());
  CHECK(values[2].val() == 3);
  (values[0] * values[1] * values[2]).val();
  const var y = std::accumulate(values.begin(), values.end(), var(0.0)) * values[2];
  y.grad();
  CHECK(values[2].adj() == 9);
  CHECK(values[0].adj() == 3);
}

TEST_CASE("an infinite derivative of what is not used is no nan") {
  const scope own;
  const var x = 0.0, z = 2.0;
  SUBCASE("in statements of its own") {
    const var root = sqrt(x), logarithm = log(x);
    const var y = z + root * 0.0 + var(select(false, logarithm, 1.0));
    y.grad();
    CHECK(x.adj() == 0);
    CHECK(z.adj() == 1);
  }
  SUBCASE("within one statement") {
    const var y = fmax(sqrt(x), 1.0) * z + select(x > 0, log(x), 0.0);
    y.grad();
    CHECK(y.val() == 2);
    CHECK(x.adj() == 0);
    CHECK(z.adj() == 1);
  }
  SUBCASE("in a closure") {
    const double infinite = std::numeric_limits<double>::infinity();
    const var root = agrad::custom(0.0, [=](auto& adjoint, const var& r) { adjoint[x] += infinite * adjoint[r]; });
    const var y = z + 0.0 * root;
    y.grad();
    CHECK(x.adj() == 0);
  }
  SUBCASE("one that is used is infinite") {
    const var y = sqrt(x) + z;
    y.grad();
    CHECK(std::isinf(x.adj()));
  }
}

TEST_CASE("statistics count what was recorded") {
  const scope own;
  const auto before = tape::current().statistics();
  const var a = 1.0, b = 2.0;
  var c = a * b + b * b;
  c += a;
  [[maybe_unused]] const var d = agrad::custom(1.0, [](auto&, const var&) {});
  const auto after = tape::current().statistics();
  CHECK(after.statements - before.statements == 2);  // the sum of products and the increment
  CHECK(after.leaves - before.leaves == 4 + 1);
  CHECK(after.indices - before.indices == 4);
  CHECK(after.closures - before.closures == 1);
  CHECK(after.bytes - before.bytes >= (4 + 2 + 1) * 16 + 4 * 8);
  CHECK(after.bytes_reserved >= after.bytes);
  CHECK(after.bytes_high_water >= after.bytes);
  {
    const scope inner;
    for (int i = 0; i < 1000; ++i) c = c * a;
  }
  const auto rewound = tape::current().statistics();
  CHECK(rewound.bytes == after.bytes);
  CHECK(rewound.bytes_high_water >= after.bytes + 1000 * 40);
}

TEST_CASE("millions of steps of x = sin(x) + x * c take less than 16 bytes an operation") {
  tape own;
  const agrad::active_tape use(own);
  constexpr int steps = repetitions(10'000'000);
  constexpr double operations = 3.0 * steps;  // sin, product, sum
  const double c = 0.25;
  const long resident = resident_bytes();
  var x0 = 0.8, x = x0;
  for (int i = 0; i < steps; ++i) x = sin(x) + x * c;
  x.grad();
  CHECK(static_cast<double>(own.statistics().bytes) / operations < 16);
  if (resident != 0) CHECK(static_cast<double>(resident_bytes() - resident) / operations < 16);

  double value = 0.8, derivative = 1;
  for (int i = 0; i < steps; ++i) {
    derivative *= std::cos(value) + c;
    value = std::sin(value) + value * c;
  }
  CHECK(x.val() == value);
  CHECK(x0.adj() == Approx(derivative).epsilon(1e-10));
}

}  // namespace test_tape
