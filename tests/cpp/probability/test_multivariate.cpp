// Every multivariate rule on duals of variables: gradients and tangents agree along a direction.
// (Python compares recordings of every rule with SciPy, in value and derivatives to second order.)
#include <doctest/doctest.h>
#include <Eigen/LU>
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/tape/scope.hpp>
#include <string>
#include <vector>

namespace test_multivariate {

using namespace agrad;
using Eigen::MatrixXd;

namespace {

constexpr Eigen::Index size_of(char letter) {
  return letter == '1' ? 1 : letter == 'n' || letter == 'd' || letter == 't' ? 2 : 3;
}

/// A value that meets the argument's condition.
MatrixXd value_for(const matrix_argument& argument) {
  const Eigen::Index n = size_of(argument.rows), m = size_of(argument.cols);
  MatrixXd x(n, m);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < m; ++j) x(i, j) = 0.2 + 0.1 * static_cast<double>((3 * i + 5 * j) % 7) + (j > 1 ? 0.3 : 0.0);
  if (!argument.must.each.holds(x.maxCoeff())) x *= 0.5;
  if (argument.must.each.name == must_be::nonnegative_finite.name) x *= 0.1;  // before the first passage begins
  const MatrixXd lower = MatrixXd(x.triangularView<Eigen::Lower>()) + MatrixXd::Identity(n, m);
  const MatrixXd unit = lower.rowwise().normalized();
  const auto is = [&](const matrix_condition& other) { return argument.must.whole == other.whole; };
  if (argument.must.each.whole) return (10 * x.array()).floor().min(argument.must.whole == nullptr ? 10.0 : 2.0);
  if (argument.must.whole == nullptr || is(must_be::log_odds)) return x;
  if (is(must_be::cholesky_factor)) return lower;
  if (is(must_be::correlation_factor)) return unit;
  if (is(must_be::correlation_matrix)) return unit * unit.transpose();
  if (is(must_be::simplex)) return x.array().colwise() / x.rowwise().sum().array();
  if (is(must_be::degrees)) return MatrixXd::Constant(1, 1, 4.5);
  if (is(must_be::ordered)) {
    for (Eigen::Index j = 0; j < m; ++j) x.col(j).array() += static_cast<double>(j);
    return x;
  }
  return lower * lower.transpose();
}

/// Rules of Cholesky factors share their formulas with others; they are computed on duals of numbers alone, which compiles
/// quicker, and compared with differences along a direction that keeps the arguments valid.
template <class Rule, std::size_t... K>
void check_factors(std::index_sequence<K...>) {
  CAPTURE(Rule::name);
  const auto along = [&](double t) {
    const auto moved = [&](const matrix_argument& argument) {
      const MatrixXd x = value_for(argument);
      const bool moves = argument.must.whole != must_be::correlation_factor.whole;
      matrix_of<dual<double>> m(x.rows(), x.cols());
      for (Eigen::Index j = 0; j < x.cols(); ++j)
        for (Eigen::Index i = 0; i < x.rows(); ++i) {
          const double slope = moves && x(i, j) != 0 ? 0.1 + 0.05 * static_cast<double>((i + 2 * j) % 3) : 0.0;
          m(i, j) = dual<double>(x(i, j) + t * slope, {slope});
        }
      return m;
    };
    return apply_multivariate<Rule>(moved(Rule::arguments[K])...);
  };
  const double difference = (along(1e-5).value - along(-1e-5).value) / 2e-5;
  CHECK(along(0).tangent[0] == doctest::Approx(difference).epsilon(1e-7));
}

template <class Rule, std::size_t... K>
void check_engines(std::index_sequence<K...>) {
  CAPTURE(Rule::name);
  const std::vector<MatrixXd> x{value_for(Rule::arguments[K])...};
  const scope own;
  std::vector<MatrixXd> direction;
  std::vector<matrix_of<dual<var>>> moved;
  for (const MatrixXd& each : x) {
    direction.push_back(MatrixXd::Constant(each.rows(), each.cols(), 0.3));
    for (Eigen::Index i = 0; i < each.size(); ++i) direction.back().data()[i] += 0.1 * static_cast<double>(i % 3);
    moved.emplace_back(each.rows(), each.cols());
    for (Eigen::Index i = 0; i < each.size(); ++i)
      moved.back().data()[i] = dual<var>(var(each.data()[i]), {var(direction.back().data()[i])});
  }
  const dual<var> y = apply_multivariate<Rule>(moved[K]...);
  CHECK(std::isfinite(y.value.val()));
  y.value.grad();
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    for (Eigen::Index i = 0; i < x[k].size(); ++i) sum += moved[k].data()[i].value.adj() * direction[k].data()[i];
  CHECK(sum == doctest::Approx(y.tangent[0].val()).epsilon(1e-10));
  for (std::size_t k = 0; k < x.size(); ++k)
    if (Rule::arguments[k].must.each.whole) CHECK(moved[k](0, 0).value.adj() == 0);
}

MatrixXd covariance() {
  MatrixXd s(2, 2);
  s << 2, 0.5, 0.5, 1;
  return s;
}

}  // namespace

