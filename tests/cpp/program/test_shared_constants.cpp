// Large constants are in memory once, whatever number of workspaces show them; inputs and copies are each workspace's own.
#include <doctest/doctest.h>
#include <agrad/program/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recording.hpp"

namespace test_shared_constants {

using agrad::slot;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

constexpr std::size_t many = std::size_t{1} << 20U;

/// Bytes of memory that this process takes, where pages that are mapped twice count once; 0 where this is not known.
long proportional_bytes() {
  std::ifstream status("/proc/self/smaps_rollup");
  for (std::string word; status >> word;)
    if (word == "Pss:") {
      long kilobytes = 0;
      status >> kilobytes;
      return 1024 * kilobytes;
    }
  return 0;
}

/// sum of data * (x y)^2 with the input y behind the data; data[i] = i mod 7 + 1, so that the sum is known.
std::shared_ptr<const agrad::program> program_of(std::size_t n) {
  std::vector<double> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<double>(i % 7 + 1);
  agrad::recorder r;
  const double one = 1;
  const slot x = r.input(&one, 1);
  const slots c = range(r.constant(data.data(), n), n);
  const slot y = r.input(&one, 1);
  const slots square = record<agrad::multiply_rule>(r, slots(n, x), slots(n, x));
  const slots terms = record<agrad::multiply_rule>(r, record<agrad::multiply_rule>(r, square, c), slots(n, y));
  return agrad::schedule(r, recording::sum(r, terms, 1));
}

double total(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(i % 7 + 1);
  return sum;
}

void check_derivatives(const agrad::program& f, workspace& w, std::size_t n, double a, double b) {
  const double x[] = {a, b}, one = 1, directions[] = {1, 0, 0, 1}, sum = total(n);
  double y = 0, gradient[2], products[4], tangents[2];
  agrad::hessian_products(f, w, x, &one, directions, 2, &y, gradient, products);
  CHECK(y == doctest::Approx(sum * a * a * b));
  CHECK(gradient[0] == doctest::Approx(2 * sum * a * b));
  CHECK(gradient[1] == doctest::Approx(sum * a * a));
  CHECK(products[0] == doctest::Approx(2 * sum * b));
  CHECK(products[1] == doctest::Approx(2 * sum * a));
  CHECK(products[3] == doctest::Approx(0.0));
  agrad::jacobian_products(f, w, x, directions, 1, &y, tangents);
  CHECK(tangents[0] == doctest::Approx(2 * sum * a * b));
}

}  // namespace

TEST_CASE("workspaces show the constants of their program") {
  const auto f = program_of(many);
  REQUIRE(f->fixed().size() > many);
  std::vector<workspace> threads(8);
  const double x[] = {3, 2};
  double y = 0;
  f->forward(threads[0], x, &y);
  const long before = proportional_bytes();
  for (workspace& w : threads) {
    f->begin(w.values);
    const double* numbers = w.values.data();
    CHECK(std::equal(f->fixed().begin(), f->fixed().end(), numbers));
  }
#ifdef __linux__
  CHECK(f->fixed().shared() >= many);
  CHECK(proportional_bytes() - before < static_cast<long>(many * sizeof(double)));
#endif
  for (workspace& w : threads) {
    f->forward(w, x, &y);
    CHECK(y == doctest::Approx(18 * total(many)));
  }
}

TEST_CASE("programs with shared and with few constants take turns in a workspace") {
  const std::size_t sizes[] = {5, many / 8, 100, many / 16};
  std::vector<std::shared_ptr<const agrad::program>> programs;
  for (const std::size_t n : sizes) programs.push_back(program_of(n));
  workspace w;
  for (int again = 0; again < 2; ++again)
    for (std::size_t k = 0; k < 4; ++k) {
      check_derivatives(*programs[k], w, sizes[k], 1.5, 2.0);
      check_derivatives(*programs[k], w, sizes[k], -0.5, 3.0);
    }
}

TEST_CASE("workspaces outlive their program, and copies of values are written freely") {
  workspace w;
  agrad::space copy, assigned(3);
  const std::size_t n = many / 8;
  {
    const auto f = program_of(n);
    check_derivatives(*f, w, n, 2.0, 1.0);
    copy = w.values;
    assigned = agrad::space(w.values);
  }
  CHECK(copy == w.values);
  CHECK(assigned == w.values);
  for (double& number : copy) number += 1;
  for (double& number : assigned) number += 2;
  CHECK(copy[n / 2] == w.values[n / 2] + 1);
  agrad::space moved = std::move(w.values);
  CHECK(assigned[n / 2] == moved[n / 2] + 2);
  moved.resize(2 * moved.size());
  moved[n / 2] = 7;
  w.values = agrad::space(4);
  w.values[3] = 1;
  std::swap(copy, moved);
  CHECK(copy[n / 2] == 7);
}

}  // namespace test_shared_constants
