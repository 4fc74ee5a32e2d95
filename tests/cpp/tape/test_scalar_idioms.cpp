// What C++ code does with numbers, done with var and dual: standard containers and algorithms, selection, self-assignment,
// streaming. The type is a regular one: copies, moves, swaps and comparisons are those of the value.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iomanip>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_scalar_idioms {

using agrad::dual;
using agrad::scope;
using agrad::var;
using doctest::Approx;

namespace {

/// The derivative of f at x by adjoints, after a check that a dual carries the same.
template <class F>
double slope(const F& f, double at) {
  const scope own;
  const var x = at;
  const var y = f(x);
  y.grad();
  const dual<double> d = f(dual<double>(at, {1.0}));
  CHECK(d.value == y.val());
  CHECK(d.tangent[0] == Approx(x.adj()).epsilon(1e-14));
  return x.adj();
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<var> && std::is_nothrow_move_assignable_v<var>);
static_assert(std::is_trivially_destructible_v<var> && sizeof(var) == 16);
static_assert(!std::is_convertible_v<var, double> && !std::is_constructible_v<double, var>);
static_assert(!std::is_constructible_v<bool, var> && !std::is_constructible_v<bool, dual<double>>);
static_assert(!std::is_convertible_v<dual<double>, double>);
static_assert(!std::is_constructible_v<var, std::string> && !std::is_constructible_v<var, const char*>);

TEST_CASE("assignments to itself, in every form") {
  const auto squares = [](auto x) {
    x *= x;
    return x;
  };
  CHECK(slope(squares, 3.0) == 6);
  const auto doubles = [](auto x) {
    x += x;
    return x;
  };
  CHECK(slope(doubles, 3.0) == 2);
  const auto vanishes = [](auto x) {
    const auto& itself = x;  // compilers warn of x -= x
    x -= itself;
    return x;
  };
  CHECK(slope(vanishes, 3.0) == 0);
  const auto one = [](auto x) {
    const auto& itself = x;
    x /= itself;
    return x;
  };
  CHECK(slope(one, 3.0) == 0);
  const auto polynomial = [](auto x) {
    x = x + x * x;
    x = x * x - x;
    return x;
  };
  CHECK(slope(polynomial, 2.0) == (2 * 6 - 1) * 5);
  const auto same = [](auto x) {
    auto& again = x;
    x = again;
    x = std::move(again);
    x += again * 2;
    return x;
  };
  CHECK(slope(same, 2.0) == 3);
}

TEST_CASE("a variable starts as the constant zero, in every form") {
  const scope own;
  const var x = 2.0;
  var a{}, b = {}, c = var();
  a += 1;
  a += x;
  b -= x * x;
  c = c + x;
  const var y = a * b * c;
  y.grad();
  CHECK(y.val() == 3 * -4 * 2);
  CHECK(x.adj() == -8 - 3 * 4 * 2 - 12);
  std::array<var, 3> zeros{};
  for (var& z : zeros) z += x;
  const var sum = zeros[0] + zeros[1] + zeros[2];
  sum.grad();
  CHECK(x.adj() == 3);
}

TEST_CASE("max and min, of std and of agrad, choose as std's do") {
  using std::max;
  using std::min;
  const auto f = [](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    const T y = x * x, larger = max(x, y), smaller = std::min(x, y);
    const T mixed = max(x * y, y) + min(x * 2.0, 1.0) + max(0, x) + max(x - 1, 2.5f);
    return T(larger + smaller * mixed);
  };
  const double h = 1e-6;
  const auto value = [&](double at) { return f(dual<double>(at)).value; };
  CHECK(slope(f, 3.0) == Approx((value(3 + h) - value(3 - h)) / (2 * h)).epsilon(1e-8));
  CHECK(slope(f, -0.7) == Approx((value(-0.7 + h) - value(-0.7 - h)) / (2 * h)).epsilon(1e-8));
  const scope own;
  const std::vector<var> v{3.0, 1.0, 2.0};
  CHECK(std::max({v[0], v[1], v[2]}).val() == 3);
  CHECK(std::min_element(v.begin(), v.end()) - v.begin() == 1);
  const auto [low, high] = std::minmax(v[0], v[1]);
  CHECK(low.val() == 1);
  const var clamped = std::clamp(v[0], v[1], v[2]) * high;
  clamped.grad();
  CHECK(v[0].adj() == 2);
  CHECK(v[2].adj() == 3);
  const var nan = agrad::quiet_nan;
  CHECK(max(v[0], nan).val() == 3);  // as std::max: the first where no comparison is true
  CHECK(var(max(v[0] * 1.0, nan)).val() == 3);
  const dual<var> d(v[0]);
  CHECK(max(d, v[1]).value.val() == 3);
  CHECK(max(v[1] * 1.0, d).value.val() == 3);
}

TEST_CASE("std's numeric algorithms record what a loop records") {
  const scope own;
  std::vector<var> x(5), u(5);
  std::iota(x.begin(), x.end(), var(1.0));
  std::generate(u.begin(), u.end(), [n = 0]() mutable { return var(0.5 * n++); });
  const var start = x[0];
  SUBCASE("accumulate and inner_product") {
    const var y = std::accumulate(x.begin(), x.end(), var()) * std::inner_product(x.begin(), x.end(), u.begin(), var(0.0));
    y.grad();
    CHECK(y.val() == 15 * 20);
    CHECK(u[2].adj() == 15 * 3);
    CHECK(x[4].adj() == 20 + 15 * 2.0);
    CHECK(start.adj() == 5 * 20 + 15 * 5.0);  // iota counts up from one variable
  }
  SUBCASE("transform, partial_sum, adjacent_difference, transform_reduce") {
    std::vector<var> sums(5), differences(5);
    std::partial_sum(u.begin(), u.end(), sums.begin());
    std::adjacent_difference(u.begin(), u.end(), differences.begin());
    std::transform(sums.begin(), sums.end(), differences.begin(), sums.begin(),
                   [](const var& a, const var& b) { return a * b; });
    const var y =
        std::transform_reduce(sums.begin(), sums.end(), var(), std::plus<>(), [](const var& s) { return var(s * 2); });
    y.grad();
    CHECK(y.val() == 2 * 0.5 * (0.5 + 1.5 + 3 + 5));
    CHECK(u[4].adj() == 2 * (0.5 + 5));
  }
  SUBCASE("sort, stable_sort, nth_element, reverse, unique, lower_bound") {
    std::vector<var> v{3.0, 1.0, 2.0, 1.0};
    const std::vector<var> old = v;
    std::sort(v.begin(), v.end(), std::greater<>());
    std::stable_sort(v.begin(), v.end(), [](const var& a, const var& b) { return a < b; });
    CHECK(std::is_sorted(v.begin(), v.end()));
    CHECK(std::lower_bound(v.begin(), v.end(), 2.0) - v.begin() == 2);
    v.erase(std::unique(v.begin(), v.end()), v.end());
    std::reverse(v.begin(), v.end());
    std::nth_element(v.begin(), v.begin() + 1, v.end());
    REQUIRE(v.size() == 3);
    const var y = v[1] * v[2];
    y.grad();
    CHECK(y.val() == 6);
    CHECK(old[0].adj() == 2);
    CHECK(old[2].adj() == 3);
  }
}

TEST_CASE("containers, pairs, tuples and structured bindings") {
  const scope own;
  const var a = 2.0, b = 3.0;
  std::map<std::string, var> named{{"a", a}, {"b", b}};
  named["c"] += a * b;
  named["a"] *= named["c"];
  std::map<var, int> by_value{{b, 1}, {a, 0}};
  CHECK(by_value.begin()->second == 0);
  CHECK(by_value.count(var(3.0)) == 1);
  CHECK(std::set<var>{a, b, var(2.0)}.size() == 2);
  std::vector<var> grown;
  for (int i = 0; i < 100; ++i) {
    grown.emplace_back(a * i);
    grown.front() += b;
  }
  grown.insert(grown.begin() + 1, grown.back());
  auto [first, second] = std::pair<var, var>(grown.front(), grown[1]);
  first += second;
  const auto& [x, y, z] = std::tuple<var, var, var>(first, named["a"], named["c"]);
  std::optional<var> maybe;
  maybe = x * y;
  std::swap(*maybe, first);
  const var result = first + z;
  result.grad();
  // first: 100 b + 99 a, times a^2 b, plus a b
  CHECK(result.val() == (300 + 198) * 12 + 6);
  CHECK(a.adj() == 99 * 12 + 498 * 2 * 6 + 3);
  CHECK(b.adj() == 100 * 12 + 498 * 4 + 2);
}

TEST_CASE("what was moved from can be assigned, copied and destroyed") {
  const scope own;
  const var a = 2.0;
  var x = a * a, y = std::move(x);
  x = a * 3;  // NOLINT: the point of the test
  var z = std::move(x);
  const var copy = x;                              // NOLINT
  CHECK_THROWS_AS(copy.adj(), agrad::ScopeError);  // a copy of what was moved from
  const var w = y * z;
  w.grad();
  CHECK(a.adj() == 4 * 6 + 4 * 3);
  std::vector<var> v{a * 1.0, a * 2.0}, moved = std::move(v);
  v.assign(2, a);  // NOLINT
  const var sum = v[0] + v[1] + moved[0] + moved[1];
  sum.grad();
  CHECK(a.adj() == 1 + 1 + 1 + 2);
}

TEST_CASE("constants: const variables in expressions and loops") {
  const scope own;
  const var x = 2.0;
  const auto half = [](const var& v) { return v * 0.5; };
  const std::vector<var> v{x, half(x)};
  var s;
  for (const var& each : v) s += each;
  for (var each : v) s += each;  // NOLINT: a copy is as good
  s.grad();
  CHECK(x.adj() == 3);
}

TEST_CASE("conditional operator, switch of scalars by value") {
  const auto f = [](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    const T y = x > 1 ? T(x * x) : x;
    return x < 0 ? T(-y) : y;
  };
  CHECK(slope(f, 3.0) == 6);
  CHECK(slope(f, 0.5) == 1);
  CHECK(slope(f, -2.0) == -1);
  const scope own;
  const var a = 2.0, c = 5.0;
  const var y = a < c ? a * c : c;  // an expression and a variable: a variable
  const var z = a > c ? a : 3.0;    // a variable and a number
  const var w = y * z;
  w.grad();
  CHECK(a.adj() == 15);
}

TEST_CASE("one statement may have a hundred leaves") {
  const scope own;
  const var x = 1.01;
  const auto two = x * x;
  const auto eight = (two * two) * (two * two);
  const auto sixty_four = (eight * eight) * (eight * eight) * (eight * eight) * (eight * eight);
  const var y = sixty_four * (eight * eight) * (eight * eight) + eight;
  y.grad();
  CHECK(x.adj() == Approx(96 * std::pow(1.01, 95) + 8 * std::pow(1.01, 7)).epsilon(1e-13));
}

TEST_CASE("streaming honours the stream's width, precision and flags, of narrow and wide characters") {
  const scope own;
  const var x = 2.0 / 3;
  std::ostringstream out;
  out << std::setw(8) << std::setprecision(3) << x << '|' << std::left << std::setw(8) << std::setfill('*') << x * 3 << '|'
      << std::scientific << std::showpos << -x << std::defaultfloat << dual<double>(1.5) << dual<var>(x);
  CHECK(out.str() == "   0.667|2*******|-6.667e-01+1.5+0.667");
  std::wostringstream wide;
  wide << std::setprecision(2) << x << L' ' << x + 1.0 << L' ' << dual<double, 3>(0.25);
  CHECK(wide.str() == L"0.67 1.7 0.25");
  CHECK((std::ostringstream() << x * 0.0).str() == "0");
}

TEST_CASE("limits are those of double") {
  using limits = std::numeric_limits<double>;
  const auto check = [](auto of) {
    using mine = std::numeric_limits<typename decltype(of)::type>;
    static_assert(mine::is_specialized && mine::has_quiet_NaN && mine::is_iec559 && mine::digits10 == limits::digits10);
    static_assert(mine::max() == limits::max() && mine::lowest() == limits::lowest());
  };
  struct of_var {
    using type = var;
  };
  struct of_constant {
    using type = const var;
  };
  struct of_dual {
    using type = dual<dual<double>, 2>;
  };
  check(of_var{});
  check(of_dual{});
  check(of_constant{});
  const scope own;
  const var best = std::numeric_limits<var>::infinity();
  CHECK(std::min(best, var(1.0)).val() == 1);
}

}  // namespace test_scalar_idioms
