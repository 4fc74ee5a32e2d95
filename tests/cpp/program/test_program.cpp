// Recorded programs: what the schedule keeps, values, adjoints and tangents, structure, guards, external operations and
// workspaces. Runs and straight code are in program/schedule/test_levels.cpp, random programs in program/test_fuzz.cpp.
#include <doctest/doctest.h>
#include <agrad/program/jacobian.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program {

using agrad::external_operation;
using agrad::lane_count;
using agrad::program;
using agrad::recorder;
using agrad::schedule;
using agrad::slot;
using agrad::span;
using agrad::workspace;
using doctest::Approx;
using program_probe::disagreement;
using program_probe::run;
using recording::range;
using recording::record;
using recording::slots;
namespace kernels = agrad::kernels;

namespace {

using add = agrad::add_rule;
using multiply = agrad::multiply_rule;
using sine = agrad::sin_rule;

const std::vector<double> point{0.7, -0.4, 1.3};

/// The first two entries multiplied and all entries summed; remembers x in its state.
class product_and_sum : public external_operation {
 public:
  static inline int states = 0;
  struct own_state : state {
    own_state() { ++states; }
    own_state(const own_state&) = delete;
    own_state& operator=(const own_state&) = delete;
    ~own_state() override { --states; }
    std::array<double, 3> x{};
    bool ready = false;
  };
  std::string_view name() const override { return "product_and_sum"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<own_state>(); }
  void forward(state& s, const double* x, double* y, bool with_adjoint) const override {
    auto& mine = static_cast<own_state&>(s);
    if (x[0] > 100) throw std::runtime_error("x[0] is too large");
    mine.ready = with_adjoint;
    if (with_adjoint) mine.x = {x[0], x[1], x[2]};
    y[0] = x[0] * x[1];
    y[1] = x[0] + x[1] + x[2];
  }
  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    const auto& mine = static_cast<own_state&>(s);
    if (!mine.ready) throw std::logic_error("forward was without adjoint");
    x_adjoint[0] += y_adjoint[0] * mine.x[1] + y_adjoint[1];
    x_adjoint[1] += y_adjoint[0] * mine.x[0] + y_adjoint[1];
    x_adjoint[2] += y_adjoint[1];
  }
};

}  // namespace

TEST_CASE("values and adjoints of a small program, run many times") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots two{r.constant(2.0)};
  const slots y = record<add>(r, record<multiply>(r, record<sine>(r, x), x), record<multiply>(r, two, {x[1]}));
  const slots s = recording::sum(r, y);
  CHECK(r.value(s[0]) == Approx(0.7 * std::sin(0.7) + 0.4 * std::sin(0.4) + 1.3 * std::sin(1.3) - 2.4));
  const auto f = schedule(r, {s[0], y[2], x[0]});
  REQUIRE(f->input_size() == 3);
  REQUIRE(f->output_size() == 3);
  workspace w;
  for (const double shift : {0.0, 0.5, -2.0}) {
    std::vector<double> at = point, out(3), adjoint(3);
    for (double& v : at) v += shift;
    f->forward(w, at.data(), out.data());
    double expected = 6 * at[1];
    for (const double v : at) expected += v * std::sin(v);
    CHECK(out[0] == Approx(expected).epsilon(1e-14));
    CHECK(out[2] == at[0]);
    const double seeds[3] = {2, 1, 10};
    for (int repetition = 0; repetition < 2; ++repetition) {
      f->reverse(w, seeds, adjoint.data());
      const auto slope = [](double v) { return std::sin(v) + v * std::cos(v); };
      CHECK(adjoint[0] == Approx(2 * slope(at[0]) + 10).epsilon(1e-14));
      CHECK(adjoint[1] == Approx(2 * slope(at[1]) + 12 + 2).epsilon(1e-14));
      CHECK(adjoint[2] == Approx(3 * slope(at[2])).epsilon(1e-14));
    }
    CHECK(disagreement(*f, at) < 1e-10);
  }
  double seed = 1;
  std::array<double, 3> of_recording{};
  r.reverse(s.data(), &seed, 1, x.data(), of_recording.data(), 3);
  CHECK(of_recording[2] == Approx(std::sin(1.3) + 1.3 * std::cos(1.3)));
}

