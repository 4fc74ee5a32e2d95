// Zero times infinity on the tape (docs/functions.md): zeros of structure, computed zeros on both sides of an infinite slope,
// overflows; by one adjoint, by lanes, through closures and scopes. Expected numbers follow from the stated rule.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/probability.hpp>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using agrad::matrix;
using agrad::var;
using Eigen::VectorXd;
using vector = agrad::vector_of<var>;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), unknown = std::numeric_limits<double>::quiet_NaN();

bool is_same(double a, double b) { return std::isnan(b) ? std::isnan(a) : a == b || std::abs(a - b) < 1e-12; }

bool is_same(const VectorXd& a, const std::vector<double>& b) {
  if (a.size() != static_cast<Eigen::Index>(b.size())) return false;
  for (Eigen::Index i = 0; i < a.size(); ++i)
    if (!is_same(a[i], b[static_cast<std::size_t>(i)])) return false;
  return true;
}

/// Checks a gradient by one adjoint, by the lanes of a Jacobian, and once more on the same tape.
template <class F>
void check(const F& f, const std::vector<double>& at, const std::vector<double>& expected) {
  const VectorXd x = Eigen::Map<const VectorXd>(at.data(), static_cast<Eigen::Index>(at.size()));
  double value = 0;
  VectorXd gradient, values;
  agrad::gradient(f, x, value, gradient);
  CHECK(is_same(gradient, expected));

  Eigen::MatrixXd rows;
  const auto three = [&](const auto& y) {
    const var z = f(y);
    vector all(3);
    all << y[0], z, 2 * z;
    return all;
  };
  agrad::reverse_jacobian(three, x, values, rows);
  VectorXd unit = VectorXd::Zero(x.size());
  unit[0] = 1;
  CHECK(is_same(rows.row(0), std::vector<double>(unit.data(), unit.data() + unit.size())));
  CHECK(is_same(rows.row(1), expected));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(is_same(rows(2, static_cast<Eigen::Index>(i)), 2 * expected[i]));

  const agrad::scope scope;
  vector again = x.cast<var>();
  const var y = f(again);
  for (int repetition = 0; repetition < 2; ++repetition) {
    y.grad();
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(is_same(again[static_cast<Eigen::Index>(i)].adj(), expected[i]));
  }
}

/// Checks a function of one variable as one expression, and with each operation in a statement of its own.
template <class Inner, class Outer>
void check_chain(const Inner& inner, const Outer& outer, double at, double expected) {
  check([&](const vector& x) -> var { return outer(inner(x[0])); }, {at}, {expected});
  check(
      [&](const vector& x) -> var {
        const var middle = inner(x[0]);
        return outer(middle);
      },
      {at}, {expected});
  check(
      [&](const vector& x) -> var {
        const matrix<var> all(x);
        return sum(outer(inner(all)));
      },
      {at}, {expected});
}

const auto root = [](const auto& x) { return sqrt(x); };
const auto square_of = [](const auto& x) { return square(x); };
const auto reciprocal = [](const auto& x) { return 1.0 / x; };

TEST_CASE("a computed zero further out than an infinite slope is unknown") {
  check_chain(
      root, [](const auto& x) { return cosh(x); }, 0, unknown);
  check_chain(root, square_of, 0, unknown);
  check_chain(reciprocal, reciprocal, 0, unknown);
  check_chain([](const auto& x) { return log(x); }, [](const auto& x) { return exp(x); }, 0, unknown);
  check([](const vector& x) -> var { return x[0] * sqrt(x[1]); }, {0, 0}, {0, unknown});
  check([](const vector& x) -> var { return log_sum_exp(log(x[0]) + 2.0, x[1]); }, {0, 1}, {unknown, 1});
}

