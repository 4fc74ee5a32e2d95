// Products of narrow, small and many matrices: every shape that has loops of its own against finite differences, and factors
// that are infinite where nothing uses their row.
#include <doctest/doctest.h>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_small_products {

using agrad::recorder;
using agrad::workspace;
using recording::range;
using recording::slots;
using std::uint32_t;

namespace {

std::vector<double> numbers(std::size_t n) {
  std::vector<double> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = std::sin(1.3 * static_cast<double>(i) + 0.4);
  return all;
}

/// Records `count` products of n x k and k x m matrices, where each factor is one matrix for all or one for each product.
slots products(recorder& r, const slots& a, const slots& b, std::initializer_list<uint32_t> shape) {
  const agrad::span operands[] = {r.dense(a.data(), a.size()), r.dense(b.data(), b.size())};
  const uint32_t* integers = shape.begin();
  const std::size_t size = std::size_t{integers[0]} * integers[2] * integers[3];
  return range(r.apply(agrad::kernels::batched_product, size, operands, 2, shape), size);
}

}  // namespace

TEST_CASE("products of many matrices have the right derivatives in every shape with loops of its own") {
  const uint32_t shapes[][3] = {{1, 1, 1}, {1, 3, 1}, {2, 3, 2}, {1, 1, 8}, {5, 2, 1}, {3, 5, 5}, {1, 9, 1}};
  for (const auto& shape : shapes)
    for (const uint32_t left : {0U, 1U})
      for (const uint32_t right : {0U, 1U}) {
        const uint32_t n = shape[0], k = shape[1], m = shape[2];
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(m);
        CAPTURE(left);
        CAPTURE(right);
        constexpr uint32_t count = 3;
        recorder r;
        const std::size_t a_size = std::size_t{n} * k * (left != 0 ? count : 1),
                          b_size = std::size_t{k} * m * (right != 0 ? count : 1);
        const auto start = numbers(a_size + b_size);
        const slots x = range(r.input(start.data(), start.size()), start.size());
        const slots a(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(a_size)),
            b(x.begin() + static_cast<std::ptrdiff_t>(a_size), x.end());
        const auto f = schedule(r, products(r, a, b, {n, k, m, count, left, right}));
        CHECK(program_probe::disagreement(*f, start) < 1e-9);
      }
}

TEST_CASE("narrow matrices times a vector have the right values and derivatives") {
  for (uint32_t columns = 1; columns <= 9; ++columns)
    for (const uint32_t rows : {1U, 3U, 4U, 7U}) {
      CAPTURE(columns);
      CAPTURE(rows);
      recorder r;
      const auto start = numbers(std::size_t{rows} * columns + columns);
      const slots x = range(r.input(start.data(), start.size()), start.size());
      const slots a(x.begin(), x.end() - columns), b(x.end() - columns, x.end());
      const auto f = schedule(r, recording::product(r, a, b, rows, columns, 1));
      const auto y = program_probe::run(*f, start);
      for (uint32_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (uint32_t l = 0; l < columns; ++l) sum += start[i * columns + l] * start[std::size_t{rows} * columns + l];
        CHECK(y[i] == doctest::Approx(sum).epsilon(1e-14));
      }
      CHECK(program_probe::disagreement(*f, start) < 1e-9);
    }
}

TEST_CASE("a row that nobody uses adds nothing, although a factor is infinite") {
  for (const uint32_t right : {0U, 1U}) {
    CAPTURE(right);
    recorder r;
    auto start = numbers(right != 0 ? 12 : 8);
    start[3] = std::numeric_limits<double>::infinity();  // in row 1
    const slots x = range(r.input(start.data(), start.size()), start.size());
    const slots a(x.begin(), x.begin() + 6), b(x.begin() + 6, x.end());
    const auto f = schedule(r, products(r, a, b, {1, 2, 1, 3, 1, right}));
    workspace w;
    std::vector<double> y(3), gradient(start.size());
    const std::vector<double> seeds{1, 0, 1};
    f->forward(w, start.data(), y.data());
    f->reverse(w, seeds.data(), gradient.data());
    for (const double each : gradient) CHECK(std::isfinite(each));
    CHECK(gradient[2] == 0);
    CHECK(gradient[6] == (right != 0 ? start[0] : start[0] + start[4]));
  }
}

}  // namespace test_small_products
