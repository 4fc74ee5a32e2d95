// Accumulation on the tape: `a += e` keeps a's index unless somebody else relies on it. Every way to share an index, by hand;
// random sequences are in tape/test_fuzz.cpp.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace test_accumulation {

using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

std::size_t indices_used() { return tape::current().statistics().indices; }

/// Gradient of y with respect to three variables.
std::array<double, 3> gradient(const var& y, const var& a, const var& b, const var& c) {
  y.grad();
  return {a.adj(), b.adj(), c.adj()};
}
using g3 = std::array<double, 3>;

}  // namespace

TEST_CASE("an accumulator keeps its index while nobody shares it") {
  const scope own;
  const var x = 2.0;
  var s = 0.0;
  const std::size_t before = indices_used();
  for (int i = 0; i < 10; ++i) s += x * i;
  for (int i = 0; i < 10; ++i) s -= x;
  s += 3.5;
  s -= 1;
  ++s;
  CHECK(indices_used() == before);
  s.grad();
  CHECK(s.val() == 2 * 45 - 20 + 3.5);
  CHECK(x.adj() == 45 - 10);
  CHECK(s.adj() == 1);
}

TEST_CASE("whoever shares the accumulator keeps its old value") {
  const scope own;
  const var a = 2.0, b = 3.0, c = 5.0;
  var s = a * b;  // 6, with gradient (3, 2, 0)

  SUBCASE("a copy before") {
    const var old = s;
    s += c;
    CHECK(gradient(old * s, a, b, c) == g3{3 * 11 + 6 * 3, 2 * 11 + 6 * 2, 6});
  }
  SUBCASE("a copy after") {
    s += c;
    const var copy = s;
    s += copy * a;
    CHECK(gradient(s, a, b, c) == g3{3 + 6 + 11, 2 + 4, 1 + 2});
    CHECK(gradient(copy, a, b, c) == g3{3, 2, 1});
  }
  SUBCASE("a copy by assignment, which is incremented too") {
    var copy;
    copy = s;
    copy += c;
    s -= c * 2;
    CHECK(gradient(copy, a, b, c) == g3{3, 2, 1});
    CHECK(gradient(s, a, b, c) == g3{3, 2, -2});
    CHECK(gradient(s * copy, a, b, c) == g3{3 * 11 - 4 * 3, 2 * 11 - 4 * 2, -22 - 4});
  }
  SUBCASE("a chain of copies") {
    const var first = s;
    const var second = first;
    var third(second);
    third += a;
    s += b;
    CHECK(gradient(first + second * third + s, a, b, c) == g3{3 + 24 + 24 + 3, 2 + 16 + 12 + 2 + 1, 0});
  }
  SUBCASE("a held expression") {
    const auto e = s * b;
    s += c;
    const var d = e;
    CHECK(gradient(d, a, b, c) == g3{9, 12, 0});
    CHECK(gradient(s, a, b, c) == g3{3, 2, 1});
  }
  SUBCASE("a lambda's capture") {
    const auto twice = [s] { return s * 2; };
    s += c;
    CHECK(gradient(twice(), a, b, c) == g3{6, 4, 0});
    CHECK(gradient(s, a, b, c) == g3{3, 2, 1});
  }
  SUBCASE("an entry of a vector") {
    std::vector<var> stored{s, s};
    stored.push_back(s);
    s += c;
    stored[0] += c * 3;
    stored.resize(100);  // moves its entries elsewhere
    stored[1] += a;
    CHECK(gradient(stored[0], a, b, c) == g3{3, 2, 3});
    CHECK(gradient(stored[1], a, b, c) == g3{4, 2, 0});
    CHECK(gradient(stored[2], a, b, c) == g3{3, 2, 0});
    CHECK(gradient(s, a, b, c) == g3{3, 2, 1});
  }
  SUBCASE("a copy of a vector") {
    std::vector<var> one{a * b, b * c};
    const std::vector<var> other = one;
    for (var& v : one) v += c;
    CHECK(gradient(other[0] + other[1], a, b, c) == g3{3, 2 + 5, 3});
    CHECK(gradient(one[0] + one[1], a, b, c) == g3{3, 2 + 5, 5});
  }
  SUBCASE("a function's argument and result") {
    const auto plus = [](var x, const var& y) {
      x += y;
      return x;
    };
    var t = plus(s, c);
    t += plus(t, s);
    s += 1;
    CHECK(gradient(t, a, b, c) == g3{9, 6, 2});
    CHECK(gradient(s, a, b, c) == g3{3, 2, 0});
  }
}

