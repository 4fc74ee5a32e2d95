// Scopes and explicit tapes: what is given back, when, and what is said of variables that outlive their scope.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "owning_capture.hpp"

namespace test_scope {

using agrad::active_tape;
using agrad::custom;
using agrad::scope;
using agrad::ScopeError;
using agrad::tape;
using agrad::tape_statistics;
using agrad::var;
using doctest::Approx;

namespace {

bool same(const tape_statistics& a, const tape_statistics& b) {
  return a.statements == b.statements && a.leaves == b.leaves && a.indices == b.indices && a.closures == b.closures &&
         a.bytes == b.bytes;
}
tape_statistics now() { return tape::current().statistics(); }

}  // namespace

TEST_CASE("a scope gives back what was recorded inside, an outer reverse pass does not see it") {
  const scope own;
  const var x = 3.0;
  const var y = x * x;
  const tape_statistics before = now();
  for (int repetition = 0; repetition < 3; ++repetition) {
    {
      const scope inner;
      const var z = sin(x) * y;
      {
        const scope innermost;
        const var w = z * z + x;
        w.grad();
        CHECK(w.adj() == 1);
        CHECK(z.adj() == Approx(2 * z.val()));
      }
      z.grad();
      CHECK(z.adj() == 1);
    }
    CHECK(same(now(), before));
  }
  y.grad();
  CHECK(x.adj() == 6);
}

TEST_CASE("gradients with respect to variables of an outer scope do not add up from one inner scope to the next") {
  const scope own;
  const std::vector<var> theta{2.0, 3.0};
  std::vector<double> g;
  for (int repetition = 1; repetition <= 3; ++repetition) {
    const scope inner;
    const var lp = theta[0] * theta[1] * repetition;
    lp.grad(theta, g);
    CHECK(g[0] == 3 * repetition);
    CHECK(g[1] == 2 * repetition);
    lp.grad(std::vector<var>{theta[1], theta[0], theta[1]}, g);
    CHECK(g == std::vector<double>{2.0 * repetition, 3.0 * repetition, 2.0 * repetition});
  }
}

TEST_CASE("gradients with respect to arrays") {
  const scope own;
  const std::array<var, 2> theta{2.0, 3.0};
  const var y = theta[0] * theta[1] * theta[1];
  std::array<double, 2> g{};
  y.grad(theta, g);
  CHECK(g == std::array<double, 2>{9, 12});
  std::vector<double> other;
  y.grad(theta, other);
  CHECK(other == std::vector<double>{9, 12});
  y.grad(std::vector<var>{theta[1], theta[0]}, g);
  CHECK(g == std::array<double, 2>{12, 9});
  std::array<double, 3> longer{};
  CHECK_THROWS_WITH_AS(y.grad(theta, longer), "grad: the size of g is 3, but must be that of theta, 2", agrad::ShapeError);
}

TEST_CASE("adjoints of outer variables are of the last reverse pass, or add up where that is asked for") {
  const scope own;
  const var x = 2.0;
  for (int batch = 1; batch <= 3; ++batch) {
    const scope inner;
    const var loss = x * batch;
    loss.grad();
    CHECK(x.adj() == batch);
    loss.grad();
    CHECK(x.adj() == batch);
  }
  CHECK(x.adj() == 3);
  for (int batch = 1; batch <= 3; ++batch) {
    const scope inner;
    const var twice = x * 2;
    const var loss = twice * batch;
    loss.accumulate_grad();
    CHECK(x.adj() == 3 + batch * (batch + 1));
    CHECK(twice.adj() == batch);
  }
  const var y = x * 1.0;
  y.grad();
  CHECK(x.adj() == 1);
}

TEST_CASE("an exception leaves the outer tape as it was") {
  const scope own;
  const var x = 2.0;
  const var y = x * x;
  const tape_statistics before = now();
  for (const int where : {0, 1, 2, 3, 4}) {
    try {
      const scope outer;
      const counted owner;
      var z = exp(x);
      if (where == 0) throw std::runtime_error("in recording");
      const scope inner;
      const var w = custom(1.0, [owner, x, where](auto& adjoint, const var& v) {
        const scope in_reverse_pass;
        const var again = x * x;
        again.grad();
        if (where == 1) throw std::runtime_error("in a reverse pass");
        adjoint[x] += adjoint[v];
      });
      z = z * w;
      z.grad();
      if (where == 2) throw std::runtime_error("after a reverse pass");
      const scope innermost;
      agrad::push([owner](auto&) {});
      if (where == 3) throw std::runtime_error("with a closure");
    } catch (const std::runtime_error&) {
      CHECK(where < 4);
    }
    CHECK(same(now(), before));
    CHECK(counted::alive == 0);
    y.grad();
    CHECK(x.adj() == 4);
  }
}

TEST_CASE("a variable whose scope has ended says so") {
  const scope own;
  var x = 1.0, y;
  {
    const scope inner;
    y = x * 2;
    CHECK(y.val() == 2);
  }
  CHECK(y.val() == 2);  // a value is for ever
  CHECK_THROWS_WITH_AS(y.adj(),
                       "adj: the variable's scope has ended; read adjoints before the scope, or the gradient call, returns",
                       ScopeError);
  CHECK_THROWS_AS(y.grad(), ScopeError);
  std::vector<double> g;
  CHECK_THROWS_AS(y.grad(std::vector<var>{x}, g), ScopeError);
  CHECK_THROWS_AS((x * 1.0, var(x * 1.0).grad(std::vector<var>{y}, g)), ScopeError);
  {
    const scope other;  // takes the ended one's place, but is not it
    const var z = x * 3;
    z.grad();
    CHECK_THROWS_AS(y.adj(), ScopeError);
  }
  y = x * 4;
  y.grad();
  CHECK(x.adj() == 4);
}

TEST_CASE("a reset ends the variables of the innermost scope and no others") {
  const scope own;
  const var x = 1.0;
  const scope inner;
  const var y = x * 2;
  agrad::reset();
  CHECK_THROWS_AS(y.adj(), ScopeError);
  const var z = x * 3;
  z.grad();
  CHECK(z.adj() == 1);
  CHECK(x.adj() == 3);
}

#ifdef AGRAD_CHECKS_OPERANDS
TEST_CASE("builds without NDEBUG refuse an ended variable in a new statement") {
  const scope own;
  const var x = 1.0;
  var y;
  {
    const scope inner;
    y = x * 2;
  }
  CHECK_THROWS_AS(var(y * x), ScopeError);
  CHECK_THROWS_AS(y += x, ScopeError);
  CHECK_THROWS_AS(exp(y), ScopeError);
}
#endif

TEST_CASE("the arena never hands out more than a block holds") {
  agrad::arena memory;
  const agrad::arena::mark begin = memory.position();
  std::vector<std::size_t> sizes{100, 70'000, 300'000, 64, 1'000'000};
  for (int round = 0; round < 2; ++round) {
    std::vector<unsigned char*> places;
    for (const std::size_t size : sizes) {
      places.push_back(static_cast<unsigned char*>(memory.allocate(size)));
      CHECK(reinterpret_cast<std::uintptr_t>(places.back()) % 64 == 0);
      std::fill_n(places.back(), size, static_cast<unsigned char>(places.size()));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
      CHECK(std::all_of(places[i], places[i] + sizes[i], [&](unsigned char c) { return c == i + 1; }));
    memory.rewind(begin);
    CHECK(memory.used() == 0);
    sizes = {60'000, 100'000, 5'000'000, 64, 64, 2'000'000};  // more than the blocks that come next
  }
  CHECK(memory.capacity() >= 5'000'000);
}

TEST_CASE("explicit tapes") {
  const scope own;
  var x = 2.0;
  const var y = x * x;
  const tape_statistics before = now();
  tape mine;
  {
    const active_tape use(mine);
    CHECK(&tape::current() == &mine);
    const var u = 3.0;
    const var v = u * u * u;
    v.grad();
    CHECK(u.adj() == 27);
    CHECK(mine.statistics().statements == 1);
    CHECK_THROWS_AS(x.adj(), ScopeError);  // a variable of another tape
    CHECK_THROWS_AS(y.grad(), ScopeError);
    {
      tape another;
      const active_tape inner(another);
      CHECK_THROWS_AS(u.adj(), ScopeError);
      const scope deeper;
      const var w = var(1.0) * 2;
      w.grad();
    }
    CHECK(&tape::current() == &mine);
    x = u;
  }
  CHECK(same(now(), before));
  y.grad();
  CHECK(y.adj() == 1);
  CHECK_THROWS_AS(x.adj(), ScopeError);
  CHECK(mine.statistics().statements == 1);
}

TEST_CASE("memory is kept from one gradient to the next") {
  tape mine;
  const active_tape use(mine);
  std::size_t reserved = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    mine.reset();
    std::vector<var> x(1000, var(1.0));
    var y = custom(1.0, [x](auto& adjoint, const var& r) { adjoint[x[0]] += adjoint[r]; });
    for (const var& v : x) y = y + v * v;
    y.grad();
    if (repetition > 0) CHECK(mine.statistics().bytes_reserved == reserved);
    reserved = mine.statistics().bytes_reserved;
  }
}

}  // namespace test_scope
