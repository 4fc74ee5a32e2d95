// Derivatives recorded as operations: adjoints and tangents against the reverse passes of programs, order upon order; and what
// was recorded for one row, recorded for many.
#include <doctest/doctest.h>

#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/derive/batch.hpp>
#include <agrad/program/derive/tangents.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/density.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_nested {

using agrad::recorder;
using agrad::slot;
using agrad::span;
using doctest::Approx;
using program_probe::numbers;
using recording::range;
using recording::record;
using recording::slots;

namespace {

slots inputs(recorder& r, const numbers& x) { return range(r.input(x.data(), x.size()), x.size()); }

slots along_lines(recorder& r, const agrad::kernel& what, const slots& x, std::uint32_t length, std::uint32_t inner,
                  std::size_t count) {
  const span all = r.dense(x.data(), x.size());
  return range(r.apply(what, count, &all, 1, {length, inner}), count);
}

/// A scalar function of six numbers with every kind of operation that is transposed by hand, and branching rules.
slot every_kind(recorder& r, const slots& x) {
  const slots a(x.begin(), x.begin() + 4), b(x.begin() + 2, x.end());
  slots y = record<agrad::multiply_rule>(r, record<agrad::sin_rule>(r, a), b);
  y = recording::product(r, y, slots{x[1], x[0], x[3], x[2]}, 2, 2, 2);
  y = record<agrad::add_rule>(r, y, along_lines(r, agrad::kernels::cumulative_sum, y, 2, 2, 4));
  const slots totals = along_lines(r, agrad::kernels::sum_along, y, 2, 2, 2);
  const slots tops = along_lines(r, agrad::kernels::log_sum_exp_along, y, 2, 1, 2);
  slots z = record<agrad::hypot_rule>(r, totals, tops);
  z = record<agrad::pow_rule>(r, record<agrad::add_rule>(r, z, {r.constant(1.0)}), {r.constant(1.5)});
  z = record<agrad::tanh_rule>(r, record<agrad::divide_rule>(r, z, {x[5]}));
  return recording::sum(r, record<agrad::multiply_rule>(r, z, {x[4]}))[0];
}

numbers point() { return {0.7, -0.4, 1.3, 0.9, -1.1, 2.0}; }

/// The slots of the gradient of what was recorded from `begin` on.
slots gradient(recorder& r, std::size_t begin, slot y, const slots& x) {
  agrad::recorded_part part(r, begin, r.code().operations.size(), x);
  agrad::adjoint_recorder back(r, part);
  back.seed(y, r.constant(1.0));
  back.reverse();
  return back.of(x);
}

numbers values(const recorder& r, const slots& x) {
  numbers v;
  for (const slot s : x) v.push_back(r.value(s));
  return v;
}

void check_close(const numbers& given, const numbers& expected, double tolerance = 1e-12) {
  REQUIRE(given.size() == expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(given[i] == Approx(expected[i]).epsilon(tolerance).scale(1));
}

}  // namespace

TEST_CASE("a recorded gradient is the gradient, and so are its programs'") {
  recorder r;
  const slots x = inputs(r, point());
  const slot y = every_kind(r, x);
  const auto f = agrad::schedule(r, {y});
  const numbers expected = program_probe::gradient(*f, point(), {1.0});
  const slots g = gradient(r, 0, y, x);
  check_close(values(r, g), expected);
  const auto program = agrad::schedule(r, g);
  check_close(program_probe::run(*program, point()), expected);

  // Its Jacobian is the Hessian, swept back and by tangents.
  const program_probe::rows hessian = program_probe::jacobian_by_adjoints(*program, point());
  program_probe::rows unit = program_probe::rows::Identity(6, 6);
  agrad::workspace w;
  const auto both = program_probe::along<1>(*f, w, point(), unit, {1.0});
  CHECK((hessian - both.hessian).cwiseAbs().maxCoeff() < 1e-11);
}

TEST_CASE("recorded derivatives of the log share of a nearly certain entry keep their digits") {
  for (const double v : {0.3, 5.0, 40.0}) {
    recorder r;
    const slots x = inputs(r, {v, 0, 0}), counts{r.constant(1.0), r.constant(0.0), r.constant(0.0)};
    const agrad::span both[] = {r.dense(x.data(), 3), r.dense(counts.data(), 3)};
    const slot y = r.apply(agrad::kernels::log_shares_along, 1, both, 2, {3, 1});
    const slots g = gradient(r, 0, y, x), h = gradient(r, 0, g[0], x), third = gradient(r, 0, h[0], x);
    const double rest = 2 * std::exp(-v), others = rest / (1 + rest), bend = -others / (1 + rest);
    CHECK(r.value(g[0]) == Approx(others).epsilon(1e-14));
    CHECK(r.value(h[0]) == Approx(bend).epsilon(1e-14));
    CHECK(r.value(h[1]) == Approx(-0.5 * bend).epsilon(1e-14));
    CHECK(r.value(third[0]) == Approx(-bend * (1 - 2 * others)).epsilon(1e-13));
  }
}

TEST_CASE("third derivatives, by adjoints of adjoints") {
  recorder r;
  const slots x = inputs(r, point());
  const slots g = gradient(r, 0, every_kind(r, x), x);
  const slots h = gradient(r, 0, g[1], x);
  const auto second = agrad::schedule(r, g);
  const auto row = agrad::schedule(r, h);
  const auto hessian_row = [&](const numbers& at) {
    const program_probe::rows j = program_probe::jacobian_by_adjoints(*second, at);
    return numbers(j.data() + 6, j.data() + 12);
  };
  check_close(program_probe::run(*row, point()), hessian_row(point()), 1e-10);
  const program_probe::rows third = program_probe::jacobian_by_adjoints(*row, point());
  for (Eigen::Index k = 0; k < 6; ++k) {
    numbers above = point(), below = point();
    above[static_cast<std::size_t>(k)] += 1e-4, below[static_cast<std::size_t>(k)] -= 1e-4;
    const numbers up = hessian_row(above), down = hessian_row(below);
    for (Eigen::Index i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(third(i, k) == Approx((up[at] - down[at]) / 2e-4).epsilon(1e-5).scale(1));
    }
  }
}

TEST_CASE("recorded tangents are the programs', and their adjoints the Hessian's products") {
  recorder r;
  const slots x = inputs(r, point());
  const slot y = every_kind(r, x);
  const auto f = agrad::schedule(r, {y});
  const numbers v{0.3, -1.0, 0.5, 2.0, -0.7, 0.1};
  agrad::recorded_part part(r, 0, r.code().operations.size(), x);
  agrad::tangent_recorder along(r, part);
  for (std::size_t i = 0; i < 6; ++i) along.seed(x[i], r.constant(v[i]));
  along.reverse();
  const slot dy = along.of(y);
  const program_probe::rows direction = program_probe::vector(v);
  agrad::workspace w;
  const auto expected = program_probe::along<1>(*f, w, point(), direction, {1.0});
  CHECK(r.value(dy) == Approx(expected.tangents(0, 0)).epsilon(1e-12));
  const auto slope = agrad::schedule(r, {dy});
  const numbers product = program_probe::gradient(*slope, point(), {1.0});
  for (Eigen::Index i = 0; i < 6; ++i)
    CHECK(product[static_cast<std::size_t>(i)] == Approx(expected.hessian(i, 0)).epsilon(1e-10).scale(1));
}

TEST_CASE("operations with loops of their own have further orders by formulas") {
  recorder r;
  const slots x = inputs(r, {0.5, 1.5, 2.0});
  const span operands[] = {{x[0], 1, 0, true}, {x[1], 1, 0, true}, {x[2], 1, 0, true}};
  const slot y = r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, operands, 3, {1, 0});
  const slots g = gradient(r, 0, y, x);
  check_close(values(r, g), {0.25, -0.25, -0.375});
  const auto program = agrad::schedule(r, g);
  CHECK(program->first_without_tangents() == nullptr);
  const program_probe::rows hessian = program_probe::jacobian_by_adjoints(*program, {0.5, 1.5, 2.0});
  CHECK(hessian(0, 0) == Approx(-0.25));
  CHECK(hessian(0, 1) == Approx(0.25));
  CHECK(hessian(0, 2) == Approx(-0.25));
  CHECK(hessian(2, 2) == Approx(0.25 - 3 * 1.0 / 16));
  agrad::workspace w;
  numbers out(3);
  const numbers at{0.5, 1.5, 2.0}, direction{1, 0, 0};
  program->forward(w, at.data(), out.data());
  program->tangent<1>(w, direction.data(), out.data());
  for (std::size_t i = 0; i < 3; ++i) CHECK(out[i] == Approx(hessian(static_cast<Eigen::Index>(i), 0)));
  numbers back(3), back_tangents(3);
  program->second<1>(w, direction.data(), back.data(), back_tangents.data());
  for (Eigen::Index i = 0; i < 3; ++i) CHECK(back[static_cast<std::size_t>(i)] == Approx(hessian(0, i)));
  check_close(back_tangents, {0, 0, 0.25});  // 2 / sigma^3
}