TEST_CASE("a computed zero further in than an infinite slope is zero") {
  check_chain(square_of, root, 0, 0);
  check_chain([](const auto& x) { return sqrt(square(x)); }, [](const auto& x) { return cosh(x); }, 0, 0);
  check([](const vector& x) -> var { return sqrt(x[0] * x[1]); }, {0, 0}, {0, 0});
}

TEST_CASE("a zero of structure passes nothing on") {
  check_chain(
      root, [](const auto& x) { return 0.0 * x; }, 0, 0);
  check_chain(
      root, [](const auto& x) { return 0.0 * cosh(x); }, 0, 0);
  check_chain(
      root, [](const auto& x) { return fmax(x, 1.0); }, 0, 0);
  check_chain(
      root, [](const auto& x) { return 0.0 / (x + 1.0); }, 0, 0);
  check([](const vector& x) -> var { return fmax(sqrt(x[0]), x[1]); }, {0, 1}, {0, 1});
  check(
      [](const vector& x) -> var {
        const var unused = cosh(sqrt(x[0]));
        return x[1] + 0 * unused.val();
      },
      {0, 1}, {0, 1});
  check(
      [](const vector& x) -> var {
        const matrix<var> roots = sqrt(matrix<var>(x));
        return roots[1];
      },
      {0, 4}, {0, 0.25});
  check([](const vector& x) -> var { return dot(sqrt(matrix<var>(x)), VectorXd(Eigen::Vector2d(0, 1))); }, {0, 4}, {0, 0.25});
  check(
      [](const vector& x) -> var {
        const Eigen::MatrixXd a = (Eigen::MatrixXd(1, 2) << 0, 1).finished();
        return sum(a * sqrt(matrix<var>(x)));
      },
      {0, 4}, {0, 0.25});
}

TEST_CASE("what has overflowed or underflowed is no infinite slope") {
  check_chain([](const auto& x) { return 1.0 + exp(-x); }, reciprocal, -1000, 0);
  check_chain([](const auto& x) { return exp(-x); }, root, 1600, 0);
  check_chain([](const auto& x) { return -exp(x); }, [](const auto& x) { return exp(x); }, 1000, 0);
}

TEST_CASE("an infinite slope alone is infinite") {
  check_chain(
      root, [](const auto& x) { return 3.0 * x; }, 0, inf);
  check([](const vector& x) -> var { return sqrt(x[0]) + x[1] * x[1]; }, {0, 3}, {inf, 6});
}

TEST_CASE("closures pass computed zeros on") {
  const auto roots = [](const vector& x) { return sqrt(matrix<var>(x)); };
  check([&](const vector& x) -> var { return squared_norm(roots(x)); }, {0, 4}, {unknown, 1});
  check([&](const vector& x) -> var { return dot(roots(x), roots(x)); }, {0, 4}, {unknown, 1});
  check([&](const vector& x) -> var { return prod(roots(x)); }, {0, 0}, {unknown, unknown});
  check([&](const vector& x) -> var { return norm(roots(x)); }, {0, 0}, {unknown, unknown});
  check([&](const vector& x) -> var { return log_sum_exp(log(matrix<var>(x))); }, {0, 4}, {unknown, 0.25});
  check([&](const vector& x) -> var { return softmax(log(matrix<var>(x)))[1]; }, {0, 4}, {unknown, 0});
  check([&](const vector& x) -> var { return square(sum(roots(x))); }, {0, 0}, {unknown, unknown});
  check([&](const vector& x) -> var { return square(row_sums(roots(x).transpose())[0]); }, {0, 0}, {unknown, unknown});
  check([&](const vector& x) -> var { return square(concatenate_rows(roots(x), roots(x))[2]); }, {0, 0}, {unknown, 0});
  check([&](const vector& x) -> var { return sum(roots(x) * roots(x).transpose()); }, {0, 0}, {unknown, unknown});
  check([&](const vector& x) -> var { return agrad::normal_lpdf(roots(x), 0.0, 1.0); }, {0, 4}, {unknown, -0.5});
  check([&](const vector& x) -> var { return agrad::normal_lpdf(0.0, sqrt(x[0]), 1.0); }, {0}, {unknown});
}

