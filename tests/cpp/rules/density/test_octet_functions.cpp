// Functions of octets: within two units in the last place of the C library's functions of long double, over their intervals.
#include <doctest/doctest.h>

#include <agrad/rules/density/octet_rules.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace test_octet_functions {

using namespace agrad;
using detail::lanes;
using detail::octet;
using eight = std::array<double, 8>;

constexpr double unit = std::numeric_limits<double>::epsilon(), least = std::numeric_limits<double>::min();

/// Compares eight values with those of long double, and returns the largest error in units of the double's last place.
template <class Function, class Exact>
double largest_error(const eight& x, const Function& function, const Exact& exact) {
  eight y{};
  function(octet::load(x.data())).store(y.data());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double truth = exact(static_cast<long double>(x[i]));
    const double size = std::ldexp(unit, std::ilogb(static_cast<double>(truth)));
    const double error = truth == 0 ? std::abs(y[i]) : static_cast<double>(std::abs(y[i] - truth)) / size;
    largest = std::max(largest, error);
  }
  return largest;
}

/// Draws x by `draw`, 80 000 times.
template <class Draw, class Function, class Exact>
double largest_error_of(const Draw& draw, const Function& function, const Exact& exact) {
  std::mt19937 random(1);
  double largest = 0;
  for (int round = 0; round < 10000; ++round) {
    eight x{};
    for (double& each : x) each = draw(random);
    largest = std::max(largest, largest_error(x, function, exact));
  }
  return largest;
}

const auto exp_of = [](const octet& x) { return exp(x); };
const auto log_of = [](const octet& x) { return log(x); };
const auto log1p_of = [](const octet& x) { return log1p(x); };
const auto expm1_of = [](const octet& x) { return detail::power_octet(x).less_one(); };
const auto true_exp = [](long double x) { return std::exp(x); };
const auto true_log = [](long double x) { return std::log(x); };
const auto true_expm1 = [](long double x) { return std::expm1(x); };
const auto true_log1p = [](long double x) { return std::log1p(x); };

double uniform(std::mt19937& random, double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); }

TEST_CASE("the exponential of octets is as accurate as that of numbers") {
  CHECK(largest_error_of([](auto& random) { return uniform(random, -707.9, 708.9); }, exp_of, true_exp) < 1.5);
  CHECK(largest_error_of([](auto& random) { return uniform(random, -1, 1); }, exp_of, true_exp) < 1.5);
  CHECK(largest_error({0, -0.0, 1e-300, -1e-17, 1, -1, 0.34657359027997264, -0.34657359027997264}, exp_of, true_exp) < 1.5);
}

TEST_CASE("a power less 1 keeps its digits near 0") {
  CHECK(largest_error_of([](auto& random) { return uniform(random, -707.9, 708.9); }, expm1_of, true_expm1) < 2.5);
  CHECK(largest_error_of([](auto& random) { return uniform(random, -1.5, 1.5); }, expm1_of, true_expm1) < 2.5);
  CHECK(largest_error_of([](auto& random) { return -std::exp(uniform(random, -700, -1)); }, expm1_of, true_expm1) < 2.5);
}

TEST_CASE("logarithms of octets are as accurate as those of numbers, also near their zeros") {
  const double root = std::sqrt(0.5);
  CHECK(largest_error_of([](auto& random) { return std::exp(uniform(random, -706, 709)); }, log_of, true_log) < 1.5);
  CHECK(largest_error_of([](auto& random) { return uniform(random, 0.4, 2.2); }, log_of, true_log) < 1.5);
  CHECK(largest_error_of([](auto& random) { return 1 + 1e-6 * uniform(random, -1, 1); }, log_of, true_log) < 1.5);
  CHECK(largest_error({1, root, std::nextafter(root, 0), std::nextafter(root, 1), 2 * root, 0.5, 2, 1 - unit}, log_of,
                      true_log) < 1.5);
  CHECK(largest_error_of([](auto& random) { return uniform(random, -0.999, 3); }, log1p_of, true_log1p) < 2);
  CHECK(largest_error_of([](auto& random) { return std::exp(uniform(random, -700, 680)); }, log1p_of, true_log1p) < 2);
  CHECK(largest_error_of([](auto& random) { return -std::exp(uniform(random, -700, -1)); }, log1p_of, true_log1p) < 2);
}

TEST_CASE("arguments for which the formulas of octets do not hold are computed one by one") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double odd : {0.0, -1.0, nan, infinity, -infinity, 1e-310, 750.0, -750.0}) {
    eight x{0.5, 1, 2, 3, 4, odd, 5, 6}, y{};
    log(octet::load(x.data())).store(y.data());
    CHECK((y[5] == std::log(odd) || (std::isnan(y[5]) && std::isnan(std::log(odd)))));
    exp(octet::load(x.data())).store(y.data());
    CHECK((std::abs(y[5] - std::exp(odd)) <= unit * std::exp(odd) || y[5] == std::exp(odd) || std::isnan(odd)));
    log1p(octet::load(x.data())).store(y.data());
    CHECK((y[5] == std::log1p(odd) || (std::isnan(y[5]) && std::isnan(std::log1p(odd))) || std::abs(odd) == 750));
  }
}

/// Splits numbers into powers of two and rests, and puts them together again.
template <class Lanes, class Bits>
void check_bits() {
  const eight x{1, 0.7, 0.71, 1e300, 3e-308, 2.5, 1 - unit, least};
  Lanes exponent = Lanes::same(0);
  const Lanes rest = Bits::split(Lanes::load(x.data()), exponent);
  eight rests{}, exponents{}, joined{};
  rest.store(rests.data());
  exponent.store(exponents.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK((rests[i] >= 0.7071 && rests[i] < 1.4143));
    CHECK(std::ldexp(rests[i], static_cast<int>(exponents[i])) == x[i]);
    exponents[i] = exponents[i] / 2 < -500 ? 0 : exponents[i];
  }
  Bits::scaled(rest, Lanes::load(exponents.data()) + Lanes::same(detail::exponent_shift)).store(joined.data());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(joined[i] == std::ldexp(rests[i], static_cast<int>(exponents[i])));
}

TEST_CASE("lanes are split into powers of two and rests, whatever registers the machine has") {
  check_bits<lanes<8>, detail::lane_bits<8>>();
  check_bits<lanes<8, false>, detail::lane_bits<8, false>>();
}

}  // namespace test_octet_functions
