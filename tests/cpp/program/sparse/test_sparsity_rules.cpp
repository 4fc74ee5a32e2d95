// Patterns of programs: every elementwise rule, and random programs, whose dense derivatives must be what the sparse ones are.
#include <doctest/doctest.h>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/density.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "recording.hpp"
#include "sparsity_probe.hpp"

namespace test_sparsity_rules {

using namespace sparsity_probe;

namespace {

template <class Rule>
void check_curvature(double scale) {
  constexpr auto arity = static_cast<std::size_t>(Rule::arity);
  recorder r;
  std::vector<double> x(arity);
  for (std::size_t k = 0; k < arity; ++k) {
    const agrad::interval& in = Rule::domain[k];
    x[k] = in.whole ? std::ceil(scale) : scale + 0.21 * static_cast<double>(k);
    if (x[k] < in.lower) x[k] += in.lower;
    if (x[k] > in.upper) x[k] = in.upper - 0.1 / scale;
  }
  const auto in = range(r.input(x.data(), arity), arity);
  std::vector<slots> operands;
  for (const slot s : in) operands.push_back({s});
  const auto f = agrad::schedule(r, recording::record_elementwise(r, agrad::kernel_of_rule<Rule>(), operands));
  check_derivatives(*f, x);
}

}  // namespace

TEST_CASE("no rule has a second derivative that its dependence denies") {
  agrad::for_each(agrad::rules::elementwise{}, [](auto tag) {
    using Rule = typename decltype(tag)::type;
    CAPTURE(Rule::name);
    for (const double scale : {-1.3, 0.3, 0.9, 1.7, 4.0}) check_curvature<Rule>(scale);
  });
}

TEST_CASE("what rules say of their arguments") {
  using agrad::dependence;
  const auto of = [](auto tag) { return agrad::dependence_of_rule<typename decltype(tag)::type, agrad::dual<double>>(); };
  CHECK(of(agrad::type_tag<agrad::add_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::abs_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::maximum_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::select_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::less_rule>{}).how == dependence::on_nothing);
  CHECK_FALSE(of(agrad::type_tag<agrad::exp_rule>{}).is_linear);
  const dependence multiply = of(agrad::type_tag<agrad::multiply_rule>{});
  CHECK(multiply.curved[0] == 0b10);
  CHECK(multiply.curved[1] == 0b01);
  CHECK(multiply.zero_with == 0b11);
  const dependence divide = of(agrad::type_tag<agrad::divide_rule>{});
  CHECK(divide.curved[0] == 0b10);
  CHECK(divide.curved[1] == 0b11);
  CHECK(divide.zero_with == 0b01);
  const dependence fma = of(agrad::type_tag<agrad::fma_rule>{});
  CHECK(fma.curved[2] == 0);
  CHECK((fma.curved[0] & 0b110) == 0b010);
}

// ---- random programs -----------------------------------------------------------------------------------------------------

TEST_CASE("random programs have the derivatives that dense products have") {
  std::mt19937 generator(20080117);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(generator() % n); };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    recorder r;
    const std::size_t n = 3 + pick(10);
    std::vector<double> start(n);
    for (double& x : start) x = 0.5 + static_cast<double>(pick(1000)) / 1000;
    slots values = range(r.input(start.data(), n), n);
    values.push_back(r.constant(0.0));
    values.push_back(r.constant(1.5));
    for (std::size_t steps = 3 + pick(12); steps > 0; --steps) {
      slots x, y;
      for (std::size_t i = 0, size = 2 + 2 * pick(3); i < size; ++i) {
        x.push_back(values[pick(values.size())]);
        y.push_back(values[pick(values.size())]);
      }
      const auto half = static_cast<std::uint32_t>(x.size() / 2);
      const slots made = [&]() -> slots {
        switch (pick(10)) {
          case 0:
            return record<agrad::sin_rule>(r, x);
          case 1:
            return record<agrad::add_rule>(r, x, y);
          case 2:
            return record<agrad::multiply_rule>(r, x, y);
          case 3:
            return record<agrad::divide_rule>(r, x,
                                              record<agrad::add_rule>(r, record<agrad::square_rule>(r, y), {r.constant(1.0)}));
          case 4:
            return record<agrad::maximum_rule>(r, x, y);
          case 5:
            return recording::sum(r, x, 2);
          case 6:
            return recording::product(r, x, y, 2, half, 2);
          case 7:
            return apply(r, agrad::kernels::cumulative_sum, x.size(), {x}, {half, 2});
          case 8:
            return record<agrad::tanh_rule>(r, {y[0]});
          default:
            return record<agrad::multiply_rule>(r, {y[0]}, x);
        }
      }();
      values.insert(values.end(), made.begin(), made.end());
    }
    slots outputs;
    for (std::size_t i = 0; i < 4 + pick(8); ++i) outputs.push_back(values[values.size() - 1 - pick(values.size())]);
    const auto f = agrad::schedule(r, outputs);
    check_derivatives(*f, start);
    for (double& x : start) x += 0.1;
    check_derivatives(*f, start);
  }
}

}  // namespace test_sparsity_rules
