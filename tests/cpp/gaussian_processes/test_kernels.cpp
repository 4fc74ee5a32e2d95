// Kernels of Gaussian processes: Python's values, differences, and curvatures where points coincide.
#include <doctest/doctest.h>
#include <agrad/functionals/hessian.hpp>
#include <agrad/gaussian_processes.hpp>
#include <cmath>

#include "finite_differences.hpp"

namespace test_kernels {

using namespace agrad;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

template <class M>
auto weighted(const M& k) {
  typename M::Scalar sum(0.0);
  for (Eigen::Index i = 0; i < k.rows(); ++i)
    for (Eigen::Index j = 0; j < k.cols(); ++j) sum += std::cos(0.7 * static_cast<double>(i * k.cols() + j)) * k(i, j);
  return sum;
}

/// The sum of one kernel over all parameters: three points in the plane, sigma, two length scales.
struct loss {
  int which;
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& p) const {
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> x(3, 2);
    for (Eigen::Index k = 0; k < 6; ++k) x(k / 2, k % 2) = p[k];
    const T sigma = p[6];
    const Eigen::Matrix<T, Eigen::Dynamic, 1> scales = p.segment(7, 2);
    const MatrixXd z = MatrixXd::Identity(2, 2);
    switch (which) {
      case 0:
        return weighted(gp_exp_quad_cov(x, sigma, scales)) + weighted(gp_exp_quad_cov(x, z, 1.0, p[7]));
      case 1:
        return weighted(gp_exponential_cov(x, sigma, scales)) + weighted(gp_exponential_cov(x, z, 1, scales));
      case 2:
        return weighted(gp_matern32_cov(x, sigma, scales)) + weighted(gp_matern32_cov(x, z, sigma, 0.4));
      case 3:
        return weighted(gp_matern52_cov(x, sigma, scales)) + weighted(gp_matern52_cov(z, x, sigma, scales));
      case 4:
        return weighted(gp_periodic_cov(x, sigma, p[7], p[8])) + weighted(gp_periodic_cov(x, z, sigma, 0.4, p[8]));
      default:
        return weighted(gp_dot_prod_cov(x, sigma)) + weighted(gp_dot_prod_cov(x, z, 0.4));
    }
  }
};

/// A kernel of two points on the line.
struct of_pair {
  int which;
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    switch (which) {
      case 0:
        return gp_exp_quad_cov(x, 1.3, 0.7)(0, 1);
      case 1:
        return gp_exponential_cov(x, 1.3, 0.7)(0, 1);
      case 2:
        return gp_matern32_cov(x, 1.3, 0.7)(0, 1);
      case 3:
        return gp_matern52_cov(x, 1.3, 0.7)(0, 1);
      default:
        return gp_periodic_cov(x, 1.3, 0.7, 2.2)(0, 1);
    }
  }
};

}  // namespace

TEST_CASE("kernels have Python's values, also where points coincide") {
  MatrixXd x(4, 2), z(2, 2);
  x << 0.3, -0.2, 0.9, 0.5, 0.3, -0.2, -1.1, 0.4;
  z << 0.3, -0.2, 0.2, 0.8;
  const VectorXd l = (VectorXd(2) << 0.7, 1.9).finished();
  const auto check_values = [](const MatrixXd& one, double expected, const MatrixXd& two, double expected_of_two) {
    CHECK(weighted(one) == doctest::Approx(expected).epsilon(1e-13));
    CHECK(weighted(two) == doctest::Approx(expected_of_two).epsilon(1e-13));
  };
  check_values(gp_exp_quad_cov(x, 1.3, l), 2.125494906994753, cov_exp_quad(x, z, 1.3, l), -0.529218625163451);
  check_values(gp_exponential_cov(x, 1.3, l), 1.9209137816552149, gp_exponential_cov(x, z, 1.3, l), -0.32823420935289116);
  check_values(gp_matern32_cov(x, 1.3, l), 2.0019826857300576, gp_matern32_cov(x, z, 1.3, l), -0.4386839491114167);
  check_values(gp_matern52_cov(x, 1.3, l), 2.040072878479786, gp_matern52_cov(x, z, 1.3, l), -0.47174486386700654);
  check_values(gp_periodic_cov(x, 1.3, 0.7, 2.2), 1.0584092706805501, gp_periodic_cov(x, z, 1.3, 0.7, 2.2),
               0.020763391929808472);
  check_values(gp_dot_prod_cov(x, 1.3), -1.4901097226411002, gp_dot_prod_cov(x, z, 1.3), -1.2912501967239023);
}

