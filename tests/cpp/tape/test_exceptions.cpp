// Exceptions at any point of recording and differentiating: the outer tape is as it was, captures are destroyed once, and the
// next gradient is right.
#include <doctest/doctest.h>
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

#include "owning_capture.hpp"

namespace test_exceptions {

using agrad::custom;
using agrad::scope;
using agrad::tape;
using agrad::var;

namespace {

/// A capture that throws at its n-th copy or move from now on.
struct fragile {
  static inline int until_throw = -1;
  counted owned;
  fragile() = default;
  fragile(const fragile& other) : owned((count_down(), other.owned)) {}
  fragile(fragile&& other) : owned((count_down(), other.owned)) {}  // NOLINT: may throw, which is the point

 private:
  static void count_down() {
    if (until_throw >= 0 && until_throw-- == 0) throw std::runtime_error("in a capture");
  }
};

struct sizes {
  std::size_t statements, leaves, indices, closures;
  bool operator==(const sizes& o) const {
    return statements == o.statements && leaves == o.leaves && indices == o.indices && closures == o.closures;
  }
};
sizes now() {
  const auto all = tape::current().statistics();
  return {all.statements, all.leaves, all.indices, all.closures};
}

}  // namespace

TEST_CASE("an exception in a closure ends the reverse pass, and the next reverse pass starts anew") {
  const scope own;
  const var x = 2.0;
  bool fail = true;
  const var a = x * x;
  const var b = custom(a.val(), [a, &fail](auto& adjoint, const var& r) {
    if (fail) throw std::runtime_error("in a reverse pass");
    adjoint[a] += adjoint[r];
  });
  const var c = b * x + x * 7;
  for (int repetition = 0; repetition < 3; ++repetition) {
    fail = true;
    CHECK_THROWS_AS(c.grad(), std::runtime_error);
    fail = false;
    c.grad();
    CHECK(x.adj() == 3 * 4 + 7);
  }
  std::vector<double> g;
  fail = true;
  CHECK_THROWS_AS(c.grad(std::vector<var>{x}, g), std::runtime_error);
  fail = false;
  c.grad(std::vector<var>{x}, g);
  CHECK(g[0] == 19);
}

TEST_CASE("an exception in a nested scope of a closure of a reverse pass within a reverse pass") {
  const scope own;
  const var x = 2.0;
  const sizes before = now();
  {
    const scope inner;
    const var y = custom(1.0, [x](auto& adjoint, const var& r) {
      const scope in_reverse_pass;
      const var z = custom(1.0, [c = counted()](auto&, const var&) { throw std::runtime_error("two reverse passes deep"); });
      const var w = z * x;
      w.grad();
      adjoint[x] += adjoint[r];
    });
    CHECK_THROWS_AS(y.grad(), std::runtime_error);
    CHECK(counted::alive == 0);
    const var v = x * 3;
    std::vector<double> g;
    v.grad(std::vector<var>{x}, g);
    CHECK(g[0] == 3);
  }
  CHECK(now() == before);
}

TEST_CASE("an exception in a functional's callable closes its scope") {
  const scope own;
  const var x = 2.0;
  const var y = x * x;
  const sizes before = now();
  Eigen::VectorXd at(2), g;
  at << 1, 2;
  double value = 0;
  const auto f = [&](const auto& v) {
    using T = typename std::decay_t<decltype(v)>::Scalar;
    const T s = v[0] * v[1];
    if (value == 0) throw std::runtime_error("in a callable");
    return s;
  };
  CHECK_THROWS_AS(agrad::gradient(f, at, value, g), std::runtime_error);
  CHECK(now() == before);
  y.grad();
  CHECK(x.adj() == 4);
}

TEST_CASE("a thousand scopes nest, close and reset") {
  const scope own;
  const var x = 1.0;
  const sizes before = now();
  // Recursion, because a scope belongs to a block.
  const auto deeper = [&](const auto& self, int depth, const var& outer) -> void {
    const scope inner;
    const counted owner;
    var y = outer + x;
    agrad::push([owner](auto&) {});
    if (depth < 1000) {
      const sizes mine = now();
      self(self, depth + 1, y);
      CHECK(now() == mine);
      if (depth % 100 == 0) agrad::reset(), y = outer * 2;
    }
    CHECK(y.val() == (depth % 100 == 0 && depth < 1000 ? 2.0 * depth : depth + 1.0));
    y.grad();
    CHECK(y.adj() == 1);
    CHECK(outer.adj() >= 1);
  };
  deeper(deeper, 1, x);
  CHECK(counted::alive == 0);
  CHECK(now() == before);
  try {
    const auto throws = [](const auto& self, int depth) -> void {
      const scope inner;
      agrad::push([c = counted()](auto&) {});
      if (depth == 1000) throw depth;
      self(self, depth + 1);
    };
    throws(throws, 1);
  } catch (const int& depth) {
    CHECK(depth == 1000);
  }
  CHECK(counted::alive == 0);
  CHECK(now() == before);
}

TEST_CASE("a capture that throws when it is copied or moved, at each of its copies and moves") {
  REQUIRE(counted::alive == 0);
  const scope own;
  const var x = 3.0;
  const var y = x * x;
  const sizes before = now();
  int thrown = 0;
  for (int n = 0; n < 12; ++n) {
    try {
      const scope inner;
      agrad::push([c = counted()](auto&) {});
      const fragile capture;
      fragile::until_throw = n;
      const var z = custom(2.0, [capture, x](auto& adjoint, const var& r) { adjoint[x] += 5 * adjoint[r]; });
      fragile::until_throw = -1;
      const var w = z * y;
      std::vector<double> g;
      w.grad(std::vector<var>{x, y}, g);
      CHECK(g == std::vector<double>{5 * 9 + 2 * 6, 2});
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    fragile::until_throw = -1;
    CHECK(counted::alive == 0);
    CHECK(now() == before);
    y.grad();
    CHECK(x.adj() == 6);
  }
  CHECK(thrown > 1);
  CHECK(thrown < 12);  // the last ones went through
}

TEST_CASE("without a scope of its own, what was recorded before the exception is swept as ever") {
  const scope own;
  const var x = 3.0;
  var y = x * x;
  const fragile capture;
  fragile::until_throw = 2;
  CHECK_THROWS_AS(custom(2.0, [capture](auto&, const var&) {}), std::runtime_error);
  fragile::until_throw = -1;
  y += x;
  y.grad();
  CHECK(x.adj() == 7);
}

}  // namespace test_exceptions
