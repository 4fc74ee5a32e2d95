// What functionals take and give: shapes, sizes, kinds of callables and results, errors, and the tape afterwards.
#include <doctest/doctest.h>
#include <agrad/functionals/finite_differences.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/matrix.hpp>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace test_functionals_callables {

using agrad::dual;
using agrad::scope;
using agrad::ShapeError;
using agrad::var;
using agrad::vector_of;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const VectorXd point = (VectorXd(4) << 0.7, -0.4, 1.3, 0.2).finished();

struct fixed_cube {
  template <class T>
  T operator()(const Eigen::Matrix<T, 3, 1>& x) const {
    return x[0] * x[1] * x[2] + x[0] * x[0];
  }
};
struct fixed_vector {
  template <class T>
  Eigen::Matrix<T, 2, 1> operator()(const Eigen::Matrix<T, 3, 1>& x) const {
    return {x[0] * x[1], exp(x[2])};
  }
};
/// m results of n inputs, repeated, passed through and constant ones among them.
struct wide {
  Eigen::Index m;
  template <class T>
  vector_of<T> operator()(const vector_of<T>& x) const {
    vector_of<T> y(m);
    for (Eigen::Index i = 0; i < m; ++i) y[i] = sin(x[i % x.size()]) * x[(3 * i + 1) % x.size()] + static_cast<double>(i);
    if (m > 4) {
      y[1] = y[0];
      y[2] = x[x.size() - 1];
      y[3] = 5.0;
      y[4] = T();
    }
    return y;
  }
};
/// Counts by how it was called.
struct counting {
  int &plain, &forward, &reverse;
  Eigen::Index m;
  template <class T>
  vector_of<T> operator()(const vector_of<T>& x) const {
    ++(std::is_same_v<T, double> ? plain : std::is_same_v<T, var> ? reverse : forward);
    return vector_of<T>::Constant(m, x.sum());
  }
};

var of_variables(const vector_of<var>& x) { return x[0] * x[1]; }

struct throwing {
  template <class T>
  T operator()(const vector_of<T>& x) const {
    const T s = x.sum() * x[0];
    if (s < 100) throw std::out_of_range("of the user");
    return s;
  }
};

}  // namespace

TEST_CASE("vectors of fixed size, in and out") {
  const Eigen::Vector3d x(2, 3, 5);
  double fx = 0;
  Eigen::Vector3d g;
  Eigen::Matrix3d H;
  agrad::gradient(fixed_cube(), x, fx, g);
  CHECK(fx == 34);
  CHECK(g == Eigen::Vector3d(19, 10, 6));
  agrad::hessian(fixed_cube(), x, fx, g, H);
  CHECK(H == (Eigen::Matrix3d() << 2, 5, 3, 5, 0, 2, 3, 2, 0).finished());
  agrad::hessian_times_vector(fixed_cube(), x, Eigen::Vector3d::UnitX(), fx, g);
  CHECK(g == Eigen::Vector3d(2, 5, 3));
  std::vector<MatrixXd> third;
  agrad::grad_hessian(fixed_cube(), x, fx, H, third);
  CHECK(third[0] == (Eigen::Matrix3d() << 0, 0, 0, 0, 0, 1, 0, 1, 0).finished());
  agrad::finite_difference_hessian(fixed_cube(), x, fx, H);
  CHECK(H(0, 1) == doctest::Approx(5).epsilon(1e-11));

  Eigen::Vector2d fv;
  Eigen::Matrix<double, 2, 3> J, expected;
  expected << 3, 2, 0, 0, 0, std::exp(5.0);
  agrad::jacobian(fixed_vector(), x, fv, J);
  CHECK(J == expected);
  agrad::reverse_jacobian(fixed_vector(), x, fv, J);
  CHECK(J == expected);
  agrad::vjp(fixed_vector(), x, Eigen::Vector2d(1, 0), fv, g);
  CHECK(g == Eigen::Vector3d(3, 2, 0));
  // A function of dynamic vectors takes a fixed x too.
  agrad::gradient([](const vector_of<var>& v) { return v.prod(); }, x, fx, g);
  CHECK(g == Eigen::Vector3d(15, 10, 6));
  CHECK_THROWS_WITH_AS(agrad::gradient(of_variables, point, fx, g),
                       "gradient: g is of the fixed shape (3, 1), but must be of shape (4, 1)", ShapeError);
  CHECK_THROWS_WITH_AS(agrad::jacobian(wide{2}, point, fv, J),
                       "jacobian: J is of the fixed shape (2, 3), but must be of shape (2, 4)", ShapeError);
}

