// What levelling makes of a recording: runs of small operations of one rule, straight code for the rest, gathers on demand,
// guards before what may throw; and that runs and straight code read their operands right, whatever these look like.
#include <doctest/doctest.h>
#include <agrad/program/kernels/density.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_levels {

using agrad::program;
using agrad::recorder;
using agrad::schedule;
using doctest::Approx;
using program_probe::disagreement;
using program_probe::numbers;
using program_probe::run;
using recording::count;
using recording::range;
using recording::record;
using recording::slots;
namespace kernels = agrad::kernels;

namespace {

using add = agrad::add_rule;
using multiply = agrad::multiply_rule;
using sine = agrad::sin_rule;

numbers spread(std::size_t n) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5 + std::sin(1.7 * static_cast<double>(i)) / 3;
  return x;
}

slots inputs(recorder& r, const numbers& x) { return range(r.input(x.data(), x.size()), x.size()); }

/// The only operation of that name.
const agrad::operation& only(const program& f, std::string_view name) {
  REQUIRE(count(f.code(), name) == 1);
  const agrad::operation* found = nullptr;
  for (const agrad::operation& op : f.code().operations)
    if (op.what->name == name) found = &op;
  return *found;
}

agrad::slot density(recorder& r, const slots& y, agrad::slot mu, agrad::slot sigma) {
  const auto one = [&](agrad::slot s) { return agrad::span{s, 1, 0, r.is_active(s)}; };
  const agrad::span operands[] = {r.dense(y.data(), y.size()), one(mu), one(sigma)};
  return r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, operands, 3, {static_cast<std::uint32_t>(y.size()), 0});
}

}  // namespace

TEST_CASE("independent operations on single numbers become one run") {
  const numbers at = spread(60);
  for (const std::size_t n : {agrad::shortest_batch - 1, agrad::shortest_batch, std::size_t{60}}) {
    recorder r;
    const slots x = inputs(r, at);
    slots y;
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<multiply>(r, {x[i]}, {x[(7 * i + 3) % 60]})[0]);
    const auto f = schedule(r, y);
    CHECK(f->code().operations.size() == 1);
    CHECK(count(f->code(), n < agrad::shortest_batch ? "straight" : "multiply") == 1);
    CHECK(f->code().operations[0].count == n);
    const numbers out = run(*f, at);
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == at[i] * at[(7 * i + 3) % 60]);
    CHECK(disagreement(*f, at) < 1e-9);
  }
}

TEST_CASE("each level and each rule has its run, and small vectors join them") {
  recorder r;
  const numbers at = spread(40);
  const slots x = inputs(r, at);
  slots y;
  for (std::size_t i = 0; i < 40; i += 4) {
    const slots four{x[i], x[i + 1], x[i + 2], x[i + 3]};
    const slots s = record<sine>(r, four);
    for (const auto v : record<add>(r, record<multiply>(r, s, four), {x[0]})) y.push_back(v);
    y.push_back(record<multiply>(r, {x[i]}, {x[39 - i]})[0]);  // of the level of the sines
  }
  const auto f = schedule(r, y);
  CHECK(f->code().operations.size() == 4);
  CHECK(only(*f, "sin").count == 40);
  CHECK(only(*f, "add").count == 40);
  CHECK(only(*f, "add").operands[1].stride == 0);
  CHECK(count(f->code(), "multiply") == 1);
  CHECK(count(f->code(), "straight") == 1);  // ten are too few for a run
  const numbers out = run(*f, at);
  CHECK(out[6] == Approx(std::sin(at[5]) * at[5] + at[0]).epsilon(1e-15));
  CHECK(out[9] == Approx(at[4] * at[35]).epsilon(1e-15));
  CHECK(disagreement(*f, at) < 1e-9);
}

