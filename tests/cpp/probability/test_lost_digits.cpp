// Probabilities close to 0 or 1, small tails and large quantiles: derivatives where terms larger than the result cancel.
// (Python compares the same functions with mpmath, in every mode.)
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <agrad/probability/multivariate/distributions.hpp>

namespace test_lost_digits {

using namespace agrad;

namespace {

struct bent {
  double value, slope, bend;
};

/// The value, and the derivatives by duals of duals; the slope is also that of the tape.
template <class F>
bent at(double x, const F& f) {
  using D = dual<double>;
  const dual<D> y = f(dual<D>(D(x, {1.0}), {D(1.0)}));
  const scope own;
  const var v = x, of_tape = f(v);
  of_tape.grad();
  CHECK(v.adj() == doctest::Approx(y.tangent[0].value).epsilon(1e-12));
  return {y.value.value, y.tangent[0].value, y.tangent[0].tangent[0]};
}

void check(const bent& given, double value, double slope, double bend, double epsilon = 1e-14) {
  const auto same = [&](double x, double y) { return std::abs(x - y) <= epsilon * std::abs(y); };
  CAPTURE(given.value);
  CAPTURE(given.slope);
  CAPTURE(given.bend);
  CHECK(same(given.value, value));
  CHECK(same(given.slope, slope));
  CHECK(same(given.bend, bend));
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

}  // namespace test_lost_digits
