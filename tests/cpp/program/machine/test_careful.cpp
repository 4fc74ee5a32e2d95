// Zero times infinity: by plain recordings and programs, with adjoints, tangents and second derivatives. The expected numbers
// follow from the rule of docs/functions.md: what is zero by structure is zero, an infinite outer slope times an inner zero is
// zero, and a computed zero before an infinite inner slope is unknown.
#include <doctest/doctest.h>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <vector>

#include "recording.hpp"
#include "singular_probe.hpp"

namespace test_careful {

using agrad::recorder;
using agrad::span;
using program_probe::numbers;
using recording::record;
using recording::slots;
using singular_probe::check;
using singular_probe::check_second;
using singular_probe::function;
using singular_probe::inf;
using singular_probe::is_same;
using singular_probe::program_of;
using singular_probe::unknown;
namespace kernels = agrad::kernels;
using root = agrad::sqrt_rule;
using logarithm = agrad::log_rule;

slots along(recorder& r, const agrad::kernel& what, const slots& x, std::size_t count) {
  const span all = r.dense(x.data(), x.size());
  return recording::range(r.apply(what, count, &all, 1, {static_cast<std::uint32_t>(x.size()), 1}), count);
}

slots total(recorder& r, const slots& x) { return recording::sum(r, x); }
slots number(recorder& r, double c) { return {r.constant(c)}; }
slots constants(recorder& r, const numbers& c) { return recording::range(r.constant(c.data(), c.size()), c.size()); }

TEST_CASE("a computed zero before an infinite slope is unknown") {
  const auto of_root = [](const auto& outer) {
    return [outer](recorder& r, const slots& x) { return outer(r, record<root>(r, x)); };
  };
  check_second(of_root([](recorder& r, const slots& u) { return record<agrad::cosh_rule>(r, u); }), {0}, {unknown}, {unknown});
  check(of_root([](recorder& r, const slots& u) { return record<agrad::subtract_rule>(r, u, u); }), {0}, {unknown});
  check([](recorder& r, const slots& x) { return record<agrad::inv_rule>(r, record<agrad::inv_rule>(r, x)); }, {0}, {unknown});
  check([](recorder& r, const slots& x) { return record<agrad::log_sum_exp_rule>(r, record<logarithm>(r, x), number(r, 0.5)); },
        {0}, {unknown});
  check([](recorder& r, const slots& x) { return along(r, kernels::product_along, record<root>(r, x), 1); }, {0, 0},
        {unknown, unknown});
}

TEST_CASE("an infinite outer slope times an inner zero is zero") {
  const auto distance = [](recorder& r, const slots& x) { return record<root>(r, total(r, record<agrad::square_rule>(r, x))); };
  check(distance, {0, 0}, {0, 0});
  check_second([&](recorder& r, const slots& x) { return record<agrad::cosh_rule>(r, distance(r, x)); }, {0, 0}, {0, 0},
               {unknown, 0, 0, unknown});
  check([](recorder& r, const slots& x) { return record<root>(r, record<agrad::exp_rule>(r, x)); }, {-1000}, {0});
}

TEST_CASE("a zero of structure is zero") {
  const auto sum_of = [](const auto& outer) {
    return [outer](recorder& r, const slots& x) { return total(r, outer(r, x, record<root>(r, x))); };
  };
  const numbers x{4, 0}, expected{0.25, 0};
  const auto chosen = [](recorder& r, const slots& x, const slots& u) {
    return record<agrad::select_rule>(r, record<agrad::greater_rule>(r, x, number(r, 0.0)), u, number(r, 0.0));
  };
  check_second(sum_of(chosen), x, expected, {-0.03125, 0, 0, 0});
  const auto masked = [](recorder& r, const slots&, const slots& u) {
    return record<agrad::multiply_rule>(r, u, constants(r, {1, 0}));
  };
  check_second(sum_of(masked), x, expected, {-0.03125, 0, 0, 0});
  check(sum_of([](recorder&, const slots&, const slots& u) { return slots{u[0]}; }), x, expected);
  check(sum_of([](recorder& r, const slots&, const slots& u) { return along(r, kernels::max_along, u, 1); }), x, expected);
  check(sum_of([](recorder& r, const slots&, const slots& u) {
          return recording::product(r, constants(r, {1, 0, -1, 0, 1, 0}), u, 3, 2, 1);
        }),
        x, expected, false);
  check(sum_of([](recorder& r, const slots&, const slots& u) { return slots{along(r, kernels::cumulative_product, u, 2)[0]}; }),
        x, expected);
  check(sum_of([](recorder& r, const slots&, const slots& u) {
          return record<agrad::square_rule>(r, record<agrad::multiply_rule>(r, u, constants(r, {1, 0})));
        }),
        x, {1, 0});
}

TEST_CASE("a product with a constant zero does not vary, nor does what is made of it") {
  const auto times = [](recorder& r, const slots& x, const slots& y) { return record<agrad::multiply_rule>(r, x, y); };
  const auto none = [&](recorder& r, const slots& x) { return record<agrad::negative_rule>(r, times(r, number(r, 0.0), x)); };
  check_second([&](recorder& r, const slots& x) { return times(r, none(r, x), record<root>(r, x)); }, {0}, {0}, {0});
  const auto cosh_of = [](recorder& r, const slots& x) { return record<agrad::cosh_rule>(r, x); };
  check([&](recorder& r, const slots& x) { return cosh_of(r, times(r, none(r, x), record<root>(r, x))); }, {0}, {0});
  const auto masked = [&](recorder& r, const slots& x) {
    return total(r, times(r, times(r, constants(r, {1, 0}), x), record<root>(r, slots{x[1], x[0]})));
  };
  check(masked, {0, 0}, {0, unknown});
  check(masked, {0, 4}, {2, 0});
}

TEST_CASE("a sum of constant factors that cancel is a computed zero") {
  check(
      [](recorder& r, const slots& x) {
        return total(r, recording::product(r, constants(r, {1, -1}), record<root>(r, x), 2, 1, 1));
      },
      {0}, {unknown});
}

TEST_CASE("infinite slopes stay infinite, and other directions stay finite") {
  const function f = [](recorder& r, const slots& x) {
    const slots u = record<root>(r, slots{x[0]});
    return total(r, {record<agrad::multiply_rule>(r, u, slots{x[1]})[0], record<agrad::square_rule>(r, slots{x[1]})[0]});
  };
  check_second(f, {0, 2}, {inf, 4}, {-inf, inf, inf, 2});
  check(f, {0, 0}, {unknown, 0});
}

TEST_CASE("rows of a Jacobian are careful where they must be") {
  const function f = [](recorder& r, const slots& x) {
    const slots u = record<root>(r, x);
    return slots{record<agrad::square_rule>(r, slots{u[0]})[0], u[1], x[0]};
  };
  const auto compiled = program_of(f, {0, 0});
  const auto jacobian = program_probe::jacobian_by_adjoints(*compiled, {0, 0});
  numbers all(jacobian.data(), jacobian.data() + jacobian.size());
  CHECK(is_same(all, {unknown, 0, 0, inf, 1, 0}));
  agrad::workspace w;
  numbers y(3), rows(6);
  const numbers x{0, 0}, seeds{1, 0, 0, 0, 1, 0, 0, 0, 1};
  compiled->forward(w, x.data(), y.data());
  compiled->reverse_rows(w, 3, seeds.data(), rows.data());
  CHECK(is_same(rows, {unknown, 0, 0, inf, 1, 0}));
}

TEST_CASE("a run at another point forgets the slopes of the last one") {
  const auto f = program_of([](recorder& r, const slots& x) { return record<agrad::cosh_rule>(r, record<root>(r, x)); }, {1});
  agrad::workspace w;
  for (const double x : {4.0, 0.0, 4.0}) {
    double y = 0, back = 0;
    const double one = 1;
    f->forward(w, &x, &y);
    f->reverse(w, &one, &back);
    CHECK(is_same({back}, {x == 0 ? unknown : std::sinh(2.0) / 4}));
  }
}

}  // namespace test_careful
