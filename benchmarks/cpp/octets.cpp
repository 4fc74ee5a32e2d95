// What instruction_sets.py times: the functions that are computed in octets, on a thousand numbers.
//
// Prints a line for each: name, nanoseconds a number (least of 200 turns of processor time), largest relative error beside
// plain loops, and a number that is another one if any bit of the results is.
#include <time.h>

#include <agrad/dual/dual.hpp>
#include <agrad/program/machine/entries.hpp>
#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/values.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace {

using namespace agrad;

constexpr std::size_t most = 1000;
std::size_t count = most;  // not known to the compiler, as in programs
/// Numbers in cache lines of their own, and at distances that are no multiples of a page.
struct alignas(64) column {
  double numbers[most + 80] = {};
};
struct columns_of_numbers {
  column y, mu, sigma, d[3];
};

double nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

double error_beside(double x, double expected) { return std::abs(x - expected) / std::max(1.0, std::abs(expected)); }

/// Times a function, which fills c.d and returns a number, and prints the line.
template <class Function>
void measure(const std::string& name, columns_of_numbers& c, double expected, const double* expected_first, const Function& f) {
  double least = std::numeric_limits<double>::infinity(), value = 0;
  for (int turn = 0; turn < 200; ++turn) {
    const double start = nanoseconds();
    for (int k = 0; k < 20; ++k) value = f();
    least = std::min(least, (nanoseconds() - start) / (20 * static_cast<double>(count)));
  }
  double error = error_beside(value, expected);
  for (std::size_t i = 0; i < count && expected_first != nullptr; ++i)
    error = std::max(error, error_beside(c.d[0].numbers[i], expected_first[i]));
  std::uint64_t all = 0, bits = 0;
  for (const column* each : {c.d, c.d + 1, c.d + 2})
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&bits, each->numbers + i, sizeof bits);
      all = (all ^ bits) * 1099511628211U;
    }
  std::memcpy(&bits, &value, sizeof bits);
  std::printf("%s;%.4f;%.1e;%016llx\n", name.c_str(), least, error, static_cast<unsigned long long>(all ^ bits));
}

/// A density of all y, with one mean and one scale or with one for each number.
template <class Rule, class Value, class Derivative>
void density(columns_of_numbers& c, bool each, const Value& of, const Derivative& derivative) {
  const std::size_t stride = each ? 1 : 0;
  const density_inputs<Rule, double> in{
      {{c.y.numbers, 1, true}, {c.mu.numbers, stride, true}, {c.sigma.numbers, stride, true}}};
  double expected = 0, first[most];
  for (std::size_t i = 0; i < count; ++i) {
    const double y = c.y.numbers[i], mu = c.mu.numbers[i * stride], sigma = c.sigma.numbers[i * stride];
    expected += of(y, mu, sigma);
    first[i] = derivative(y, mu, sigma);
  }
  const std::string name = std::string("`") + std::string(Rule::name) + (each ? "`, all sequences" : "`, y a sequence");
  measure(name + ", value", c, expected, nullptr, [&] { return density_value<Rule>(count, in, {}); });
  measure(name + ", gradient", c, expected, first, [&] {
    return density_partials<Rule, double>(count, in, false, {c.d[0].numbers, c.d[1].numbers, c.d[2].numbers});
  });
}

template <class Rule, class Value>
void function(columns_of_numbers& c, const Value& of) {
  double expected[most];
  for (std::size_t i = 0; i < count; ++i) expected[i] = of(c.y.numbers[i]);
  measure("`" + std::string(Rule::name) + "`", c, 0, expected, [&] {
    detail::octets_into<Rule>(c.d[0].numbers, static_cast<Eigen::Index>(count), c.y.numbers);
    return 0.0;
  });
}

/// The adjoints of a factor of products: `y` has the other factor, `mu` the adjoints of the products.
void reverse_of_product(columns_of_numbers& c) {
  double expected[most];
  for (std::size_t i = 0; i < count; ++i) expected[i] = c.y.numbers[i] * c.mu.numbers[i];
  const double* factors[] = {c.sigma.numbers, c.y.numbers};
  measure("reverse pass of a product", c, 0, expected, [&] {
    const auto n = static_cast<std::uint32_t>(count);
    detail::entries_of<multiply_rule>::reverse(0, n, factors, c.d[1].numbers, c.mu.numbers, c.d[0].numbers);
    return 0.0;
  });
}

/// The sum of y mu + sigma on duals of eight tangents.
void sum_of_duals(columns_of_numbers& c) {
  const std::array<double, 8> directions{1, 0, 0, 2, 0, 0, 0, 3};
  double expected = 0;
  for (std::size_t i = 0; i < count; ++i) expected += 3 * c.mu.numbers[i];
  measure("product and two sums of duals of eight tangents", c, expected, nullptr, [&] {
    dual<double, 8> sum = 0.0;
    for (std::size_t i = 0; i < count; ++i)
      sum += dual<double, 8>(c.y.numbers[i], directions) * c.mu.numbers[i] + c.sigma.numbers[i];
    return sum.tangent[7];
  });
}

}  // namespace

int main(int arguments, char**) {
  count /= static_cast<std::size_t>(arguments);
  static columns_of_numbers c;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> between(0.1, 3);
  for (column* each : {&c.y, &c.mu, &c.sigma})
    for (double& x : each->numbers) x = between(random);
  const auto normal = [](double y, double mu, double sigma) {
    const double z = (y - mu) / sigma;
    return -z * z / 2 - std::log(sigma) - detail::half_log_two_pi;
  };
  const auto slope = [](double y, double mu, double sigma) { return -(y - mu) / (sigma * sigma); };
  const auto lognormal = [&](double y, double mu, double sigma) { return normal(std::log(y), mu, sigma) - std::log(y); };
  const auto slope_of_log = [&](double y, double mu, double sigma) { return (slope(std::log(y), mu, sigma) - 1) / y; };
  for (const bool each : {false, true}) {
    density<normal_lpdf_rule>(c, each, normal, slope);
    density<lognormal_lpdf_rule>(c, each, lognormal, slope_of_log);
  }
  function<exp_rule>(c, [](double x) { return std::exp(x); });
  function<log_rule>(c, [](double x) { return std::log(x); });
  reverse_of_product(c);
  sum_of_duals(c);
  return 0;
}
