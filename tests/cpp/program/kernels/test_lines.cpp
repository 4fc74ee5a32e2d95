// Kernels along an axis, as operations of a recording: values against plain loops, and the reverse pass against tangents.
#include <doctest/doctest.h>

#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace test_lines {

using namespace agrad;

namespace {

struct shape {
  std::uint32_t outer, length, inner;
  std::uint32_t size() const { return outer * length * inner; }
};
constexpr shape shapes[] = {{1, 1, 1}, {1, 7, 1}, {3, 5, 1}, {1, 6, 4}, {2, 131, 11}, {4, 300, 1}};

std::vector<double> numbers(std::uint32_t n, bool with_ties) {
  std::mt19937 generator(n);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  std::vector<double> x(n);
  for (double& each : x) each = with_ties ? std::round(uniform(generator)) : uniform(generator);
  return x;
}

std::shared_ptr<const program> recorded(const kernel& what, const shape& s, const std::vector<double>& x, std::uint32_t count) {
  recorder code;
  const slot first = code.input(x.data(), x.size());
  const span operand = code.consecutive(first, x.size());
  const slot y = code.apply(what, count, &operand, 1, {s.length, s.inner});
  std::vector<slot> outputs(count);
  std::iota(outputs.begin(), outputs.end(), y);
  return schedule(code, outputs);
}

/// Values of a program, after a check of <w, J v> = <J' w, v>.
std::vector<double> values_of(const program& f, const std::vector<double>& x, std::uint32_t directions_of) {
  workspace real;
  std::vector<double> y(f.output_size()), w = numbers(static_cast<std::uint32_t>(y.size()), false), back(x.size());
  for (std::size_t i = directions_of; i < w.size(); ++i) w[i] = 0;
  f.forward(real, x.data(), y.data());
  f.reverse(real, w.data(), back.data());
  const std::vector<double> v = numbers(static_cast<std::uint32_t>(x.size()), false);
  std::vector<double> tangents(y.size());
  f.tangent<1>(real, v.data(), tangents.data());
  double forwards = 0, backwards = 0;
  for (std::size_t i = 0; i < y.size(); ++i) forwards += w[i] * tangents[i];
  for (std::size_t i = 0; i < x.size(); ++i) backwards += back[i] * v[i];
  CHECK(forwards == doctest::Approx(backwards).epsilon(1e-10));
  return y;
}

template <class Each>
void for_each_line(const shape& s, const Each& each) {
  std::vector<std::size_t> places(s.length);
  for (std::uint32_t i = 0; i < s.outer * s.inner; ++i) {
    for (std::uint32_t j = 0; j < s.length; ++j) places[j] = (i / s.inner * s.length + j) * s.inner + i % s.inner;
    each(i, places);
  }
}

}  // namespace

TEST_CASE("reductions along an axis are those of its lines") {
  for (const shape& s : shapes) {
    for (const bool ties : {false, true}) {
      const std::vector<double> x = numbers(s.size(), ties);
      const auto reduced = [&](const kernel& what) {
        const std::uint32_t count = s.outer * s.inner;
        return values_of(*recorded(what, s, x, count), x, count);
      };
      const auto sums = reduced(kernels::sum_along), products = reduced(kernels::product_along);
      const auto largest = reduced(kernels::max_along), smallest = reduced(kernels::min_along);
      const auto logarithms = reduced(kernels::log_sum_exp_along);
      for_each_line(s, [&](std::uint32_t i, const std::vector<std::size_t>& places) {
        double sum = 0, product = 1, high = -infinity, low = infinity, powers = 0;
        for (const std::size_t place : places) {
          sum += x[place];
          product *= x[place];
          high = std::max(high, x[place]);
          low = std::min(low, x[place]);
          powers += std::exp(x[place]);
        }
        CHECK(sums[i] == doctest::Approx(sum).epsilon(1e-12));
        CHECK(products[i] == doctest::Approx(product).epsilon(1e-12));
        CHECK(largest[i] == high);
        CHECK(smallest[i] == low);
        CHECK(logarithms[i] == doctest::Approx(std::log(powers)).epsilon(1e-13));
      });
    }
  }
}

