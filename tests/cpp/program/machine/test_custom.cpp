// Operations that take a value apart from its derivative, and the watch of a recording.
#include <doctest/doctest.h>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "recording.hpp"

namespace test_program_custom {

using agrad::operation;
using agrad::recorder;
using agrad::slot;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;
namespace kernels = agrad::kernels;

namespace {

using multiply = agrad::multiply_rule;

slots one(recorder& r, const agrad::kernel& what, const slots& x) { return recording::record_elementwise(r, what, {x}); }

/// The value of x^2 with the derivative 3 x t, which cannot be mistaken for its own.
slots square(recorder& r, const slots& x) {
  const slots t = one(r, kernels::perturbation, x), three{r.constant(3.0)};
  const auto tangent = [&](const slots& at) { return record<multiply>(r, record<multiply>(r, three, at), t); };
  const slots forwards = tangent(one(r, kernels::stop_gradient, x)), backwards = tangent(one(r, kernels::hold, x));
  return recording::record_elementwise(r, kernels::with_derivative, {record<multiply>(r, x, x), forwards, backwards});
}

}  // namespace

TEST_CASE("a derivative by hand is what tangents, adjoints and second derivatives are made of") {
  const std::vector<double> x{0.7, -0.4, 1.3};
  recorder r;
  const slots in = range(r.input(x.data(), 3), 3);
  const auto f = agrad::schedule(r, {recording::sum(r, record<multiply>(r, square(r, in), record<agrad::sin_rule>(r, in)))});
  const double seed = 1;
  const std::vector<double> directions{1, 0, 0, 0, 1, 0, 0, 0, 1};
  double y = 0;
  std::vector<double> gradient(3), products(9), tangents(3), adjoints(3);
  workspace w;
  workspace real;
  agrad::hessian_products(*f, w, x.data(), &seed, directions.data(), 3, &y, gradient.data(), products.data());
  agrad::jacobian_products(*f, w, x.data(), directions.data(), 3, &y, tangents.data());
  agrad::adjoint_products(*f, real, x.data(), &seed, 1, &y, adjoints.data());
  for (std::size_t i = 0; i < 3; ++i) {
    const double s = std::sin(x[i]), c = std::cos(x[i]);
    CHECK(gradient[i] == doctest::Approx(3 * x[i] * s + x[i] * x[i] * c).epsilon(1e-14));
    CHECK(tangents[i] == doctest::Approx(gradient[i]).epsilon(1e-14));
    CHECK(adjoints[i] == doctest::Approx(gradient[i]).epsilon(1e-14));
    for (std::size_t j = 0; j < 3; ++j) {
      const double expected = i == j ? 3 * s + 2 * 3 * x[i] * c - x[i] * x[i] * s : 0;
      CHECK(products[3 * i + j] == doctest::Approx(expected).epsilon(1e-14));
    }
  }
}

TEST_CASE("one slot that stands for all entries is stopped, held and perturbed like several") {
  const double x = 2;
  for (const agrad::kernel* what : {&kernels::stop_gradient, &kernels::hold, &kernels::perturbation}) {
    recorder r;
    const slot in = r.input(&x, 1);
    const agrad::span broadcast{in, 1, 0, true};
    const slots y = range(r.apply(*what, 3, &broadcast, 1), 3);
    const auto f = agrad::schedule(r, y);
    std::vector<double> values(3), tangents(3), adjoint(1);
    const std::vector<double> seeds{1, 10, 100};
    const double direction = 1;
    workspace w;
    workspace real;
    agrad::jacobian_products(*f, w, &x, &direction, 1, values.data(), tangents.data());
    agrad::adjoint_products(*f, real, &x, seeds.data(), 1, values.data(), adjoint.data());
    const bool forwards = what != &kernels::stop_gradient, backwards = what == &kernels::perturbation;
    CHECK(values == std::vector<double>(3, backwards ? 0.0 : 2.0));
    CHECK(tangents == std::vector<double>(3, forwards ? 1.0 : 0.0));
    CHECK(adjoint[0] == (backwards ? 111 : 0));
  }
}

TEST_CASE("an infinite derivative of a derivative by hand does no harm forwards") {
  const double x = 0, direction = 1;
  recorder r;
  const slots in = range(r.input(&x, 1), 1);
  const slots t = one(r, kernels::perturbation, in);
  const auto tangent = [&](const slots& at) { return record<multiply>(r, record<agrad::sqrt_rule>(r, at), t); };
  const slots parts[] = {tangent(one(r, kernels::stop_gradient, in)), tangent(one(r, kernels::hold, in))};
  const auto f = agrad::schedule(r, recording::record_elementwise(r, kernels::with_derivative, {in, parts[0], parts[1]}));
  workspace w;
  double y = 1, product = 1;
  agrad::jacobian_products(*f, w, &x, &direction, 1, &y, &product);
  CHECK(product == 0);  // sqrt(0) times the direction; the derivative of sqrt at 0 has no part in it
}

namespace {

struct diary final : agrad::operation_watch {
  std::string text;
  double refused = std::numeric_limits<double>::quiet_NaN();

  void after_input(const double* values, std::size_t n) override {
    text += "input";
    for (std::size_t i = 0; i < n; ++i) text += " " + std::to_string(static_cast<int>(values[i]));
    text += "; ";
  }
  void after_forward(const operation& op, std::size_t index, const double* values) override {
    if (values[op.result] == refused) throw std::domain_error("refused");
    text +=
        std::string(op.what->name) + std::to_string(index) + " = " + std::to_string(static_cast<int>(values[op.result])) + "; ";
  }
  void after_reverse(const operation& op, std::size_t index, const double*, const double* adjoints) override {
    const double adjoint = adjoints[op.operands[0].first];
    text +=
        "back " + std::string(op.what->name) + std::to_string(index) + ": " + std::to_string(static_cast<int>(adjoint)) + "; ";
  }
};

}  // namespace

TEST_CASE("a watch sees inputs, operations and the reverse pass, and may end a recording") {
  diary watch;
  recorder r;
  r.watch(&watch);
  const double x[] = {2, 3};
  const slot in = r.input(x, 2);
  const slots product = record<multiply>(r, {in}, {in + 1}), y = record<multiply>(r, product, {in});
  const double seed = 1;
  double adjoint = 0;
  r.reverse(y.data(), &seed, 1, &in, &adjoint, 1);
  CHECK(adjoint == 12);
  CHECK(watch.text == "input 2 3; multiply0 = 6; multiply1 = 12; back multiply1: 2; back multiply0: 12; ");
  watch.refused = 36;
  const std::size_t before = r.size();
  CHECK_THROWS_AS(record<multiply>(r, product, product), std::domain_error);
  CHECK(r.size() == before);
  r.watch(nullptr);
  CHECK(r.value(record<multiply>(r, product, product)[0]) == 36);
}

}  // namespace test_program_custom
