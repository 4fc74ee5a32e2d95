// Densities and quantiles at the ends of their arguments: derivatives whose parts overflow, underflow or cancel. The truths are
// closed forms, or those of mpmath with 80 digits and more.
#include <doctest/doctest.h>
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/probability.hpp>
#include <cmath>
#include <vector>

#include "bent.hpp"

namespace test_ends {

using namespace agrad;
using bent_function::at;
using bent_function::bent;
using bent_function::check;

namespace {

/// The slope by x of the slope by y.
template <class F>
double mixed(double x, double y, const F& f) {
  using D = dual<double>;
  return f(dual<D>(D(x), {D(1.0)}), dual<D>(D(y, {1.0}), {D(0.0)})).tangent[0].tangent[0];
}

}  // namespace

TEST_CASE("beta densities of a large precision and a mean near 0 or 1") {
  const auto by_kappa = [](double theta, double mu) {
    return [=](const auto& kappa) { return beta_proportion_lpdf(theta, mu, kappa); };
  };
  check(at(0x1p25, by_kappa(0.09, 5e-228)), {-3165044.830219051, -0.094310649668918936, -8.8817841970012523e-16});
  check(at(0x1p24, by_kappa(0x1p-20, 0x1p-26)), {-2.7319381795583698, -8.3446483784552351e-7, -2.9303957381781294e-15});
  check(at(0x1p24, by_kappa(1 - 0x1p-20, 1 - 0x1p-26)), {-2.7319381795583698, -8.3446483784552351e-7, -2.9303957381781294e-15});
  check(at(0x1p-26, [](const auto& mu) { return beta_proportion_lpdf(0x1p-20, mu, 0x1p24); }),
        {-2.7319381795583698, 117441236.18160524, -4840617840027591.2});
}

TEST_CASE("beta tails of a tiny mean or a tiny precision") {
  const auto by_kappa = [](double theta, double mu) {
    return [=](const auto& kappa) { return beta_proportion_lccdf(theta, mu, kappa); };
  };
  const auto of_both = [](double theta) {
    return [=](const auto& mu, const auto& kappa) { return beta_proportion_lccdf(theta, mu, kappa); };
  };
  const double x = 0.019828863040188535, mu = 2.5300036954132684e-26, kappa = 17.47461948231135;
  check(at(kappa, by_kappa(x, mu)), {-56.2832117132548, 0.0057747190329228825, -0.0018625333615983238});
  CHECK(mixed(mu, kappa, of_both(x)) == doctest::Approx(0.9617196045584051).epsilon(1e-13));
  const double high = 0.9699203728017993, middle = 0.542498412935002, tiny = 3.722324817085844e-05;
  check(at(tiny, by_kappa(high, middle)), {-0.6116292688529174, -1.5890410549931402, 0.7883005098720421});
  CHECK(mixed(middle, tiny, of_both(high)) == doctest::Approx(3.473357755647729).epsilon(1e-13));
  const double low = 2.1377084630051402e-05, small = 3.692428656074106e-29, smaller = 1.4727130344936481e-08;
  check(at(smaller, by_kappa(low, small)), {-65.46868312453421, 10.753167892674451, -118.9204444796817});
  CHECK(mixed(small, smaller, of_both(low)) == doctest::Approx(-10.753167844224283).epsilon(1e-13));
  check(at(0x1p-30, [](const auto& m) { return beta_proportion_lcdf(0.75, m, 0x1p-20); }),
        {-9.313215992856823e-10, -0.9999989532132669, -1.0000000018656372});
  CHECK(mixed(0x1p-30, 0x1p-20, [](const auto& m, const auto& k) { return beta_proportion_lcdf(0.75, m, k); }) ==
        doctest::Approx(1.0986117270645297).epsilon(1e-13));
  CHECK(mixed(0.75, 0x1p-30, [](const auto& y, const auto& m) { return beta_proportion_lcdf(y, m, 0x1p-20); }) ==
        doctest::Approx(5.086256296425104e-06).epsilon(1e-13));
}

/// The mirror image has the mean 1 - mu; with kappa = 2 and mu = 1/2 the distribution is uniform.
TEST_CASE("beta tails by mean and size mirror each other, and one is uniform") {
  for (const double theta : {0.1, 0.75})
    for (const double kappa : {0.5, 3.0, 40.0}) {
      const auto lower = [&](const auto& m) { return beta_proportion_lcdf(theta, m, kappa); };
      const auto upper = [&](const auto& m) { return beta_proportion_lccdf(1 - theta, m, kappa); };
      const bent of_mirrored = at(0.625, upper);
      check(at(0.375, lower), {of_mirrored.value, -of_mirrored.slope, of_mirrored.bend}, 1e-12);
    }
  check(at(0.3, [](const auto& y) { return beta_proportion_lcdf(y, 0.5, 2.0); }), {std::log(0.3), 1 / 0.3, -1 / 0.3 / 0.3});
  check(at(0.3, [](const auto& y) { return beta_proportion_lccdf(y, 0.5, 2.0); }), {std::log(0.7), -1 / 0.7, -1 / 0.7 / 0.7});
}

TEST_CASE("von Mises densities of large angles") {
  const auto by_angle = [](double mu, double kappa) { return [=](const auto& y) { return von_mises_lpdf(y, mu, kappa); }; };
  check(at(0x1p40, by_angle(0.25, 2)), {-4.6337964578710092, 0.33392879807790187, 1.9719258499787074});
  check(at(1e6, by_angle(1e-3, 64)), {-2.9117590242735768, 22.459525065341712, -59.929706605649984});
  check(at(-3.5e9, by_angle(7.5e5, 3)), {-0.47268729108333671, 0.54273852772163734, -2.9504973971394297});
  check(at(7.5e5, [](const auto& mu) { return von_mises_lpdf(-3.5e9, mu, 3.0); }),
        {-0.47268729108333671, -0.54273852772163734, -2.9504973971394297});
}

TEST_CASE("skew normal densities whose shape times the distance overflows") {
  check(at(infinity, [](const auto& x) { return log_ndtr(x); }), {0, 0, 0});
  const double z = 1e80, log_density = std::log(2) - std::log(4) - 0.5 * z * z - 0.5 * std::log(2 * detail::pi);
  check(at(4 * z, [](const auto& y) { return skew_normal_lpdf(y, 0.0, 4.0, 1e240); }), {log_density, -z / 4, -1.0 / 16});
}

TEST_CASE("skew normal tails at distances whose square overflows") {
  const scope own;
  for (const double shape : {2.0, 0.0, -2.0}) {
    const var y = 1e160, scale = 1e-155, alpha = shape;
    const std::vector<var> far{skew_normal_lcdf(y, 0.0, 1.0, alpha), skew_normal_lccdf(y, 0.0, 1.0, alpha),
                               skew_normal_lcdf(0.6, 0.2, scale, alpha), skew_normal_lcdf(-0.6, 0.2, scale, alpha)};
    CHECK(far[0].val() == 0);
    CHECK(far[1].val() == -infinity);
    CHECK(far[2].val() == 0);
    CHECK(far[3].val() == -infinity);
    for (const var& each : far) {
      each.grad();
      CHECK((y.adj() == 0 && scale.adj() == 0 && alpha.adj() == 0));
    }
  }
}

TEST_CASE("the logarithm of the difference of two zeros has the slopes of equal exponents") {
  check(at(-infinity, [](const auto& x) { return log_diff_exp(x, -infinity); }), {-infinity, infinity, -infinity});
  check(at(-infinity, [](const auto& y) { return log_diff_exp(-infinity, y); }), {-infinity, -infinity, -infinity});
  check(at(-infinity, [](const auto& y) { return log_diff_exp(1.0, y); }), {1, 0, 0});
}

/// Far above, the sum of a normal and an exponential variable is exponential, from lambda sigma^2 / 2 on.
TEST_CASE("sums with an exponential variable far above depend little on sigma") {
  for (const double p : {1e-30, 1e-200}) {
    const double lambda = 1e-3, sigma = 2, x = 0.5 * lambda * sigma * sigma - std::log(p) / lambda;
    check(at(sigma, [&](const auto& s) { return exp_mod_normal_cqf(p, 0.0, s, lambda); }), {x, lambda * sigma, lambda});
    check(at(lambda, [&](const auto& l) { return exp_mod_normal_cqf(p, 0.0, sigma, l); }),
          {x, 0.5 * sigma * sigma + std::log(p) / lambda / lambda, -2 * std::log(p) / std::pow(lambda, 3)});
    CHECK(mixed(sigma, lambda, [&](const auto& s, const auto& l) { return exp_mod_normal_cqf(p, 0.0, s, l); }) ==
          doctest::Approx(sigma).epsilon(1e-12));
  }
}

/// Student's t distribution of two degrees of freedom has the quantiles (2 p - 1) / sqrt(2 p (1 - p)).
TEST_CASE("second derivatives of quantiles do not overflow before they are infinite") {
  const double p = 1e-120, root = 1 / std::sqrt(2 * p);
  check(at(p, [](const auto& q) { return student_t_qf(q, 2.0, 0.0, 1.0); }), {-root, root / (2 * p), -0.75 * root / p / p},
        1e-12);
  check(at(p, [](const auto& q) { return student_t_cqf(q, 2.0, 0.0, 1.0); }), {root, -root / (2 * p), 0.75 * root / p / p},
        1e-12);
  const double tiny = 1e-220, power = std::pow(tiny, 0.75);
  check(at(tiny, [](const auto& q) { return loglogistic_qf(q, 3.0, 4.0 / 3); }),
        {3 * power, 2.25 * power / tiny, -0.5625 * power / tiny / tiny}, 1e-12);
}

/// In four dimensions the ratio of gamma functions is 1 + 2 / nu.
TEST_CASE("Student's densities of vectors for many, few and far") {
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(4);
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(4, 4);
  for (const double nu : {1e-5, 3.0, 1e5, 1e15, 1e100})
    check(at(nu, [&](const auto& x) { return multi_student_t_lpdf(none, x, none, unit); }),
          {std::log1p(2 / nu) - 2 * std::log(2 * detail::pi), -2 / (nu + 2) / nu,
           4 * ((nu + 1) / (nu + 2)) / (nu + 2) / nu / nu});
  const auto far = [&](const auto& y, const auto& nu) {
    vector_of<std::decay_t<decltype(y)>> v(4);
    v << y, y, y, y;
    return multi_student_t_lpdf(v, nu, none, unit);
  };
  for (const double nu : {1e-4, 2.0}) {
    const bent given = at(1e80, [&](const auto& y) { return far(y, nu); });
    CHECK(given.slope == doctest::Approx(-(nu + 4) / 1e80).epsilon(1e-14).scale(0));
    CHECK(given.bend == doctest::Approx((nu + 4) / 1e80 / 1e80).epsilon(1e-13).scale(0));
    const double y = 100, s = 4 * y * y;
    CHECK(mixed(y, nu, [&](const auto& v, const auto& n) { return far(v, n); }) ==
          doctest::Approx(-4 * y * (s - 4) / (nu + s) / (nu + s)).epsilon(1e-13).scale(0));
  }
}

/// Between cutpoints at a distance of 2 h around 0 the mass is 2 h phi(0) (1 - h^2 / 6) to the order h^4.
TEST_CASE("narrow categories of a normal variable") {
  const auto mass = [](const auto& eta, const auto& lower, const auto& upper) {
    using T = promoted_t<decltype(eta), decltype(lower), decltype(upper)>;
    vector_of<T> cuts(2), location(1);
    cuts << T(lower), T(upper);
    location << T(eta);
    return ordered_probit_lpmf(Eigen::VectorXd::Constant(1, 1.0).eval(), location, cuts);
  };
  for (const double h : {1e-4, 1e-9, 1e-15}) {
    const double value = std::log(2 * h) - detail::half_log_two_pi - h * h / 6;
    check(at(0, [&](const auto& eta) { return mass(eta, -h, h); }), {value, 0, -1 + h * h / 3}, 1e-14);
    check(at(h, [&](const auto& upper) { return mass(0.0, -h, upper); }), {value, 0.5 / h - h / 6, -0.25 / h / h - 1.0 / 3},
          1e-14);
    CHECK(mixed(0.0, h, [&](const auto& eta, const auto& upper) { return mass(eta, -h, upper); }) ==
          doctest::Approx(0.5).epsilon(1e-8));
  }
  // The mass of the series and that of the tails, at the width where they change.
  for (const double z : {0.0, 1.0, 20.0}) {
    const double half = detail::narrow_slab / (1 + z), step = 1e-9;
    const auto width = [&](double h) { return at(h, [&](const auto& each) { return mass(0.0, z - each, z + each); }); };
    const bent series = width(half - step), tails = width(half + step);
    CHECK(tails.value - series.value == doctest::Approx(step * (series.slope + tails.slope)).epsilon(1e-4));
    CHECK(tails.slope - series.slope == doctest::Approx(step * (series.bend + tails.bend)).epsilon(1e-3));
  }
}

/// With beta = 1 the probability of at most n successes is N! gamma(n + 1 + alpha) / (n! gamma(N + 1 + alpha)).
TEST_CASE("tails of many beta-binomial trials do not collect rounding errors") {
  const double n = 37, trials = 0x1p20, a = 0.3 + 1e-9;
  const bent given = at(a, [&](const auto& alpha) { return beta_binomial_lcdf(n, trials, alpha, 1.0); });
  const double value = log_rising_factorial(n + 1, a) - log_rising_factorial(trials + 1, a);
  CHECK(given.value == doctest::Approx(value).epsilon(1e-13).scale(0));
  CHECK(given.slope == doctest::Approx(digamma(n + 1 + a) - digamma(trials + 1 + a)).epsilon(1e-13).scale(0));
  // The bend is the difference of numbers of the order of the squared slope.
  CHECK(given.bend == doctest::Approx(trigamma(n + 1 + a) - trigamma(trials + 1 + a)).epsilon(1e-11).scale(0));
}

}  // namespace test_ends