TEST_CASE("active and constant operands of one rule are runs of their own") {
  recorder r;
  const numbers at = spread(20);
  const slots x = inputs(r, at);
  slots y;
  for (std::size_t i = 0; i < 20; ++i) {
    const slots c{r.constant(static_cast<double>(i) + 0.5)}, one{x[i]};
    y.push_back(record<agrad::divide_rule>(r, one, c)[0]);
    y.push_back(record<agrad::divide_rule>(r, c, one)[0]);
    y.push_back(record<agrad::divide_rule>(r, one, {x[19 - i]})[0]);
  }
  const auto f = schedule(r, y);
  REQUIRE(count(f->code(), "divide") == 3);
  CHECK(f->code().operations.size() == 3);
  unsigned masks = 0;
  for (const agrad::operation& op : f->code().operations)
    masks |= 1U << ((op.operands[0].active ? 1U : 0U) + (op.operands[1].active ? 2U : 0U));
  CHECK(masks == 0b1110U);
  CHECK(disagreement(*f, at, 5e-4) < 2e-9);
  // The same in straight code, where each step knows its active operands.
  const auto g = schedule(r, {y[0], y[1], y[2], y[30], y[31], y[32]});
  CHECK(g->code().operations.size() == 1);
  CHECK(count(g->code(), "straight") == 1);
  CHECK(disagreement(*g, at, 5e-4) < 2e-9);
}

TEST_CASE("long recurrences are straight code in several sequences") {
  for (const std::uint32_t steps :
       {1U, agrad::longest_straight - 1, agrad::longest_straight, agrad::longest_straight + 1, 100000U}) {
    recorder r;
    const numbers at{0.7, 0.3};
    const slots x = inputs(r, at);
    slots y{x[0]};
    for (std::uint32_t i = 0; i < steps; ++i) y = i % 2 == 0 ? record<sine>(r, y) : record<add>(r, y, {x[1]});
    const auto f = schedule(r, y);
    const std::size_t sequences = (steps + agrad::longest_straight - 1) / agrad::longest_straight;
    CHECK(f->code().operations.size() == sequences);
    CHECK(count(f->code(), "straight") == sequences);
    CHECK(f->code().instructions.size() == steps + 2 * sequences);
    double value = 0.7, by_first = 1, by_second = 0;
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (i % 2 == 0) {
        by_first *= std::cos(value);
        by_second *= std::cos(value);
        value = std::sin(value);
      } else {
        by_second += 1;
        value += 0.3;
      }
    }
    CHECK(run(*f, at)[0] == Approx(value).epsilon(1e-13));
    const numbers gradient = program_probe::gradient(*f, at, {1.0});
    CHECK(gradient[0] == Approx(by_first).epsilon(1e-12));
    CHECK(gradient[1] == Approx(by_second).epsilon(1e-12));
    CHECK(disagreement(*f, at, 2e-3) < 1e-9);
  }
}

TEST_CASE("runs longer than a block read lists, one slot for all, and rows") {
  constexpr std::size_t n = 700;  // the block has 256
  recorder r;
  const numbers at = spread(40);
  const slots x = inputs(r, at);
  const slots weights = range(r.constant(spread(n).data(), n), n);
  slots lists, one_for_all, repeated, long_rows;
  for (std::size_t i = 0; i < n; ++i) {
    const slots c{weights[i]};
    lists.push_back(record<multiply>(r, {x[i % 40]}, {x[(3 * i + i / 40) % 40]})[0]);
    one_for_all.push_back(record<agrad::pow_rule>(r, {x[5]}, c)[0]);
    repeated.push_back(record<add>(r, {lists[i]}, {lists[i]})[0]);
  }
  const slots all = record<sine>(r, record<multiply>(r, repeated, one_for_all));  // long vectors stay what they are
  const auto f = schedule(r, {all[0], all[255], all[256], all[699], recording::sum(r, all)[0]});
  const auto& power = only(*f, "pow");
  CHECK(power.count == n);
  CHECK(power.operands[0].stride == 0);
  CHECK((power.operands[1].stride == 1 && !power.operands[1].listed && !power.operands[1].active));
  CHECK(only(*f, "add").count == n);
  CHECK(count(f->code(), "multiply") == 2);
  CHECK(count(f->code(), "gather") == 0);
  const bool has_list = std::any_of(f->code().operations.begin(), f->code().operations.end(), [](const agrad::operation& op) {
    return op.what->name == "multiply" && op.operands[0].listed && op.operands[1].listed;
  });
  CHECK(has_list);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i)
    total += std::sin(2 * at[i % 40] * at[(3 * i + i / 40) % 40] * std::pow(at[5], spread(n)[i]));
  CHECK(run(*f, at)[4] == Approx(total).epsilon(1e-13));
  CHECK(disagreement(*f, at, 5e-3) < 1e-7);
}

