// The sine of octets: as accurate close to multiples of pi as elsewhere, beside the sine of numbers.
#include <doctest/doctest.h>
#include <agrad/families/tails/sine_octet.hpp>
#include <cmath>
#include <random>

namespace test_sine_octet {

using agrad::detail::octet;

TEST_CASE("sines of octets are those of numbers") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> size(-12, 5), turns(-3e4, 3e4);
  for (int round = 0; round < 2000; ++round) {
    double x[octet::size], y[octet::size], but_for_sign[octet::size];
    for (double& each : x) {
      each = std::pow(10, size(random)) * (random() % 2 == 0 ? 1 : -1);
      if (random() % 2 == 0) each = agrad::detail::pi * std::round(turns(random)) * (random() % 2 == 0 ? 1 : 0.5);
    }
    agrad::detail::sine_octet(octet::load(x)).store(y);
    agrad::detail::sine_but_for_sign(octet::load(x)).store(but_for_sign);
    for (std::size_t i = 0; i < octet::size; ++i) {
      CAPTURE(x[i]);
      CHECK(std::abs(y[i] - std::sin(x[i])) <= 4.5e-16 * std::abs(std::sin(x[i])));
      CHECK(std::abs(but_for_sign[i]) == std::abs(y[i]));
    }
  }
}

}  // namespace test_sine_octet
