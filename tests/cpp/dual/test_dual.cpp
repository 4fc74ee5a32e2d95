// dual: tangents by hand, nesting, mixtures of scalars, and what zero tangents must not do.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace test_dual {

using agrad::dual;
using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

/// A function of everything: all operators, some rules, a branch and an accumulation.
template <class T>
T mixture(const T& x, const T& y) {
  using std::exp, std::log, std::pow, std::sin, std::sqrt;
  T s = x * y - 2;
  s += sin(x) / (1 + y * y);
  s *= 0.5 * s - 1;
  if (s > 0) s -= 3 * log(1 + s * s);
  for (int i = 1; i < 4; ++i) s += pow(x, i) / y + sqrt(x + i) * -y;
  s /= 2 + exp(-x);
  return s;
}

}  // namespace

TEST_CASE("directions are carried along") {
  const dual<double, 3> x{1.5, {1, 0, 2}}, y{-0.5, {0, 1, 1}};
  const auto product = x * y;
  CHECK(product.value == -0.75);
  CHECK(product.tangent == std::array<double, 3>{-0.5, 1.5, 0.5});
  const auto quotient = x / y;
  CHECK(quotient.tangent == std::array<double, 3>{-2, -6, -10});
  const auto mixed = 2 * x - 1 + y / 4 - (3 - x);
  CHECK(mixed.tangent == std::array<double, 3>{3, 0.25, 6.25});
  dual<double, 3> z = 4;
  CHECK(z.tangent == std::array<double, 3>{});
  z += x;
  z *= z;
  z -= z / 2;
  CHECK(z.value == 0.5 * 5.5 * 5.5);
  CHECK(z.tangent == std::array<double, 3>{5.5, 0, 11});
  CHECK(exp(x).tangent[2] == Approx(2 * std::exp(1.5)));
  CHECK((-x).tangent[0] == -1);
  CHECK((+x).tangent[0] == 1);
}

TEST_CASE("comparison goes by value") {
  const dual<double> x{1.0, {5}}, y{2.0, {-5}};
  CHECK(x < y);
  CHECK(x <= 1);
  CHECK(1.5 > x);
  CHECK(x == 1.0);
  CHECK(x != y);
  CHECK(std::max(x, y).tangent[0] == -5);
  const dual<dual<double>> nested(y);
  CHECK(nested > 1.0);
  CHECK(nested >= nested);
  CHECK(std::numeric_limits<dual<double>>::epsilon() == std::numeric_limits<double>::epsilon());
}

TEST_CASE("first and second derivatives agree between dual, dual of dual, var and dual of var") {
  const double a = 0.8, b = 1.3;
  using D = dual<double, 2>;
  const D by_dual = mixture(D(a, {1, 0}), D(b, {0, 1}));
  CHECK(by_dual.value == Approx(mixture(a, b)).epsilon(1e-15));

  const double h = 1e-2;
  const auto slope = [&](auto f) {
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h);
  };
  CHECK(by_dual.tangent[0] == Approx(slope([&](double s) { return mixture(a + s, b); })).epsilon(1e-9));
  CHECK(by_dual.tangent[1] == Approx(slope([&](double s) { return mixture(a, b + s); })).epsilon(1e-9));

  const scope own;
  const var va = a, vb = b;
  const var by_var = mixture(va, vb);
  by_var.grad();
  CHECK(va.adj() == Approx(by_dual.tangent[0]).epsilon(1e-14));
  CHECK(vb.adj() == Approx(by_dual.tangent[1]).epsilon(1e-14));

  using DD = dual<dual<double, 2>, 2>;
  const DD by_nested = mixture(DD(D(a, {1, 0}), {D(1), D(0)}), DD(D(b, {0, 1}), {D(0), D(1)}));
  using DV = dual<var, 2>;
  const DV by_dual_of_var = mixture(DV(va, {var(1.0), var(0.0)}), DV(vb, {var(0.0), var(1.0)}));
  const double second[2] = {slope([&](double s) {
                              return mixture(D(a + s, {1, 0}), D(b, {0, 1})).tangent[0];
                            }),
                            slope([&](double s) {
                              return mixture(D(a, {1, 0}), D(b + s, {0, 1})).tangent[0];
                            })};
  CHECK(by_nested.value.tangent[0] == Approx(by_dual.tangent[0]).epsilon(1e-14));
  CHECK(by_dual_of_var.tangent[1].val() == Approx(by_dual.tangent[1]).epsilon(1e-14));
  by_dual_of_var.tangent[0].grad();
  const double adjoints[2] = {va.adj(), vb.adj()};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(by_nested.tangent[0].tangent[i] == Approx(second[i]).epsilon(1e-8));
    CHECK(adjoints[i] == Approx(by_nested.tangent[0].tangent[i]).epsilon(1e-13));
    CHECK(by_nested.tangent[i].tangent[0] == Approx(by_nested.tangent[0].tangent[i]).epsilon(1e-14));
  }
}

