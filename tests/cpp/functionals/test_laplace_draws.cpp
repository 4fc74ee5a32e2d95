// Draws of latent vectors: their moments for a normal likelihood, the same draws by other ways to the same mode, refusals.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/laplace_draws.hpp>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "repetitions.hpp"

namespace test_functionals_laplace_draws {

using agrad::promoted_t;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const std::vector<int> counts{1, 0, 3, 2, 4}, outcomes{1, 0, 1, 0, 0}, groups{0, 1, 2, 3, 3};
const VectorXd y = (VectorXd(4) << 0.3, -0.2, 0.9, 1.4).finished();

const auto kernel = [](double scale, double length) {
  return MatrixXd(MatrixXd::NullaryExpr(4, 4, [=](Index i, Index j) {
    const double d = 0.5 * static_cast<double>(i - j) / length;
    return scale * scale * std::exp(-0.5 * d * d) + (i == j ? 1e-3 : 0.0);
  }));
};
const auto scales = std::make_tuple(1.3, 0.7);
const auto normal = [](const auto& theta, const VectorXd& data, double sigma) {
  promoted_t<decltype(theta)> sum = 0.0;
  for (Index i = 0; i < data.size(); ++i) sum = sum - 0.5 * (theta[i] - data[i]) * (theta[i] - data[i]) / (sigma * sigma);
  return sum;
};

}  // namespace

TEST_CASE("draws given normal data have the moments of the exact distribution") {
  constexpr int n = repetitions(20000);
  std::mt19937_64 rng(5);
  VectorXd mean = VectorXd::Zero(4);
  MatrixXd square = MatrixXd::Zero(4, 4);
  for (int i = 0; i < n; ++i) {
    const VectorXd theta = agrad::laplace_latent_rng(normal, std::make_tuple(y, 0.5), 1, kernel, scales, rng);
    mean += theta / n;
    square += theta * theta.transpose() / n;
  }
  const MatrixXd prior = kernel(1.3, 0.7), exact = (prior.inverse() + 4 * MatrixXd::Identity(4, 4)).inverse();
  const VectorXd expected = exact * (4 * y);
  for (Index i = 0; i < 4; ++i) {
    CHECK(std::abs(mean[i] - expected[i]) < 4.5 * std::sqrt(exact(i, i) / n));
    for (Index j = 0; j < 4; ++j) {
      const double spread = std::sqrt((exact(i, i) * exact(j, j) + exact(i, j) * exact(i, j)) / n);
      CHECK(std::abs(square(i, j) - mean[i] * mean[j] - exact(i, j)) < 4.5 * spread);
    }
  }
}

TEST_CASE("tolerances, blocks and the general function lead to the same draws") {
  const auto drawn = [](const auto& draw) {
    std::mt19937_64 rng(1);
    return VectorXd(draw(rng));
  };
  const auto same = [&](const auto& one, const auto& two) { CHECK((drawn(one) - drawn(two)).norm() < 1e-9); };
  const agrad::laplace_options options(VectorXd::Ones(4), 1e-11, 100);
  same([](auto& rng) { return agrad::laplace_latent_rng(normal, std::make_tuple(y, 0.5), 1, kernel, scales, rng); },
       [&](auto& rng) {
         return agrad::laplace_latent_rng_tol(normal, std::make_tuple(y, 0.5), 4, kernel, scales, options, rng);
       });
  same([](auto& rng) { return agrad::laplace_latent_poisson_log_rng(counts, groups, 0.1, 1, kernel, scales, rng); },
       [&](auto& rng) {
         return agrad::laplace_latent_tol_poisson_log_rng(counts, groups, 0.1, 1, kernel, scales, options, rng);
       });
  same([](auto& rng) { return agrad::laplace_latent_bernoulli_logit_rng(outcomes, groups, 0.1, 1, kernel, scales, rng); },
       [&](auto& rng) {
         return agrad::laplace_latent_tol_bernoulli_logit_rng(outcomes, groups, 0.1, 1, kernel, scales, options, rng);
       });
  same([](auto& rng) { return agrad::laplace_latent_neg_binomial_2_log_rng(counts, groups, 2, 0.1, 1, kernel, scales, rng); },
       [&](auto& rng) {
         return agrad::laplace_latent_tol_neg_binomial_2_log_rng(counts, groups, 2, 0.1, 1, kernel, scales, options, rng);
       });
  const auto mass = [](const auto& theta, double phi) {
    promoted_t<decltype(theta)> sum = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      sum = sum + agrad::neg_binomial_2_log_lpmf(counts[i], promoted_t<decltype(theta)>(theta[groups[i]] + 0.1), phi);
    return sum;
  };
  same([](auto& rng) { return agrad::laplace_latent_neg_binomial_2_log_rng(counts, groups, 2, 0.1, 1, kernel, scales, rng); },
       [&](auto& rng) { return agrad::laplace_latent_rng(mass, std::make_tuple(2.0), 1, kernel, scales, rng); });
}

TEST_CASE("draws given counts have the mode as mean and the curvature there as precision; negative counts are refused") {
  constexpr int n = repetitions(20000);
  const VectorXd sums = (VectorXd(4) << 1, 0, 3, 6).finished(), numbers = (VectorXd(4) << 1, 1, 1, 2).finished();
  const MatrixXd prior = kernel(1.3, 0.7), one = MatrixXd::Identity(4, 4);
  VectorXd mode = VectorXd::Zero(4);
  MatrixXd covariance;
  for (int i = 0; i < 50; ++i) {  // Newton's method for theta = K slope(theta)
    const VectorXd w = numbers.cwiseProduct((mode.array() + 0.1).exp().matrix());
    covariance = (prior.inverse() + MatrixXd(w.asDiagonal())).inverse();
    mode -= (one + prior * w.asDiagonal()).partialPivLu().solve(mode - prior * (sums - w));
  }
  std::mt19937_64 rng(3);
  VectorXd mean = VectorXd::Zero(4), square = mean;
  for (int i = 0; i < n; ++i) {
    const VectorXd theta = agrad::laplace_latent_poisson_log_rng(counts, groups, 0.1, 1, kernel, scales, rng);
    mean += theta / n;
    square += (theta - mode).cwiseAbs2() / n;
  }
  for (Index i = 0; i < 4; ++i) {
    CHECK(std::abs(mean[i] - mode[i]) < 4.5 * std::sqrt(covariance(i, i) / n));
    CHECK(std::abs(square[i] / covariance(i, i) - 1) < 4.5 * std::sqrt(2.0 / n));
  }
  const std::vector<int> negative{-1}, first{0};
  CHECK_THROWS_AS(agrad::laplace_latent_poisson_log_rng(negative, first, 0.1, 1, kernel, scales, rng), agrad::DomainError);
}

}  // namespace test_functionals_laplace_draws
