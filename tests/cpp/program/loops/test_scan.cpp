// Loops over a body as one operation: against the same loop unrolled, in all modes.
#include <doctest/doctest.h>
#include <agrad/program/loops/scan.hpp>
#include <agrad/program/products.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "recording.hpp"

namespace test_scan {

using agrad::body;
using agrad::body_path;
using agrad::recorder;
using agrad::scan_loop;
using agrad::scan_operation;
using agrad::slot;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;
using vector = std::vector<double>;

namespace {

using multiply = agrad::multiply_rule;
using add = agrad::add_rule;

/// One step of a carry (p, q) with an entry x and rates (a, b): p <- a sin(q) + x, q <- q + b p q; y is p q.
slots step(recorder& r, const slots& carry, slot x, const slots& rates) {
  const slots p{carry[0]}, q{carry[1]}, a{rates[0]}, b{rates[1]}, entry{x};
  const slots new_p = record<add>(r, record<multiply>(r, a, record<agrad::sin_rule>(r, q)), entry);
  const slots new_q = record<add>(r, q, record<multiply>(r, b, record<multiply>(r, p, q)));
  return {new_p[0], new_q[0], record<multiply>(r, new_p, new_q)[0]};
}

constexpr std::size_t length = 23;

vector argument() {
  vector x{0.3, -0.7, 0.9, 0.05};
  for (std::size_t t = 0; t < length; ++t) x.push_back(0.1 * std::cos(static_cast<double>(3 * t)));
  return x;
}

body_path recorded_step() {
  const vector at{0.3, -0.7, 0.1, 0.9, 0.05};
  recorder r;
  const slots in = range(r.input(at.data(), 5), 5);
  return {schedule(r, step(r, {in[0], in[1]}, in[2], {in[3], in[4]})), 2};
}

/// The loop as an operation among others: the argument is squared before, and the result goes through a sine.
std::shared_ptr<const agrad::program> looped(const scan_loop& loop) {
  const auto of = std::make_shared<body>("scan", 3);
  of->add(recorded_step());
  const auto f = std::make_shared<scan_operation>(of, loop, 2);
  const vector x = argument();
  recorder r;
  const slots in = range(r.input(x.data(), x.size()), x.size()), squares = record<multiply>(r, in, in);
  const slots y = range(r.apply(f, r.dense(squares.data(), squares.size()), f->output_size(), false), f->output_size());
  return schedule(r, record<agrad::sin_rule>(r, y));
}

std::shared_ptr<const agrad::program> unrolled(bool backwards) {
  const vector x = argument();
  recorder r;
  const slots in = range(r.input(x.data(), x.size()), x.size()), squares = record<multiply>(r, in, in);
  slots carry{squares[0], squares[1]}, ys(length);
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t entry = backwards ? length - 1 - t : t;
    const slots next = step(r, carry, squares[4 + entry], {squares[2], squares[3]});
    carry = {next[0], next[1]};
    ys[entry] = next[2];
  }
  carry.insert(carry.end(), ys.begin(), ys.end());
  return schedule(r, record<agrad::sin_rule>(r, carry));
}

scan_loop example(bool backwards, bool checkpoint) {
  scan_loop loop;
  loop.length = length;
  loop.carry = 2;
  loop.xs = {{1}};
  loop.ys = {1};
  loop.backwards = backwards;
  loop.checkpoint = checkpoint;
  return loop;
}

void check_close(const vector& found, const vector& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-13));
}

vector wave(std::size_t n, double phase) {
  vector x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::cos(static_cast<double>(i) + phase);
  return x;
}

/// All modes of two programs at one point.
void check_same(const agrad::program& f, const agrad::program& expected, const vector& x) {
  REQUIRE(f.output_size() == expected.output_size());
  const std::size_t n = x.size(), m = f.output_size();
  for (const std::size_t directions : {std::size_t{1}, std::size_t{11}}) {
    const vector along = wave(directions * n, 0.5), seeds = wave(m, 1);
    struct results {
      vector y, products, gradient, second, adjoints;
    };
    const auto of = [&](const agrad::program& p) {
      results r{vector(m), vector(directions * m), vector(n), vector(directions * n), vector(2 * n)};
      workspace w;
      agrad::jacobian_products(p, w, x.data(), along.data(), directions, r.y.data(), r.products.data());
      agrad::hessian_products(p, w, x.data(), seeds.data(), along.data(), directions, r.y.data(), r.gradient.data(),
                              r.second.data());
      const vector two = wave(2 * m, 2);
      agrad::adjoint_products(p, w, x.data(), two.data(), 2, r.y.data(), r.adjoints.data());
      return r;
    };
    const results a = of(f), b = of(expected);
    CHECK(a.y == b.y);
    check_close(a.products, b.products);
    check_close(a.gradient, b.gradient);
    check_close(a.second, b.second);
    check_close(a.adjoints, b.adjoints);
  }
}

}  // namespace