TEST_CASE("forward mode passes through forward mode and the reverse pass of operations with loops of their own, in lanes too") {
  recorder r;
  const numbers at{0.5, 1.5, 2.0}, v{1.0, -0.5, 0.3};
  const slots x = inputs(r, at);
  const span operands[] = {{x[0], 1, 0, true}, {x[1], 1, 0, true}, {x[2], 1, 0, true}};
  const slot y = r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, operands, 3, {1, 0});
  agrad::recorded_part part(r, 0, r.code().operations.size(), x);
  agrad::tangent_recorder along(r, part);
  for (std::size_t i = 0; i < 3; ++i) along.seed(x[i], r.constant(v[i]));
  along.reverse();
  const auto slope = agrad::schedule(r, {along.of(y)});
  const auto back = agrad::schedule(r, gradient(r, 0, y, x));
  CHECK(slope->first_without_tangents(1) == nullptr);
  CHECK(slope->first_without_tangents(2) == nullptr);
  const program_probe::rows hessian = program_probe::jacobian_by_adjoints(*back, at);
  agrad::workspace w;
  numbers out(1), lanes(3 * agrad::lane_count, 0.0), all(agrad::lane_count), rows(3 * agrad::lane_count);
  for (std::size_t j = 0; j < 3; ++j) lanes[j * agrad::lane_count + j] = 1;
  slope->forward(w, at.data(), out.data());
  for (int again = 0; again < 2; ++again) slope->tangent<agrad::lane_count>(w, lanes.data(), all.data());
  for (std::size_t j = 0; j < 3; ++j) {
    double product = 0;
    for (std::size_t i = 0; i < 3; ++i) product += hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * v[i];
    CHECK(all[j] == Approx(product));
  }
  numbers gradient_of_slope(3), one{1.0};
  slope->reverse(w, one.data(), gradient_of_slope.data());  // after tangents, which it does not mind
  for (std::size_t j = 0; j < 3; ++j) CHECK(gradient_of_slope[j] == Approx(all[j]));
  numbers values_of_back(3);
  back->forward(w, at.data(), values_of_back.data());
  back->tangent<agrad::lane_count>(w, lanes.data(), rows.data());
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(rows[i * agrad::lane_count + j] == Approx(hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j))));
}