TEST_CASE("an accumulator may stand in what it is incremented by") {
  const scope own;
  const var a = 2.0, b = 3.0, c = 5.0;
  var s = a * b;
  SUBCASE("itself") {
    s += s;
    CHECK(gradient(s, a, b, c) == g3{6, 4, 0});
    const var& itself = s;  // compilers warn of s -= s
    s -= itself;
    CHECK(gradient(s, a, b, c) == g3{0, 0, 0});
  }
  SUBCASE("an expression of itself") {
    s += s * 3;
    s -= c * s;
    CHECK(gradient(s, a, b, c) == g3{-48, -32, -24});
  }
  SUBCASE("products and quotients of itself") {
    s *= s;
    s *= c;
    s /= s * s;
    CHECK(s.val() == Approx(1.0 / 180));
    const g3 g = gradient(s, a, b, c);
    CHECK(g[0] == Approx(-2.0 / 2 / 180));
    CHECK(g[1] == Approx(-2.0 / 3 / 180));
    CHECK(g[2] == Approx(-1.0 / 5 / 180));
  }
  SUBCASE("increments after a product start anew") {
    s *= c;
    const std::size_t before = indices_used();
    s += a;
    CHECK(indices_used() == before);
    CHECK(gradient(s, a, b, c) == g3{16, 10, 6});
  }
}

TEST_CASE("moving does not share") {
  const scope own;
  const var a = 2.0, b = 3.0, c = 5.0;
  var s = a * b, t = b * c;
  SUBCASE("std::swap") {
    std::swap(s, t);
    const std::size_t before = indices_used();
    s += a;
    t += c;
    CHECK(indices_used() == before);
    CHECK(gradient(s, a, b, c) == g3{1, 5, 3});
    CHECK(gradient(t, a, b, c) == g3{3, 2, 1});
  }
  SUBCASE("std::move") {
    var u = std::move(s);
    u += c;
    t = std::move(u);
    t += c;
    CHECK(gradient(t, a, b, c) == g3{3, 2, 2});
  }
  SUBCASE("what was moved from is assigned to before it is used") {
    var u = std::move(s);
    var v;
    v = std::move(t);
    CHECK(std::isnan(s.val()));  // NOLINT: the point of the test
    CHECK(std::isnan(t.val()));  // NOLINT
    s = c * 2;
    t = 4;
    t -= a;
    CHECK(gradient(s, a, b, c) == g3{0, 0, 2});
    CHECK(gradient(t, a, b, c) == g3{-1, 0, 0});
    CHECK(gradient(u * 1.0, a, b, c) == g3{3, 2, 0});
    CHECK(gradient(v + u, a, b, c) == g3{3, 7, 3});
  }
  SUBCASE("to itself") {
    var& same = s;
    s = std::move(same);
    s += c;
    CHECK(gradient(s, a, b, c) == g3{3, 2, 1});
    s = same;
    s += c;
    CHECK(gradient(s, a, b, c) == g3{3, 2, 2});
  }
  SUBCASE("a vector that grows and is sorted") {
    std::vector<var> v;
    for (int i = 0; i < 20; ++i) {
      v.push_back(a * ((7 * i) % 20));
      for (var& x : v) x += b;
    }
    std::sort(v.begin(), v.end());
    std::rotate(v.begin(), v.begin() + 5, v.end());
    var sum = 0.0;
    for (var& x : v) sum += x;
    CHECK(gradient(sum, a, b, c) == g3{190, 210, 0});
  }
}

TEST_CASE("an outer scope's variable that is incremented inside lives inside from then on") {
  const scope own;
  const var a = 2.0;
  var s = a * 3;
  const auto before = tape::current().statistics();
  {
    const scope inner;
    var t = a * 5;
    var u = s;
    u += t;
    var v = s * 2;
    v += u;
    v.grad();
    CHECK(a.adj() == 5 + 3 * 3);  // through t, and through s, which lies before the inner scope
    CHECK(s.adj() == 3);
    CHECK(t.adj() == 1);
  }
  CHECK(tape::current().statistics().statements == before.statements);
  s += a;
  s.grad();
  CHECK(a.adj() == 4);
  {
    const scope inner;
    s += a;
    s.grad();
    CHECK(s.val() == 2 * 5);
    CHECK(s.adj() == 1);
  }
  CHECK_THROWS_AS(s.adj(), agrad::ScopeError);
}

}  // namespace test_accumulation
