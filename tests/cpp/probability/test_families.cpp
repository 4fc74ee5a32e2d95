// Half-normal, half-Cauchy, inverse Gaussian, Skellam and generalized extreme distributions in C++: values against mpmath,
// second derivatives, and what the functions have in common.
#include <doctest/doctest.h>
#include <agrad/functionals/hessian.hpp>
#include <agrad/probability.hpp>
#include <agrad/random.hpp>
#include <cmath>
#include <random>

namespace test_families {

using namespace agrad;

namespace {
void check(double x, double exact) { CHECK(x == doctest::Approx(exact).epsilon(2e-14)); }
}  // namespace

TEST_CASE("values in both tails are those of mpmath") {
  check(half_normal_lccdf(30.0, 1.5), -203.22400819053732);
  check(half_normal_lcdf(1e-9, 1.5), -21.354522297699303);
  check(half_cauchy_lccdf(3e12, 1.5), -28.775751001777948);
  check(inv_gaussian_lccdf(60.0, 1.0, 50.0), -1458.7407080311829);
  check(inv_gaussian_lcdf(1e5, 1.0, 1e-6), -1.6482512694251614e-6);
  check(skellam_lpmf(424264, 1e12, 1e12), -15.126022666872868);
  check(skellam_lccdf(20897, 1e5, 9e4), -316.25545461423761);
}

TEST_CASE("quantiles invert the distribution functions") {
  for (const double p : {1e-300, 1e-3, 0.5, 0.999}) {
    check(half_normal_lcdf(half_normal_qf(p, 1.5), 1.5), std::log(p));
    check(half_cauchy_lccdf(half_cauchy_cqf(p, 1.5), 1.5), std::log(p));
    check(inv_gaussian_lcdf(inv_gaussian_qf(p, 1.5, 0.7), 1.5, 0.7), std::log(p));
    check(inv_gaussian_lccdf(inv_gaussian_cqf(p, 1.5, 0.7), 1.5, 0.7), std::log(p));
    check(generalized_pareto_lcdf(generalized_pareto_qf(p, 0.0, 1.5, 0.2), 0.0, 1.5, 0.2), std::log(p));
    check(generalized_extreme_value_lcdf(generalized_extreme_value_qf(p, 0.0, 1.5, -0.2), 0.0, 1.5, -0.2), std::log(p));
  }
}

TEST_CASE("second derivatives of variables") {
  const Eigen::Vector2d rates(3.0, 2.0);
  double value;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd bent;
  hessian([](const auto& x) { return skellam_lcdf(1, x[0], x[1]); }, rates, value, gradient, bent);
  const double mass = std::exp(skellam_lpmf(1, 3.0, 2.0) - value);
  check(gradient[0], -mass);
  check(gradient[1], std::exp(skellam_lpmf(2, 3.0, 2.0) - value));
  check(bent(0, 0), mass * (1 - std::exp(skellam_lpmf(0, 3.0, 2.0) - skellam_lpmf(1, 3.0, 2.0))) - mass * mass);
}

TEST_CASE("draws have the means") {
  std::mt19937_64 rng(3);
  const int n = 40000;
  double of_normal = 0, of_gaussian = 0, of_counts = 0;
  for (int i = 0; i < n; ++i) {
    of_normal += half_normal_rng(2.0, rng);
    of_gaussian += inv_gaussian_rng(2.0, 3.0, rng);
    of_counts += static_cast<double>(skellam_rng(5.0, 3.0, rng));
  }
  CHECK(of_normal / n == doctest::Approx(2 * std::sqrt(0.6366197723675814)).epsilon(0.03));
  CHECK(of_gaussian / n == doctest::Approx(2.0).epsilon(0.03));
  CHECK(of_counts / n == doctest::Approx(2.0).epsilon(0.05));
}

}  // namespace test_families
