// Draws of vectors, matrices and categories: projections and marginals whose distributions are known, with fixed seeds.
#include <doctest/doctest.h>

#include <agrad/random.hpp>  // first, so that its names do not hide those of the densities

#include <agrad/families/bounded/beta.hpp>
#include <agrad/families/line/normal.hpp>
#include <agrad/families/line/student_t.hpp>
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/families/positive/chi_square.hpp>
#include <algorithm>
#include <random>
#include <vector>

namespace test_random_vectors {

using namespace agrad;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr int draws = 2000;

/// sqrt(n) times the largest difference to a distribution function, which is below 2.2 but for one in 8000 seeds.
template <class Cdf>
double distance(std::vector<double> y, const Cdf& cdf) {
  std::sort(y.begin(), y.end());
  double largest = 0;
  const double n = static_cast<double>(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double p = cdf(y[i]);
    largest = std::max({largest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

template <class Draw, class Cdf>
void check_draws(const Draw& draw, const Cdf& cdf) {
  std::vector<double> y;
  for (int i = 0; i < draws; ++i) y.push_back(draw());
  CHECK(distance(y, cdf) < 2.2);
}

/// Checks that categories occur as often as their probabilities say, to 4.5 standard deviations.
template <class Draw>
void check_categories(const Draw& draw, const VectorXd& p) {
  VectorXd numbers = VectorXd::Zero(p.size());
  for (int i = 0; i < draws; ++i) {
    const auto k = draw();
    REQUIRE(k >= 0);
    REQUIRE(k < p.size());
    numbers[k] += 1;
  }
  for (Eigen::Index k = 0; k < p.size(); ++k)
    CHECK(std::abs(numbers[k] - draws * p[k]) <= 4.5 * std::sqrt(draws * p[k] * (1 - p[k])));
}

const MatrixXd factor = (MatrixXd(3, 3) << 1, 0, 0, 0.8, 0.5, 0, -0.3, 2, 1.5).finished();
const MatrixXd scale = factor * factor.transpose();
const Vector3d mu(1, -2, 0.5), along(1, -0.4, 0.7);
const double variance = along.dot(scale * along);

bool is_factor(const MatrixXd& l) { return l.isLowerTriangular(0.0) && (l.diagonal().array() > 0).all(); }

}  // namespace

TEST_CASE("vectors have normal and Student's projections") {
  std::mt19937_64 rng(1);
  const auto normal = [](double z) { return std_normal_cdf(z); };
  const auto student = [](double z) { return student_t_cdf(z, 0.7, 0.0, 1.0); };
  const auto projected = [](const VectorXd& y) { return along.dot(y - mu) / std::sqrt(variance); };
  check_draws([&] { return projected(multi_normal_rng(mu, scale, rng)); }, normal);
  check_draws([&] { return projected(multi_normal_cholesky_rng(mu, factor, rng)); }, normal);
  check_draws([&] { return projected(multi_student_t_rng(0.7, mu, scale, rng)); }, student);
  check_draws([&] { return projected(multi_student_t_cholesky_rng(0.7, mu, factor, rng)); }, student);
  check_draws([&] { return (multi_normal_rng(mu, scale, rng)[2] - mu[2]) / std::sqrt(scale(2, 2)); }, normal);
  const std::vector<VectorXd> several{mu, 2 * mu};
  CHECK(multi_normal_rng(several, scale, rng).size() == 2);
  CHECK(multi_normal_rng(std::vector<double>{1.0, 2.0, 3.0}, scale, rng).size() == 3);
}

TEST_CASE("Wishart matrices and their inverses have chi-square projections") {
  std::mt19937_64 rng(1);
  for (const double nu : {2.1, 7.0}) {
    const auto full = [&](double x) { return chi_square_cdf(x, nu); };
    const auto less = [&](double x) { return chi_square_cdf(x, nu - 2); };
    check_draws([&] { return along.dot(wishart_rng(nu, scale, rng) * along) / variance; }, full);
    check_draws([&] { return variance / along.dot(inv_wishart_rng(nu, scale, rng) * along); }, less);
    check_draws([&] { return scale(2, 2) / inv_wishart_rng(nu, scale, rng)(2, 2); }, less);
    check_draws(
        [&] {
          const MatrixXd l = wishart_cholesky_rng(nu, factor, rng);
          REQUIRE(is_factor(l));
          return l.row(2).squaredNorm() / scale(2, 2);
        },
        full);
    check_draws(
        [&] {
          const MatrixXd l = inv_wishart_cholesky_rng(nu, factor, rng);
          REQUIRE(is_factor(l));
          return variance / along.dot(l * (l.transpose() * along));
        },
        less);
    check_draws([&] { return std::pow(wishart_cholesky_rng(nu, factor, rng)(2, 2) / factor(2, 2), 2); }, less);
    check_draws([&] { return std::pow(factor(0, 0) / inv_wishart_cholesky_rng(nu, factor, rng)(0, 0), 2); }, less);
  }
  const MatrixXd w = wishart_rng(4.0, scale, rng);
  CHECK(w == w.transpose());
}

TEST_CASE("correlations are beta distributed") {
  std::mt19937_64 rng(1);
  for (const double eta : {0.3, 2.0}) {
    const auto cdf = [&](double x) { return beta_cdf(x, eta + 1, eta + 1); };
    for (Eigen::Index i = 1; i < 4; ++i) {
      check_draws([&] { return (1 + lkj_corr_rng(4, eta, rng)(i, 0)) / 2; }, cdf);
      check_draws([&] { return (1 + lkj_corr_rng(4, eta, rng)(3, i - 1)) / 2; }, cdf);
    }
    const MatrixXd l = lkj_corr_cholesky_rng(4, eta, rng);
    CHECK(is_factor(l));
    const MatrixXd r = l * l.transpose();
    CHECK(r.diagonal().isOnes(1e-14));
  }
  CHECK(lkj_corr_rng(1, 1.0, rng) == MatrixXd::Ones(1, 1));
}

TEST_CASE("categories count from 0 and occur with their probabilities") {
  std::mt19937_64 rng(1);
  const Eigen::Vector4d theta(0.2, 0, 0.5, 0.3);
  check_categories([&] { return categorical_rng(theta, rng); }, theta);
  check_categories([&] { return categorical_rng(std::vector<double>{0.2, 0, 0.5, 0.3}, rng); }, theta);
  const Eigen::Vector3d odds(700, 701, 699.5), shifted = (odds.array() - 701).exp();
  check_categories([&] { return categorical_logit_rng(odds, rng); }, shifted / shifted.sum());
  const std::vector<double> c{-1.0, 0.2};
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto three = [](double a, double b) { return Vector3d(a, b - a, 1 - b); };
  check_categories([&] { return ordered_logistic_rng(0.4, c, rng); }, three(logistic(-1.4), logistic(-0.2)));
  check_categories([&] { return ordered_probit_rng(0.4, c, rng); }, three(std_normal_cdf(-1.4), std_normal_cdf(-0.2)));
  const MatrixXd x = Eigen::Matrix2d::Identity();
  const double p = logistic(0.6);
  for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) {
    check_categories([&] { return bernoulli_logit_glm_rng(x, 0.1, Eigen::Vector2d(0.5, 0.5), rng)[row]; },
                     Eigen::Vector2d(1 - p, p));
    check_categories([&] { return bernoulli_logit_glm_rng(x, Eigen::Vector2d(0.1, 0.1), Eigen::Vector2d(0.5, 0.5), rng)[row]; },
                     Eigen::Vector2d(1 - p, p));
  }
}

TEST_CASE("simplexes and numbers of categories have their marginals") {
  std::mt19937_64 rng(1);
  const std::vector<double> alpha{2.0, 0.3, 5.0};
  check_draws([&] { return dirichlet_rng(alpha, rng)[1]; }, [](double y) { return beta_cdf(y, 0.3, 7.0); });
  check_draws([&] { return dirichlet_rng(alpha, rng)[2]; }, [](double y) { return beta_cdf(y, 5.0, 2.3); });
  const Vector3d theta(0.2, 0.5, 0.3), odds = theta.array().log() + 800;
  const auto in_one_trial = [&](const auto& numbers) {
    CHECK(numbers[0] + numbers[1] + numbers[2] == 1);
    return numbers[1] + 2 * numbers[2];
  };
  check_categories([&] { return in_one_trial(multinomial_rng(theta, 1, rng)); }, theta);
  check_categories([&] { return in_one_trial(multinomial_logit_rng(odds, 1, rng)); }, theta);
  check_categories([&] { return in_one_trial(dirichlet_multinomial_rng(alpha, 1, rng)); }, Vector3d(2, 0.3, 5) / 7.3);
  const auto many = multinomial_rng(theta, (std::int64_t{1} << 53) - 1, rng);
  CHECK(many[0] + many[1] + many[2] == (std::int64_t{1} << 53) - 1);
  CHECK(static_cast<double>(many[1]) * 0x1p-53 == doctest::Approx(0.5).epsilon(1e-7));
  double product = 0;  // of the numbers of two categories, in 12 trials
  for (int i = 0; i < draws; ++i) {
    const auto n = multinomial_rng(theta, 12, rng);
    product += static_cast<double>(n[0] * n[1]) / draws;
  }
  CHECK(std::abs(product - 132 * 0.2 * 0.5) < 4.5 * 8 / std::sqrt(draws));
}

TEST_CASE("vectors and matrices are checked") {
  std::mt19937_64 rng(1);
  MatrixXd bad = scale;
  bad(2, 1) += 1;
  CHECK_THROWS_WITH_AS(
      multi_normal_rng(mu, bad, rng),
      "multi_normal_rng: Sigma[2, 1] is 1.76, but must be equal to Sigma[1, 2], which is 0.76; the matrix must be symmetric",
      DomainError);
  CHECK_THROWS_WITH_AS(wishart_rng(3.0, (Eigen::Matrix2d() << 1, 2, 2, 1).finished(), rng),
                       "wishart_rng: Sigma is not positive definite, but must be positive definite; the pivot of row 1 is -3",
                       DomainError);
  CHECK_THROWS_WITH_AS(multi_normal_cholesky_rng(mu, scale, rng),
                       "multi_normal_cholesky_rng: L[0, 1] is 0.8, but must be 0; a Cholesky factor is lower triangular",
                       DomainError);
  CHECK_THROWS_AS(multi_normal_rng(Eigen::Vector2d(1, 2), scale, rng), ShapeError);
  CHECK_THROWS_AS(wishart_rng(3.0, MatrixXd(2, 3), rng), ShapeError);
  CHECK_THROWS_WITH_AS(inv_wishart_rng(2.0, scale, rng),
                       "inv_wishart_rng: nu is 2, but must be greater than 2; the number of rows of the matrices less 1",
                       DomainError);
  CHECK_THROWS_WITH_AS(lkj_corr_rng(0, 1.0, rng), "lkj_corr_rng: K is 0, but must be a whole number, positive", DomainError);
  CHECK_THROWS_WITH_AS(categorical_rng(Eigen::Vector2d(0.5, 0.25), rng),
                       "categorical_rng: theta is of sum 0.75, but must be a simplex; its entries are nonnegative and sum to 1",
                       DomainError);
  CHECK_THROWS_AS(categorical_rng(Eigen::Vector2d(1.5, -0.5), rng), DomainError);
  CHECK_THROWS_WITH_AS(ordered_probit_rng(0.0, Eigen::Vector2d(1, 1), rng),
                       "ordered_probit_rng: c[1] is 1, but must be greater than c[0], which is 1", DomainError);
  CHECK_THROWS_AS(multinomial_rng(Eigen::Vector2d(0.5, 0.5), -1, rng), DomainError);
  CHECK_THROWS_AS(multinomial_rng(Eigen::Vector2d(0.5, 0.5), (std::int64_t{1} << 53) + 1, rng), DomainError);
  CHECK_THROWS_AS(dirichlet_rng(std::vector<double>{}, rng), ShapeError);
  CHECK_THROWS_AS(bernoulli_logit_glm_rng(scale, 0.0, Eigen::Vector2d(1, 2), rng), ShapeError);
}

}  // namespace test_random_vectors
