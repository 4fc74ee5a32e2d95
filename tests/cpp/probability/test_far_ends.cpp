// Far ends: second derivatives of quantiles in tails where squares of the density leave the range of doubles, and distribution
// functions at scales where a part of a slope is many orders of magnitude larger than the slope. The truths are closed forms,
// or those of mpmath with 120 digits and more.
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <cmath>

#include "bent.hpp"

namespace test_far_ends {

using namespace agrad;
using bent_function::at;
using bent_function::check;

namespace {

/// The slope by x of the slope by y, in both orders.
template <class F>
void check_mixed(double x, double y, double truth, double epsilon, const F& f) {
  using D = dual<double>;
  const double first = f(dual<D>(D(x), {D(1.0)}), dual<D>(D(y, {1.0}), {D(0.0)})).tangent[0].tangent[0];
  const double second = f(dual<D>(D(x, {1.0}), {D(0.0)}), dual<D>(D(y), {D(1.0)})).tangent[0].tangent[0];
  CHECK(std::abs(first - truth) <= epsilon * std::abs(truth));
  CHECK(std::abs(second - truth) <= epsilon * std::abs(truth));
}

}  // namespace

/// With beta = 1 the quantile is p^(1 / alpha).
TEST_CASE("beta quantiles near 0 are powers") {
  for (const double p : {1e-20, 1e-60, 1e-110, 1e-140}) {
    check(at(p, [](const auto& q) { return beta_qf(q, 0.5, 1.0); }), {p * p, 2 * p, 2}, 1e-12);
    check(at(p, [](const auto& q) { return beta_cqf(q, 1.0, 0.5); }), {1 - p * p, -2 * p, -2}, 1e-12);
    check(at(p, [](const auto& q) { return beta_proportion_qf(q, 1.0 / 3, 1.5); }), {p * p, 2 * p, 2}, 1e-12);
    check(at(p, [](const auto& q) { return betaincinv(0.5, 1.0, q); }), {p * p, 2 * p, 2}, 1e-12);
    check(at(p, [](const auto& q) { return beta_qf(q, 1.0, 4.0); }), {0.25 * p, 0.25, 0.1875}, 1e-12);
    const double x = p * p, slope = -4 * std::log(p);  // of log(x) by alpha
    check(at(0.5, [&](const auto& a) { return beta_qf(p, a, 1.0); }), {x, x * slope, x * slope * (slope - 4)}, 1e-12);
    check_mixed(p, 0.5, 2 * p * (slope - 2), 1e-12, [](const auto& q, const auto& a) { return beta_qf(q, a, 1.0); });
  }
  for (const double p : {1e-300, 1e-200}) {
    const double x = std::pow(p, 0.25), slope = -std::log(p) / 16;
    check(at(4, [&](const auto& a) { return beta_qf(p, a, 1.0); }), {x, x * slope, x * slope * (slope - 0.5)}, 1e-12);
    check_mixed(p, 4, 0.25 * x / p * (slope - 0.25), 1e-12, [](const auto& q, const auto& a) { return beta_qf(q, a, 1.0); });
  }
  const double p = 1e-200;
  check_mixed(p, 2, -1.6336772692469345e+132, 1e-12, [](const auto& q, const auto& b) { return beta_qf(q, 3.0, b); });
}

/// Where the quantile itself underflows, so do its derivatives.
TEST_CASE("quantiles that underflow have no slopes") {
  check(at(1e-300, [](const auto& q) { return beta_qf(q, 0.05, 3.0); }), {0, 0, 0});
  check(at(1e-300, [](const auto& q) { return gamma_qf(q, 0.05, 3.0); }), {0, 0, 0});
  check_mixed(1e-300, 0.05, 0, 0, [](const auto& q, const auto& a) { return beta_qf(q, a, 3.0); });
  check_mixed(1e-300, 0.05, 0, 0, [](const auto& q, const auto& a) { return gamma_qf(q, a, 3.0); });
}

/// The lower tail of shape 1/2 is erf(sqrt(x)), and that of shape 1 is 1 - exp(-x).
TEST_CASE("gamma quantiles near 0 are powers") {
  const double quarter = 0.25 * detail::pi;
  for (const double p : {1e-20, 1e-110, 1e-140}) {
    check(at(p, [](const auto& q) { return gamma_qf(q, 0.5, 1.0); }), {quarter * p * p, 2 * quarter * p, 2 * quarter}, 1e-12);
    check(at(p, [](const auto& q) { return chi_square_qf(q, 1.0); }), {2 * quarter * p * p, 4 * quarter * p, 4 * quarter},
          1e-12);
  }
  for (const double p : {1e-20, 1e-110, 1e-300})
    check(at(p, [](const auto& q) { return gamma_qf(q, 1.0, 1.0); }), {p, 1, 1}, 1e-12);
  for (const double p : {1e-20, 1e-60, 1e-90}) {
    const auto quotient = [](const auto& q) { return inv_gamma_cqf(q, 1.0, 1.0); };
    check(at(p, quotient), {1 / p, -1 / p / p, 2 / p / p / p}, 1e-12);
  }
  check_mixed(1e-140, 0.5, 2.0231915766377991e-137, 1e-12, [](const auto& q, const auto& a) { return gamma_qf(q, a, 1.0); });
  check(at(0.5, [](const auto& a) { return gamma_qf(1e-140, a, 1.0); }),
        {7.8539816339744828e-281, 1.0131665846456945e-277, 1.3029375067325875e-274}, 1e-12);
}

TEST_CASE("gamma quantiles far above") {
  const auto of_shape = [](const auto& p, const auto& a) { return gamma_cqf(p, a, 1.0); };
  check_mixed(1e-200, 0.5, -2.1984617750924964e+197, 1e-11, of_shape);
  check_mixed(1e-300, 100, -9.0293480796592841e+296, 1e-11, of_shape);
  check(at(1e-200, [](const auto& p) { return gamma_cqf(p, 1.0, 2.0); }), {100 * std::log(10), -0.5 / 1e-200, infinity}, 1e-12);
  check_mixed(1e-200, 2, -3.1022490107688729e+193, 1e-12, [](const auto& p, const auto& a) { return inv_gamma_qf(p, a, 3.0); });
  check_mixed(1e-200, 3, 4.6017138234936224e+194, 1e-12, [](const auto& p, const auto& b) { return inv_gamma_qf(p, 2.0, b); });
}

TEST_CASE("quantiles of Student's t far out") {
  const auto of_nu = [](const auto& p, const auto& nu) { return student_t_cqf(p, nu, 0.0, 1.0); };
  check_mixed(1e-110, 3, 4.5049790292991316e+147, 1e-12, of_nu);
  check(at(3, [](const auto& nu) { return student_t_cqf(1e-110, nu, 0.0, 1.0); }),
        {4.7952757204692233e+36, -1.3355094563881755e+38, 3.8088260685385263e+39}, 1e-12);
  const double p = 1e-100;  // of Cauchy's distribution
  check(at(p, [](const auto& q) { return student_t_qf(q, 1.0, 0.0, 1.0); }),
        {-detail::inv_pi / p, detail::inv_pi / p / p, -2 * detail::inv_pi / p / p / p}, 1e-12);
}

/// Far above, the quantile is lambda sigma^2 / 2 - log(p) / lambda.
TEST_CASE("quantiles of exponentially modified normal variables") {
  const auto upper_of_lambda = [](const auto& p, const auto& l) { return exp_mod_normal_cqf(p, 0.0, 1.0, l); };
  for (const double p : {1e-30, 1e-110, 1e-200, 1e-300}) check_mixed(p, 0.25, 16 / p, 1e-12, upper_of_lambda);
  check_mixed(1e-200, 1, 3.3105073010952452e+198, 1e-12,
              [](const auto& p, const auto& sigma) { return exp_mod_normal_qf(p, 0.0, sigma, 2.0); });
  check_mixed(1e-200, 2, -1.5973210121749152e+195, 1e-12,
              [](const auto& p, const auto& lambda) { return exp_mod_normal_qf(p, 0.0, 1.0, lambda); });
}

/// With alpha = beta = 1 the quantile beyond which the probability is p is (1 - p) / p.
TEST_CASE("quantiles of a log-logistic variable near 0") {
  for (const double rest : {0x1p-10, 0x1p-30, 0x1p-50}) {
    const double p = 1 - rest;
    check(at(p, [](const auto& q) { return loglogistic_cqf(q, 1.0, 1.0); }), {rest / p, -1 / p / p, 2 / p / p / p}, 1e-14);
    check(at(p, [](const auto& q) { return loglogistic_qf(q, 1.0, 1.0); }), {p / rest, 1 / rest / rest, 2 / rest / rest / rest},
          1e-13);
  }
}

TEST_CASE("sums of normal and rare exponential variables depend little on sigma") {
  const auto of = [](const auto& y, const auto& sigma, const auto& lambda) {
    return exp_mod_normal_lcdf(y, 0.0, sigma, lambda);
  };
  struct row {
    double y, lambda;
    bent_function::bent of_sigma, of_lambda;
    double y_sigma, y_lambda, sigma_lambda;
  };
  const row rows[] = {{8,
                       1e-12,
                       {-25.551579574252775, -1.2436846611406305e-13, -8.458183133105881e-14},
                       {-25.551579574252775, 999999999995.93752, -1e24},
                       1.0493787180763611e-14,
                       -0.49218749999866602,
                       -0.12499999999901298},
                      {10,
                       1e-22,
                       {-48.354286952874959, -2.3054013732935811e-24, 7.5945986267064193e-22},
                       {-48.354286952874959, 1e22, -1e44},
                       -7.6715446129734835e-23,
                       -0.495,
                       -0.1},
                      {3,
                       1e-18,
                       {-40.347792008565114, 0.0014770946446142929, 0.013291669992939491},
                       {-40.347792008565114, 1e18, -1e36},
                       -0.0049229215458512613,
                       -0.44534699218234267,
                       -0.3303795076788696}};
  for (const row& each : rows) {
    CAPTURE(each.y);
    check(at(1, [&](const auto& sigma) { return of(each.y, sigma, each.lambda); }), each.of_sigma, 1e-12);
    check(at(each.lambda, [&](const auto& lambda) { return of(each.y, 1.0, lambda); }), each.of_lambda, 1e-12);
    check_mixed(each.y, 1, each.y_sigma, 1e-12, [&](const auto& y, const auto& sigma) { return of(y, sigma, each.lambda); });
    check_mixed(each.y, each.lambda, each.y_lambda, 1e-12, [&](const auto& y, const auto& l) { return of(y, 1.0, l); });
    check_mixed(1, each.lambda, each.sigma_lambda, 1e-12,
                [&](const auto& sigma, const auto& l) { return of(each.y, sigma, l); });
  }
}

/// Beyond many standard deviations F is 1 - exp(-lambda e) with e = y - lambda sigma^2 / 2.
TEST_CASE("sums of an exponential variable and a normal one of a tiny scale") {
  const double y = 1e-20, sigma = 1e-22;
  check(at(sigma, [&](const auto& s) { return exp_mod_normal_lcdf(y, 0.0, s, 1.0); }), {std::log(y), -0.01, -1e20}, 1e-12);
  check(at(sigma, [&](const auto& s) { return exp_mod_normal_lccdf(1.0, 0.0, s, 1.0); }), {-1, sigma, 1});
  check(at(1, [&](const auto& l) { return exp_mod_normal_lccdf(y, 0.0, sigma, l); }), {-y, -y, sigma * sigma});
  check_mixed(y, 1, -0.49995, 1e-12, [&](const auto& d, const auto& l) { return exp_mod_normal_lcdf(d, 0.0, sigma, l); });
  const double tail = std::exp(-0.5);
  check(at(1e-155, [&](const auto& s) { return exp_mod_normal_cdf(0.5, 0.0, s, 1.0); }), {1 - tail, -1e-155 * tail, -tail});
  check(at(1, [&](const auto& l) { return exp_mod_normal_cdf(0.5, 0.0, 1e-155, l); }), {1 - tail, 0.5 * tail, -0.25 * tail});
  const double density = std::exp(-detail::half_log_two_pi);  // of a variable that is nearly normal, at its mean
  check(at(2, [](const auto& l) { return exp_mod_normal_cdf(0.0, 0.0, 1e155, l); }),
        {0.5, 0.25e-155 * density, -0.25e-155 * density}, 1e-12);
}

/// For nu = 2 the probability of a value up to y is exp(-s^2 / y).
TEST_CASE("scaled inverse chi-square probabilities of a huge scale") {
  for (const double s : {1e20, 1e100, 1e150, 1e154}) {
    const double inside = s / 1.5 * s;
    check(at(s, [](const auto& x) { return scaled_inv_chi_square_lcdf(1.5, 2.0, x); }), {-inside, -2 * (s / 1.5), -2 / 1.5});
    check(at(1.5, [&](const auto& y) { return scaled_inv_chi_square_lcdf(y, 2.0, s); }),
          {-inside, inside / 1.5, -2 * (inside / 1.5 / 1.5)});
    const bent_function::bent by_nu = at(2, [&](const auto& nu) { return scaled_inv_chi_square_lcdf(1.5, nu, s); });
    CHECK(by_nu.slope == doctest::Approx(-0.5 * inside).epsilon(1e-13));
    CHECK(by_nu.bend == doctest::Approx(0.25 * (2 - detail::pi * detail::pi / 6)).epsilon(1e-12));
  }
  const bent_function::bent beyond = at(1e155, [](const auto& x) { return scaled_inv_chi_square_lcdf(1.5, 3.0, x); });
  check(beyond, {-infinity, -2e155, -2}, 1e-12);
}

}  // namespace test_far_ends