TEST_CASE("x may be an expression, a row, a map or a part") {
  const MatrixXd m = (MatrixXd(2, 4) << 0.7, -0.4, 1.3, 0.2, 1.4, -0.8, 2.6, 0.4).finished();
  const auto f = [](const auto& v) { return v[0] * v[1] * v[2] * v[3]; };
  double fx = 0, expected = 0;
  VectorXd g, expected_gradient;
  agrad::gradient(f, VectorXd(2 * point), expected, expected_gradient);
  agrad::gradient(f, 2 * point, fx, g);
  CHECK(g == expected_gradient);
  agrad::gradient(f, m.row(1), fx, g);
  CHECK(g == expected_gradient);
  agrad::gradient(f, Eigen::Map<const VectorXd, 0, Eigen::InnerStride<2>>(m.data() + 1, 4), fx, g);
  CHECK(g == expected_gradient);
  agrad::gradient(f, m.transpose().col(1).head<4>(), fx, g);
  CHECK(g == expected_gradient);
  CHECK(fx == expected);
  VectorXd in_place = 2 * point;
  agrad::gradient(f, in_place, fx, in_place);
  CHECK(in_place == expected_gradient);
}

TEST_CASE("what a vector function may return") {
  VectorXd fx, wJ;
  MatrixXd J;
  const auto check = [&](const auto& f, const MatrixXd& expected) {
    agrad::jacobian(f, point, fx, J);
    CHECK(J == expected);
    agrad::reverse_jacobian(f, point, fx, J);
    CHECK(J == expected);
    const VectorXd w = VectorXd::LinSpaced(fx.size(), 2, 8);
    agrad::vjp(f, point, w, fx, wJ);
    CHECK(wJ == expected.transpose() * w);
  };
  const MatrixXd identity = MatrixXd::Identity(4, 4);
  check([](const auto& x) { return x; }, identity);
  check([](const auto& x) { return x.array().eval(); }, identity);
  check([](const auto& x) { return x.transpose().eval(); }, identity);
  check([](const auto& x) { return x.head(2); }, identity.topRows(2));
  check([](const auto& x) { return x.template head<2>().eval(); }, identity.topRows(2));
  check([](const auto& x) { return x[3]; }, identity.bottomRows(1));
  check([](const auto& x) { return x[0] + x[1] * 2; }, (MatrixXd(1, 4) << 1, 2, 0, 0).finished());
  check([](const auto&) { return VectorXd::Ones(3).eval(); }, MatrixXd::Zero(3, 4));
  check([](const auto&) { return 7; }, MatrixXd::Zero(1, 4));
  check([](const auto& x) { return std::decay_t<decltype(x)>(); }, MatrixXd(0, 4));
  check([](const vector_of<var>& x) { return agrad::matrix<var>(x); }, identity);
  check([](const vector_of<var>& x) { return sum(agrad::matrix<var>(x)); }, MatrixXd::Ones(1, 4));
  const auto square = [](const auto& x) { return (x * x.transpose()).eval(); };
  CHECK_THROWS_WITH_AS(agrad::jacobian(square, point, fx, J),
                       "jacobian: f(x) is of shape (4, 4), but must be a vector; return its entries as one column", ShapeError);
}

TEST_CASE("a Jacobian is filled in whole and partial passes and reverse passes") {
  for (const Eigen::Index n : {1, 3, 8, 9, 20}) {
    for (const Eigen::Index m : {1, 2, 7, 8, 9, 17}) {
      const VectorXd x = VectorXd::LinSpaced(n, 0.3, 1.8);
      VectorXd fx, other;
      MatrixXd forward, reverse, either, differences;
      agrad::forward_jacobian(wide{m}, x, fx, forward);
      agrad::reverse_jacobian(wide{m}, x, other, reverse);
      agrad::jacobian(wide{m}, x, fx, either);
      agrad::finite_difference_jacobian(wide{m}, x, fx, differences);
      CAPTURE(n);
      CAPTURE(m);
      CHECK((fx - other).cwiseAbs().maxCoeff() < 1e-15);  // a compiler may fuse other products in each
      CHECK((forward - reverse).cwiseAbs().maxCoeff() < 1e-15);
      CHECK((either == forward || either == reverse));
      CHECK((differences - forward).cwiseAbs().maxCoeff() < 1e-11);
    }
  }
}

TEST_CASE("the mode of a Jacobian") {
  VectorXd fx;
  MatrixXd J;
  int plain = 0, forward = 0, reverse = 0;
  const auto calls = [&](Eigen::Index n, Eigen::Index m) {
    plain = forward = reverse = 0;
    agrad::jacobian(counting{plain, forward, reverse, m}, VectorXd::Ones(n), fx, J);
    CHECK(J == MatrixXd::Ones(m, n));
    return std::array{forward, reverse};
  };
  CHECK(calls(8, 1) == std::array{1, 0});    // one pass has all columns
  CHECK(calls(20, 20) == std::array{3, 0});  // not fewer rows than columns
  CHECK(calls(20, 19) == std::array{0, 1});
  CHECK(plain == 1);
}

