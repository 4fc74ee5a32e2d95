// Laplace's approximation for counts: a closed form, the values of Python and of mpmath, the general function, ends, refusals.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/laplace_counts.hpp>
#include <agrad/rules/lists/special.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

namespace test_functionals_laplace_counts {

using agrad::matrix_of;
using agrad::promoted_t;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const std::vector<int> counts{1, 0, 3, 2, 4}, outcomes{1, 0, 1, 0, 0}, groups{0, 1, 2, 3, 3};
const VectorXd point = (VectorXd(4) << 1.3, 0.7, 0.5, 2.0).finished();

const auto kernel = [](const auto& scale, const auto& length) {
  using T = promoted_t<decltype(scale), decltype(length)>;
  matrix_of<T> k(4, 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) {
      const double d = 0.5 * static_cast<double>(i - j);
      k(i, j) = scale * scale * exp(-0.5 * d * d / (length * length)) + (i == j ? 1e-3 : 0.0);
    }
  return k;
};

/// Checks value, gradient and Hessian, whose lower triangle is given by rows.
template <class F>
void check_derivatives(const F& f, double expected, const std::vector<double>& slopes, const std::vector<double>& triangle) {
  double value = 0;
  VectorXd g;
  MatrixXd h;
  const Eigen::Map<const VectorXd> exact(slopes.data(), 4);
  CHECK(f(point) == Approx(expected).epsilon(1e-13));
  agrad::gradient(f, point, value, g);
  CHECK(value == Approx(expected).epsilon(1e-13));
  CHECK((g - exact).cwiseAbs().maxCoeff() < 1e-12);
  agrad::hessian(f, point, value, g, h);
  CHECK((g - exact).cwiseAbs().maxCoeff() < 1e-12);
  double largest = 0;
  for (Index i = 0, k = 0; i < 4; ++i)
    for (Index j = 0; j <= i; ++j, ++k) largest = std::max(largest, std::abs(h(i, j) - triangle[static_cast<std::size_t>(k)]));
  CHECK(largest < 1e-11);
}

}  // namespace

TEST_CASE("the values of Python, and of mpmath with 50 digits and differences") {
  const auto poisson = [](const auto& p) {
    return agrad::laplace_marginal_poisson_log_lpmf(counts, groups, p[2], 1, kernel, std::make_tuple(p[0], p[1]));
  };
  check_derivatives(poisson, -9.6596870727148596, {-1.1182418499596725, 0.13642108324675923, -0.14232259920259101, 0},
                    {0.042159049279020573, 0.6795619387498103, -0.22388665113263455, 0.0024358980211494444, 0.31309651944379714,
                     -0.86429505281098514, 0, 0, 0, 0});
  const auto bernoulli = [](const auto& p) {
    return agrad::laplace_marginal_bernoulli_logit_lpmf(outcomes, groups, p[2], 1, kernel, std::make_tuple(p[0], p[1]));
  };
  check_derivatives(bernoulli, -4.039554207975662, {-0.35228713136326053, 0.093685480598715815, -0.45282467623170844, 0},
                    {-0.23073152990721184, 0.13675512162647363, 0.44765394988012927, 0.38947787907435631, 0.1674124665925186,
                     -0.48154082726270856, 0, 0, 0, 0});
  const auto negative_binomial = [](const auto& p) {
    return agrad::laplace_marginal_neg_binomial_2_log_lpmf(counts, groups, p[3], p[2], 1, kernel, std::make_tuple(p[0], p[1]));
  };
  check_derivatives(
      negative_binomial, -10.109709219726077,
      {-1.0178462972519935, 0.15288291864071809, -0.027096786738997964, 0.21447248367544749},
      {0.01291330102189208, 0.60707734522669515, -0.45865594407109773, -0.087799110271121723, 0.19493462667129018,
       -0.77431819287702089, -0.039885994118555425, 0.0091888316678671907, -0.044568510111831287, -0.19901223518240333});
}

