// What the tape guards against: misuse that every build finds, or builds without NDEBUG, or only builds with AGRAD_CHECKED.
#include <doctest/doctest.h>
#include <agrad/families/line/normal.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test_guards {

using agrad::matrix;
using agrad::scope;
using agrad::ScopeError;
using agrad::tape;
using agrad::var;
using Eigen::MatrixXd;

namespace {

double slope_of_square(double at) {
  const var x = at;
  const var y = x * x;
  y.grad();
  return x.adj();
}

/// Records when the program ends, after this thread's own tape.
struct recorder {
  recorder() = default;
  recorder(const recorder&) = delete;
  ~recorder() {
    if (slope_of_square(3) == 6) return;
    std::fputs("a tape after the end is wrong\n", stderr);
    std::abort();
  }
};
const recorder at_the_end;

}  // namespace

TEST_CASE("a matrix has a size, values and entries") {
  const scope own;
  const var x = 2.0;
  const auto before = tape::current().statistics().indices;
  CHECK_THROWS_WITH_AS(matrix<var>(-1, 3), "matrix: the shape is (-1, 3), but must not be negative", agrad::ShapeError);
  CHECK_THROWS_AS(matrix<var>(3, -1), agrad::ShapeError);
  CHECK(tape::current().statistics().indices == before);
  {
    const scope inner;
    const matrix<var> stale(MatrixXd::Constant(4, 4, 7.0));
  }
  const matrix<var> a(2, 3), none;
  CHECK(a.val() == MatrixXd::Zero(2, 3));
  CHECK(none.size() == 0);
  const var y = sum(exp(a)) * x + sum(none);
  y.grad();
  CHECK(a.adj() == MatrixXd::Constant(2, 3, 2.0));
  CHECK(x.adj() == 6);
  CHECK(a(1, 2).val() == 0);
  CHECK_THROWS_WITH_AS(a(5, 5), "matrix: the entry is (5, 5), but must be within the shape (2, 3)", std::out_of_range);
  CHECK_THROWS_AS(a(0, 3), std::out_of_range);
  CHECK_THROWS_AS(a(-1, 0), std::out_of_range);
  CHECK_THROWS_AS(a.transpose()(0, 2), std::out_of_range);
  CHECK_THROWS_WITH_AS(a[6], "matrix: the entry is 6, but must be at least 0 and less than the size, 6", std::out_of_range);
  CHECK_THROWS_AS(a.col(1)[2], std::out_of_range);
  CHECK_THROWS_AS(none[0], std::out_of_range);
}

TEST_CASE("a vector of copies of one variable has no gradient") {
  const scope own;
  std::vector<double> g;
  const std::vector<var> copies(5, 2.0);
  var sum = 0.0;
  for (const var& x : copies) sum += x * x;
  CHECK_THROWS_WITH_AS(sum.grad(copies, g),
                       "grad: theta holds copies of one variable, but must hold different variables; fill a std::vector<var> "
                       "from a vector of numbers, because std::vector<var>(n, x) copies x",
                       std::invalid_argument);
  const agrad::vector_of<var> constant = agrad::vector_of<var>::Constant(3, var(2.0));
  Eigen::VectorXd of_eigen;
  CHECK_THROWS_AS(sum.grad(constant, of_eigen), std::invalid_argument);
  const std::vector<double> numbers(5, 2.0);
  const std::vector<var> own_ones(numbers.begin(), numbers.end());
  sum = 0.0;
  for (const var& x : own_ones) sum += x * x;
  sum.grad(own_ones, g);
  CHECK(g == std::vector<double>(5, 4.0));
  sum.grad(std::vector<var>{own_ones[1], own_ones[1], own_ones[2]}, g);
  CHECK(g == std::vector<double>(3, 4.0));
  sum.grad(std::vector<var>{own_ones[1]}, g);
  CHECK(g == std::vector<double>{4.0});
  sum.grad(std::vector<var>(3), g);
  CHECK(g == std::vector<double>(3, 0.0));
}

TEST_CASE("a variable that was moved from does not pass for a constant") {
  const scope own;
  var a = 2.0, b = 3.0;
  const var c = std::move(a);
  var d;
  d = std::move(b);
#ifdef AGRAD_CHECKS_OPERANDS
  CHECK_THROWS_WITH_AS(var(a * c), "expression: the variable was moved from; assign to it before it is used", ScopeError);
  CHECK_THROWS_AS(b += c, ScopeError);
#else
  CHECK(std::isnan(var(a * c).val()));  // NOLINT: the point of the test
#endif
  CHECK(std::isnan(b.val()));  // NOLINT
  const char* refused = ": the variable was moved from; assign to it before it is used";
  CHECK_THROWS_WITH_AS(a.adj(), (std::string("adj") + refused).c_str(), ScopeError);
  CHECK_THROWS_WITH_AS(a.grad(), (std::string("grad") + refused).c_str(), ScopeError);
  CHECK_THROWS_AS(a.accumulate_grad(), ScopeError);
  CHECK_THROWS(agrad::normal_lpdf(a, c, 1.0));
  CHECK_THROWS_AS(matrix<var>(std::vector<var>{c, a}), ScopeError);
  const var copy = a;
  CHECK_THROWS_AS(copy.adj(), ScopeError);
  std::vector<var> theta{2.0, 3.0};
  const var product = theta[0] * theta[1], kept = std::move(theta[0]);
  std::vector<double> g;
  CHECK_THROWS_WITH_AS(product.grad(theta, g), (std::string("adj") + refused).c_str(), ScopeError);
  CHECK(kept.adj() == 3);
  a = 5.0;
  const var y = a * c * d;
  y.grad();
  CHECK(a.adj() == 6);
  CHECK(c.adj() == 15);
}