TEST_CASE("tangents of adjoints are Hessian products") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots y = recording::sum(r, record<multiply>(r, record<sine>(r, x), record<multiply>(r, x, {x[0]})));
  const auto f = schedule(r, y);
  const auto unit = program_probe::unit_directions(3);
  const auto h = program_probe::along<lane_count>(*f, point, unit, {1.0}).hessian;
  const auto slope = [](double v) { return std::sin(v) + v * std::cos(v); };  // of v sin v, whose sum is multiplied by x[0]
  const auto bend = [](double v) { return 2 * std::cos(v) - v * std::sin(v); };
  for (Eigen::Index i = 0; i < 3; ++i)
    for (Eigen::Index j = 0; j < 3; ++j) {
      const auto at = [](Eigen::Index k) { return point[static_cast<std::size_t>(k)]; };
      double expected = i == j ? bend(at(i)) * point[0] : 0;
      if (i == 0) expected += slope(at(j));
      if (j == 0) expected += slope(at(i));
      CHECK(h(i, j) == Approx(expected).epsilon(1e-14));
    }
  CHECK(disagreement(*f, point) < 1e-10);
}

TEST_CASE("an adjoint of value zero may have tangents") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots root = record<add>(r, record<sine>(r, {x[0]}), slots{r.constant(-std::sin(point[0]))});
  const slots product = record<add>(r, recording::product(r, {x[1]}, {x[2]}, 1, 1, 1), slots{r.constant(-point[1] * point[2])});
  const auto f = schedule(r, record<add>(r, record<multiply>(r, root, root), record<multiply>(r, product, product)));
  const auto unit = program_probe::unit_directions(3);
  for (const auto& all :
       {program_probe::along<1>(*f, point, unit, {1.0}), program_probe::along<lane_count>(*f, point, unit, {1.0})}) {
    CHECK(all.gradient[0] == 0);
    CHECK(all.hessian(0, 0) == Approx(2 * std::cos(0.7) * std::cos(0.7)).epsilon(1e-14));
    CHECK(all.hessian(1, 1) == Approx(2 * 1.3 * 1.3).epsilon(1e-14));
    CHECK(all.hessian(1, 2) == Approx(2 * 1.3 * -0.4).epsilon(1e-14));
  }
}

TEST_CASE("the schedule drops dead code, computes twice once and folds constants") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots dead = record<multiply>(r, record<sine>(r, x), x);
  const slots constant = record<sine>(r, record<add>(r, slots{r.constant(1.0)}, slots{r.constant(0.5)}));
  const slots a = record<sine>(r, {x[0], x[1]}), again = record<sine>(r, {x[0], x[1]});
  const slots gathered = record<multiply>(r, {x[2], x[0]}, a), twice = record<multiply>(r, {x[2], x[0]}, again);
  const slots y = record<add>(r, record<add>(r, gathered, twice), constant);
  const agrad::program_parts parts = agrad::prune(r, y);
  CHECK(recording::count(parts.code, "sin") == 1);
  CHECK(recording::count(parts.code, "multiply") == 1);
  CHECK(recording::count(parts.code, "gather") == 1);
  CHECK(recording::count(parts.code, "add") == 2);
  CHECK(parts.code.operations.size() == 5);
  CHECK(parts.fixed.size() == 3 + 1);  // inputs, the folded constant
  CHECK(parts.size == 3 + 1 + 5 * 2);  // and results
  const auto f = schedule(r, y);
  CHECK(recording::count(f->code(), "straight") == 1);
  CHECK(f->code().operations.size() == 1);
  CHECK(f->size() == 3 + 1 + 4 * 2);  // straight code reads what was gathered where it is
  const auto out = run(*f, point);
  CHECK(out[0] == Approx(2 * 1.3 * std::sin(0.7) + std::sin(1.5)).epsilon(1e-15));
  CHECK(out[1] == Approx(2 * 0.7 * std::sin(-0.4) + std::sin(1.5)).epsilon(1e-15));
  CHECK(disagreement(*f, point) < 1e-10);
  CHECK(dead.size() == 3);
}

TEST_CASE("outputs may be inputs, constants, repeated, or none") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots unused = range(r.input(point.data(), 1), 1);
  const slot c = r.constant(5.0);
  const slots y = record<sine>(r, {x[1]});
  const auto f = schedule(r, {y[0], c, x[1], y[0], 0});
  CHECK(f->input_size() == 4);
  CHECK(run(*f, {1, 2, 3, 4}) == std::vector<double>{std::sin(2.0), 5, 2, std::sin(2.0), 0});
  CHECK(disagreement(*f, {1, 2, 3, 4}) < 1e-10);
  workspace w;
  std::vector<double> out(5), adjoint(4, 77);
  f->forward(w, std::vector<double>{1, 2, 3, 4}.data(), out.data());
  const double seeds[5] = {1, 100, 10, 1, 100};
  f->reverse(w, seeds, adjoint.data());
  CHECK(adjoint == std::vector<double>{0, 2 * std::cos(2.0) + 10, 0, 0});
  const auto nothing = schedule(r, {});
  CHECK(nothing->code().operations.empty());
  CHECK(run(*nothing, {1, 2, 3, 4}).empty());
  CHECK(unused.size() == 1);
}