TEST_CASE("linear operations with loops of their own have all orders") {
  recorder r;
  const slots x = inputs(r, {3.0, 1.0, 2.0});
  const span all = r.dense(x.data(), 3);
  const slots sorted = range(r.apply(agrad::kernels::sort_along, 6, &all, 1, {3, 1}), 3);
  const slots cubes = record<agrad::multiply_rule>(r, record<agrad::square_rule>(r, sorted), sorted);
  const slot y =
      recording::sum(r, record<agrad::multiply_rule>(r, cubes, {r.constant(1.0), r.constant(10.0), r.constant(100.0)}))[0];
  const slots g = gradient(r, 0, y, x), h = gradient(r, 0, g[0], x);
  check_close(values(r, g), {2700, 3, 120});
  check_close(values(r, h), {1800, 0, 0});
  const auto program = agrad::schedule(r, h);
  CHECK(program->first_without_tangents() == nullptr);
  CHECK(program_probe::jacobian_by_adjoints(*program, {3.0, 1.0, 2.0})(0, 0) == Approx(600));
}

TEST_CASE("a slot that was used many times gets the sum of all") {
  recorder r;
  const slots x = inputs(r, {0.3, 0.4});
  slots many;
  for (int i = 0; i < 30; ++i) many.push_back(x[static_cast<std::size_t>(i % 3 == 0)]);
  const slot y = recording::sum(r, record<agrad::exp_rule>(r, many))[0];
  check_close(values(r, gradient(r, 0, y, x)), {20 * std::exp(0.3), 10 * std::exp(0.4)});
}

