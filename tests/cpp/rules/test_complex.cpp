// std::complex of numbers beside std::complex of variables and duals, and the numbers behind scalars and structures of these.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <array>
#include <complex>
#include <tuple>
#include <utility>
#include <vector>

namespace test_rules_complex {

using agrad::dual;
using agrad::var;
using plain = std::complex<double>;

namespace other_library {
/// Declared as Boost's sign is.
template <class T>
int sign(const T& x) {
  return (x == 0) ? 0 : x < 0 ? -1 : 1;
}
template <class T>
int sign_inside(const T& x) {
  return 10 * sign(x);
}
}  // namespace other_library

/// The derivative of an analytic function of complex numbers is known in closed form: the real part of f(x + iy) has the
/// derivative Re f' by x and -Im f' by y.
template <class F>
void check(const F& f, const plain& slope) {
  const plain at(0.8, -1.3);
  const agrad::scope own;
  const var x = at.real(), y = at.imag();
  const std::complex<var> z = f(std::complex<var>(x, y));
  const plain value = f(at);
  CHECK(z.real().val() == doctest::Approx(value.real()));
  CHECK(z.imag().val() == doctest::Approx(value.imag()));
  z.real().grad();
  CHECK(x.adj() == doctest::Approx(slope.real()));
  CHECK(y.adj() == doctest::Approx(-slope.imag()));
  z.imag().grad();
  CHECK(x.adj() == doctest::Approx(slope.imag()));
  CHECK(y.adj() == doctest::Approx(slope.real()));
  const auto d = f(std::complex<dual<double>>(dual<double>(at.real(), {1.0}), at.imag()));
  CHECK(d.real().tangent[0] == doctest::Approx(slope.real()));
  CHECK(d.imag().tangent[0] == doctest::Approx(slope.imag()));
}

TEST_CASE("a complex number beside a complex variable or dual") {
  const plain c(0.4, 2.5), at(0.8, -1.3);
  check([&](const auto& z) { return c * z; }, c);
  check([&](const auto& z) { return z * c; }, c);
  check([&](const auto& z) { return c + z; }, 1);
  check([&](const auto& z) { return z + c; }, 1);
  check([&](const auto& z) { return c - z; }, -1);
  check([&](const auto& z) { return z - c; }, 1);
  check([&](const auto& z) { return z / c; }, 1.0 / c);
  check([&](const auto& z) { return c / z; }, -c / (at * at));
  check([&](const auto& z) { return 3.0 * z * 0.5; }, 1.5);
  const agrad::scope own;
  const var x = 2.0;
  const std::complex<var> left = c * x, right = x * c;
  const var sum = left.real() + 10 * right.imag();
  sum.grad();
  CHECK(sum.val() == 2 * 0.4 + 10 * 2 * 2.5);
  CHECK(x.adj() == 0.4 + 10 * 2.5);
}

TEST_CASE("a complex variable or dual beside real numbers") {
  const plain at(0.8, -1.3);
  check([](const auto& z) { return z + 0.5; }, 1);
  check([](const auto& z) { return 2.0 + z; }, 1);
  check([](const auto& z) { return z - 3.0; }, 1);
  check([](const auto& z) { return 0.5 - z; }, -1);
  check([](const auto& z) { return z / 4.0; }, 0.25);
  check([](const auto& z) { return 2.0 / z; }, -2.0 / (at * at));
  check([](const auto& z) { return (1.0 + z / 2.0 - 0.5) * (1.0 - z); }, 0.5 * (1.0 - at) - (0.5 + 0.5 * at));
  const agrad::scope own;
  const var x = 0.8;
  const std::complex<var> z(x, 2.0), w = 6 + (3 * z - 1) * 2 / 4 - 2 / (1.0F - z) - z * 2U;  // whole numbers and float
  const plain z0(0.8, 2.0), by_x = 1.5 - 2.0 / ((1.0 - z0) * (1.0 - z0)) - 2.0;
  w.imag().grad();
  CHECK(w.imag().val() == doctest::Approx((1.5 * z0 - 2.0 / (1.0 - z0) - 2.0 * z0).imag()));
  CHECK(x.adj() == doctest::Approx(by_x.imag()));
}

/// Compares the derivative by a real variable of value 0.7, which `f` is given as a variable, an expression and a dual.
template <class F>
void check_real(const F& f, const plain& slope) {
  const agrad::scope own;
  const auto check_one = [&](const auto& x, const auto& at) {
    const std::complex<var> z = f(x);
    CHECK(z.real().val() == doctest::Approx(f(dual<double>(0.7, {1.0})).real().value));
    z.real().grad();
    CHECK(at.adj() == doctest::Approx(slope.real()));
    z.imag().grad();
    CHECK(at.adj() == doctest::Approx(slope.imag()));
  };
  const var x = 0.7, y = 0.35;
  check_one(x, x);
  check_one(y + 0.35, y);
  const auto d = f(dual<double>(0.7, {1.0}));
  CHECK(d.real().tangent[0] == doctest::Approx(slope.real()));
  CHECK(d.imag().tangent[0] == doctest::Approx(slope.imag()));
}

TEST_CASE("a complex number beside a real variable, expression or dual") {
  const plain c(0.4, 2.5);
  const double x = 0.7;
  check_real([&](const auto& r) { return c + r; }, 1);
  check_real([&](const auto& r) { return r + c; }, 1);
  check_real([&](const auto& r) { return c - r; }, -1);
  check_real([&](const auto& r) { return r - c; }, 1);
  check_real([&](const auto& r) { return c * r; }, c);
  check_real([&](const auto& r) { return r * c; }, c);
  check_real([&](const auto& r) { return c / r; }, -c / (x * x));
  check_real([&](const auto& r) { return r / c; }, 1.0 / c);
  // A complex variable beside an expression, and beside a dual of variables.
  const agrad::scope own;
  const var a = 0.3, b = 1.5;
  const std::complex<var> z(a, b), w = (z + a * b) * (a * a) / (b + 1.0) - 2.0 * a + a / (z * 1.0) + (a - z) * (2.0 * b);
  const plain z0(0.3, 1.5), by_z = 0.09 / 2.5 - 0.3 / (z0 * z0) - 3.0;
  const plain by_a = by_z + 0.09 / 2.5 * 1.5 + (z0 + 0.45) * 0.6 / 2.5 - 2.0 + 1.0 / z0 + 3.0;
  CHECK(w.real().val() == doctest::Approx(((z0 + 0.45) * 0.09 / 2.5 - 0.6 + 0.3 / z0 + (0.3 - z0) * 3.0).real()));
  w.real().grad();
  CHECK(a.adj() == doctest::Approx(by_a.real()));
  w.imag().grad();
  CHECK(a.adj() == doctest::Approx(by_a.imag()));
  const std::complex<dual<var>> mixed = z * dual<var>(2.0, {var(1.0)}) - dual<var>(2.0, {var(1.0)}) / plain(0, 1);
  CHECK(mixed.imag().value.val() == 2 * 1.5 + 2);
  CHECK(mixed.imag().tangent[0].val() == 1.5 + 1);
}

TEST_CASE("value_of returns the numbers of scalars, Eigen's objects and structures") {
  const agrad::scope own;
  const var x = 2.0;
  const dual<dual<var>> deep{dual<var>(x)};
  CHECK(agrad::value_of(1.5) == 1.5);
  CHECK(agrad::value_of(x) == 2);
  CHECK(agrad::value_of(x * x + 1) == 5);
  CHECK(agrad::value_of(dual<double>(3.0, {1.0})) == 3);
  CHECK(agrad::value_of(deep) == 2);
  static_assert(std::is_same_v<decltype(agrad::value_of(x)), double>);
  const agrad::vector_of<var> v = Eigen::Vector3d(1, 2, 3).cast<var>();
  static_assert(std::is_same_v<decltype(agrad::value_of(v + v)), Eigen::VectorXd>);
  CHECK(agrad::value_of(v + v) == Eigen::VectorXd(Eigen::Vector3d(2, 4, 6)));
  CHECK(agrad::value_of(v.head(2).transpose()) == Eigen::RowVector2d(1, 2));
  const Eigen::Array<var, 2, 2> array = Eigen::Array22d::Constant(4).cast<var>();
  static_assert(std::is_same_v<decltype(agrad::value_of(array)), Eigen::Array22d>);
  CHECK((agrad::value_of(array) == 4).all());
  CHECK(agrad::value_of(agrad::matrix<var>(v)) == Eigen::MatrixXd(Eigen::Vector3d(1, 2, 3)));
  CHECK(agrad::value_of(std::vector<var>{x, 3.0}) == std::vector<double>{2, 3});
  CHECK(agrad::value_of(std::array<var, 1>{x}) == std::array<double, 1>{2});
  CHECK(agrad::value_of(std::make_pair(x, 7)) == std::make_pair(2.0, 7));
  const auto [first, second] = agrad::value_of(std::make_tuple(x, std::vector<var>{x}));
  CHECK(first == 2);
  CHECK(second == std::vector<double>{2});
  var again = value_of(x);  // found by its argument
  again.grad();
  CHECK(x.adj() == 0);
}

TEST_CASE("another library's sign is taken where both are visible") {
  const agrad::scope own;
  const var x = -2.0;
  CHECK(other_library::sign_inside(x) == -10);
  CHECK(other_library::sign_inside(dual<double>(3.0, {1.0})) == 10);
  CHECK(sign(x).val() == -1);
  CHECK(sign(2.0 * x * x).val() == 1);
  CHECK(agrad::sign(-0.5) == -1);
  using other_library::sign;
  static_assert(std::is_same_v<decltype(sign(x)), int>);
}

}  // namespace test_rules_complex