TEST_CASE("duals mix with what their values are made of") {
  using D = dual<double>;
  using DD = dual<D>;
  const DD x{D{2.0, {1}}, {D{1.0}}};
  const D inner{3.0, {10}};  // a constant to the outer dual
  const DD y = x * inner + inner / x - 1;
  CHECK(y.value.value == 6.5);
  CHECK(y.tangent[0].value == Approx(3 - 3.0 / 4));
  CHECK(y.value.tangent[0] == Approx(3 + 20 - 3.0 / 4 + 5));
  CHECK(y.tangent[0].tangent[0] == Approx(10 - 10.0 / 4 + 2 * 3.0 / 8));

  const scope own;
  const var v = 2.0, w = 3.0;
  const dual<var> z{v, {var(1.0)}};
  const dual<var> u = z * w + w * 2 / z - (v * w - 1) + pow(z, 2);
  CHECK(u.value.val() == 6 + 3 - 5 + 4);
  CHECK(u.tangent[0].val() == Approx(3 - 6.0 / 4 + 4));
  u.tangent[0].grad();
  CHECK(v.adj() == Approx(2 * 6.0 / 8 + 2));
  CHECK(w.adj() == Approx(1 - 2.0 / 4));
}

TEST_CASE("a zero tangent contributes nothing, whatever the derivative") {
  SUBCASE("double") {
    using D = dual<double, 2>;
    const D x{0.0, {0, 0}}, y{3.0, {1, 0}};
    CHECK((sqrt(x) + y * y).tangent[0] == 6);
    CHECK(pow(D{-2.0, {1, 0}}, D(2.0)).tangent[0] == -4);
    CHECK(std::isinf(sqrt(D{0.0, {1, 0}}).tangent[0]));
    CHECK(sqrt(D{0.0, {1, 0}}).tangent[1] == 0);
  }
  SUBCASE("dual of dual") {
    using DD = dual<dual<double>>;
    const DD x(dual<double>(0.0)), y{dual<double>{3.0, {1}}, {dual<double>(1.0)}};
    const DD z = sqrt(x) + y * y;
    CHECK(z.value.tangent[0] == 6);
    CHECK(z.tangent[0].tangent[0] == 2);
    CHECK(pow(DD{dual<double>{-2.0, {1}}, {dual<double>(1.0)}}, DD(2.0)).tangent[0].tangent[0] == 2);
  }
  SUBCASE("dual of var, where it is no statement either") {
    const scope own;
    const var v = 0.0, w = 3.0;
    const dual<var> x(v), y{w, {var(1.0)}};
    const dual<var> z = sqrt(x) + y * y;
    CHECK(z.tangent[0].val() == 6);
    z.tangent[0].grad();
    CHECK(v.adj() == 0);
    CHECK(w.adj() == 2);
    CHECK(pow(dual<var>{var(-2.0), {var(1.0)}}, dual<var>(2.0)).tangent[0].val() == -4);
    const auto before = tape::current().statistics();
    const dual<var> u = x * 2.0 + sin(x) * x;
    const auto after = tape::current().statistics();
    CHECK(u.value.val() == 0);
    CHECK(after.leaves - before.leaves == 2 + 1 + 2 + 2);
  }
}

TEST_CASE("Eigen matrices of numbers cast to duals and back") {
  using D = dual<double, 4>;
  const Eigen::Vector3d x(1, 2, 3);
  Eigen::Matrix<D, Eigen::Dynamic, 1> d = x.cast<D>();
  for (std::size_t i = 0; i < 3; ++i) d[static_cast<Eigen::Index>(i)].tangent[i] = 1;
  const D y = d.dot(d) + 2.0 * d.sum() + x.dot(d);
  CHECK(y.value == 14 + 12 + 14);
  for (std::size_t i = 0; i < 3; ++i) CHECK(y.tangent[i] == 3 * x[static_cast<Eigen::Index>(i)] + 2);
  CHECK(y.tangent[3] == 0);
}

}  // namespace test_dual
