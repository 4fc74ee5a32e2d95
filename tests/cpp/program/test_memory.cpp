// What is kept between recordings and runs: memory, and nothing else. Adjoints of data are not computed, nor is what was there
// before taken for one.
#include <doctest/doctest.h>
#include <agrad/program/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "recording.hpp"

namespace test_program_memory {

using agrad::recorder;
using agrad::slot;
using recording::range;
using recording::record;
using recording::slots;

namespace {

/// sum of data * x with its reverse pass; the gradient is the data.
std::vector<double> gradient_of_dot(recorder& r, const std::vector<double>& data, const std::vector<double>& x) {
  const slots a = range(r.constant(data.data(), data.size()), data.size());
  const slots in = range(r.input(x.data(), x.size()), x.size());
  const slot y = recording::sum(r, record<agrad::multiply_rule>(r, a, in), 1)[0];
  const double one = 1;
  std::vector<double> gradient(x.size());
  r.reverse(&y, &one, 1, in.data(), gradient.data(), in.size());
  return gradient;
}

}  // namespace

TEST_CASE("a recording takes the memory of one that has ended, and none of its numbers") {
  const std::vector<double> data(1000, 2.0), nans(1000, agrad::quiet_nan), x(1000, 3.0);
  const double* place = nullptr;
  {
    recorder r;
    for (const double d : gradient_of_dot(r, nans, nans)) CHECK(std::isnan(d));
    place = r.values().data();
  }
  recorder r;
  CHECK(gradient_of_dot(r, data, x) == data);
  CHECK(r.values().data() == place);
  recorder inner;  // while the other is open
  CHECK(gradient_of_dot(inner, x, data) == x);
  CHECK(inner.values().data() != place);
}

TEST_CASE("what does not depend on an input has no adjoint") {
  recorder r;
  const double numbers[] = {2, 3};
  const slot constant = r.constant(numbers, 2), input = r.input(numbers, 2);
  const slot doubled = record<agrad::multiply_rule>(r, range(constant, 2), range(constant, 2))[0];
  const slot y = record<agrad::multiply_rule>(r, {doubled}, {input})[0];
  const slot outputs[] = {y, doubled}, required[] = {constant, doubled, input, input + 1, y};
  const double seeds[] = {1, 1};
  double adjoints[5];
  for (int again = 0; again < 3; ++again) {
    r.reverse(outputs, seeds, 2, required, adjoints, 5);
    CHECK(adjoints[0] == 0);
    CHECK(adjoints[1] == 0);
    CHECK(adjoints[2] == 4);
    CHECK(adjoints[3] == 0);
    CHECK(adjoints[4] == 1);
  }
}

TEST_CASE("a recording may end in another thread, and after its own") {
  auto r = std::make_unique<recorder>();
  std::thread([&] { r = nullptr; }).join();
  std::thread([&] {
    r = std::make_unique<recorder>();
    CHECK(gradient_of_dot(*r, {1, 2}, {3, 4}) == std::vector<double>{1, 2});
  }).join();
  r = nullptr;
  recorder after;
  CHECK(gradient_of_dot(after, {1, 2}, {3, 4}) == std::vector<double>{1, 2});
}

TEST_CASE("runs of different programs and widths share a workspace") {
  const auto cube_of = [](std::size_t n, double factor) {
    recorder r;
    const std::vector<double> at(n, 1.0), factors(n, factor);
    const slots x = range(r.input(at.data(), n), n), c = range(r.constant(factors.data(), n), n);
    const slots square = record<agrad::multiply_rule>(r, x, x);
    return agrad::schedule(
        r, recording::sum(r, record<agrad::multiply_rule>(r, record<agrad::multiply_rule>(r, square, x), c), 1));
  };
  const auto small = cube_of(3, 1), large = cube_of(40, 2);
  agrad::workspace w;
  for (int again = 0; again < 3; ++again)
    for (const auto& f : {small, large, small}) {
      const std::size_t n = f->input_size();
      const double factor = f == small ? 1 : 2;
      for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{1}}) {
        std::vector<double> x(n), directions(count * n, 1.0), gradient(n), products(count * n);
        for (std::size_t i = 0; i < n; ++i) x[i] = 1 + 0.1 * static_cast<double>(i);
        const double one = 1;
        double y = 0;
        agrad::hessian_products(*f, w, x.data(), &one, directions.data(), count, &y, gradient.data(), products.data());
        for (std::size_t i = 0; i < n; ++i) {
          CHECK(gradient[i] == doctest::Approx(3 * factor * x[i] * x[i]));
          for (std::size_t d = 0; d < count; ++d) CHECK(products[d * n + i] == doctest::Approx(6 * factor * x[i]));
        }
      }
    }
}

}  // namespace test_program_memory