TEST_CASE("one group of Poisson counts in closed form, to the third order") {
  const std::vector<int> y{2, 0, 5}, group{0, 0, 0};
  const auto given = [&](const auto& p) {
    const auto variance = [](const auto& s) {
      using T = std::decay_t<decltype(s)>;
      return matrix_of<T>(matrix_of<T>::Constant(1, 1, s));
    };
    return agrad::laplace_marginal_poisson_log_lpmf(y, group, p[1], 1, variance, std::make_tuple(p[0]));
  };
  const auto exact = [](const auto& p) {  // the mode is v s - W(3 v exp(m + v s)), with the sum s of 7 and the variance v
    using T = promoted_t<decltype(p)>;
    const T w = agrad::lambert_w0(T(3 * p[0] * exp(p[1] + 7 * p[0]))), theta = 7 * p[0] - w;
    return T(7 * (theta + p[1]) - 3 * exp(theta + p[1]) - std::log(2.0 * 120.0) - 0.5 * theta * theta / p[0] - 0.5 * log1p(w));
  };
  const VectorXd at = (VectorXd(2) << 0.8, 0.3).finished();
  double value = 0, expected = 0;
  MatrixXd h, exact_h;
  std::vector<MatrixXd> third, exact_third;
  agrad::grad_hessian(given, at, value, h, third);
  agrad::grad_hessian(exact, at, expected, exact_h, exact_third);
  CHECK(value == Approx(expected).epsilon(1e-14));
  CHECK((h - exact_h).norm() < 1e-12);
  for (std::size_t k = 0; k < 2; ++k) CHECK((third[k] - exact_third[k]).norm() < 1e-11);
}

TEST_CASE("a location for each group; the general function says the same") {
  const auto mass = [](const auto& theta, const auto& location, const auto& phi) {
    using T = promoted_t<decltype(theta), decltype(location), decltype(phi)>;
    T sum = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      sum = sum + agrad::neg_binomial_2_log_lpmf(counts[i], T(theta[groups[i]] + location[groups[i]]), phi);
    return sum;
  };
  const auto special = [](const auto& p) {
    return agrad::laplace_marginal_neg_binomial_2_log_lpmf(counts, groups, p[5], p.head(4), 1, kernel,
                                                           std::make_tuple(1.3, p[4]));
  };
  const auto general = [&](const auto& p) {
    return agrad::laplace_marginal(mass, std::make_tuple(p.head(4).eval(), p[5]), 1, kernel, std::make_tuple(1.3, p[4]));
  };
  const VectorXd at = (VectorXd(6) << 0.1, -0.3, 0.4, 1.1, 0.7, 2.5).finished();
  double value = 0, expected = 0;
  VectorXd g, general_g;
  agrad::gradient(special, at, value, g);
  agrad::gradient(general, at, expected, general_g);
  CHECK(value == Approx(expected).epsilon(1e-13));
  CHECK((g - general_g).norm() < 1e-12);
}

TEST_CASE("variances of any size: value and slope to all digits") {
  const std::vector<int> y{2, 0, 5}, group{0, 0, 0};
  const auto f = [&](const auto& p) {
    const auto variance = [](const auto& s) { return matrix_of<std::decay_t<decltype(s)>>::Constant(1, 1, s).eval(); };
    return agrad::laplace_marginal_poisson_log_lpmf(y, group, 0.3, 1, variance, std::make_tuple(p[0]));
  };
  for (const double v : {1e-300, 1e-30, 1e-9, 1e-3, 1e3, 1e9, 1e12, 1e18, 1e30, 1e300}) {
    double theta = v < 1 ? 0 : std::log(7 / 3.0) - 0.3;  // theta = v (7 - 3 exp(theta + 0.3)), whichever way contracts
    for (int i = 0; i < 100; ++i) theta = v < 1 ? v * (7 - 3 * std::exp(theta + 0.3)) : std::log((7 - theta / v) / 3) - 0.3;
    const double rate = 3 * std::exp(theta + 0.3), w = v * rate, by_theta = (7 - rate) / (1 + w);
    const double value = 7 * (theta + 0.3) - rate - std::log(240.0) - 0.5 * (theta / v) * theta - 0.5 * std::log1p(w);
    const double slope = 0.5 * (theta / v) * (theta / v) - 0.5 * rate / (1 + w) - 0.5 * w / (1 + w) * by_theta;
    double given = 0;
    VectorXd g;
    agrad::gradient(f, VectorXd::Constant(1, v), given, g);
    CHECK(given == Approx(value).epsilon(1e-14));
    CHECK(g[0] / slope == Approx(1).epsilon(1e-13));
  }
}