TEST_CASE("sums of groups and matrix products of any size") {
  for (const std::uint32_t length : {0U, 1U, 3U, 4U, 5U, 9U}) {
    recorder r;
    std::vector<double> values(3 * length);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
    const slots x = range(r.input(values.data(), values.size()), values.size());
    const auto f = schedule(r, recording::sum(r, record<multiply>(r, x, x), 3));
    const auto out = run(*f, values);
    for (std::size_t g = 0; g < 3; ++g) {
      double expected = 0;
      for (std::size_t i = 0; i < length; ++i) expected += values[g * length + i] * values[g * length + i];
      CHECK(out[g] == Approx(expected).epsilon(1e-15));
    }
    if (length > 0) CHECK(disagreement(*f, values) < 1e-10);
  }
  for (const std::array<std::uint32_t, 3> n :
       {std::array<std::uint32_t, 3>{2, 3, 4}, {1, 1, 1}, {3, 1, 2}, {2, 0, 2}, {0, 3, 2}}) {
    recorder r;
    std::vector<double> values(n[0] * n[1] + n[1] * n[2]);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(static_cast<double>(i));
    const slots x = range(r.input(values.data(), values.size()), values.size());
    const slots a(x.begin(), x.begin() + n[0] * n[1]), b(x.begin() + n[0] * n[1], x.end());
    const auto f = schedule(r, recording::product(r, a, b, n[0], n[1], n[2]));
    const auto out = run(*f, values);
    for (std::size_t i = 0; i < n[0]; ++i) {
      for (std::size_t j = 0; j < n[2]; ++j) {
        double expected = 0;
        for (std::size_t k = 0; k < n[1]; ++k) expected += values[i * n[1] + k] * values[n[0] * n[1] + k * n[2] + j];
        CHECK(out[i * n[2] + j] == Approx(expected).epsilon(1e-14));
      }
    }
    if (!values.empty() && !out.empty()) CHECK(disagreement(*f, values) < 1e-10);
  }
}

TEST_CASE("spans of length zero") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3), none;
  const slots y = record<multiply>(r, none, none);
  CHECK(y.empty());
  CHECK(record<sine>(r, y).empty());
  CHECK(record<multiply>(r, none, {x[0]}).empty());
  const slots zero = recording::sum(r, y);
  const auto f = schedule(r, record<add>(r, zero, {x[0]}));
  CHECK(run(*f, {3, 0, 0})[0] == 3);
  CHECK(r.input(nullptr, 0) == static_cast<slot>(r.size()));
}

TEST_CASE("an infinite derivative of what is not used is no nan") {
  recorder r;
  const double zero[2] = {0.0, 4.0};
  const slots x = range(r.input(zero, 2), 2);
  const slots root = record<agrad::sqrt_rule>(r, x);
  const auto f = schedule(r, {root[1], record<agrad::fmax_rule>(r, {root[0]}, slots{r.constant(1.0)})[0]});
  workspace w;
  std::vector<double> y(2), adjoint(2);
  f->forward(w, zero, y.data());
  const double seeds[2] = {1, 1};
  f->reverse(w, seeds, adjoint.data());
  CHECK(adjoint == std::vector<double>{0, 0.25});
  const slots unused = recording::product(r, {root[0], root[0]}, record<agrad::log_rule>(r, {x[0], x[1]}), 1, 2, 1);
  const auto g = schedule(r, {unused[0], record<sine>(r, {x[0]})[0]});
  f->forward(w, zero, y.data());
  g->forward(w, zero, y.data());
  const double not_the_first[2] = {0, 1};
  g->reverse(w, not_the_first, adjoint.data());
  CHECK(adjoint == std::vector<double>{1, 0});
  f->forward(w, zero, y.data());
  const double directions[2] = {0, 1};
  f->tangent<1>(w, directions, y.data());
  CHECK(y == std::vector<double>{0.25, 0});
}

TEST_CASE("a guard ends a run that goes another way") {
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const slots condition = record<agrad::greater_rule>(r, {x[0]}, slots{r.constant(0.0)});
  r.guard(condition[0]);
  const slots of_constants = record<agrad::less_rule>(r, slots{r.constant(1.0)}, slots{r.constant(2.0)});
  r.guard(of_constants[0]);
  const auto f = schedule(r, record<multiply>(r, {x[0]}, {x[1]}));
  CHECK(recording::count(f->code(), "guard") == 1);
  workspace w;
  double y = 0;
  const double other[3] = {-1, 2, 3}, same[3] = {5, 2, 3};
  for (int repetition = 0; repetition < 2; ++repetition) {
    CHECK_THROWS_AS(f->forward(w, other, &y), kernels::path_left);
    f->forward(w, same, &y);
    CHECK(y == 10);
  }
}