// ---- rows ----------------------------------------------------------------------------------------------------------------

TEST_CASE("rows side by side are the rows one by one") {
  constexpr std::uint32_t rows = 3;
  std::vector<numbers> given;
  for (std::uint32_t k = 0; k < rows; ++k) {
    numbers each = point();
    for (double& v : each) v *= 1 + 0.1 * k;
    given.push_back(each);
  }
  recorder one;
  const slots x = inputs(one, given[0]);
  const slot y = every_kind(one, x);

  recorder all;
  slot first = 0;
  for (const numbers& each : given) {
    const slot at = all.input(each.data(), each.size());
    if (first == 0) first = at;
  }
  agrad::batch_recorder batch(all, one, rows);
  for (std::size_t i = 0; i < 6; ++i) batch.set_place(x[i], {first + static_cast<slot>(i), 6});
  batch.run();
  slots results;
  for (std::uint32_t k = 0; k < rows; ++k) results.push_back(batch.at(y).row(k));

  const auto f = agrad::schedule(one, {y});
  for (std::uint32_t k = 0; k < rows; ++k)
    CHECK(all.value(results[k]) == Approx(program_probe::run(*f, given[k])[0]).epsilon(1e-13));

  const auto program = agrad::schedule(all, results);
  numbers joined;
  for (const numbers& each : given) joined.insert(joined.end(), each.begin(), each.end());
  const numbers adjoint = program_probe::gradient(*program, joined, {1.0, 2.0, 3.0});
  for (std::uint32_t k = 0; k < rows; ++k) {
    numbers own = program_probe::gradient(*f, given[k], {1.0});
    for (double& v : own) v *= k + 1.0;
    check_close(numbers(adjoint.begin() + 6 * k, adjoint.begin() + 6 * (k + 1)), own);
  }
}

TEST_CASE("what rows share is recorded once") {
  recorder one;
  const slots x = inputs(one, {0.5}), shared = inputs(one, {2.0});
  const slots e = record<agrad::exp_rule>(one, shared);
  const slots y = record<agrad::multiply_rule>(one, e, x);
  recorder all;
  const numbers given{0.5, 0.6, 0.7, 2.0};
  const slot first = all.input(given.data(), 4);
  agrad::batch_recorder batch(all, one, 3);
  batch.set_place(x[0], {first, 1});
  batch.set_place(shared[0], {first + 3, 0});
  batch.run();
  CHECK(recording::count(all.code(), "exp") == 1);
  CHECK(recording::count(all.code(), "multiply") == 1);
  CHECK(batch.at(e[0]).step == 0);
  for (std::uint32_t k = 0; k < 3; ++k) CHECK(all.value(batch.at(y[0]).row(k)) == Approx(std::exp(2.0) * given[k]));
}

}  // namespace test_program_nested