TEST_CASE("log shares along an axis are those of its lines, times the counts") {
  for (const shape& s : shapes) {
    const std::vector<double> x = numbers(s.size(), false);
    std::vector<double> counts = numbers(s.size(), true);
    for (double& each : counts) each = std::abs(each);
    const std::uint32_t count = s.outer * s.inner;
    recorder code;
    const span both[] = {code.consecutive(code.input(x.data(), x.size()), x.size()),
                         code.consecutive(code.constant(counts.data(), counts.size()), counts.size())};
    std::vector<slot> outputs(count);
    std::iota(outputs.begin(), outputs.end(), code.apply(kernels::log_shares_along, count, both, 2, {s.length, s.inner}));
    const auto y = values_of(*schedule(code, outputs), x, count);
    for_each_line(s, [&](std::uint32_t i, const std::vector<std::size_t>& places) {
      double powers = 0, sum = 0;
      for (const std::size_t place : places) powers += std::exp(x[place]);
      for (const std::size_t place : places) sum += counts[place] * (x[place] - std::log(powers));
      CHECK(y[i] == doctest::Approx(sum).epsilon(1e-12));
    });
  }
}

TEST_CASE("the log share of a nearly certain entry keeps its digits") {
  const std::vector<double> x{40, 0, 0.5}, counts{1, 0, 0};
  recorder code;
  const span both[] = {code.consecutive(code.input(x.data(), 3), 3), code.consecutive(code.constant(counts.data(), 3), 3)};
  const auto f = schedule(code, {code.apply(kernels::log_shares_along, 1, both, 2, {3, 1})});
  workspace w;
  double y = 0;
  const double one = 1, first[] = {1, 0, 0}, rest = std::exp(-40) + std::exp(-39.5);
  std::vector<double> gradient(3), bend(3);
  f->forward(w, x.data(), &y);
  CHECK(y == doctest::Approx(-rest).epsilon(1e-15));
  double along = 0;
  f->tangent<1>(w, first, &along);
  CHECK(along == doctest::Approx(rest).epsilon(1e-15));
  f->second<1>(w, &one, gradient.data(), bend.data());
  CHECK(gradient[0] == doctest::Approx(rest).epsilon(1e-15));
  CHECK(gradient[1] == doctest::Approx(-std::exp(-40)).epsilon(1e-15));
  CHECK(bend[0] == doctest::Approx(-rest).epsilon(1e-15));
  CHECK(bend[2] == doctest::Approx(std::exp(-39.5)).epsilon(1e-15));
}

TEST_CASE("cumulative operations and sorting along an axis are those of its lines") {
  for (const shape& s : shapes) {
    for (const bool ties : {false, true}) {
      const std::vector<double> x = numbers(s.size(), ties);
      const auto sums = values_of(*recorded(kernels::cumulative_sum, s, x, s.size()), x, s.size());
      const auto products = values_of(*recorded(kernels::cumulative_product, s, x, s.size()), x, s.size());
      const auto sorted = values_of(*recorded(kernels::sort_along, s, x, 2 * s.size()), x, s.size());
      for_each_line(s, [&](std::uint32_t, const std::vector<std::size_t>& places) {
        double sum = 0, product = 1;
        std::vector<double> line;
        for (const std::size_t place : places) {
          CHECK(sums[place] == doctest::Approx(sum += x[place]).epsilon(1e-12));
          CHECK(products[place] == doctest::Approx(product *= x[place]).epsilon(1e-12));
          line.push_back(x[place]);
        }
        std::stable_sort(line.begin(), line.end());
        std::vector<bool> taken(line.size(), false);
        for (std::size_t j = 0; j < line.size(); ++j) {
          const auto from = static_cast<std::size_t>(sorted[s.size() + places[j]]);
          CHECK(sorted[places[j]] == line[j]);
          CHECK(x[places[from]] == line[j]);
          CHECK(!taken[from]);
          taken[from] = true;
        }
      });
    }
  }
}

TEST_CASE("nan is every extreme and sorted to the end") {
  const shape s{1, 6, 1};
  const std::vector<double> x{1, quiet_nan, -infinity, 3, quiet_nan, infinity};
  for (const kernel* what : {&kernels::max_along, &kernels::min_along}) {
    workspace w;
    double y = 0;
    recorded(*what, s, x, 1)->forward(w, x.data(), &y);
    CHECK(std::isnan(y));
  }
  workspace w;
  std::vector<double> y(12);
  recorded(kernels::sort_along, s, x, 12)->forward(w, x.data(), y.data());
  CHECK(y[0] == -infinity);
  CHECK(y[3] == infinity);
  CHECK(std::isnan(y[4]));
  CHECK(y[10] == 1);
  CHECK(y[11] == 4);
}

}  // namespace test_lines