TEST_CASE("external operations keep a state for each workspace") {
  const auto operation = std::make_shared<const product_and_sum>();
  REQUIRE(product_and_sum::states == 0);
  {
    recorder r;
    const slots x = range(r.input(point.data(), 3), 3);
    const slots permuted{x[2], x[0], x[1]};
    const slots z = range(r.apply(operation, r.dense(permuted.data(), 3), 2, false), 2);
    const auto f = schedule(r, {record<multiply>(r, {z[0]}, {z[1]})[0], z[1]});
    CHECK(f->first_without_tangents() == operation.get());
    workspace v, w;
    std::vector<double> y(2), adjoint(3);
    const double at[3] = {1, 2, 3}, elsewhere[3] = {5, 7, 11};
    f->forward(v, at, y.data());
    CHECK(y == std::vector<double>{3 * 6, 6});
    f->forward(w, elsewhere, y.data());
    CHECK(product_and_sum::states == 3);  // the recording's and two workspaces'
    const double seeds[2] = {1, 0};
    for (int repetition = 0; repetition < 2; ++repetition) {
      f->reverse(v, seeds, adjoint.data());
      CHECK(adjoint == std::vector<double>{3 * 6 + 3, 3, 6 + 3});
    }
    f->forward(v, at, y.data(), false);
    CHECK_THROWS_AS(f->reverse(v, seeds, adjoint.data()), std::logic_error);
    CHECK_THROWS_WITH(f->forward(v, std::vector<double>{1, 2, 300}.data(), y.data()), "x[0] is too large");

    const char* message =
        "product_and_sum: has first derivatives only, by reverse mode, but must have tangents or second derivatives here";
    f->forward(v, at, y.data());
    CHECK_THROWS_WITH_AS(f->tangent<1>(v, at, y.data()), message, std::logic_error);
    std::vector<double> in(3 * lane_count), out(2 * lane_count);
    CHECK_THROWS_WITH_AS(f->tangent<lane_count>(v, in.data(), out.data()), message, std::logic_error);
    CHECK_THROWS_WITH_AS(operation->second(*operation->make_state(), 1, at, at, adjoint.data(), adjoint.data()), message,
                         std::logic_error);
  }
  CHECK(product_and_sum::states == 0);
}

TEST_CASE("an operation that throws is no part of the recording") {
  const auto operation = std::make_shared<const product_and_sum>();
  recorder r;
  const double large[3] = {1000, 2, 3};
  const slots x = range(r.input(point.data(), 3), 3), bad = range(r.input(large, 3), 3);
  const std::size_t size = r.size(), operations = r.code().operations.size();
  CHECK_THROWS_WITH(r.apply(operation, r.dense(bad.data(), 3), 2, true), "x[0] is too large");
  CHECK(r.size() == size);
  CHECK(r.code().operations.size() == operations);
  CHECK(r.code().externals.empty());
  const slots z = range(r.apply(operation, r.dense(x.data(), 3), 2, true), 2);
  double seed = 1, adjoint = 0;
  r.reverse(&z[0], &seed, 1, &x[0], &adjoint, 1);
  CHECK(adjoint == -0.4);
  const auto f = schedule(r, z);
  CHECK(f->code().externals.size() == 1);
  CHECK(run(*f, {1, 2, 3, 0, 0, 0}) == std::vector<double>{2, 6});
}

TEST_CASE("a workspace may go from one program to another") {
  workspace w;
  for (const double factor : {2.0, 3.0}) {
    recorder r;
    const slots x = range(r.input(point.data(), 3), 3);
    const auto f = schedule(r, record<multiply>(r, x, slots{r.constant(factor)}));
    std::vector<double> y(3);
    f->forward(w, point.data(), y.data());
    CHECK(y[0] == factor * point[0]);
  }
  recorder r;
  const slots x = range(r.input(point.data(), 3), 3);
  const auto f = schedule(r, record<sine>(r, x));
  std::vector<double> adjoint(3);
  CHECK_THROWS_AS(f->reverse(w, point.data(), adjoint.data()), std::logic_error);  // forward comes first
  CHECK_THROWS_AS(f->tangent<1>(w, point.data(), adjoint.data()), std::logic_error);
  CHECK_THROWS_AS(f->second<1>(w, point.data(), adjoint.data(), adjoint.data()), std::logic_error);
}

}  // namespace test_program
