// Products of a program's derivatives with vectors: closed forms, the dot-product test, numbers of directions that are no
// multiple of eight, and second derivatives of a combination of outputs.
#include <doctest/doctest.h>
#include <agrad/program/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "recording.hpp"

namespace test_program_products {

using agrad::program;
using agrad::recorder;
using agrad::workspace;
using doctest::Approx;
using recording::range;
using recording::record;

namespace {

const std::vector<double> point{0.7, -0.4, 1.3, 0.2, 2.0};
constexpr std::size_t n = 5;

/// y_i = sin(x_i) x_0, and as a sixth output the sum of x_i^2: R^5 -> R^6.
std::shared_ptr<const program> example() {
  recorder r;
  const auto x = range(r.input(point.data(), n), n);
  auto outputs = record<agrad::multiply_rule>(r, record<agrad::sin_rule>(r, x), {x[0]});
  outputs.push_back(recording::sum(r, record<agrad::multiply_rule>(r, x, x))[0]);
  return agrad::schedule(r, outputs);
}

std::vector<double> unit_rows(std::size_t size) {
  std::vector<double> rows(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) rows[i * size + i] = 1;
  return rows;
}

}  // namespace

TEST_CASE("products with all unit vectors are the Jacobian, by tangents and by adjoints") {
  const auto f = example();
  workspace shared;
  std::vector<double> y(6), same(6), columns(n * 6, 1e300), rows(6 * n, 1e300);
  agrad::jacobian_products(*f, shared, point.data(), unit_rows(n).data(), n, y.data(), columns.data());
  agrad::adjoint_products(*f, shared, point.data(), unit_rows(6).data(), 6, same.data(), rows.data());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(y[i] == same[i]);
    for (std::size_t j = 0; j < n; ++j) {
      double expected = 2 * point[j];
      if (i < 5) expected = (i == j ? std::cos(point[j]) * point[0] : 0) + (j == 0 ? std::sin(point[i]) : 0);
      CAPTURE(i);
      CAPTURE(j);
      CHECK(rows[i * n + j] == Approx(expected).epsilon(1e-15));
      CHECK(columns[j * 6 + i] == Approx(expected).epsilon(1e-15));
    }
  }
}

TEST_CASE("products with any number of directions pass the dot-product test") {
  const auto f = example();
  workspace shared;
  for (std::size_t count : {1U, 3U, 7U, 8U, 9U, 17U}) {
    std::vector<double> v(count * n), w(count * 6), y(6), forward(count * 6), back(count * n);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = std::sin(1.0 + 3.0 * static_cast<double>(k));
    for (std::size_t k = 0; k < w.size(); ++k) w[k] = std::cos(2.0 * static_cast<double>(k));
    agrad::jacobian_products(*f, shared, point.data(), v.data(), count, y.data(), forward.data());
    agrad::adjoint_products(*f, shared, point.data(), w.data(), count, y.data(), back.data());
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b) {
        const double one = std::inner_product(w.begin() + 6 * a, w.begin() + 6 * (a + 1), forward.begin() + 6 * b, 0.0);
        const double two = std::inner_product(back.begin() + n * a, back.begin() + n * (a + 1), v.begin() + n * b, 0.0);
        CHECK(std::abs(one - two) < 1e-13);
      }
  }
}

TEST_CASE("Hessian products of a combination of outputs") {
  const auto f = example();
  workspace w;
  const std::vector<double> seeds{1, 2, -1, 0.5, 3, 10};
  std::vector<double> y(6), gradient(n), hessian(n * n, 1e300);
  for (int again = 0; again < 2; ++again) {  // the workspace carries nothing over
    agrad::hessian_products(*f, w, point.data(), seeds.data(), unit_rows(n).data(), n, y.data(), gradient.data(),
                            hessian.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double expected = i == j ? 20 - seeds[i] * std::sin(point[i]) * point[0] : 0;
        if (i == 0) expected += seeds[j] * std::cos(point[j]);
        if (j == 0) expected += seeds[i] * std::cos(point[i]);
        CHECK(hessian[i * n + j] == Approx(expected).epsilon(1e-14));
      }
  }
  double slope = 20 * point[0] + seeds[0] * std::cos(point[0]) * point[0];
  for (std::size_t i = 0; i < n; ++i) slope += seeds[i] * std::sin(point[i]);
  CHECK(gradient[0] == Approx(slope).epsilon(1e-15));
  CHECK(y[5] == Approx(std::inner_product(point.begin(), point.end(), point.begin(), 0.0)).epsilon(1e-15));
}

TEST_CASE("without directions there are the values and the gradient") {
  const auto f = example();
  workspace w;
  std::vector<double> y(6), gradient(n);
  const std::vector<double> seeds{0, 0, 0, 0, 0, 1};
  agrad::hessian_products(*f, w, point.data(), seeds.data(), nullptr, 0, y.data(), gradient.data(), nullptr);
  for (std::size_t i = 0; i < n; ++i) CHECK(gradient[i] == 2 * point[i]);
  agrad::jacobian_products(*f, w, point.data(), nullptr, 0, y.data(), nullptr);
  CHECK(y[0] == std::sin(point[0]) * point[0]);
}

TEST_CASE("a program of rules has tangents") { CHECK(example()->first_without_tangents() == nullptr); }

}  // namespace test_program_products
