// Zero times infinity in loops: within a step, from step to step, and between a loop and what is around the loop.
#include <doctest/doctest.h>
#include <agrad/program/loops/parallel.hpp>
#include <agrad/program/loops/scan.hpp>
#include <agrad/rules/lists/elementwise.hpp>

#include "recording.hpp"
#include "singular_probe.hpp"

namespace test_careful_scan {

using agrad::recorder;
using agrad::scan_loop;
using agrad::scan_operation;
using program_probe::numbers;
using recording::record;
using recording::slots;
using singular_probe::check;
using singular_probe::check_second;
using singular_probe::function;
using singular_probe::inf;
using singular_probe::unknown;

using root = agrad::sqrt_rule;
using square = agrad::square_rule;
using sum = agrad::add_rule;
using times = agrad::multiply_rule;

/// A loop of `length` steps of a carry with a captured value and an entry of xs: step returns the new carry and an entry of ys.
function loop_of(const function& step, std::size_t length, bool checkpoint, const function& after) {
  return [=](recorder& r, const slots& x) {
    const numbers local{0.3, 0.4, 0.5};
    recorder inner;
    const slots in = recording::range(inner.input(local.data(), 3), 3);
    const auto of = std::make_shared<agrad::body>("scan", 2);
    of->add({agrad::schedule(inner, step(inner, in)), 1});
    scan_loop loop;
    loop.length = length;
    loop.carry = 1;
    loop.xs = {{1}};
    loop.ys = {1};
    loop.checkpoint = checkpoint;
    const auto f = std::make_shared<scan_operation>(of, loop, 1);
    const agrad::span all = r.dense(x.data(), x.size());
    return after(r, recording::range(r.apply(f, all, f->output_size(), true), f->output_size()));
  };
}

const function carry_alone = [](recorder&, const slots& y) { return slots{y[0]}; };

/// The carry becomes carry * entry + captured, and y is the root of the carry.
const function root_beside = [](recorder& r, const slots& in) {
  return slots{record<sum>(r, record<times>(r, {in[0]}, {in[1]}), {in[2]})[0], record<root>(r, {in[0]})[0]};
};
/// The carry becomes its root, and y is the entry plus the captured value.
const function root_of_carry = [](recorder& r, const slots& in) {
  return slots{record<root>(r, {in[0]})[0], record<sum>(r, {in[1]}, {in[2]})[0]};
};

TEST_CASE("results of a step that nobody used are zero by structure") {
  for (const bool checkpoint : {false, true}) {
    // carry, captured, xs
    check(loop_of(root_beside, 3, checkpoint, carry_alone), {0, 1, 0.5, 2, 0}, {0, 1, 0, 0, 3});
  }
}

TEST_CASE("a computed zero outside of a loop meets an infinite slope in the loop") {
  const function squared = [](recorder& r, const slots& y) { return record<square>(r, {y[0]}); };
  for (const bool checkpoint : {false, true}) {
    check(loop_of(root_of_carry, 1, checkpoint, squared), {0, 1, 2}, {unknown, 0, 0}, false);
    check(loop_of(root_of_carry, 1, checkpoint, carry_alone), {0, 1, 2}, {inf, 0, 0});
    check(loop_of(root_of_carry, 4, checkpoint, squared), {0, 1, 2, 3, 4, 5}, {unknown, 0, 0, 0, 0, 0}, false);
  }
}

TEST_CASE("a computed zero in a step meets an infinite slope of an earlier step") {
  const function step = [](recorder& r, const slots& in) {
    const slots u = record<root>(r, {in[0]});
    return slots{record<agrad::cosh_rule>(r, u)[0], u[0]};
  };
  for (const bool checkpoint : {false, true}) {
    check(loop_of(step, 1, checkpoint, carry_alone), {0, 1, 2}, {unknown, 0, 0});
    check(loop_of(step, 3, checkpoint, carry_alone), {0, 1, 2, 2, 2}, {unknown, 0, 0, 0, 0});
  }
}

}  // namespace test_careful_scan