TEST_CASE("tangents are gradients along a direction") {
  for_each(rules::multivariate{}, [](auto tag) {
    using Rule = typename decltype(tag)::type;
    constexpr std::make_index_sequence<std::size_t{Rule::arity}> places{};
    if constexpr (Rule::name.find("cholesky") != std::string_view::npos)
      check_factors<Rule>(places);
    else
      check_engines<Rule>(places);
  });
}

TEST_CASE("the gradient of a normal density has its closed form, with numbers beside variables") {
  const scope own;
  const Eigen::Vector2d y(1, 2), mu(0.3, -1);
  const matrix_of<var> s = covariance().cast<var>();
  const Eigen::Matrix<var, 2, 1> m = mu.cast<var>();
  const var f = multi_normal_lpdf(y, m, s);
  f.grad();
  const Eigen::Vector2d z = covariance().inverse() * (y - mu);
  const MatrixXd of_s = 0.5 * (z * z.transpose() - covariance().inverse());
  for (Eigen::Index i = 0; i < 2; ++i) {
    CHECK(m[i].adj() == doctest::Approx(z[i]).epsilon(1e-14));
    for (Eigen::Index j = 0; j < 2; ++j) CHECK(s(i, j).adj() == doctest::Approx(of_s(i, j)).epsilon(1e-14));
  }
  CHECK(multi_normal_lpdf(y, mu, covariance()) == doctest::Approx(f.val()).epsilon(1e-15));
  CHECK(multi_normal_lpdf<true>(y, mu, covariance()) == 0);
}

TEST_CASE("the derivative of first passages up to a time is their density, in value and by every argument") {
  using twice = dual<dual<double>, 5>;
  const double x[] = {0.9, 1.5, 0.3, 0.7, -0.6};
  for (const double y : {0.4, 0.7, 2.9}) {
    std::vector<twice> at;
    for (std::size_t k = 0; k < 5; ++k) at.push_back(dual<double>(k == 0 ? y : x[k], {k == 0 ? 1.0 : 0.0}));
    for (std::size_t k = 0; k < 5; ++k) at[k].tangent[k] = 1.0;
    const auto log_slope = [&](const twice& tail, double sign) {
      std::array<double, 6> found;
      found[5] = tail.value.value + std::log(sign * tail.value.tangent[0]);
      for (std::size_t k = 0; k < 5; ++k) found[k] = tail.tangent[k].value + tail.tangent[k].tangent[0] / tail.value.tangent[0];
      return found;
    };
    const auto before = log_slope(wiener_lcdf_unnorm(at[0], at[1], at[2], at[3], at[4]), 1);
    const auto after = log_slope(wiener_lccdf_unnorm(at[0], at[1], at[2], at[3], at[4]), -1);
    const twice density = wiener_lpdf(at[0], at[1], at[2], at[3], at[4]);
    for (std::size_t k = 0; k < 6; ++k) {
      const double expected = k == 5 ? density.value.value : density.tangent[k].value;
      CHECK(before[k] == doctest::Approx(expected).epsilon(1e-11));
      CHECK(after[k] == doctest::Approx(expected).epsilon(1e-11));
    }
  }
  CHECK(wiener_lcdf_unnorm(0.2, 1.5, 0.3, 0.7, -0.6) == -infinity);
  CHECK(wiener_lccdf_unnorm(0.2, 1.5, 0.3, 0.25, 0.0) == doctest::Approx(std::log(0.25)).epsilon(1e-15));
}