TEST_CASE("ends: no observations, many observations, locations far away") {
  const auto scales = std::make_tuple(1.3, 0.7);
  const std::vector<int> none;
  CHECK(agrad::laplace_marginal_poisson_log_lpmf(none, none, 0.3, 1, kernel, scales) == 0);
  const std::vector<int> large{1000000, 2000000}, first{0, 1};
  for (const double m : {0.0, 14.0, -300.0}) {
    const double value = agrad::laplace_marginal_poisson_log_lpmf(large, first, m, 1, kernel, scales);
    CHECK(std::isfinite(value));
    CHECK(value < 0);
  }
  const std::vector<int> ones{1, 1, 1, 1}, each{0, 1, 2, 3};
  CHECK(agrad::laplace_marginal_bernoulli_logit_lpmf(ones, each, 800.0, 1, kernel, scales) == Approx(0));
  const double poisson = agrad::laplace_marginal_poisson_log_lpmf(counts, groups, 0.5, 1, kernel, scales);
  CHECK(agrad::laplace_marginal_neg_binomial_2_log_lpmf(counts, groups, 1e12, 0.5, 1, kernel, scales) ==
        Approx(poisson).epsilon(1e-10));
}

TEST_CASE("tolerances, and what is refused") {
  const auto scales = std::make_tuple(1.3, 0.7);
  const agrad::laplace_options options(VectorXd::Ones(4), 1e-11, 100);
  CHECK(agrad::laplace_marginal_tol_poisson_log_lpmf(counts, groups, 0.1, 1, kernel, scales, options) ==
        Approx(agrad::laplace_marginal_poisson_log_lpmf(counts, groups, 0.1, 1, kernel, scales)).epsilon(1e-13));
  CHECK(agrad::laplace_marginal_tol_bernoulli_logit_lpmf(outcomes, groups, 0.1, 1, kernel, scales, options) ==
        Approx(agrad::laplace_marginal_bernoulli_logit_lpmf(outcomes, groups, 0.1, 2, kernel, scales)).epsilon(1e-13));
  CHECK(agrad::laplace_marginal_tol_neg_binomial_2_log_lpmf(counts, groups, 2, 0.1, 1, kernel, scales, options) ==
        Approx(agrad::laplace_marginal_neg_binomial_2_log_lpmf(counts, groups, 2, 0.1, 1, kernel, scales)).epsilon(1e-13));
  const auto message = [&](const std::vector<int>& y, const std::vector<int>& group, const VectorXd& m) {
    try {
      agrad::laplace_marginal_poisson_log_lpmf(y, group, m, 1, kernel, scales);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const VectorXd zeros = VectorXd::Zero(4);
  const std::string start = "laplace_marginal_poisson_log_lpmf: ";
  CHECK(message({1, -2}, {0, 1}, zeros).find(start + "y[1] is -2") == 0);
  CHECK(message({1, 2}, {0, -1}, zeros).find(start + "y_index[1] is -1") == 0);
  CHECK(message({1, 2}, {0, 4}, zeros).find(start + "y_index[1] is 4, but must be less than 4") == 0);
  CHECK(message({1, 2}, {0}, zeros).find(start + "y_index is of length 1, but must be of length 2") == 0);
  CHECK(message({1, 2}, {0, 1}, VectorXd::Zero(3)).find(start + "m is of length 3, but must be of length 4") == 0);
  CHECK(message({1, 2}, {0, 1}, VectorXd::Constant(4, NAN)) != "");
  CHECK_THROWS_AS(agrad::laplace_marginal_bernoulli_logit_lpmf(counts, groups, 0.1, 1, kernel, scales), agrad::DomainError);
  CHECK_THROWS_AS(agrad::laplace_marginal_neg_binomial_2_log_lpmf(counts, groups, -1, 0.1, 1, kernel, scales),
                  agrad::DomainError);
}

}  // namespace test_functionals_laplace_counts
