// Programs looked at: summary, text, drawing, profile, lines of slots.
#include <doctest/doctest.h>
#include <agrad/program/inspect/describe.hpp>
#include <agrad/program/inspect/dot.hpp>
#include <agrad/program/inspect/profile.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_describe {

using agrad::program;
using agrad::recorder;
using agrad::schedule;
using agrad::slot;
using program_probe::gradient;
using program_probe::numbers;
using program_probe::run;
using recording::range;
using recording::record;
using recording::slots;
namespace kernels = agrad::kernels;

namespace {

using add = agrad::add_rule;
using multiply = agrad::multiply_rule;
using sine = agrad::sin_rule;

slots inputs(recorder& r, const numbers& x) { return range(r.input(x.data(), x.size()), x.size()); }

slots sum(recorder& r, const slots& x) {
  const agrad::span operand = r.dense(x.data(), x.size());
  return {r.apply(kernels::sum, 1, &operand, 1, {static_cast<std::uint32_t>(x.size())})};
}

/// sum(sin(x) * 3) + x[0] * x[1], with a comparison of x[0]; 100 inputs.
std::shared_ptr<const program> example() {
  recorder r;
  const numbers at(100, 0.5);
  const slots x = inputs(r, at);
  const slots three{r.constant(3.0)};
  const slots total = sum(r, record<multiply>(r, record<sine>(r, x), three));
  r.guard(record<agrad::greater_rule>(r, {x[0]}, {r.constant(0.0)})[0]);
  return schedule(r, record<add>(r, total, record<multiply>(r, {x[0]}, {x[1]})));
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("describe: what a program consists of") {
  const auto f = example();
  const agrad::program_summary s = agrad::summary_of(*f);
  CHECK(s.inputs == 100);
  CHECK(s.outputs == 1);
  CHECK(s.operations == 7);  // sin, multiply, sum, greater, guard, multiply, add
  CHECK(s.dispatches <= s.operations);
  CHECK(s.spans == 3);
  CHECK(s.longest_span == 100);
  CHECK(s.guards == 1);
  CHECK(s.levels == 4);             // sin, multiply, sum, add
  CHECK(s.depth == 1 + 1 + 7 + 1);  // a sum of 100 by halves takes 7
  CHECK(s.flops == 100 + 100 + 100 + 1 + 1 + 1);
  CHECK(s.constants == 2);  // 3 and 0
  CHECK(s.workspace_bytes == 8 * f->size());
  const auto kind = [&](const std::string& name) {
    return *std::find_if(s.kinds.begin(), s.kinds.end(), [&](const auto& k) { return k.name == name; });
  };
  CHECK(kind("multiply").operations == 2);
  CHECK(kind("multiply").entries == 101);
  CHECK(kind("multiply").bytes == 8 * (100 + 1 + 100 + 3));
  CHECK(std::is_sorted(s.kinds.begin(), s.kinds.end(), [](const auto& a, const auto& b) { return a.flops > b.flops; }));
  const std::string text = agrad::describe(*f);
  for (const char* part : {"100 inputs, 1 output; 7 operations, 3 of them on ranges of up to 100 entries", "1 guard\n",
                           "about 303 flops in 4 levels, depth 10", "\nmultiply"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
}

TEST_CASE("describe: flops of products, and nothing at all") {
  recorder r;
  const numbers at(12, 1.0);
  const slots x = inputs(r, at);
  const agrad::span operands[] = {r.consecutive(x[0], 6), r.consecutive(x[6], 6)};
  const slot first = r.apply(kernels::product, 4, operands, 2, {2, 3, 2});
  CHECK(agrad::summary_of(*schedule(r, range(first, 4))).flops == 2 * 2 * 3 * 2);
  const recorder none;
  const auto empty = schedule(none, {});
  CHECK(agrad::summary_of(*empty).levels == 0);
  CHECK(agrad::describe(*empty).find("0 operations; 0 dispatches") != std::string::npos);
  CHECK(occurrences(agrad::to_dot(*empty), "label") == 0);
}

TEST_CASE("describe: long chains of single numbers are straight code, whose steps count") {
  recorder r;
  slots x = inputs(r, {0.3});
  for (int i = 0; i < 50; ++i) x = record<sine>(r, x);
  const auto f = schedule(r, x);
  const agrad::program_summary s = agrad::summary_of(*f);
  CHECK(s.operations == 50);
  CHECK(s.dispatches == 1);
  CHECK(s.levels == 50);
  CHECK(s.spans == 0);
}

TEST_CASE("dot: nodes, arrows, names with quotes") {
  const auto f = example();
  const std::string text = agrad::to_dot(*f, {{"the \"first\"", 1}, {"rest", 99}}, {{"y", 1}});
  CHECK(text.rfind("digraph program {", 0) == 0);
  CHECK(text.back() == '\n');
  CHECK(occurrences(text, "label=\"multiply") == 2);
  CHECK(occurrences(text, "label=\"the \\\"first\\\"\"") == 1);
  CHECK(occurrences(text, "[label=\"rest \u00d7 99\"") == 1);
  CHECK(occurrences(text, "label=\"guard\", style=dashed") == 1);
  CHECK(occurrences(text, " -> ") == 2 + 2 + 1 + 2 + 1 + 2 + 2 + 1);  // by operation, in the order above; y
  recorder r;
  slots x = inputs(r, {0.3});
  for (int i = 0; i < 1000; ++i) x = record<sine>(r, x);
  CHECK(occurrences(agrad::to_dot(*schedule(r, x)), "label=\"straight") == 1);  // too many to be drawn one by one
}

TEST_CASE("profile: each operation once, in both directions") {
  const auto f = example();
  agrad::workspace w;
  const numbers x(100, 0.5), seed{1.0};
  const agrad::program_profile p = agrad::profile(*f, w, x.data(), seed.data(), 21);
  CHECK(p.operations.size() == 7);
  CHECK(p.repeats == 21);
  CHECK(p.forward > 0);
  CHECK(p.backward > 0);
  double forward = 0;
  for (const agrad::profiled_operation& op : p.operations) {
    CHECK(op.forward >= 0);
    CHECK(op.backward >= 0);
    forward += op.forward;
  }
  CHECK(forward > 0);
  CHECK(gradient(*f, x, seed) == gradient(*f, x, seed));
  const numbers other(100, -0.5);
  CHECK_THROWS_AS(agrad::profile(*f, w, other.data(), seed.data(), 3), kernels::path_left);
}

TEST_CASE("schedule: where slots of a recording went") {
  recorder r;
  const slots x = inputs(r, {0.3, 0.4});
  const slots dead = record<sine>(r, {x[1]}), live = record<sine>(r, {x[0]}), twice = record<sine>(r, {x[0]});
  const slots y = record<add>(r, live, record<multiply>(r, twice, {x[1]}));
  std::vector<slot> places;
  const auto f = schedule(r, y, places);
  REQUIRE(places.size() == r.size());
  CHECK(places[dead[0]] == 0);
  CHECK(places[live[0]] == places[twice[0]]);
  CHECK(places[y[0]] == f->outputs()[0]);
  CHECK(places[x[1]] == f->inputs()[1]);
  CHECK(run(*f, {0.3, 0.4}) == run(*schedule(r, y), {0.3, 0.4}));
}

}  // namespace test_program_describe