TEST_CASE("a closure of a user is taken by its own products: its zeros count as structural") {
  check(
      [](const vector& x) -> var {
        const var s = sqrt(x[0]);
        return agrad::custom(s.val() * s.val(), [s](auto& adjoint, const var& y) { adjoint[s] += 2 * s.val() * adjoint[y]; });
      },
      {0}, {0});
}

TEST_CASE("a pass reaches outer scopes, and only singular statements make a pass careful") {
  const agrad::scope outer;
  const var x = 0.0, s = sqrt(x);
  {
    const agrad::scope inner;
    const var y = cosh(s);
    y.grad();
    CHECK(std::isnan(x.adj()));
  }
  const var z = s + 2 * x;
  z.grad();
  CHECK(x.adj() == inf);
  {
    const agrad::scope inner;
    const var a = 2.0, b = a * a;
    b.grad();
    CHECK(a.adj() == 4);
  }
}

TEST_CASE("a careful pass runs beside a closure that differentiates carefully") {
  const auto nested = [](double at) {
    const agrad::isolated_scope own;
    const var x = at, s = sqrt(x), y = cosh(s);
    y.grad();
    return x.adj();
  };
  check(
      [&](const vector& x) -> var {
        const var s = sqrt(x[0]), t = cosh(s);
        return agrad::custom(t.val(),
                             [&nested, t](auto& adjoint, const var& y) {
                               CHECK(std::isnan(nested(0)));
                               CHECK(is_same(nested(1), std::sinh(1.0) / 2));
                               adjoint[t] += adjoint[y];
                             }) +
               x[1];
      },
      {0, 1}, {unknown, 1});
}

TEST_CASE("a closure with a careful pass of its own leaves no adjoints behind") {
  const agrad::scope outer;
  const var x = 0.0, s = sqrt(x), t = cosh(s);
  int calls = 0;
  const var y = agrad::custom(0.0, [t, &calls](auto& adjoint, const var& result) {
    const agrad::scope own;
    const var z = 0.0, inner = sqrt(z), w = cosh(inner);
    w.grad();
    CHECK(std::isnan(z.adj()));
    adjoint[t] += adjoint[result];
    ++calls;
  });
  const var end = cosh(y);
  end.grad();
  CHECK(calls == 1);  // for marks: the adjoint of y is zero
  CHECK(std::isnan(x.adj()));
  const var fresh = 1.0, more = 2.0, last = 3.0;
  CHECK(fresh.adj() == 0);
  CHECK(more.adj() == 0);
  CHECK(last.adj() == 0);
}

TEST_CASE("Hessians follow the rule, too; a product with the number 0 is constant") {
  const auto hessian_of = [](const auto& f, const VectorXd& x) {
    double value = 0;
    VectorXd gradient;
    Eigen::MatrixXd second;
    agrad::hessian(f, x, value, gradient, second);
    return VectorXd(Eigen::Map<const VectorXd>(second.data(), second.size()));
  };
  const auto scalar = [](const auto& x) { return typename std::decay_t<decltype(x)>::Scalar(x[0]); };
  const VectorXd zero = VectorXd::Zero(1), at = Eigen::Vector2d(0, 3);
  CHECK(is_same(hessian_of([&](const auto& x) { return cosh(sqrt(scalar(x))); }, zero), {unknown}));
  CHECK(is_same(hessian_of([&](const auto& x) { return sqrt(scalar(x)) * 0.0; }, zero), {0}));
  CHECK(is_same(hessian_of([&](const auto& x) { return sqrt(scalar(x)) + x[1] * x[1]; }, at), {-inf, 0, 0, 2}));
  CHECK(is_same(hessian_of([&](const auto& x) { return pow(scalar(x), 3.0); }, zero), {0}));
}

}  // namespace
