// Terms with formulas of their own for numbers and first derivatives: they agree with the general formulas, which duals of
// duals use; and integers are checked as other numbers are.
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace test_short_terms {

using namespace agrad;

namespace {

/// Whether two numbers are equal up to a relative error.
bool are_near(double x, double y) { return x == y || std::abs(x - y) <= 2e-13 * std::abs(y); }

template <class T>
T seeded(double x, std::size_t lane) {
  T y(x);
  y.tangent[lane] = 1.0;
  return y;
}

template <class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const DomainError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("binomial probabilities of few trials are those of the incomplete beta function") {
  using one = dual<double, 1>;
  using two = dual<one, 1>;
  for (const double trials : {1.0, 2.0, 20.0, 64.0, 65.0})
    for (const double theta : {0.0009, 0.0011, 0.3, 0.5, 0.97, 0.9995})
      for (double n = -1; n <= trials; n += trials > 20 ? 9 : 1) {
        CAPTURE(trials);
        CAPTURE(theta);
        CAPTURE(n);
        const two general = binomial_cdf(n, trials, seeded<two>(theta, 0));
        const one first = binomial_cdf(n, trials, seeded<one>(theta, 0));
        CHECK(are_near(first.value, general.value.value));
        CHECK(are_near(first.tangent[0], general.tangent[0].value));
        CHECK(binomial_cdf(n, trials, theta) == first.value);
      }
}

TEST_CASE("slopes of exponentially modified normal probabilities from one pass are those of the rules") {
  using one = dual<double, 4>;
  using two = dual<dual<double, 1>, 4>;
  for (const double y : {-6.0, -0.3, 0.1, 2.0, 9.0})
    for (const double sigma : {0.2, 1.7})
      for (const double lambda : {0.05, 2.3}) {
        const auto of = [&](auto zero) {
          using T = decltype(zero);
          return exp_mod_normal_cdf(seeded<T>(y, 0), seeded<T>(0.05, 1), seeded<T>(sigma, 2), seeded<T>(lambda, 3));
        };
        const one first = of(one(0.0));
        const two general = of(two(0.0));
        CHECK(are_near(first.value, general.value.value));
        for (std::size_t k = 0; k < 4; ++k) CHECK(are_near(first.tangent[k], general.tangent[k].value));
      }
}

TEST_CASE("Bernoulli masses and probabilities of one number are those of eight") {
  const auto same = [](double n, double theta, const auto& f) {
    const scope own;
    const var one = theta, several = theta;
    const var of_one = f(n, one), of_several = f(std::vector<double>(8, n), several);
    CHECK(are_near(8 * of_one.val(), of_several.val()));
    of_one.grad();
    const double slope = one.adj();
    of_several.grad();
    CHECK(are_near(8 * slope, several.adj()));
  };
  for (const double theta : {0.0, 1e-120, 1e-20, 0.3, 0.5, 0.999, 1.0})
    for (const double n : {0.0, 1.0}) {
      same(n, theta, [](const auto& x, const auto& p) { return bernoulli_lpmf(x, p); });
      for (const double shift : {-1.0, 0.0}) {
        same(n + shift, theta, [](const auto& x, const auto& p) { return bernoulli_lccdf(x, p); });
        same(n + shift, theta, [](const auto& x, const auto& p) { return bernoulli_lcdf(x, p); });
      }
    }
}

TEST_CASE("integers are checked as other numbers are, with the same message") {
  using integers = std::vector<int>;
  using numbers = std::vector<double>;
  const auto same = [](const auto& function, const integers& n) {
    const std::string text = message_of([&] { function(n); });
    CHECK(!text.empty());
    CHECK(text == message_of([&] { function(numbers(n.begin(), n.end())); }));
  };
  same([](const auto& n) { bernoulli_lpmf(n, 0.3); }, {0, 1, 2});
  same([](const auto& n) { bernoulli_logit_lpmf(n, 0.3); }, {0, -1});
  same([](const auto& n) { poisson_lpmf(n, 0.3); }, {3, 4, -1, 5});
  same([](const auto& n) { neg_binomial_lpmf(n, 0.3, 2.0); }, {-7});
  CHECK(bernoulli_lcdf(integers{-1}, 0.3) == -infinity);
  CHECK(bernoulli_lccdf(integers(20, -3), 0.3) == 0);
  CHECK(message_of([] { bernoulli_lcdf(numbers{0.5}, 0.3); }).find("whole") != std::string::npos);
  for (const double odd : {0.5, -1.5, 4503599627370495.5, infinity, -infinity, quiet_nan})
    CHECK_FALSE(must_be::whole.holds(odd));
  for (const double whole : {0.0, -0.0, 1.0, -3.0, 4503599627370495.0, 4503599627370497.0, 9007199254740993.0, -1e300})
    CHECK(must_be::whole.holds(whole));
  CHECK_FALSE(must_be::whole_nonnegative.holds(-1));
}

}  // namespace test_short_terms