TEST_CASE("a matrix<var> and sequences are arguments, and second derivatives pass through duals of variables") {
  const scope own;
  const matrix<var> beta(Eigen::Vector3d(0.1, -0.4, 0.9));
  const std::vector<int> outcomes{0, 2, 2};
  const var f = categorical_logit_lpmf(outcomes, beta);
  f.grad();
  const Eigen::Array3d p = Eigen::Array3d(0.1, -0.4, 0.9).exp() / Eigen::Array3d(0.1, -0.4, 0.9).exp().sum();
  for (Eigen::Index i = 0; i < 3; ++i)
    CHECK(beta.adj()(i, 0) == doctest::Approx((i == 0 ? 1 : i == 2 ? 2 : 0) - 3 * p[i]).epsilon(1e-14));

  const var nu = 4.5;
  const dual<var> moved(nu, {var(1.0)});
  const dual<var> g = multi_student_t_lpdf(Eigen::Vector2d(1, 2), moved, Eigen::Vector2d(0, 0), covariance());
  g.tangent[0].grad();
  const auto slope = [&](double at) {
    return multi_student_t_lpdf(Eigen::Vector2d(1, 2), dual<double>(at, {1.0}), Eigen::Vector2d(0, 0), covariance()).tangent[0];
  };
  CHECK(nu.adj() == doctest::Approx((slope(4.501) - slope(4.499)) / 0.002).epsilon(1e-6));
}

TEST_CASE("messages name the function, the argument and the entry") {
  const Eigen::Vector2d y(1, 2), mu(0, 0);
  MatrixXd s = covariance();
  s(1, 0) = 0.4;
  CHECK_THROWS_WITH_AS(
      multi_normal_lpdf(y, mu, s),
      "multi_normal_lpdf: Sigma[1, 0] is 0.4, but must be equal to Sigma[0, 1], which is 0.5; the matrix must be"
      " symmetric",
      DomainError);
  s = -covariance();
  CHECK_THROWS_WITH_AS(
      multi_normal_lpdf(y, mu, s),
      "multi_normal_lpdf: Sigma is not positive definite, but must be positive definite; the pivot of row 0 is -2",
      DomainError);
  CHECK_THROWS_WITH_AS(multi_normal_lpdf(y, Eigen::Vector3d(0, 0, 0), covariance()),
                       "multi_normal_lpdf: mu is of shape (3,), but must be with 2 entries in each row, as y has", ShapeError);
  CHECK_THROWS_WITH_AS(categorical_lpmf(3, Eigen::Vector3d(0.2, 0.3, 0.5)),
                       "categorical_lpmf: y is 3, but must be a whole number from 0 to 2; categories count from 0, not from 1",
                       DomainError);
  CHECK_THROWS_WITH_AS(categorical_lpmf(2, Eigen::Vector3d(0.2, 0.3, 0.6)),
                       "categorical_lpmf: theta is of sum 1.1, but must be a simplex; its entries are nonnegative and sum to 1",
                       DomainError);
}

TEST_CASE("a dynamic linear model of observations whose sum overflows") {
  const auto one = [](double x) { return MatrixXd::Constant(1, 1, x).eval(); };
  const double far = 1e308, variance = 8e307;
  const double log_density = gaussian_dlm_obs_lpdf(MatrixXd::Constant(1, 2, far).eval(), one(1), one(0), one(variance), one(0),
                                                   Eigen::VectorXd::Zero(1).eval(), one(0));
  CHECK(log_density == doctest::Approx(2 * normal_lpdf(far, 0, std::sqrt(variance))).epsilon(1e-14));
}

TEST_CASE("a dynamic linear model names the variance that is negative and the observation whose covariance is singular") {
  const auto one = [](double x) { return MatrixXd::Constant(1, 1, x).eval(); };
  const MatrixXd y = MatrixXd::Constant(1, 3, 1.0), none = one(0), unit = one(1);
  const Eigen::VectorXd m0 = Eigen::VectorXd::Zero(1);
  CHECK_THROWS_WITH_AS(gaussian_dlm_obs_lpdf(y, unit, unit, one(5), one(-1), m0, unit),
                       "gaussian_dlm_obs_lpdf: W is -1, but must be nonnegative; the diagonal of a covariance matrix",
                       DomainError);
  MatrixXd start = MatrixXd::Identity(2, 2);
  start(1, 1) = -1e-300;
  CHECK_THROWS_WITH_AS(
      gaussian_dlm_obs_lpdf(y, MatrixXd::Ones(2, 1).eval(), MatrixXd::Identity(2, 2).eval(), one(5),
                            MatrixXd::Identity(2, 2).eval(), Eigen::VectorXd::Zero(2).eval(), start),
      "gaussian_dlm_obs_lpdf: C0[1, 1] is -1e-300, but must be nonnegative; the diagonal of a covariance matrix", DomainError);
  // The first observation determines the state, the second then has no variance.
  const std::string message =
      "gaussian_dlm_obs_lpdf: the covariance of y[:, 1] given the observations before is not positive definite, but must be"
      " positive definite; the pivot of row 0 is 0";
  CHECK_THROWS_WITH_AS(gaussian_dlm_obs_lpdf(y, unit, unit, none, none, m0, unit), message.c_str(), DomainError);
  const scope own;
  const matrix_of<var> active = unit.cast<var>();
  CHECK_THROWS_WITH_AS(gaussian_dlm_obs_lpdf(y, unit, unit, none, none, m0, active), message.c_str(), DomainError);
}

