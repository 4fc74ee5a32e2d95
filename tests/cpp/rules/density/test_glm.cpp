// Logistic regression as one function: 50-digit values, derivatives of both orders, all kinds of arguments, errors.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/testing.hpp>
#include <string>
#include <vector>

namespace test_density_glm {

using namespace agrad;

namespace {

using long_matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using long_vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

struct model {
  Eigen::MatrixXd x;
  std::vector<int> y;
  Eigen::VectorXd alpha, beta;

  model(Eigen::Index n, Eigen::Index p, double scale) : x(n, p), y(static_cast<std::size_t>(n)), alpha(n), beta(p) {
    for (Eigen::Index i = 0; i < n; ++i) {
      y[static_cast<std::size_t>(i)] = (i * i + i / 3) % 2;
      alpha[i] = scale * std::sin(1.0 + static_cast<double>(i));
      for (Eigen::Index j = 0; j < p; ++j) x(i, j) = std::cos(static_cast<double>(3 * i + 7 * j));
    }
    for (Eigen::Index j = 0; j < p; ++j) beta[j] = scale * std::cos(2.0 + static_cast<double>(j));
  }

  /// Value and derivatives with respect to the predictors, in long double.
  long double exact(const Eigen::VectorXd& intercept, long_vector& slope) const {
    const long_vector eta = intercept.cast<long double>() + x.cast<long double>() * beta.cast<long double>();
    slope.resize(eta.size());
    long double sum = 0;
    for (Eigen::Index i = 0; i < eta.size(); ++i) {
      const long double sign = y[static_cast<std::size_t>(i)] == 1 ? 1 : -1, m = sign * eta[i], e = std::exp(-std::abs(m));
      sum += std::min(m, 0.0L) - std::log1p(e);
      slope[i] = sign * (m < 0 ? 1 : e) / (1 + e);
    }
    return sum;
  }
};

double distance(const Eigen::VectorXd& x, const long_vector& expected) {
  return static_cast<double>((x.cast<long double>() - expected).norm() / (expected.norm() + 1e-300L));
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace

TEST_CASE("logistic regression: values and gradients for all sizes and scales") {
  for (const double scale : {0.01, 1.0, 30.0, 500.0})
    for (const Eigen::Index n : {1, 7, 256, 257, 600})
      for (const Eigen::Index p : {0, 1, 5}) {
        INFO("scale " << scale << ", n " << n << ", p " << p);
        const scope own;
        const model m(n, p, scale);
        long_vector slope;
        const double expected = static_cast<double>(m.exact(m.alpha, slope));
        const matrix<var> alpha(m.alpha), beta(m.beta);
        const var lp = bernoulli_logit_glm_lpmf(m.y, m.x, alpha, beta);
        CHECK(lp.val() == doctest::Approx(expected).epsilon(1e-13));
        CHECK(bernoulli_logit_glm_lpmf(m.y, m.x, m.alpha, m.beta) == lp.val());
        lp.grad();
        CHECK(distance(alpha.adj(), slope) < 1e-13 * (1 + scale));
        CHECK(distance(beta.adj(), m.x.transpose().cast<long double>() * slope) < 1e-12 * (1 + scale));

        const var intercept = m.alpha[0];
        const double one = static_cast<double>(m.exact(Eigen::VectorXd::Constant(n, m.alpha[0]), slope));
        const var by_scalar = bernoulli_logit_glm_lpmf(m.y, m.x, intercept, m.beta);
        by_scalar.grad();
        CHECK(by_scalar.val() == doctest::Approx(one).epsilon(1e-13));
        CHECK(std::abs(intercept.adj() - static_cast<double>(slope.sum())) < 1e-13 * (1 + scale) * static_cast<double>(n));
      }
}

TEST_CASE("logistic regression: tails") {
  const scope own;
  const Eigen::MatrixXd x = Eigen::MatrixXd::Ones(1, 1);
  for (const double eta : {-1e300, -800.0, -740.0, -40.0, 40.0, 740.0, 800.0, 1e300}) {
    const vector_of<var> beta = vector_of<var>::Constant(1, var(eta));
    const var one = bernoulli_logit_glm_lpmf(1, x, 0.0, beta);
    one.grad();
    const double wanted_slope = eta > 0 ? std::exp(-eta) : 1;
    const double expected = eta > 0 ? -std::exp(-eta) : eta;
    CHECK(std::abs(one.val() - expected) <= 1e-14 * std::abs(expected));
    CHECK(std::abs(beta[0].adj() - wanted_slope) <= 1e-14 * wanted_slope);
  }
  // mpmath: log(1 / (1 + exp(-0.3))) and 1 / (1 + exp(0.3))
  const var alpha = 0.3;
  const var lp = bernoulli_logit_glm_lpmf(1, Eigen::MatrixXd(1, 0), alpha, Eigen::VectorXd());
  lp.grad();
  CHECK(lp.val() == doctest::Approx(-0.55435524446852681).epsilon(1e-15));
  CHECK(alpha.adj() == doctest::Approx(0.42555748318834102).epsilon(1e-15));
}

TEST_CASE("logistic regression: Hessians, and gradients against differences") {
  const model m(40, 3, 1.0);
  const auto f = [&](const auto& theta) { return bernoulli_logit_glm_lpmf(m.y, m.x, theta[0], theta.tail(3).eval()); };
  Eigen::VectorXd at(4), g;
  at << m.alpha[0], m.beta;
  double value;
  Eigen::MatrixXd h, with_ones(40, 4);
  with_ones << Eigen::VectorXd::Ones(40), m.x;
  hessian(f, at, value, g, h);
  const Eigen::ArrayXd p = (1 + (-(with_ones * at)).array().exp()).inverse();
  const Eigen::MatrixXd expected = -(with_ones.transpose() * (p * (1 - p)).matrix().asDiagonal() * with_ones);
  CHECK((h - expected).norm() < 1e-13 * expected.norm());
  Eigen::VectorXd outcomes(40);
  for (Eigen::Index i = 0; i < 40; ++i) outcomes[i] = m.y[static_cast<std::size_t>(i)];
  CHECK((g - with_ones.transpose() * (outcomes - p.matrix())).norm() < 1e-13 * g.norm());
  const gradient_report report = check_gradient(f, at);
  CHECK_MESSAGE(report.ok, report.message);
  CHECK(report.second_order_checked);
  using D = dual<double, 4>;
  vector_of<D> beta(3);
  for (Eigen::Index j = 0; j < 3; ++j) beta[j].value = m.beta[j], beta[j].tangent[static_cast<std::size_t>(j + 1)] = 1;
  const D d = bernoulli_logit_glm_lpmf(m.y, m.x, D(m.alpha[0], {1, 0, 0, 0}), beta);
  CHECK(d.value == doctest::Approx(value).epsilon(1e-14));
  for (Eigen::Index j = 0; j < 4; ++j) CHECK(std::abs(d.tangent[static_cast<std::size_t>(j)] - g[j]) < 1e-13 * g.norm());
}

TEST_CASE("logistic regression: all kinds of arguments, and what the tape keeps") {
  const scope own;
  const model m(9, 2, 1.0);
  const double expected = bernoulli_logit_glm_lpmf(m.y, m.x, 0.5, m.beta);
  const Eigen::Map<const Eigen::VectorXi> y(m.y.data(), 9);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = m.x;
  const auto near = doctest::Approx(expected).epsilon(1e-14);
  CHECK(bernoulli_logit_glm_lpmf(y, by_rows, 0.5, m.beta) == near);
  CHECK(bernoulli_logit_glm_lpmf(y.array() * 1, m.x + 0 * m.x, 0.5, std::vector<double>{m.beta[0], m.beta[1]}) == near);
  CHECK(bernoulli_logit_glm_lpmf(y.cast<long>(), m.x.topRows(9), Eigen::VectorXd::Constant(9, 0.5), m.beta.transpose()) ==
        near);
  const std::vector<var> beta{m.beta[0], m.beta[1]};
  Eigen::MatrixXd x = m.x;
  const var alpha = 0.5, lp = bernoulli_logit_glm_lpmf(y, x, alpha * 1.0, beta);
  CHECK(lp.val() == near);
  x.setConstant(agrad::quiet_nan);  // nothing of it is kept
  lp.grad();
  const double first = beta[0].adj();
  const matrix<var> block(m.beta);
  const std::size_t bytes = tape::current().statistics().bytes;
  const var again = bernoulli_logit_glm_lpmf(y, m.x, 0.5, block);
  CHECK(tape::current().statistics().bytes - bytes < 300);
  again.grad();
  CHECK(block.adj()(0) == doctest::Approx(first).epsilon(1e-15));
  CHECK(std::isfinite(first));
  const var none = bernoulli_logit_glm_lpmf(std::vector<int>{}, Eigen::MatrixXd(0, 2), alpha, block);
  none.grad();
  CHECK(none.val() == 0);
  CHECK(block.adj().norm() == 0);
}

TEST_CASE("logistic regression: errors") {
  const scope own;
  model m(3, 2, 1.0);
  const auto call = [&] { return message_of([&] { bernoulli_logit_glm_lpmf(m.y, m.x, m.alpha, vector_of<var>(m.beta)); }); };
  m.y[1] = 2;
  CHECK(call() == "bernoulli_logit_glm_lpmf: y[1] is 2, but must be 0 or 1");
  m.y[1] = -1;
  CHECK(call() == "bernoulli_logit_glm_lpmf: y[1] is -1, but must be 0 or 1");
  m.y[1] = 1;
  m.x(2, 1) = agrad::quiet_nan;
  CHECK(call() == "bernoulli_logit_glm_lpmf: x[2, 1] is nan, but must be finite");
  m.x(2, 1) = 0;
  m.alpha[2] = infinity;
  CHECK(call() == "bernoulli_logit_glm_lpmf: alpha[2] is inf, but must be finite");
  m.alpha.resize(2);
  CHECK(call() == "bernoulli_logit_glm_lpmf: alpha is of length 2, but must be of length 3; the number of rows of x");
  m.alpha.setZero(3);
  m.beta[0] = agrad::quiet_nan;
  CHECK(call() == "bernoulli_logit_glm_lpmf: beta[0] is nan, but must be finite");
  m.beta.setZero(3);
  CHECK(call() == "bernoulli_logit_glm_lpmf: beta is of length 3, but must be of length 2; the number of columns of x");
  m.y.pop_back();
  CHECK(call() == "bernoulli_logit_glm_lpmf: y is of length 2, but must be of length 3; the number of rows of x");
}

}  // namespace test_density_glm
