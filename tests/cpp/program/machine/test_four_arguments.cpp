// A rule of four arguments, which has no straight code: against the same function of rules with fewer arguments, in every
// engine, with single numbers, with lengths that fill blocks and do not, with repeated and constant operands, and in a loop.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/derive/tangents.hpp>
#include <agrad/program/loops/scan.hpp>
#include <agrad/program/store/portable.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pickle_fuzz.hpp"
#include "program/sparse/sparsity_probe.hpp"
#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_four_arguments {

using agrad::recorder;
using agrad::schedule;
using program_probe::numbers;
using recording::range;
using recording::record;
using recording::record_elementwise;
using recording::slots;
using shared = std::shared_ptr<const agrad::program>;

namespace {

/// a sin(b) exp(c) + d
struct wave_rule : agrad::rule<4> {
  static constexpr std::string_view name = "wave_of_four";
  static double value(double a, double b, double c, double d) { return a * std::sin(b) * std::exp(c) + d; }
  template <class T>
  static T derivative(agrad::wrt<0>, const T&, const T& b, const T& c, const T&, const T&) {
    return agrad::sin(b) * agrad::exp(c);
  }
  template <class T>
  static T derivative(agrad::wrt<1>, const T& a, const T& b, const T& c, const T&, const T&) {
    return a * agrad::cos(b) * agrad::exp(c);
  }
  template <class T>
  static T derivative(agrad::wrt<2>, const T&, const T&, const T&, const T& d, const T& value) {
    return value - d;
  }
  template <class T>
  static double derivative(agrad::wrt<3>, const T&, const T&, const T&, const T&, const T&) {
    return 1;
  }
};

const agrad::kernel& wave() { return agrad::kernel_of_rule<wave_rule>(); }

slots by_one(recorder& r, const std::vector<slots>& x) { return record_elementwise(r, wave(), x); }

/// The same of rules that have straight code.
slots by_several(recorder& r, const std::vector<slots>& x) {
  const slots sine = record<agrad::sin_rule>(r, x[1]), growth = record<agrad::exp_rule>(r, x[2]);
  return record<agrad::add_rule>(r, record<agrad::multiply_rule>(r, record<agrad::multiply_rule>(r, x[0], sine), growth), x[3]);
}

numbers point(std::size_t n) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5 + std::sin(1.7 * static_cast<double>(i)) / 3;
  return x;
}

/// How the four operands are given: bit k of `repeated` and of `constant` tells of operand k.
struct form {
  unsigned repeated = 0, constant = 0;
};

template <class Record>
shared recorded(std::size_t n, form f, const Record& body) {
  recorder r;
  const numbers at = point(4 * n), fixed = point(n);
  const slots in = range(r.input(at.data(), at.size()), at.size());
  std::vector<slots> x;
  for (std::size_t k = 0; k < 4; ++k) {
    slots each = (f.constant >> k & 1U) != 0 ? range(r.constant(fixed.data(), n), n) : slots(&in[k * n], &in[k * n] + n);
    if ((f.repeated >> k & 1U) != 0) each.resize(1);
    x.push_back(each);
  }
  return schedule(r, record<agrad::sin_rule>(r, body(r, x)));
}

/// Values and all derivatives of two programs, in both widths.
void check_same(const agrad::program& f, const agrad::program& expected, const numbers& x, std::size_t directions = 11) {
  const numbers y = program_probe::run(f, x), y_expected = program_probe::run(expected, x), seeds = program_probe::seeds_of(f);
  REQUIRE(y.size() == y_expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(y_expected[i]).epsilon(1e-15));
  program_probe::rows along(program_probe::index(x.size()), program_probe::index(directions));
  for (Eigen::Index i = 0; i < along.rows(); ++i)
    for (Eigen::Index k = 0; k < along.cols(); ++k) along(i, k) = std::cos(static_cast<double>(3 * i + 7 * k));
  const auto exact = program_probe::along<1>(expected, x, along, seeds);
  const auto check = [&](const program_probe::derivatives& found) {
    CHECK(program_probe::distance(found.tangents, exact.tangents) < 1e-13);
    CHECK(program_probe::distance(found.hessian, exact.hessian) < 1e-13);
    CHECK(program_probe::distance(program_probe::vector(found.gradient), program_probe::vector(exact.gradient)) < 1e-13);
  };
  check(program_probe::along<1>(f, x, along, seeds));
  check(program_probe::along<agrad::lane_count>(f, x, along, seeds));
  const numbers gradient = program_probe::gradient(f, x, seeds);
  CHECK(program_probe::distance(program_probe::vector(gradient), program_probe::vector(exact.gradient)) < 1e-13);
}

template <class T>
T by_expression(const T& a, const T& b, const T& c, const T& d) {
  return a * agrad::sin(b) * agrad::exp(c) + d;
}

}  // namespace

TEST_CASE("a rule of four arguments is never a step of straight code") {
  CHECK(wave().steps == nullptr);
  CHECK(wave().entries->arity == 4);
  const shared f = recorded(1, {}, by_one);
  CHECK(recording::count(f->code(), "wave_of_four") == 1);
  CHECK(recording::count(f->code(), "straight") == 1);
}