TEST_CASE("operands that repeat send both their parts") {
  for (const std::size_t n : {3U, 30U}) {
    recorder r;
    const numbers at = spread(n);
    const slots x = inputs(r, at);
    slots y;
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<multiply>(r, {x[i]}, {x[i]})[0]);
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<add>(r, {x[i]}, {x[i]})[0]);
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<agrad::fma_rule>(r, {x[i]}, {x[i]}, {x[i]})[0]);
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<agrad::pow_rule>(r, {x[0]}, {x[0]})[0]);  // one, computed once
    const auto f = schedule(r, y);
    CHECK(count(f->code(), "multiply") == (n < agrad::shortest_batch ? 0 : 1));
    CHECK(f->size() == n + 3 * n + 1);
    const auto all = program_probe::along<1>(*f, at, program_probe::unit_directions(n), numbers(4 * n, 1.0));
    for (std::size_t i = 1; i < n; ++i) {
      CHECK(all.gradient[i] == Approx(4 * at[i] + 3));
      CHECK(all.hessian(program_probe::index(i), program_probe::index(i)) == Approx(4));
    }
    CHECK(disagreement(*f, at, 1e-3) < 1e-8);
  }
}

TEST_CASE("what gathers gathered is read where it is") {
  recorder r;
  const numbers at = spread(30);
  const slots x = inputs(r, at);
  slots back(x.rbegin(), x.rend());
  const agrad::span first = r.dense(back.data(), 30);
  slots even;
  for (std::size_t i = 0; i < 30; i += 2) even.push_back(first.first + static_cast<agrad::slot>(i));
  const agrad::span second = r.dense(even.data(), even.size());  // x[29], x[27] ...
  slots again;
  for (std::size_t i = 0; i < 15; ++i) again.push_back(second.first + static_cast<agrad::slot>(14 - i));
  CHECK(count(r.code(), "gather") == 2);
  slots y = record<sine>(r, again);  // x[1], x[3] ...
  CHECK(count(r.code(), "gather") == 3);
  y.push_back(again[2]);
  y.push_back(recording::sum(r, even)[0]);
  y.push_back(recording::sum(r, record<multiply>(r, even, even))[0]);
  const auto f = schedule(r, y);
  CHECK(count(f->code(), "gather") == 1);  // for the sum
  const numbers out = run(*f, at);
  CHECK(out[4] == Approx(std::sin(at[9])).epsilon(1e-15));
  CHECK(out[15] == at[5]);
  double odd = 0;
  for (std::size_t i = 1; i < 30; i += 2) odd += at[i];
  CHECK(out[16] == Approx(odd).epsilon(1e-15));
  CHECK(disagreement(*f, at) < 1e-9);
  // Two who need the same consecutive slots share a gather; a product needs another.
  const slots two{x[3], x[1], x[2], x[0]};
  slots both = recording::sum(r, two, 2);
  for (const auto v : recording::product(r, two, {x[1], x[4]}, 2, 2, 1)) both.push_back(v);
  const auto g = schedule(r, both);
  CHECK(count(g->code(), "gather") == 2);
  CHECK(run(*g, at)[3] == Approx(at[2] * at[1] + at[0] * at[4]).epsilon(1e-15));
  CHECK(disagreement(*g, at) < 1e-9);
}

TEST_CASE("outputs may be gathered inputs, constants and repeated entries of runs") {
  recorder r;
  const numbers at = spread(20);
  const slots x = inputs(r, at);
  slots y;
  for (std::size_t i = 0; i < 20; ++i) y.push_back(record<sine>(r, {x[i]})[0]);
  const slots some{x[3], r.constant(7.0), y[5], y[5]};
  const agrad::span gathered = r.dense(some.data(), 4);
  const auto f = schedule(r, {gathered.first, gathered.first + 1, gathered.first + 2, gathered.first + 3, y[5], x[3], y[19]});
  CHECK(count(f->code(), "gather") == 0);
  const numbers out = run(*f, at);
  CHECK(out[0] == at[3]);
  CHECK(out[1] == 7);
  CHECK(out[2] == out[3]);
  CHECK(out[4] == out[2]);
  CHECK(program_probe::gradient(*f, at, {1, 1, 1, 1, 1, 1, 0})[5] == Approx(3 * std::cos(at[5])));
  CHECK(program_probe::gradient(*f, at, {1, 1, 1, 1, 1, 1, 0})[3] == 2);
  CHECK(disagreement(*f, at) < 1e-9);
}

