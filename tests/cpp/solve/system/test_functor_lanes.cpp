// Callables whose products with adjoints come from dual numbers, and those that cannot have them so.
#include <doctest/doctest.h>
#include <agrad/ode.hpp>
#include <cmath>
#include <type_traits>
#include <vector>

namespace test_functor_lanes {

using agrad::var;
using doctest::Approx;

namespace {

/// Takes variables as they are, and plain vectors of anything; not vectors of duals for k.
struct overloaded {
  template <class Y>
  Y operator()(double, const Y& y, const Eigen::VectorXd& k) const {
    return (-k[0] * y).eval();
  }
  Eigen::Matrix<var, Eigen::Dynamic, 1> operator()(double, const Eigen::VectorXd& y,
                                                   const Eigen::Matrix<var, Eigen::Dynamic, 1>& k) const {
    return (-k[0] * y.cast<var>()).eval();
  }
};

}  // namespace

TEST_CASE("a callable may take its variables by a type of their own") {
  const agrad::scope own;
  const Eigen::Matrix<var, Eigen::Dynamic, 1> k = Eigen::VectorXd::Constant(1, 0.7).cast<var>();
  const auto y = agrad::ode_tsit5_tol(overloaded(), Eigen::VectorXd::Constant(1, 2.0), 0.0, {1.0}, 1e-10, 1e-10, 1000, k);
  y[0][0].grad();
  CHECK(k[0].adj() == Approx(-2 * std::exp(-0.7)).epsilon(1e-8));
}

TEST_CASE("an infinite derivative that nothing is multiplied with leaves no trace") {
  const agrad::scope own;
  const Eigen::Matrix<var, Eigen::Dynamic, 1> y0 = Eigen::Vector2d(1.0, 0.0).cast<var>();
  const var k = 0.5;
  const auto f = [](double, const auto& y, const auto& rate) {
    using std::sqrt;
    using scalar = agrad::promoted_t<typename std::decay_t<decltype(y)>::Scalar, std::decay_t<decltype(rate)>>;
    Eigen::Matrix<scalar, 2, 1> slope;
    slope[0] = -rate * y[0];
    slope[1] = -rate * sqrt(y[1]);
    return slope;
  };
  const auto y = agrad::ode_tsit5_tol(f, y0, 0.0, {1.0}, 1e-10, 1e-10, 1000, k);
  y[0][0].grad();
  CHECK(k.adj() == Approx(-std::exp(-0.5)).epsilon(1e-8));
  CHECK(y0[0].adj() == Approx(std::exp(-0.5)).epsilon(1e-8));
}

TEST_CASE("more directions than lanes, and more than are taken this way, have the same gradient") {
  for (const Eigen::Index n : {3, 4, 5, 8, 9}) {  // n states and n rates: 6 to 18 directions
    const agrad::scope own;
    const Eigen::Matrix<var, Eigen::Dynamic, 1> k = Eigen::VectorXd::LinSpaced(n, 0.5, 1.5).cast<var>(),
                                                y0 = Eigen::VectorXd::LinSpaced(n, 1.0, 3.0).cast<var>();
    const auto f = [](double, const auto& y, const auto& rates) { return (-rates.array() * y.array()).matrix().eval(); };
    const auto y = agrad::ode_tsit5_tol(f, y0, 0.0, {0.5}, 1e-11, 1e-11, 1000, k);
    var sum = 0;
    for (Eigen::Index i = 0; i < n; ++i) sum += y[0][i] * static_cast<double>(i + 1);
    sum.grad();
    for (Eigen::Index i = 0; i < n; ++i) {
      const double decay = std::exp(-0.5 * k[i].val()) * static_cast<double>(i + 1);
      CHECK(y0[i].adj() == Approx(decay).epsilon(1e-9));
      CHECK(k[i].adj() == Approx(-0.5 * y0[i].val() * decay).epsilon(1e-9));
    }
  }
}

}  // namespace test_functor_lanes