TEST_CASE("in programs, for any number of entries") {
  for (const std::size_t n : {1, 2, 9, 40, 255, 256, 257, 700}) {
    CAPTURE(n);
    for (const form f : {form{}, form{0b0001, 0b0001}, form{0b1010, 0}, form{0b0100, 0b1001}, form{0b0110, 0b0110}})
      check_same(*recorded(n, f, by_one), *recorded(n, f, by_several), point(4 * n));
  }
}

TEST_CASE("with any of the four constant, and all reverse passes against finite differences") {
  for (unsigned constant = 0; constant < 15; ++constant) {
    CAPTURE(constant);
    const shared f = recorded(3, {0, constant}, by_one);
    check_same(*f, *recorded(3, {0, constant}, by_several), point(12));
    CHECK(program_probe::disagreement(*f, point(12)) < 1e-9);
  }
}

TEST_CASE("many operations on single numbers, which gather their operands") {
  const auto each = [](const auto& body) {
    return [&body](recorder& r, const std::vector<slots>& x) {
      slots all;
      for (std::size_t i = 0; i < x[0].size(); ++i)
        all.push_back(body(r, {{x[0][i]}, {x[1][(5 * i + 2) % x[1].size()]}, {x[2][0]}, {x[3][x[3].size() - 1 - i]}})[0]);
      return all;
    };
  };
  for (const std::size_t n : {2, 30, 100})
    check_same(*recorded(n, {}, each(by_one)), *recorded(n, {}, each(by_several)), point(4 * n));
}

TEST_CASE("patterns, entries and recorded derivatives") {
  for (const std::size_t n : {1, 3}) {
    const shared f = recorded(n, {}, by_one);
    sparsity_probe::check_derivatives(*f, point(4 * n));
  }
  const agrad::dependence depends = wave().depends;
  CHECK(depends.how == agrad::dependence::entrywise);
  CHECK_FALSE(depends.is_linear);
  CHECK((depends.curved[0] & 0b1000) == 0);
  CHECK(depends.curved[3] == 0);
}

TEST_CASE("kept as bytes") {
  const kept_fuzz::names names({{"scan", agrad::scan_operation::read}});
  const shared f = recorded(300, {0b0010, 0b1000}, by_one);
  const std::string bytes = agrad::stored_program(*f, names, kept_fuzz::version);
  const shared read = agrad::program_of(bytes, names, kept_fuzz::version);
  CHECK(program_probe::run(*read, point(1200)) == program_probe::run(*f, point(1200)));
}

TEST_CASE("in a loop") {
  constexpr std::size_t length = 7;
  const auto looped = [](const auto& body) {
    const numbers at = point(4);
    recorder step;
    const slots in = range(step.input(at.data(), 4), 4);
    const slots next = body(step, {{in[1]}, {in[0]}, {in[2]}, {in[3]}});
    const auto of = std::make_shared<agrad::body>("scan", 3);
    of->add({schedule(step, {next[0], next[0]}), 1});
    agrad::scan_loop loop;
    loop.length = length, loop.carry = 1, loop.xs = {{1}}, loop.ys = {1};
    const auto f = std::make_shared<agrad::scan_operation>(of, loop, 2);
    const numbers x = point(3 + length);
    recorder r;
    const slots all = range(r.input(x.data(), x.size()), x.size());
    return schedule(r, range(r.apply(f, r.dense(all.data(), all.size()), f->output_size(), false), f->output_size()));
  };
  check_same(*looped(by_one), *looped(by_several), point(3 + length), 9);
}

TEST_CASE("on the tape and in duals of every order") {
  const agrad::scope own;
  const agrad::var x[] = {0.7, 0.4, -0.3, 1.1};
  const agrad::var y = agrad::apply<wave_rule>(x[0], x[1], x[2], x[3]);
  y.grad();
  std::vector<double> found;
  for (const agrad::var& each : x) found.push_back(each.adj());
  agrad::var again[] = {0.7, 0.4, -0.3, 1.1};
  by_expression<agrad::var>(again[0], again[1], again[2], again[3]).grad();
  for (std::size_t k = 0; k < 4; ++k) CHECK(found[k] == doctest::Approx(again[k].adj()).epsilon(1e-15));

  using second = agrad::dual<agrad::dual<double>>;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      second of[] = {0.7, 0.4, -0.3, 1.1};
      of[i].tangent[0].value = 1, of[j].value.tangent[0] = 1;
      const second one = agrad::apply<wave_rule>(of[0], of[1], of[2], of[3]);
      const second several = by_expression<second>(of[0], of[1], of[2], of[3]);
      CHECK(one.tangent[0].value == doctest::Approx(several.tangent[0].value).epsilon(1e-15));
      CHECK(one.tangent[0].tangent[0] == doctest::Approx(several.tangent[0].tangent[0]).epsilon(1e-15));
    }
}

}  // namespace test_program_four_arguments