TEST_CASE("programs without operations, inputs or outputs") {
  recorder r;
  const numbers at = spread(3);
  const slots x = inputs(r, at);
  const auto identity = schedule(r, {x[2], x[0], x[2]});
  CHECK(identity->code().operations.empty());
  CHECK(run(*identity, at) == numbers{at[2], at[0], at[2]});
  CHECK(program_probe::gradient(*identity, at, {1, 10, 100}) == numbers{10, 0, 101});
  CHECK(disagreement(*identity, at) < 1e-10);
  const auto nothing = schedule(r, {});
  CHECK(program_probe::gradient(*nothing, at, {}) == numbers{0, 0, 0});
  recorder constants;
  const auto fixed = schedule(constants, record<sine>(constants, slots{constants.constant(2.0)}));
  CHECK(fixed->code().operations.empty());
  CHECK(run(*fixed, {})[0] == std::sin(2.0));
  CHECK(program_probe::gradient(*fixed, {}, {1.0}).empty());
}

TEST_CASE("a guard that fails comes before what would throw") {
  // A density with a bad scale behind its guard, on a level of its own or one that depends on nothing but inputs.
  for (const bool is_late : {false, true}) {
    recorder r;
    const numbers at{0.3, 2.0};
    const slots x = inputs(r, at);
    slots watched{x[1]};
    for (int i = 0; i < 5 && is_late; ++i) watched = record<add>(r, watched, slots{r.constant(0.0)});
    const slots positive = record<agrad::greater_rule>(r, watched, slots{r.constant(0.0)});
    r.guard(positive[0]);
    const auto f = schedule(r, {density(r, {x[0]}, x[0], x[1])});
    CHECK(count(f->code(), "guard") == 1);
    const double bad[2] = {0.3, -2.0}, good[2] = {0.3, 1.0};
    agrad::workspace w;
    double y = 0;
    CHECK_THROWS_AS(f->forward(w, bad, &y), kernels::path_left);
    f->forward(w, good, &y);
    CHECK(y == Approx(-0.5 * std::log(2 * std::acos(-1.0))));
    CHECK(disagreement(*f, at) < 1e-9);
  }
  recorder r;  // without the guard it is the density that throws
  const numbers at{0.3, 2.0};
  const slots x = inputs(r, at);
  const auto f = schedule(r, {density(r, {x[0]}, x[0], x[1])});
  CHECK_THROWS_AS(run(*f, {0.3, -2.0}), agrad::DomainError);
}

TEST_CASE("of two guards and the densities between them each waits for those before it") {
  recorder r;
  const numbers at{0.3, 2.0, 3.0};
  const slots x = inputs(r, at);
  const slots zero{r.constant(0.0)};
  r.guard(record<agrad::greater_rule>(r, record<sine>(r, record<sine>(r, {x[1]})), zero)[0]);
  const auto first = density(r, {x[0]}, x[0], x[1]);
  r.guard(record<agrad::greater_rule>(r, {x[2]}, zero)[0]);
  const auto second = density(r, {x[0]}, x[0], x[2]);
  const auto f = schedule(r, record<add>(r, {first}, {second}));
  CHECK(count(f->code(), "guard") == 2);
  CHECK_THROWS_AS(run(*f, {0.3, -2.0, 3.0}), kernels::path_left);
  CHECK_THROWS_AS(run(*f, {0.3, 2.0, -3.0}), kernels::path_left);
  CHECK_THROWS_AS(run(*f, {0.3, -2.0, -3.0}), kernels::path_left);
  CHECK(std::isfinite(run(*f, {0.3, 1.0, 1.0})[0]));
  CHECK(disagreement(*f, at) < 1e-9);
}

}  // namespace test_program_levels