TEST_CASE("the variances of observations stand for their covariance") {
  const scope own;
  MatrixXd y(2, 3), f(1, 2);
  y << 1, 2, 0.5, -1, 0.3, 2;
  f << 1, 0.5;
  const MatrixXd unit = MatrixXd::Identity(1, 1);
  const Eigen::VectorXd m0 = Eigen::VectorXd::Zero(1), variances = Eigen::Vector2d(0.7, 1.3);
  const auto by = [&](const auto& v) { return gaussian_dlm_obs_lpdf(y, f, unit, v, unit, m0, unit); };
  const MatrixXd covariance = variances.asDiagonal();
  CHECK(by(variances) == by(covariance));
  CHECK(by(std::vector<double>{0.7, 1.3}) == by(covariance));
  const vector_of<var> v = variances.cast<var>();
  const matrix_of<var> full = covariance.cast<var>();
  by(v).grad();
  const double slopes[] = {v[0].adj(), v[1].adj()};
  by(full).grad();
  CHECK(slopes[0] == doctest::Approx(full(0, 0).adj()).epsilon(1e-14));
  CHECK(slopes[1] == doctest::Approx(full(1, 1).adj()).epsilon(1e-14));
  CHECK(by(matrix<var>(variances)).val() == doctest::Approx(by(covariance)).epsilon(1e-15));
  CHECK_THROWS_WITH_AS(by(Eigen::Vector2d(1, -2)),
                       "gaussian_dlm_obs_lpdf: V[1] is -2, but must be nonnegative; the diagonal of a covariance matrix",
                       DomainError);
  CHECK_THROWS_WITH_AS(by(Eigen::Vector3d(1, 2, 3)),
                       "gaussian_dlm_obs_lpdf: V is of shape (3,), but must be with 2 entries, as y has rows", ShapeError);
  CHECK_THROWS_WITH_AS(by(1.0), "gaussian_dlm_obs_lpdf: V is a number, but must be a matrix or its diagonal", ShapeError);
}

TEST_CASE("one location and one scale stand for those of all standard deviations") {
  MatrixXd y = MatrixXd::Identity(3, 3);
  y(0, 1) = y(1, 0) = 0.4;
  const Eigen::VectorXd mu = Eigen::VectorXd::Constant(3, 0.3), sigma = Eigen::VectorXd::Constant(3, 1.2);
  CHECK(lkj_cov_lpdf(y, 0.3, 1.2, 2.0) == lkj_cov_lpdf(y, mu, sigma, 2.0));
  CHECK(lkj_cov_lpdf(y, mu, 1.2, 2.0) == lkj_cov_lpdf(y, mu, sigma, 2.0));
  const scope own;
  const var one = 0.3, scale = 1.2;
  const vector_of<var> each = mu.cast<var>(), scales = sigma.cast<var>();
  lkj_cov_lpdf(y, one, scale, 2.0).grad();
  const double slopes[] = {one.adj(), scale.adj()};
  lkj_cov_lpdf(y, each, scales, 2.0).grad();
  CHECK(slopes[0] == doctest::Approx(each[0].adj() + each[1].adj() + each[2].adj()).epsilon(1e-14));
  CHECK(slopes[1] == doctest::Approx(scales[0].adj() + scales[1].adj() + scales[2].adj()).epsilon(1e-14));
  using D = dual<double>;
  D moved(0.3);
  moved.tangent[0] = 1;
  CHECK(lkj_cov_lpdf(y, moved, 1.2, 2.0).tangent[0] == doctest::Approx(slopes[0]).epsilon(1e-14));
  CHECK_THROWS_WITH_AS(lkj_cov_lpdf(y, 0.3, -1.0, 2.0), "lkj_cov_lpdf: sigma is -1, but must be positive and finite",
                       DomainError);
}

TEST_CASE("Wishart distributions of matrices without rows") {
  const MatrixXd none(0, 0);
  CHECK(wishart_lpdf(none, 1.5, none) == 0);
  CHECK(inv_wishart_lpdf(none, 1.5, none) == 0);
}

}  // namespace test_multivariate
