// <cmath> by its names: every function on var, dual and dual<var>, mixed with numbers and expressions, with the special values
// that <cmath> has; what has no rule of its own; and calls with <cmath>'s names in view.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

namespace test_cmath {

using agrad::dual;
using agrad::infinity;
using agrad::scope;
using agrad::var;
using doctest::Approx;

namespace {

constexpr double inf = infinity;
constexpr double special[] = {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -3.5, 1e-320, 1e308, -1e308, inf, -inf, agrad::quiet_nan};

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

/// The number behind a variable, an expression, a dual or a number.
template <class X>
double number(const X& x) {
  return agrad::detail::number_of(x);
}

/// A function of one argument gives the same bits on every scalar, also within an expression.
template <class F>
void check_unary(const std::string& name, const F& f) {
  for (const double x : special) {
    INFO(name << "(" << x << ")");
    const scope own;
    const double expected = f(x);
    CHECK(same(number(f(var(x))), expected));
    CHECK(same(number(f(var(x) * 1.0)), expected));
    CHECK(same(number(f(dual<double>(x))), expected));
    CHECK(same(number(f(dual<var>(x))), expected));
  }
}
/// One of two arguments, in every mixture.
template <class F>
void check_binary(const std::string& name, const F& f) {
  for (const double x : special) {
    for (const double y : special) {
      INFO(name << "(" << x << ", " << y << ")");
      const scope own;
      const double expected = f(x, y);
      const var vx = x, vy = y;
      CHECK(same(number(f(vx, vy)), expected));
      CHECK(same(number(f(vx * 1.0, y)), expected));
      CHECK(same(number(f(x, vy * 1.0)), expected));
      CHECK(same(number(f(vx * 1.0, vy)), expected));
      CHECK(same(number(f(dual<double>(x), y)), expected));
      CHECK(same(number(f(x, dual<double>(y))), expected));
      CHECK(same(number(f(dual<var>(x), dual<var>(y))), expected));
      CHECK(same(number(f(dual<var>(x), vy * 1.0)), expected));
      CHECK(same(number(f(vx, dual<var>(y))), expected));
    }
  }
}

template <class F>
double slope(const F& f, double at) {
  const scope own;
  const var x = at;
  const var y = f(x);
  y.grad();
  const dual<double> by_dual = f(dual<double>(at, {1.0}));
  CHECK(same(by_dual.tangent[0], x.adj()));
  return x.adj();
}
template <class F>
double curvature(const F& f, double at) {
  const scope own;
  const var x = at;
  const dual<var> y = f(dual<var>(x, {var(1.0)}));
  y.tangent[0].grad();
  return x.adj();
}

}  // namespace

TEST_CASE("functions of one argument have <cmath>'s values, bit for bit") {
  using std::exp, std::exp2, std::expm1, std::log, std::log2, std::log10, std::log1p, std::sqrt, std::cbrt, std::sin, std::cos,
      std::tan, std::asin, std::acos, std::atan, std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh, std::erf,
      std::erfc, std::tgamma, std::lgamma, std::abs, std::fabs, std::floor, std::ceil, std::trunc, std::round, std::rint,
      std::nearbyint;
  check_unary("exp", [](const auto& x) { return exp(x); });
  check_unary("exp2", [](const auto& x) { return exp2(x); });
  check_unary("expm1", [](const auto& x) { return expm1(x); });
  check_unary("log", [](const auto& x) { return log(x); });
  check_unary("log2", [](const auto& x) { return log2(x); });
  check_unary("log10", [](const auto& x) { return log10(x); });
  check_unary("log1p", [](const auto& x) { return log1p(x); });
  check_unary("sqrt", [](const auto& x) { return sqrt(x); });
  check_unary("cbrt", [](const auto& x) { return cbrt(x); });
  check_unary("sin", [](const auto& x) { return sin(x); });
  check_unary("cos", [](const auto& x) { return cos(x); });
  check_unary("tan", [](const auto& x) { return tan(x); });
  check_unary("asin", [](const auto& x) { return asin(x); });
  check_unary("acos", [](const auto& x) { return acos(x); });
  check_unary("atan", [](const auto& x) { return atan(x); });
  check_unary("sinh", [](const auto& x) { return sinh(x); });
  check_unary("cosh", [](const auto& x) { return cosh(x); });
  check_unary("tanh", [](const auto& x) { return tanh(x); });
  check_unary("asinh", [](const auto& x) { return asinh(x); });
  check_unary("acosh", [](const auto& x) { return acosh(x); });
  check_unary("atanh", [](const auto& x) { return atanh(x); });
  check_unary("erf", [](const auto& x) { return erf(x); });
  check_unary("erfc", [](const auto& x) { return erfc(x); });
  check_unary("tgamma", [](const auto& x) { return tgamma(x); });
  check_unary("lgamma", [](const auto& x) { return lgamma(x); });
  check_unary("abs", [](const auto& x) { return abs(x); });
  check_unary("fabs", [](const auto& x) { return fabs(x); });
  check_unary("floor", [](const auto& x) { return floor(x); });
  check_unary("ceil", [](const auto& x) { return ceil(x); });
  check_unary("trunc", [](const auto& x) { return trunc(x); });
  check_unary("round", [](const auto& x) { return round(x); });
  check_unary("rint", [](const auto& x) { return rint(x); });
  check_unary("nearbyint", [](const auto& x) { return nearbyint(x); });
}

TEST_CASE("functions of two arguments have <cmath>'s values in every mixture, bit for bit") {
  using std::pow, std::atan2, std::hypot, std::fmod, std::remainder, std::fmin, std::fmax, std::fdim, std::copysign;
  check_binary("pow", [](const auto& x, const auto& y) { return pow(x, y); });
  check_binary("atan2", [](const auto& x, const auto& y) { return atan2(x, y); });
  check_binary("hypot", [](const auto& x, const auto& y) { return hypot(x, y); });
  check_binary("fmod", [](const auto& x, const auto& y) { return fmod(x, y); });
  check_binary("remainder", [](const auto& x, const auto& y) { return remainder(x, y); });
  // Which of two zeros fmin and fmax choose is open in C; + 0.0 makes them one.
  check_binary("fmin", [](const auto& x, const auto& y) { return fmin(x, y) + 0.0; });
  check_binary("fmax", [](const auto& x, const auto& y) { return fmax(x, y) + 0.0; });
  check_binary("fdim", [](const auto& x, const auto& y) { return fdim(x, y); });
  check_binary("copysign", [](const auto& x, const auto& y) { return copysign(x, y); });
}

TEST_CASE("integers stand for numbers, and integers alone are <cmath>'s") {
  using std::atan2, std::exp, std::fma, std::fmax, std::hypot, std::pow;
  const scope own;
  const var x = 3.0;
  CHECK(var(pow(x, 2)).val() == 9);
  CHECK(var(pow(2, x)).val() == 8);
  CHECK(var(pow(2L, x * 1)).val() == 8);
  CHECK(var(fmax(x, 4u)).val() == 4);
  CHECK(var(fma(x, 2, 1)).val() == 7);
  CHECK(var(fma(2, 2.5f, x)).val() == 8);
  CHECK(var(hypot(x, 4)).val() == 5);
  CHECK(pow(dual<double>(3.0), 2).value == 9);
  CHECK(pow(2, dual<var>(3.0)).value.val() == 8);
  CHECK(pow(2, 3) == 8);
  CHECK(exp(0) == 1);
  CHECK(atan2(0, 1) == 0);
}

TEST_CASE("all of agrad's names may be in view beside <cmath>'s") {
  using namespace std;    // NOLINT: the point of the test
  using namespace agrad;  // NOLINT
  static_assert(is_same_v<decltype(exp(1.0f)), float>);
  static_assert(is_same_v<decltype(exp(1)), double>);
  static_assert(is_same_v<decltype(pow(1.0f, 2.0)), double>);
  static_assert(is_same_v<decltype(pow(2, 2)), double>);
  static_assert(is_same_v<decltype(fmax(1.0, 2)), double>);
  static_assert(is_same_v<decltype(hypot(1.0, 2.0, 3.0)), double>);
  static_assert(is_same_v<decltype(ldexp(1.0, 2)), double>);
  static_assert(is_same_v<decltype(abs(-1)), int>);
  CHECK(isnan(quiet_nan));
  CHECK(inv_logit(0) == 0.5);  // integers are numbers where <cmath> has no such function
  CHECK(square(3) == 9);
  CHECK(log_sum_exp(0, 0.0f) == Approx(log(2.0)));
}

TEST_CASE("hypot of three arguments") {
  const scope own;
  const auto f = [](const auto& x, const auto& y, const auto& z) { return hypot(x, y, z); };
  const var x = 2.0, y = -3.0, z = 6.0;
  const var r = f(x, y, z);
  r.grad();
  CHECK(r.val() == 7);
  CHECK(x.adj() == Approx(2.0 / 7).epsilon(1e-15));
  CHECK(y.adj() == Approx(-3.0 / 7).epsilon(1e-15));
  CHECK(z.adj() == Approx(6.0 / 7).epsilon(1e-15));
  CHECK(var(f(x * 1e200, 3, 6e200)).val() == Approx(std::hypot(2.0, 6.0) * 1e200).epsilon(1e-15));
  CHECK(var(f(3, 4, x * 0.0)).val() == 5);
  CHECK(f(dual<double>(0.0, {1.0}), 0.0, 0).tangent[0] == 0);
  CHECK(f(dual<double>(agrad::quiet_nan), inf, 1.0).value == inf);
  const var along = f(0, x * 0.0, z);
  along.grad();
  CHECK(z.adj() == 1);
  CHECK(x.adj() == 0);
  const double at[] = {0.7, -1.1, 0.4};  // second derivatives: (delta_ij - u_i u_j) / r
  const double length = std::sqrt(0.49 + 1.21 + 0.16);
  for (int i = 0; i < 3; ++i) {
    const scope inner;
    const var v[] = {at[0], at[1], at[2]};
    dual<var> d[] = {v[0], v[1], v[2]};
    d[i].tangent[0] = var(1.0);
    f(d[0], d[1], d[2]).tangent[0].grad();
    for (int j = 0; j < 3; ++j)
      CHECK(v[j].adj() == Approx(((i == j ? 1.0 : 0.0) - at[i] * at[j] / (length * length)) / length).epsilon(1e-14));
  }
}

TEST_CASE("ldexp, scalbn and scalbln multiply by powers of two, in one rounding") {
  const auto f = [](const auto& x) { return ldexp(x, 5); };
  CHECK(slope(f, 0.3) == 32);
  CHECK(curvature(f, 0.3) == 0);
  const scope own;
  const var x = 0.75;
  CHECK(var(scalbn(x * 2, -3)).val() == 1.5 / 8);
  CHECK(var(scalbln(x, 4L)).val() == 12);
  CHECK(var(ldexp(x, -1074)).val() == std::ldexp(0.75, -1074));
  CHECK(var(ldexp(x, 1024)).val() == std::ldexp(0.75, 1024));
  CHECK(var(ldexp(x, std::numeric_limits<int>::max())).val() == inf);
  CHECK(var(ldexp(x, std::numeric_limits<int>::min())).val() == 0);
  CHECK(std::isnan(agrad::ldexp_rule::value(1, 0.5)));
  CHECK(agrad::ldexp_rule::value(1, -inf) == 0);
}

TEST_CASE("modf, frexp and remquo have several results") {
  for (const double at : {3.25, -3.25, 0.0, -7.0, 1e300, inf, -inf}) {
    INFO(at);
    const scope own;
    const var x = at;
    var whole;
    const var fraction = modf(x * 1.0, &whole);
    double expected_whole = 0;
    CHECK(same(fraction.val(), std::modf(at, &expected_whole)));
    CHECK(same(whole.val(), expected_whole));
    if (std::isfinite(at)) {
      fraction.grad();
      CHECK(x.adj() == 1);
      whole.grad();
      CHECK(x.adj() == 0);
    }
    dual<double> d(at, {2.0});
    CHECK(modf(d, &d).tangent[0] == (std::isfinite(at) ? 2 : 0));  // may write where it reads
    CHECK(same(d.value, expected_whole));
  }
  for (const double at : {3.25, -0.07, 0.0, 1e300, 5e-324}) {
    const scope own;
    const var x = at;
    int exponent = 0, expected = 0;
    const var significand = frexp(x, &exponent);
    CHECK(significand.val() == std::frexp(at, &expected));
    CHECK(exponent == expected);
    significand.grad();
    CHECK(x.adj() == std::ldexp(1.0, -exponent));
  }
  const scope own;
  const var x = -29.0, y = 4.0;
  int quotient = 0, expected = 0;
  const var r = remquo(x, y, &quotient);
  CHECK(r.val() == std::remquo(-29.0, 4.0, &expected));
  CHECK(quotient == expected);
  r.grad();
  CHECK(y.adj() == 7);
}

TEST_CASE("classification and conversion to integers look at the value, and record nothing") {
  const scope own;
  for (const double at : special) {
    INFO(at);
    const var x = at;
    const auto before = agrad::tape::current().statistics();
    const auto check = [at](const auto& v) {
      CHECK(isnan(v) == std::isnan(at));
      CHECK(isinf(v) == std::isinf(at));
      CHECK(isfinite(v) == std::isfinite(at));
      CHECK(isnormal(v) == std::isnormal(at));
      CHECK(signbit(v) == std::signbit(at));
      CHECK(fpclassify(v) == std::fpclassify(at));
      if (!(std::abs(at) < 1e9)) return;
      CHECK(lround(v) == std::lround(at));
      CHECK(llround(v) == std::llround(at));
      CHECK(lrint(v) == std::lrint(at));
      CHECK(llrint(v) == std::llrint(at));
    };
    check(x);
    check(x * 1.0);
    check(dual<double>(at));
    check(dual<dual<double>, 2>(dual<double>(at)));
    check(dual<var>(x));
    CHECK(agrad::tape::current().statistics().statements == before.statements);
  }
}

TEST_CASE("kinks, jumps and rounding have the derivative of the piece, and no curvature") {
  const auto check = [](const auto& f, double expected) {
    CHECK(slope(f, 2.5) == expected);
    CHECK(curvature(f, 2.5) == 0);
  };
  check([](const auto& x) { return floor(x); }, 0);
  check([](const auto& x) { return ceil(x); }, 0);
  check([](const auto& x) { return trunc(x); }, 0);
  check([](const auto& x) { return round(x); }, 0);
  check([](const auto& x) { return rint(x); }, 0);
  check([](const auto& x) { return nearbyint(x * 1.0); }, 0);
  check([](const auto& x) { return abs(-x); }, 1);
  check([](const auto& x) { return fmod(x, 2); }, 1);
  check([](const auto& x) { return fmod(11, x); }, -4);
  check([](const auto& x) { return remainder(x, 2); }, 1);
  check([](const auto& x) { return fmin(x, 3); }, 1);
  check([](const auto& x) { return fmax(3, x); }, 0);
  check([](const auto& x) { return fmax(x, agrad::quiet_nan); }, 1);
  check([](const auto& x) { return fmin(agrad::quiet_nan, x); }, 1);
  check([](const auto& x) { return fmax(x, 2.5); }, 0.5);
  check([](const auto& x) { return fdim(x, 1); }, 1);
  check([](const auto& x) { return fdim(1, x); }, 0);
  check([](const auto& x) { return copysign(x, -1); }, -1);
}

TEST_CASE("second derivatives of pow, hypot and atan2 on both sides of their branches") {
  const auto check = [](const auto& f, double at, double expected) {
    INFO(at);
    CHECK(curvature(f, at) == Approx(expected).epsilon(1e-14));
  };
  check([](const auto& x) { return pow(x, 3); }, -1.5, -9);
  check([](const auto& x) { return pow(x, 2.0); }, 0.0, 2);
  check([](const auto& x) { return pow(2.0, x); }, 3.0, 8 * std::log(2.0) * std::log(2.0));
  // x^x: x^x ((1 + log x)^2 + 1 / x)
  check([](const auto& x) { return pow(x, x); }, 1.7,
        std::pow(1.7, 1.7) * ((1 + std::log(1.7)) * (1 + std::log(1.7)) + 1 / 1.7));
  check([](const auto& x) { return hypot(x, 3); }, 4.0, 9.0 / 125);
  check([](const auto& x) { return hypot(3, x); }, -1.0, 9 / std::pow(10, 1.5));
  // atan2(x, c)'' = -2 c x / (x^2 + c^2)^2
  for (const double at : {2.0, -2.0, 0.25, -0.25}) {
    check([](const auto& x) { return atan2(x, 1); }, at, -2 * at / ((at * at + 1) * (at * at + 1)));
    check([](const auto& x) { return atan2(x, -1); }, at, 2 * at / ((at * at + 1) * (at * at + 1)));
    check([](const auto& x) { return atan2(1, x); }, at, 2 * at / ((at * at + 1) * (at * at + 1)));
  }
}

}  // namespace test_cmath
