// Zero times infinity on the tape around and inside of a solve (docs/functions.md): a right-hand side is one function, whose
// zeros count as structural, and so do the zeros of the solve; what passes through a solve is marked in a careful pass.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using agrad::var;
using Eigen::VectorXd;
using vector = agrad::vector_of<var>;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

template <class F>
VectorXd gradient_of(const F& f, const VectorXd& x) {
  double value = 0;
  VectorXd gradient;
  agrad::gradient(f, x, value, gradient);
  return gradient;
}

struct outflow {
  template <class T, class Y, class K>
  auto operator()(const T&, const Y& y, const K& k) const {
    using scalar = std::common_type_t<typename Y::Scalar, K>;
    agrad::vector_of<scalar> slope(1);
    slope[0] = -k * y[0] * sqrt(y[0]);
    return slope;
  }
};

struct decay {
  template <class T, class Y>
  auto operator()(const T&, const Y& y) const {
    agrad::vector_of<typename Y::Scalar> slope(1);
    slope[0] = -y[0];
    return slope;
  }
};

TEST_CASE("a right-hand side is one function: its zeros count as structural") {
  const VectorXd gradient = gradient_of(
      [](const vector& x) -> var {
        const vector start = x.head(1);
        return agrad::ode_rk45(outflow(), start, 0.0, std::vector<double>{1.0}, x[1])[0][0];
      },
      VectorXd(Eigen::Vector2d(0, 1)));
  CHECK(gradient[0] == 1);
  CHECK(gradient[1] == 0);
}

TEST_CASE("a solve in a careful pass passes adjoints on, and its zeros count as structural") {
  const auto solved = [](const var& start) {
    vector y(1);
    y[0] = start;
    return agrad::ode_rk45(decay(), y, 0.0, std::vector<double>{1.0})[0][0];
  };
  const VectorXd x = Eigen::Vector3d(0, 0, 4);
  const VectorXd through =
      gradient_of([&](const vector& p) -> var { return solved(sqrt(p[0])) + cosh(sqrt(p[1])) + solved(sqrt(p[2])); }, x);
  CHECK(through[0] == inf);
  CHECK(std::isnan(through[1]));
  CHECK(through[2] == doctest::Approx(std::exp(-1.0) / 4).epsilon(1e-5));
  const VectorXd computed =
      gradient_of([&](const vector& p) -> var { return cosh(solved(sqrt(p[0]))) + cosh(sqrt(p[1])) + p[2]; }, x);
  CHECK(computed[0] == 0);
  CHECK(std::isnan(computed[1]));
  const VectorXd behind =
      gradient_of([&](const vector& p) -> var { return cosh(sqrt(solved(p[0]) * 1.0)) + cosh(sqrt(p[1])) + p[2]; }, x);
  CHECK(std::isnan(behind[0]));
}

}  // namespace
