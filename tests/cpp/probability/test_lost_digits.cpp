// Probabilities close to 0 or 1, small tails and large quantiles: derivatives where terms larger than the result cancel.
// (Python compares the same functions with mpmath, in every mode.)
#include <doctest/doctest.h>
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/probability.hpp>
#include <utility>
#include <vector>

#include "bent.hpp"

namespace test_lost_digits {

using namespace agrad;
using bent_function::at;
using bent_function::bent;

namespace {

void check(const bent& given, double value, double slope, double bend, double epsilon = 1e-14) {
  bent_function::check(given, {value, slope, bend}, epsilon);
}

}  // namespace

TEST_CASE("logarithms of tails of 1 have second derivatives at the ends") {
  check(at(0, [](const auto& p) { return binomial_lcdf(0, 5, p); }), 0, -5, -5);
  check(at(1, [](const auto& p) { return binomial_lccdf(4, 5, p); }), 0, 5, -5);
  check(at(1, [](const auto& p) { return binomial_lccdf(0, 1, p); }), 0, 1, -1);
  check(at(0, [](const auto& rate) { return poisson_cdf(0, rate); }), 1, -1, 1);
  check(at(0, [](const auto& rate) { return poisson_lcdf(0, rate); }), 0, -1, 0);
  check(at(0, [](const auto& rate) { return poisson_cdf(1, rate); }), 1, 0, -1);
  check(at(0, [](const auto& rate) { return poisson_lcdf(2, rate); }), 0, 0, 0);
}

TEST_CASE("the precision hardly moves the probability of no failure of a small mean") {
  for (const double mu : {1e-5, 1e-8, 1e-12, 1e-17}) {
    const double square = mu * mu, rest = 1 - 4 * mu / 3;  // the series in mu up to the second term
    check(at(1, [&](const auto& phi) { return neg_binomial_2_lcdf(0, mu, phi); }), -std::log1p(mu), -0.5 * square * rest,
          square / (1 + mu) / (1 + mu), 1e-9);
    CHECK(at(1, [&](const auto& phi) { return neg_binomial_2_lccdf(0, mu, phi); }).slope ==
          doctest::Approx(0.5 * mu * (1 - 5 * mu / 6)).epsilon(1e-9));
  }
}

TEST_CASE("nearly certain categories keep their digits") {
  for (const double x : {5.0, 40.0, 300.0}) {
    const double rest = 2 * std::exp(-x), share = 1 / (1 + rest);
    const auto odds = [](const auto& first) {
      using T = std::decay_t<decltype(first)>;
      vector_of<T> all(3);
      all << first, T(0.0), T(0.0);
      return all;
    };
    const double slope = rest * share, bend = -rest * share * share;
    check(at(x, [&](const auto& v) { return categorical_logit_lpmf(0, odds(v)); }), -std::log1p(rest), slope, bend);
    const Eigen::Vector3d counts(2, 0, 0);
    check(at(x, [&](const auto& v) { return multinomial_logit_lpmf(counts, odds(v)); }), -2 * std::log1p(rest), 2 * slope,
          2 * bend);
    check(at(x, [&](const auto& v) { return log_softmax(odds(v))[0]; }), -std::log1p(rest), slope, bend);
  }
}

TEST_CASE("skewed quantiles and quantiles of inverse gamma distributions") {
  const auto near_0 = [](const auto& tau) { return skew_double_exponential_qf(1e-12, 0.0, 1.0, tau); };
  check(at(1e-15, near_0), 499.50000000025, -5.0000000000025e17, 1.0000000000005e33, 1e-13);
  const auto near_1 = [](const auto& tau) { return skew_double_exponential_qf(1e-300, 1.0, 340.0, tau); };
  CHECK(at(0.9999995, near_1).slope == doctest::Approx(-4.697273590480713e17).epsilon(1e-12));
  const auto large = [](const auto& alpha) { return inv_gamma_cqf(1e-3, alpha, 1.0); };
  const double slope = at(0.0125, large).slope, x = inv_gamma_cqf(1e-3, 0.0125, 1.0);
  CHECK(slope == doctest::Approx(-x * (std::log(x) + digamma(1.0125)) / 0.0125).epsilon(1e-12));
  check(at(1e-160, [](const auto& y) { return inv_gamma_cdf(y, 1.0, 1.0); }), 0, 0, 0);
  check(at(1e-200, [](const auto& y) { return inv_chi_square_lccdf(y, 3.0); }), 0, 0, 0);
}

TEST_CASE("small powers with an exponent of 1 are nearly linear") {
  for (const double y : {1e-12, 1e-16}) {
    check(at(y, [](const auto& v) { return loglogistic_cdf(v, 1.0, 1.0); }), y / (1 + y), 1, -2, 1e-11);
    check(at(y, [](const auto& v) { return loglogistic_lpdf(v, 1.0, 1.0); }), -2 * std::log1p(y), -2, 2, 1e-11);
    check(at(y, [](const auto& v) { return loglogistic_lccdf(v, 1.0, 1.0); }), -std::log1p(y), -1, 1, 1e-11);
    check(at(y, [](const auto& v) { return weibull_cdf(v, 1.0, 1.0); }), -std::expm1(-y), 1, -1, 1e-11);
    check(at(1, [&](const auto& s) { return loglogistic_lcdf(1 / y, s, 1.0); }), -std::log1p(y), -y, y * y, 1e-11);
    check(at(1, [&](const auto& s) { return pareto_type_2_lcdf(1 / y, 0.0, s, 1.0); }), -std::log1p(y), -y, y * y, 1e-11);
  }
  CHECK(gamma_lpdf(1e-12, 1.0, 1.0) == -1e-12);
}

/// Truths by mpmath with 60 digits, at powers of 4, whose square roots are numbers.
TEST_CASE("normalising constants of large parameters and counts do not cancel") {
  const auto pair = [](const auto& x, double y) {
    vector_of<std::decay_t<decltype(x)>> all(2);
    all << x, y;
    return all;
  };
  const auto triple = [](const auto& x, double y, double z) {
    vector_of<std::decay_t<decltype(x)>> all(3);
    all << x, y, z;
    return all;
  };
  Eigen::MatrixXd scale(2, 2);
  scale << 4, 2, 2, 5;
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(4, 4);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {22.075700662734145, 3.4924596554856708e-10, -6.984919313681847e-10}},
                                            {0x1p40, {29.00717246850805, 3.4106051316491271e-13, -6.8212102633008392e-13}},
                                            {0x1p50, {35.938644274107674, 3.3306690738754718e-16, -6.6613381477509429e-16}}})
    check(at(a, [&, a = a](const auto& x) { return dirichlet_lpdf(Eigen::Vector3d(0.25, 0.25, 0.5), triple(x, a, 2 * a)); }),
          truth.value, truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {10.51798994591801, 2.3283064370807974e-10, -4.6566128763299991e-10}},
                                            {0x1p40, {13.983725848834038, 2.2737367544328376e-13, -4.5474735088677431e-13}},
                                            {0x1p50, {17.449461751633878, 2.2204460492503148e-16, -4.4408920985006291e-16}}})
    check(at(a, [&, a = a](const auto& x) { return dirichlet_lpdf(Eigen::Vector2d(0.5, 0.5), pair(x, a)); }), truth.value,
          truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {10.51798994591801, 2.3283064370807974e-10, -4.6566128763299991e-10}},
                                            {0x1p40, {13.983725848834038, 2.2737367544328376e-13, -4.5474735088677431e-13}},
                                            {0x1p50, {17.449461751633878, 2.2204460492503148e-16, -4.4408920985006291e-16}}})
    check(at(a, [&, a = a](const auto& x) { return beta_lpdf(0.5, x, a); }), truth.value, truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {-11.459987277965561, 1.5522042915076652e-10, -3.1044085849428008e-10}},
                                            {0x1p40, {-14.925723180629602, 1.5158245029553399e-13, -3.0316490059125181e-13}},
                                            {0x1p50, {-18.391459083429196, 1.4802973661668769e-16, -2.9605947323337534e-16}}})
    check(at(a, [&, a = a](const auto& x) { return dirichlet_multinomial_lpmf(Eigen::Vector2d(a, 2 * a), pair(x, 2 * a)); }),
          truth.value, truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {58.949056594011031, 2.7939677227622334e-9, -2.6020852119457267e-18}},
                                            {0x1p40, {79.743472009646373, 2.7284841053177507e-12, -2.4815418376572022e-24}},
                                            {0x1p50, {100.5378874264436, 2.6645352591003747e-15, -2.3665827156630337e-30}}})
    check(at(a, [&](const auto& x) { return lkj_corr_lpdf(unit, x); }), truth.value, truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {58.949056594011031, 2.7939677227622334e-9, -2.6020852119457267e-18}},
                                            {0x1p40, {79.743472009646373, 2.7284841053177507e-12, -2.4815418376572022e-24}},
                                            {0x1p50, {100.5378874264436, 2.6645352591003747e-15, -2.3665827156630337e-30}}})
    check(at(a, [&](const auto& x) { return lkj_corr_cholesky_lpdf(unit, x); }), truth.value, truth.slope, truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {-38.800468989740107, 1.3969838628628597e-9, -9.3132257591652112e-10}},
                                            {0x1p40, {-49.197676697131339, 1.3642420526602885e-12, -9.0949470177416901e-13}},
                                            {0x1p50, {-59.594884405529535, 1.3322676295501889e-15, -8.8817841970012642e-16}}})
    check(at(a, [&, a = a](const auto& x) { return wishart_lpdf((a * scale).eval(), x, scale); }), truth.value, truth.slope,
          truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {85.966023511050049, 1.3969838628628597e-9, -9.3132257591652112e-10}},
                                            {0x1p40, {117.15764663725554, 1.3642420526602885e-12, -9.0949470177416901e-13}},
                                            {0x1p50, {148.34926976245406, 1.3322676295501889e-15, -8.8817841970012642e-16}}})
    check(at(a, [&, a = a](const auto& x) { return inv_wishart_lpdf((scale / a).eval(), x, scale); }), truth.value, truth.slope,
          truth.bend, 1e-13);
  for (const auto& [a, truth] :
       std::vector<std::pair<double, bent>>{{0x1p30, {-22.285718893102355, 4294967296, -17179869184.0}},
                                            {0x1p40, {-29.217190698527356, 4398046511104, -17592186044416.0}},
                                            {0x1p50, {-36.148662504126638, 4503599627370496, -18014398509481984.0}}})
    check(at(0.25, [&, a = a](const auto& x) { return multinomial_lpmf(Eigen::Vector3d(a, a, 2 * a), triple(x, 0.25, 0.5)); }),
          truth.value, truth.slope, truth.bend, 1e-13);
  CHECK(multinomial_lpmf(Eigen::Vector2d(1e15, 1e15), Eigen::Vector2d(0.5, 0.5)) ==
        doctest::Approx(binomial_lpmf(1e15, 2e15, 0.5)).epsilon(1e-14));
  CHECK(wishart_lpdf(Eigen::MatrixXd::Constant(1, 1, 1e12).eval(), 1e12, Eigen::MatrixXd::Identity(1, 1).eval()) ==
        doctest::Approx(chi_square_lpdf(1e12, 1e12)).epsilon(1e-13));
}

