// Lanes in one vector and in two halves: the same numbers as without lanes, and the same as each other.
#include <doctest/doctest.h>

#include <agrad/base/lanes.hpp>
#include <array>
#include <cstddef>
#include <limits>

namespace test_lanes {

using agrad::detail::lanes;
using eight = std::array<double, 8>;

constexpr eight first{0.1, -2.5, 1e300, 3, -0.0, 7e-300, 1.0 / 3, 12}, second{0.7, 0.3, 1e-8, -3, 5, 1e10, 1.0 / 7, 1e-5};

template <class Lanes, class Operation>
void check_each(const Operation& operation) {
  eight of{};
  operation(Lanes::load(first.data()), Lanes::load(second.data())).store(of.data());
  for (std::size_t i = 0; i < of.size(); ++i) CHECK(of[i] == operation(first[i], second[i]));
}

template <class Lanes>
void check_lanes() {
  check_each<Lanes>([](const auto& x, const auto& y) { return x + y; });
  check_each<Lanes>([](const auto& x, const auto& y) { return x - y; });
  check_each<Lanes>([](const auto& x, const auto& y) { return x * y; });
  check_each<Lanes>([](const auto& x, const auto& y) { return x / y; });
  check_each<Lanes>([](const auto& x, const auto&) { return -x; });
  eight of{};
  Lanes::same(0.1).store(of.data());
  for (const double each : of) CHECK(each == 0.1);

  const eight& x = second;
  CHECK(Lanes::load(x.data()).sum() == ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])));

  const Lanes one = Lanes::same(1);
  CHECK((Lanes::same(2) > one).all_hold());
  CHECK(((Lanes::same(2) > one) & (one > Lanes::same(0.5))).all_hold());
  for (std::size_t i = 0; i < of.size(); ++i)
    for (const double lesser : {1.0, 0.5, -2.0, std::numeric_limits<double>::quiet_NaN()}) {
      of.fill(2);
      of[i] = lesser;
      CHECK_FALSE((Lanes::load(of.data()) > one).all_hold());
      CHECK_FALSE(((Lanes::same(2) > one) & (Lanes::load(of.data()) > one)).all_hold());
    }
}

TEST_CASE("eight lanes compute what eight numbers do, whatever registers the machine has") {
  check_lanes<lanes<8>>();
  check_lanes<lanes<8, false>>();
}

}  // namespace test_lanes