TEST_CASE("a loop is what it is unrolled, in all modes, with and without checkpoints") {
  for (const bool backwards : {false, true}) {
    const auto expected = unrolled(backwards);
    for (const bool checkpoint : {false, true}) {
      scan_loop loop = example(backwards, checkpoint);
      check_same(*looped(loop), *expected, argument());
      loop.most_stored = 0;  // what the body computes is computed again
      check_same(*looped(loop), *expected, argument());
    }
  }
}

TEST_CASE("one step is a call of the body") {
  scan_loop loop = example(false, false);
  loop.length = 1;
  const auto of = std::make_shared<body>("call", 3);
  of->add(recorded_step());
  const scan_operation f(of, loop, 2);
  const auto state = f.make_state();
  const vector x{0.3, -0.7, 0.9, 0.05, 0.1}, seeds{0, 0, 1};
  vector y(3), back(5);
  f.forward(*state, x.data(), y.data(), true);
  f.reverse(*state, seeds.data(), back.data());
  const double p = 0.9 * std::sin(-0.7) + 0.1, q = -0.7 + 0.05 * 0.3 * -0.7;
  check_close(y, {p, q, p * q});
  check_close(back, {p * 0.05 * -0.7, q * 0.9 * std::cos(-0.7) + p * (1 + 0.05 * 0.3), q * std::sin(-0.7), p * 0.3 * -0.7, q});
}

TEST_CASE("constant sequences and the number of the step are no part of the argument") {
  scan_loop loop = example(false, false);
  const auto of = std::make_shared<body>("scan", 4);
  const vector at{0.3, -0.7, 0, 0.1, 0.9, 0.05};
  recorder r;
  const slots in = range(r.input(at.data(), 6), 6);
  const slot x = record<add>(r, {in[3]}, {in[2]})[0];
  of->add({schedule(r, step(r, {in[0], in[1]}, x, {in[4], in[5]})), 2});
  loop.counts = true;
  loop.first = -3;
  loop.xs[0].is_constant = true;
  loop.xs[0].constants = wave(length, 0.2);
  const scan_operation f(of, loop, 2);
  CHECK(f.input_size() == 4);
  const vector start{0.3, -0.7, 0.9, 0.05}, seeds = wave(f.output_size(), 1);
  vector y(f.output_size()), back(4);
  const auto state = f.make_state();
  f.forward(*state, start.data(), y.data(), true);
  f.reverse(*state, seeds.data(), back.data());
  const auto plain_of = std::make_shared<body>("scan", 3);
  plain_of->add(recorded_step());
  const scan_operation plain(plain_of, example(false, false), 2);
  vector longer = start, expected(f.output_size()), expected_back(4 + length);
  for (std::size_t t = 0; t < length; ++t) longer.push_back(loop.xs[0].constants[t] + (static_cast<double>(t) - 3));
  const auto plain_state = plain.make_state();
  plain.forward(*plain_state, longer.data(), expected.data(), true);
  plain.reverse(*plain_state, seeds.data(), expected_back.data());
  CHECK(y == expected);
  check_close(back, {expected_back.begin(), expected_back.begin() + 4});
}

namespace {

/// x <- x - 1.5 while it is positive, else 3 x + 5 s, with a guard; s is captured by the second path only.
body_path path_at(double x, vector& captured) {
  recorder r;
  const double one_half = 1.5;
  const slot in = r.input(&x, 1), zero = r.constant(0.0);
  const slot positive = record<agrad::greater_rule>(r, {in}, {zero})[0];
  r.guard(positive);
  if (x > 0) return {schedule(r, record<agrad::subtract_rule>(r, {in}, {r.constant(one_half)})), 0};
  if (captured.empty()) captured.push_back(0.25);
  const slot s = r.input(captured.data(), 1);
  const slots tripled = record<multiply>(r, {in}, {r.constant(3.0)});
  return {schedule(r, record<add>(r, tripled, record<multiply>(r, {s}, {r.constant(5.0)}))), 1};
}

}  // namespace

