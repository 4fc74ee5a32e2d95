// lgamma, digamma and trigamma of arrays: their octets agree with the functions of numbers, which share no series with them.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <random>
#include <vector>

namespace test_gamma_octets {

using namespace agrad;

namespace {

template <class Rule>
Eigen::ArrayXd values_of(const Eigen::ArrayXd& x) {
  Eigen::ArrayXd y(x.size());
  detail::values_into<Rule>(y.data(), x.size(), x.data());
  return y;
}

/// Compares with numbers; `steps` is how many units in the last place both together may be off.
template <class Rule>
void check_values(const Eigen::ArrayXd& x, double steps) {
  const Eigen::ArrayXd y = values_of<Rule>(x);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double expected = Rule::value(x[i]);
    CAPTURE(Rule::name);
    CAPTURE(x[i]);
    if (std::isfinite(expected))
      CHECK(std::abs(y[i] - expected) <= steps * 2.3e-16 * std::abs(expected));
    else
      CHECK((y[i] == expected || std::isnan(expected)));
  }
}

void check_all(const Eigen::ArrayXd& x) {
  check_values<lgamma_rule>(x, 4);
  check_values<digamma_rule>(x, 8);
  check_values<trigamma_rule>(x, 8);
}

}  // namespace

TEST_CASE("gamma functions of arrays are those of numbers") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> share(0, 1);
  const auto check_of = [&](const auto& f) {
    Eigen::ArrayXd x(4003);
    for (double& each : x) each = f(share(random));
    check_all(x);
  };
  check_of([](double u) { return u == 0 ? 0.5 : u; });
  check_of([](double u) { return 1 + 8 * u; });
  check_of([](double u) { return std::exp(-690 * u); });
  check_of([](double u) { return std::exp(690 * u); });
  for (const double root : {1.0, 2.0, detail::digamma_root})
    for (const double side : {-1.0, 1.0}) check_of([=](double u) { return root + side * 0.5 * std::exp(-30 * u); });
}

TEST_CASE("entries outside of the interval of octets are those of numbers, and so are arrays of any length") {
  Eigen::ArrayXd x(13);
  x << -2.5, -1e-310, 0, 1e-310, 1e-301, 1, 2, 8, std::nextafter(8.0, 9.0), 1e301, infinity, -infinity, quiet_nan;
  check_values<lgamma_rule>(x, 4);
  check_values<digamma_rule>(x, 8);
  check_values<trigamma_rule>(x, 8);
  for (Eigen::Index n = 0; n <= 17; ++n) check_all(Eigen::ArrayXd::LinSpaced(n, 0.1, 12));
}

TEST_CASE("an octet does not depend on its neighbours") {
  const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(19, 0.05, 30), y = values_of<lgamma_rule>(x);
  for (Eigen::Index i = 0; i < x.size(); ++i) CHECK(values_of<lgamma_rule>(x.segment(i, 1))[0] == y[i]);
}

}  // namespace test_gamma_octets