TEST_CASE("gradients and Hessians are those of differences") {
  const VectorXd p = (VectorXd(9) << 0.3, -0.2, 0.9, 0.5, -0.7, 0.4, 1.3, 0.7, 1.9).finished();
  for (int which = 0; which < 6; ++which) {
    CAPTURE(which);
    const loss f{which};
    const auto gradient_at = [&](const VectorXd& at) {
      double fx = 0;
      VectorXd g;
      gradient(f, at, fx, g);
      return g;
    };
    double fx = 0;
    VectorXd g;
    MatrixXd H;
    hessian(f, p, fx, g, H);
    CHECK((gradient_at(p) - finite_differences::gradient(f, p, 2e-3)).norm() < 1e-9 * (1 + g.norm()));
    CHECK((H - finite_differences::jacobian(gradient_at, p, 2e-3)).norm() < 1e-8 * (1 + H.norm()));
  }
}

TEST_CASE("where points coincide derivatives are finite and right") {
  const double scale = 1.3 / 0.7, curvatures[] = {1.0, 0.0, 3.0, 5.0 / 3, std::pow(2 * std::acos(-1.0) / 2.2, 2)};
  for (int which = 0; which < 5; ++which) {
    CAPTURE(which);
    double fx = 0;
    VectorXd g;
    MatrixXd H;
    hessian(of_pair{which}, VectorXd::Constant(2, 0.4), fx, g, H);
    CHECK(fx == doctest::Approx(1.69).epsilon(1e-15));
    CHECK(g.norm() == 0);
    const double expected = curvatures[which] * scale * scale;
    CHECK(H(0, 0) == doctest::Approx(-expected).epsilon(1e-14));
    CHECK(H(1, 1) == doctest::Approx(-expected).epsilon(1e-14));
    CHECK(H(0, 1) == doctest::Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("faults are named") {
  const VectorXd x = VectorXd::LinSpaced(3, 0, 1);
  CHECK_THROWS_WITH_AS(gp_exp_quad_cov(x, 0.0, 1.0), "gp_exp_quad_cov: sigma is 0, but must be positive and finite",
                       DomainError);
  CHECK_THROWS_WITH_AS(gp_matern32_cov(x, 1.0, VectorXd::Constant(1, -1.0)),
                       "gp_matern32_cov: length_scale[0] is -1, but must be positive and finite", DomainError);
  CHECK_THROWS_AS(gp_matern32_cov(x, 1.0, VectorXd::Ones(2)), ShapeError);
  CHECK_THROWS_AS(gp_exp_quad_cov(x, MatrixXd::Ones(2, 2), 1.0, 1.0), ShapeError);
  CHECK_THROWS_AS(gp_periodic_cov(x, 1.0, 1.0, infinity), DomainError);
  CHECK_THROWS_AS(gp_dot_prod_cov(VectorXd::Constant(1, infinity), 1.0), DomainError);
  MatrixXd points = MatrixXd::Ones(3, 2);
  points(1, 0) = infinity;
  CHECK_THROWS_WITH_AS(gp_exp_quad_cov(points, 1.0, 1.0), "gp_exp_quad_cov: x[1, 0] is inf, but must be finite", DomainError);
  CHECK(gp_periodic_cov(x, x, 1.0, 1e-200, 1.0)(0, 0) == 1);  // coincident points of two sets
}

}  // namespace test_kernels
