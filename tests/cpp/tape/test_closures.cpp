// Closures on the tape: adjoints written by users, reverse passes within reverse passes, captures that own memory.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "owning_capture.hpp"

namespace test_closures {

using agrad::active_tape;
using agrad::custom;
using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

/// A user's function of a vector with its own adjoint: the Euclidean norm.
var norm(const std::vector<var>& x) {
  double square = 0;
  for (const var& v : x) square += v.val() * v.val();
  const double value = std::sqrt(square);
  return custom(value, [x, value](auto& adjoint, const var& y) {
    for (const var& v : x) adjoint[v] += adjoint[y] * v.val() / value;
  });
}

/// f(x), computed anew in the reverse pass, so that the tape holds one closure whatever f records.
template <class F>
var checkpoint(const F& f, const var& x) {
  double value = 0;
  {
    const scope inner;
    value = var(f(x)).val();
  }
  return custom(value, [f, x](auto& adjoint, const var& y) {
    const double seed = adjoint[y];
    const scope inner;
    const var inside = x.val();
    const var z = f(inside);
    z.grad();
    adjoint[x] += seed * inside.adj();
  });
}

}  // namespace

TEST_CASE("a user's own adjoint: custom and push") {
  const scope own;
  SUBCASE("a function of vectors") {
    const std::vector<var> x{3.0, 4.0, 12.0};
    const var y = norm(x) * 2;
    y.grad();
    CHECK(y.val() == 26);
    for (const var& v : x) CHECK(v.adj() == Approx(2 * v.val() / 13).epsilon(1e-15));
    y.grad();
    CHECK(x[0].adj() == Approx(6.0 / 13).epsilon(1e-15));
  }
  SUBCASE("several results of one closure") {
    const var x = 0.5;
    const var sine = std::sin(0.5), cosine = std::cos(0.5);
    agrad::push([=](auto& adjoint) { adjoint[x] += adjoint[sine] * std::cos(0.5) - adjoint[cosine] * std::sin(0.5); });
    const var y = sine * sine * 3 + cosine;
    y.grad();
    CHECK(x.adj() == Approx(6 * std::sin(0.5) * std::cos(0.5) - std::sin(0.5)).epsilon(1e-15));
  }
  SUBCASE("its result can be incremented") {
    const var x = 2.0;
    var y = custom(x.val() * 3, [x](auto& adjoint, const var& r) { adjoint[x] += 3 * adjoint[r]; });
    y += x;
    y *= y;
    y.grad();
    CHECK(x.adj() == 2 * 8 * 4);
  }
  SUBCASE("inside nested scopes") {
    const var x = 1.5;
    for (int depth = 0; depth < 3; ++depth) {
      const scope inner;
      const var a = custom(x.val() * x.val(), [x](auto& adjoint, const var& r) { adjoint[x] += 2 * x.val() * adjoint[r]; });
      const scope innermost;
      const var b = custom(a.val() + 1, [a](auto& adjoint, const var& r) { adjoint[a] += adjoint[r]; });
      const var c = b * x;
      c.grad();
      CHECK(a.adj() == 1.5);
    }
    CHECK(tape::current().statistics().closures == 0);
  }
}

TEST_CASE("a closure may record and reverse a scope of its own during a reverse pass") {
  const scope own;
  const auto recursion = [](const var& x) {
    var y = x;
    for (int i = 0; i < 2000; ++i) y = sin(y) + x * 0.5;  // enough for all streams to move when the closure records again
    return y;
  };
  const var x = 0.3;
  const var direct = recursion(x) * x + recursion(x * x);
  direct.grad();
  const double expected = x.adj();

  var y = checkpoint(recursion, x) * x;
  const var square = x * x;
  y += checkpoint(recursion, square);
  CHECK(y.val() == direct.val());
  for (int repetition = 0; repetition < 2; ++repetition) {
    y.grad();
    CHECK(x.adj() == Approx(expected).epsilon(1e-12));
  }
  const var nested = checkpoint([&](const var& u) { return checkpoint(recursion, u * 2.0) * u; }, x);
  nested.grad();
  const double by_checkpoint = x.adj();
  const var plain = recursion(x * 2.0) * x;
  plain.grad();
  CHECK(by_checkpoint == Approx(x.adj()).epsilon(1e-12));
}

TEST_CASE("the tape may move while it is swept") {
  tape mine;  // small, so that the closure's recording needs more memory than the tape has
  const active_tape use(mine);
  const var x = 0.5, z = 2.0;
  const var u = x * z;
  const var y = custom(u.val(), [u](auto& adjoint, const var& r) {
    adjoint[u] += adjoint[r];
    const scope inner;
    var chain = u;
    for (int i = 0; i < 20000; ++i) chain = chain * 1.0 + u;
    const var last = chain * 0.0;
    last.grad();
  });
  const var w = y * y + z * x;
  w.grad();
  CHECK(x.adj() == 2 * 1.0 * 2 + 2);
  CHECK(z.adj() == 2 * 1.0 * 0.5 + 0.5);
}

TEST_CASE("captures that own memory are destroyed at rewind, once") {
  REQUIRE(counted::alive == 0);
  {
    const scope own;
    const var x = 1.0;
    {
      const scope inner;
      const counted c;
      const var y = custom(c.sum() * x.val(), [c, x](auto& adjoint, const var& r) { adjoint[x] += c.sum() * adjoint[r]; });
      for (int i = 0; i < 10; ++i) agrad::push([c, text = std::string(100, 'x')](auto&) { CHECK(text.size() == 100); });
      CHECK(counted::alive == 12);
      y.grad();
      y.grad();
      CHECK(x.adj() == 100);
      CHECK(counted::alive == 12);
    }
    CHECK(counted::alive == 0);
    agrad::push([c = counted()](auto&) {});
    CHECK(counted::alive == 1);
    agrad::reset();
    CHECK(counted::alive == 0);
    agrad::push([c = counted()](auto&) {});
  }
  CHECK(counted::alive == 0);
  {
    tape mine;
    const active_tape use(mine);
    agrad::push([c = counted()](auto&) {});
    mine.store(counted());
    CHECK(counted::alive == 2);
  }
  CHECK(counted::alive == 0);
}

}  // namespace test_closures