TEST_CASE("callables of variables only, by their signature") {
  double fx = 0;
  VectorXd g, fv;
  MatrixXd J;
  const MatrixXd expected = (MatrixXd(1, 4) << -0.4, 0.7, 0, 0).finished();
  agrad::jacobian(of_variables, point, fv, J);
  CHECK(J == expected);
  agrad::jacobian(&of_variables, point, fv, J);
  CHECK(J == expected);
  const std::function<var(const vector_of<var>&)> kept = of_variables;
  agrad::jacobian(kept, point, fv, J);
  CHECK(J == expected);
  agrad::gradient([](vector_of<var> x) noexcept { return x[0] * x[1]; }, point, fx, g);
  CHECK(g == expected.transpose());
  agrad::finite_difference_gradient(of_variables, point, fx, g);
  CHECK((g - expected.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  struct {
    var operator()(const vector_of<var>& x) const { return x[0] * x[1]; }
    double operator()(const VectorXd& x) const { return x[0] * x[1]; }
  } overloaded;
  agrad::jacobian(overloaded, point, fv, J);
  CHECK(J == expected);
  using F = decltype(overloaded);
  static_assert(agrad::detail::accepts<F, VectorXd, var> && agrad::detail::accepts<F, VectorXd, double>);
  static_assert(!agrad::detail::accepts<F, VectorXd, dual<double>>);
  static_assert(!agrad::detail::accepts<fixed_cube, VectorXd, var> && agrad::detail::accepts<fixed_cube, Eigen::Vector3d, var>);
}

TEST_CASE("functions of nothing") {
  const VectorXd nothing(0);
  const auto constant = [](const auto&) { return 4.0; };
  const auto vector = [](const auto&) { return VectorXd::Ones(2).eval(); };
  double fx = 0, gv = 1;
  VectorXd g(3), fv;
  MatrixXd H(2, 2);
  std::vector<MatrixXd> third(2);
  agrad::grad_hessian(constant, nothing, fx, H, third);
  CHECK(fx == 4);
  CHECK(H.size() == 0);
  CHECK(third.empty());
  fx = 0;
  agrad::hessian_times_vector(constant, nothing, nothing, fx, g);
  CHECK(fx == 4);
  CHECK(g.size() == 0);
  agrad::gradient_dot_vector(constant, nothing, nothing, fx, gv);
  CHECK(gv == 0);
  for (const bool forward : {false, true}) {
    forward ? agrad::forward_jacobian(vector, nothing, fv, H) : agrad::reverse_jacobian(vector, nothing, fv, H);
    CHECK(fv == VectorXd::Ones(2));
    CHECK((H.rows() == 2 && H.cols() == 0));
  }
  agrad::vjp(vector, nothing, VectorXd::Ones(2), fv, g);
  CHECK(g.size() == 0);
  agrad::jvp(vector, nothing, nothing, fv, g);
  CHECK(g == VectorXd::Zero(2));
  agrad::finite_difference_hessian(constant, nothing, fx, H);
  CHECK(H.size() == 0);
  agrad::finite_difference_gradient(constant, nothing, fx, g);
  CHECK(g.size() == 0);
}

TEST_CASE("functions that ignore their argument, or a part of it") {
  const auto constant = [](const auto&) { return 4; };
  double fx = 0, gv = 1;
  VectorXd g;
  MatrixXd H;
  std::vector<MatrixXd> third;
  agrad::grad_hessian(constant, point, fx, H, third);
  CHECK(fx == 4);
  CHECK(H.isZero(0));
  for (const MatrixXd& slice : third) CHECK(slice.isZero(0));
  agrad::hessian_times_vector(constant, point, point, fx, g);
  CHECK(g.isZero(0));
  agrad::partial_derivative(constant, point, 3, fx, gv);
  CHECK(gv == 0);
  agrad::finite_difference_gradient(constant, point, fx, g);
  CHECK(g.isZero(0));
  // Nothing moves in the direction of the pole, so that no nan comes of it.
  const auto root = [](const auto& x) { return sqrt(x[0]) + x[1] * x[1]; };
  agrad::hessian_times_vector(root, Eigen::Vector2d(0, 3), Eigen::Vector2d(0, 1), fx, g);
  CHECK(g == Eigen::Vector2d(0, 2));
  agrad::gradient_dot_vector(root, Eigen::Vector2d(0, 3), Eigen::Vector2d(0, 1), fx, gv);
  CHECK(gv == 6);
  VectorXd fv;
  agrad::vjp([](const auto& x) { return x.array().sqrt().eval(); }, Eigen::Vector2d(0, 4), Eigen::Vector2d(0, 1), fv, g);
  CHECK(g == Eigen::Vector2d(0, 0.25));
}

TEST_CASE("directions of the wrong length") {
  double fx = 0, gv = 0;
  VectorXd g, fv;
  const auto f = [](const auto& x) { return x; };
  const auto scalar = [](const auto& x) { return x.sum(); };
  const VectorXd three = VectorXd::Ones(3);
  CHECK_THROWS_WITH_AS(agrad::jvp(f, point, three, fv, g), "jvp: v is of length 3, but must be of length 4; the length of x",
                       ShapeError);
  CHECK_THROWS_WITH_AS(agrad::vjp(f, point, three, fv, g), "vjp: w is of length 3, but must be of length 4; the length of f(x)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(agrad::gradient_dot_vector(scalar, point, three, fx, gv),
                       "gradient_dot_vector: v is of length 3, but must be of length 4; the length of x", ShapeError);
  CHECK_THROWS_WITH_AS(agrad::hessian_times_vector(scalar, point, three, fx, g),
                       "hessian_times_vector: v is of length 3, but must be of length 4; the length of x", ShapeError);
  CHECK_THROWS_WITH_AS(agrad::partial_derivative(scalar, point, 4, fx, gv),
                       "partial_derivative: i is 4, but must be an index of x, from 0 to 3", std::out_of_range);
  CHECK_THROWS_AS(agrad::partial_derivative(scalar, point, -1, fx, gv), std::out_of_range);
}

TEST_CASE("every functional leaves the tape as it was, also when f throws, and its outputs untouched then") {
  const agrad::scope own;
  const var x = 2.0;
  const var y = x * x;
  const auto before = agrad::tape::current().statistics();
  double fx = 7, gv = 7;
  VectorXd g = VectorXd::Constant(1, 7), fv = g;
  MatrixXd H = MatrixXd::Constant(1, 1, 7);
  std::vector<MatrixXd> third;
  const auto all = [&](const auto& f, const VectorXd& at, const VectorXd& w) {
    const auto run = [&](const auto& functional) {
      if (at[0] < 5)
        CHECK_THROWS_WITH_AS(functional(), "of the user", std::out_of_range);
      else
        functional();
    };
    run([&] { agrad::gradient(f, at, fx, g); });
    run([&] { agrad::jacobian(f, at, fv, H); });
    run([&] { agrad::reverse_jacobian(f, at, fv, H); });
    run([&] { agrad::hessian(f, at, fx, g, H); });
    run([&] { agrad::grad_hessian(f, at, fx, H, third); });
    run([&] { agrad::hessian_times_vector(f, at, at, fx, g); });
    run([&] { agrad::gradient_dot_vector(f, at, at, fx, gv); });
    run([&] { agrad::vjp(f, at, w, fv, g); });
    run([&] { agrad::jvp(f, at, at, fv, g); });
    run([&] { agrad::finite_difference_hessian(f, at, fx, H); });
  };
  all(throwing(), point, VectorXd::Ones(1));
  CHECK((fx == 7 && gv == 7 && g == VectorXd::Constant(1, 7) && fv == g && H(0, 0) == 7 && third.empty()));
  all(throwing(), VectorXd::Constant(2, 50), VectorXd::Ones(1));
  const auto after = agrad::tape::current().statistics();
  CHECK(after.statements == before.statements);
  CHECK(after.bytes == before.bytes);
  y.grad();
  CHECK(x.adj() == 4);
}

TEST_CASE("callables may change while they are called") {
  const scope own;
  VectorXd g, at(2), fv;
  at << 2, 3;
  MatrixXd H;
  double fx = 0;
  int calls = 0;
  const auto counting = [&calls] {
    return [&calls, mine = 0](const auto& x) mutable {
      ++mine;
      ++calls;
      return x[0] * x[1] * mine;
    };
  };
  agrad::gradient(counting(), at, fx, g);
  CHECK(g == (VectorXd(2) << 3, 2).finished());
  auto kept = counting();
  agrad::gradient(kept, at, fx, g);
  agrad::gradient(kept, at, fx, g);
  CHECK(fx == 12);  // the callable itself is called, not a copy
  agrad::hessian(counting(), at, fx, g, H);
  agrad::jacobian(counting(), at, fv, H);
  agrad::hessian_times_vector(counting(), at, at, fx, g);
  agrad::gradient([mine = 0](const agrad::vector_of<var>& x) mutable { return var(x[0] * ++mine); }, at, fx, g);
  CHECK(g == (VectorXd(2) << 1, 0).finished());
  CHECK(calls == 6);
  const var x = 2.0;
  const var y = agrad::custom(2.0, [x, mine = 0](auto& adjoint, const var& r) mutable { adjoint[x] += adjoint[r] * ++mine; });
  y.grad();
  y.grad();
  CHECK(x.adj() == 2);
}

}  // namespace test_functionals_callables