TEST_CASE("a variable of another tape is said to be of one") {
  const scope own;
  const char* text = "adj: the variable is of another tape: another thread's, one that is not active, or another library's";
  const var x = 2.0;
  var other;
  std::thread([&] {
    other = 3.0;
    CHECK_THROWS_WITH_AS(x.adj(), text, ScopeError);
    CHECK_THROWS_AS(x.grad(), ScopeError);
  }).join();
  CHECK_THROWS_WITH_AS(other.adj(), text, ScopeError);
  tape mine;
  const agrad::active_tape use(mine);
  const matrix<var> m(2, 2);
  CHECK_THROWS_AS(x.grad(), ScopeError);
  {
    tape another;
    const agrad::active_tape inner(another);
    CHECK_THROWS_WITH_AS(m.adj(),
                         "adj: the matrix is of another tape: another thread's, one that is not active, or another library's",
                         ScopeError);
#ifdef AGRAD_CHECKS_OPERANDS
    CHECK_THROWS_AS(var(x * 2), ScopeError);
#endif
    CHECK_THROWS_AS(m * m, ScopeError);
  }
  for (int i = 0; i < 10000; ++i) {  // more than one batch of numbers
    const scope inner;
    const var ended = 1.0;
    const scope innermost;
    CHECK(std::isfinite(ended.val()));
  }
  var y;
  {
    const scope inner;
    y = 1.0;
  }
  CHECK_THROWS_WITH_AS(y.adj(),
                       "adj: the variable's scope has ended; read adjoints before the scope, or the gradient call, returns",
                       ScopeError);
}

#ifdef AGRAD_CHECKS_OPERANDS
TEST_CASE("builds without NDEBUG refuse an expression that is held past its scope") {
  const scope own;
  const auto held = [] {
    const scope inner;
    const var x = 2.0;
    return exp(x) * x + 1.0;
  }();
  const var other = 3.0, y = other * 2;
  var s = 1.0;
  CHECK_THROWS_WITH_AS(
      var(held * 1.0),
      "expression: the variable's scope has ended; read adjoints before the scope, or the gradient call, returns", ScopeError);
  CHECK_THROWS_AS(var(held * other), ScopeError);
  CHECK_THROWS_AS(s += held, ScopeError);
  CHECK_THROWS_AS(var(sum(matrix<var>(2, 2)) * held + other), ScopeError);
  {
    const scope later;
    const var z = 2.0;
    CHECK_THROWS_AS(var(z * held + other), ScopeError);
    CHECK_THROWS_AS(s -= held, ScopeError);
  }
  const auto fresh = other * y + var() * 2;
  {
    const scope inner;
    const var z = fresh + s;
    z.grad();
    CHECK(other.adj() == 12);
  }
}

TEST_CASE("builds without NDEBUG refuse a variable whose place another one has taken") {
  const char* ended =
      "expression: the variable's scope has ended; read adjoints before the scope, or the gradient call, returns";
  const scope own;
  var gone;
  {
    const scope inner;
    const var a = 2.0;
    gone = a * a;
  }
  const var p = 5.0, q = 7.0;  // one of them has the index of `gone`
  CHECK_THROWS_WITH_AS(var(gone * 3.0 + p), ended, ScopeError);
  CHECK_THROWS_WITH_AS(var(-gone), ended, ScopeError);
  CHECK_THROWS_AS(agrad::normal_lpdf(gone, p, q), ScopeError);
  CHECK_THROWS_AS(agrad::normal_lpdf(std::vector<var>{p, gone}, 0.0, 1.0), ScopeError);
  CHECK_THROWS_AS(matrix<var>(std::vector<var>{p, gone}), ScopeError);
  CHECK_THROWS_AS(matrix<var>(2, 2) * gone, ScopeError);
  const var y = agrad::custom(gone.val(), [gone](auto& adjoint, const var& r) { adjoint[gone] += adjoint[r]; });
  CHECK_THROWS_WITH_AS(y.grad(),
                       "adjoint: the variable's scope has ended; read adjoints before the scope, or the gradient call, returns",
                       ScopeError);
  CHECK_THROWS_AS(gone += 1, ScopeError);
  CHECK_THROWS_AS(gone *= 2, ScopeError);
  const var fine = p * q;
  fine.grad();
  CHECK(p.adj() == 7);
  CHECK(q.adj() == 5);
}

TEST_CASE("builds without NDEBUG refuse a variable of another thread, and one from before a reset") {
  const scope own;
  var x = 2.0;
  std::thread([&] {
    const var y = 5.0;
    CHECK_THROWS_WITH_AS(
        var(x * y),
        "expression: the variable is of another tape: another thread's, one that is not active, or another library's",
        ScopeError);
    const var z = y * 3.0;
    z.grad();
    CHECK(y.adj() == 3);
  }).join();
  agrad::reset();
  const var y = 5.0;
  CHECK_THROWS_AS(var(x * y), ScopeError);
  x = 3.0;
  const var z = x * y;
  z.grad();
  CHECK(y.adj() == 3);
}
#endif

}  // namespace test_guards