TEST_CASE("a body grows by the paths that its steps take, and captures what they need") {
  int recorded = 0;
  const auto of = std::make_shared<body>("scan", 1, [&](const double* local, vector& captured) {
    ++recorded;
    return path_at(*local, captured);
  });
  scan_loop loop;
  loop.length = 40;
  loop.carry = 1;
  for (const bool checkpoint : {false, true}) {
    loop.checkpoint = checkpoint;
    loop.most_stored = checkpoint ? 0 : loop.most_stored;
    double start = 7.3;
    vector captured(of->size() == 0 ? 0 : 1, 0.25);
    if (of->size() == 0) of->grow(0, &start, captured);
    scan_operation f(of, loop);
    const double y = f.prepare(&start, nullptr, captured, true).at(0);
    CHECK(recorded == 2);
    double expected = start, slope = 1, of_s = 0;
    for (std::size_t t = 0; t < loop.length; ++t) {
      of_s = expected > 0 ? of_s : 3 * of_s + 5;
      slope *= expected > 0 ? 1 : 3;
      expected = expected > 0 ? expected - 1.5 : 3 * expected + 1.25;
    }
    CHECK(y == doctest::Approx(expected).epsilon(1e-13));
    CHECK(f.input_size() == 2);
    const auto state = f.make_state();
    const vector x{start, 0.25};
    vector back(2), along{1, 2}, y_tangent(1);
    double again = 0;
    f.forward(*state, x.data(), &again, true);
    CHECK(again == y);
    const double seed = 1;
    f.reverse(*state, &seed, back.data());
    check_close(back, {slope, of_s});
    f.tangent(*state, 1, along.data(), y_tangent.data());
    check_close(y_tangent, {slope + 2 * of_s});
  }
}

TEST_CASE("a path that cannot be recorded here leaves the program around it") {
  const auto of = std::make_shared<body>("scan", 1);
  vector captured;
  of->add(path_at(1, captured));
  scan_loop loop;
  loop.length = 3;
  loop.carry = 1;
  const scan_operation f(of, loop);
  const auto state = f.make_state();
  double y = 0;
  for (const double x : {10.0, 2.0, 10.0}) {
    if (x == 2)
      CHECK_THROWS_AS(f.forward(*state, &x, &y, true), agrad::kernels::path_left);
    else
      f.forward(*state, &x, &y, true);
  }
  CHECK(y == 5.5);
}

TEST_CASE("an operation within a body that has no second derivatives is found") {
  class opaque final : public agrad::external_operation {
   public:
    std::string_view name() const override { return "opaque"; }
    std::unique_ptr<state> make_state() const override { return std::make_unique<state>(); }
    void forward(state&, const double* x, double* y, bool) const override { *y = 2 * *x; }
    void reverse(state&, const double* y_adjoint, double* x_adjoint) const override { *x_adjoint += 2 * *y_adjoint; }
  };
  const double x = 1.5;
  recorder inner;
  const slot in = inner.input(&x, 1);
  const slot doubled = inner.apply(std::make_shared<opaque>(), inner.consecutive(in, 1), 1, false);
  const auto of = std::make_shared<body>("scan", 1);
  of->add({schedule(inner, {doubled}), 0});
  scan_loop loop;
  loop.length = 10;
  loop.carry = 1;
  recorder r;
  const slot at = r.input(&x, 1);
  const auto f = schedule(r, {r.apply(std::make_shared<scan_operation>(of, loop), r.consecutive(at, 1), 1, false)});
  REQUIRE(f->first_without_tangents() != nullptr);
  CHECK(f->first_without_tangents()->name() == "opaque");
  workspace w;
  double y = 0, seed = 1, back = 0;
  f->forward(w, &x, &y);
  f->reverse(w, &seed, &back);
  CHECK(y == 1536);
  CHECK(back == 1024);
  CHECK_THROWS_AS(f->tangent<1>(w, &x, &y), std::logic_error);
}

TEST_CASE("an interrupt ends a long loop, and the body can be run again") {
  const vector at{1, 2, 0};
  recorder r;
  const slots in = range(r.input(at.data(), 3), 3);
  const auto exchanges = std::make_shared<body>("scan", 3);
  exchanges->add({schedule(r, {in[1], in[0]}), 0});
  scan_loop loop;
  loop.length = std::size_t{1} << 40U;
  loop.carry = 2;
  loop.counts = true;
  const scan_operation endless(exchanges, loop);
  const auto state = endless.make_state();
  vector y(2);
  agrad::interrupt_check = [] { throw std::runtime_error("interrupted"); };
  CHECK_THROWS_WITH(endless.forward(*state, at.data(), y.data(), false), "interrupted");
  agrad::interrupt_check = nullptr;
  loop.length = 5;
  const scan_operation five(exchanges, loop);
  five.forward(*five.make_state(), at.data(), y.data(), false);
  CHECK(y == vector{2, 1});
}

TEST_CASE("threads share a body that grows") {
  const auto of =
      std::make_shared<body>("scan", 1, [](const double* local, vector& captured) { return path_at(*local, captured); });
  vector captured{0.25};
  of->add(path_at(1, captured));
  scan_loop loop;
  loop.length = 200;
  loop.carry = 1;
  const scan_operation f(of, loop, 1);
  vector results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto state = f.make_state();
      const vector x{3.7, 0.25};
      f.forward(*state, x.data(), &results[i], true);
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(of->size() == 2);
  for (const double each : results) CHECK(each == results[0]);
}

}  // namespace test_scan