TEST_CASE("large totals keep the limits of shares and counts of 0") {
  const Eigen::Vector2d certain(1, 0);
  CHECK(multinomial_lpmf(Eigen::Vector2d(1e6, 0), certain) == 0);
  CHECK(multinomial_lpmf(Eigen::Vector2d(1e6, 1), certain) == -infinity);
  CHECK(dirichlet_lpdf(certain, Eigen::Vector2d(1e6, 2)) == -infinity);
  CHECK(dirichlet_lpdf(certain, Eigen::Vector2d(1e6, 0.5)) == infinity);
  CHECK(dirichlet_lpdf(certain, Eigen::Vector2d(1e6, 1)) == doctest::Approx(std::log(1e6)).epsilon(1e-14));
  CHECK(dirichlet_multinomial_lpmf(Eigen::Vector2d(0, 1e6), Eigen::Vector2d(1, 1e6)) ==
        doctest::Approx(-std::log(2)).epsilon(1e-12));
}

TEST_CASE("plain terms and deviances agree at the total where they change") {
  for (const double share : {0.1, 0.25, 0.6}) {
    const auto near = [&](double total) {
      const auto weights = [&](const auto& x) {
        vector_of<std::decay_t<decltype(x)>> all(2);
        all << x, 0.75 * total;
        return all;
      };
      return at(0.25 * total, [&](const auto& x) { return dirichlet_lpdf(Eigen::Vector2d(share, 1 - share), weights(x)); });
    };
    const double step = 256 * 1e-14;
    const bent below = near(256 - step), above = near(256 + step);
    CHECK(std::abs(below.value - above.value) < 1e-11 * std::abs(above.value));
    CHECK(std::abs(below.slope - above.slope) < 1e-13);
    CHECK(std::abs(below.bend - above.bend) < 1e-13 * std::abs(above.bend));
  }
}

TEST_CASE("the logarithm of a difference has infinite slopes where the difference is 0") {
  check(at(1, [](const auto& x) { return log_diff_exp(x, 1.0); }), -infinity, infinity, -infinity);
  check(at(1, [](const auto& y) { return log_diff_exp(1.0, y); }), -infinity, -infinity, -infinity);
  check(at(1, [](const auto& x) { return log_inv_logit_diff(x, 1.0); }), -infinity, infinity, -infinity);
  check(at(1, [](const auto& y) { return log_inv_logit_diff(1.0, y); }), -infinity, -infinity, -infinity);
  check(at(0, [](const auto& x) { return log1m_exp(x); }), -infinity, -infinity, -infinity);
}

}  // namespace test_lost_digits
