// What array_errors.py prints: the largest errors of functions of arrays, in units in the last place of the result.
//
// The exact values are those of <cmath> with 64 bits. Prints a line for each function: name, error, and the number it is at.
#include <agrad/rules/error/error.hpp>
#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/hyperbolic.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/values.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace agrad;
using range = std::pair<double, double>;

constexpr Eigen::Index count = 1 << 18;  // numbers in each range

/// Numbers of a range: uniform, or their logarithms are where the range has several powers of ten.
Eigen::ArrayXd drawn(const range& of, std::mt19937_64& random) {
  const bool is_wide = of.first > 0 && of.second > 100 * of.first;
  std::uniform_real_distribution<double> uniform(is_wide ? std::log(of.first) : of.first,
                                                 is_wide ? std::log(of.second) : of.second);
  Eigen::ArrayXd x(count);
  for (double& each : x) {
    const double u = uniform(random);
    each = is_wide ? std::exp(u) : u;
  }
  return x;
}

double units(double computed, long double exact) {
  int exponent = 0;
  std::frexp(static_cast<double>(exact), &exponent);
  return static_cast<double>(std::fabs(computed - exact) / std::ldexp(1.0L, std::max(exponent, -1021) - 53));
}

/// Prints the line of a rule of one argument.
template <class Rule, class Exact>
void print(const Exact& exact, const std::vector<range>& ranges) {
  std::mt19937_64 random(1);
  double largest = 0, at = 0;
  for (const range& each : ranges) {
    const Eigen::ArrayXd x = drawn(each, random);
    Eigen::ArrayXd y(count);
    detail::values_into<Rule>(y.data(), count, x.data());
    for (Eigen::Index i = 0; i < count; ++i) {
      const double error = units(y[i], exact(static_cast<long double>(x[i])));
      if (error > largest) {
        largest = error;
        at = x[i];
      }
    }
  }
  std::printf("%s;%.2f;%.17g\n", std::string(Rule::name).c_str(), largest, at);
}

}  // namespace

int main() {
  using number = long double;
  const std::vector<range> line = {{-1, 1}, {-30, 30}, {-700, 700}, {1e-20, 1e-2}}, tails = {{-6, 6}, {-1, 1}, {1e-20, 1e-2}};
  const std::vector<range> positive = {{0.5, 2}, {0.9, 1.1}, {1e-300, 1e300}};
  print<exp_rule>([](number x) { return std::exp(x); }, line);
  print<log_rule>([](number x) { return std::log(x); }, positive);
  print<log1p_rule>([](number x) { return std::log1p(x); }, {{-0.999, 1}, {1e-20, 1e300}, {-0.01, 0.01}});
  print<inv_logit_rule>([](number x) { return 1 / (1 + std::exp(-x)); }, line);
  print<log1p_exp_rule>([](number x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }, line);
  print<log_inv_logit_rule>([](number x) { return std::fmin(x, 0.0L) - std::log1p(std::exp(-std::fabs(x))); }, line);
  print<tanh_rule>([](number x) { return std::tanh(x); }, line);
  print<erf_rule>([](number x) { return std::erf(x); }, tails);
  print<erfc_rule>([](number x) { return std::erfc(x); }, {{-6, 6}, {0, 26}});
  print<lgamma_rule>([](number x) { return std::lgamma(x); },
                     {{0, 1}, {0.7, 1}, {1, 3}, {3, 4}, {4, 16}, {1e-300, 1e300}, {0.999, 1.001}, {1.999, 2.001}});
}
