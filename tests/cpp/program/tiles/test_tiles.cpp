// Tiles against whole operations: random programs of long arrays give the same values bit by bit, the same derivatives, and no
// value that only a tile held is missing where another pass needs it.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "recording.hpp"

namespace test_tiles {

using agrad::program;
using agrad::recorder;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

/// Records random operations on arrays of two lengths, of scalars, and of arrays made of entries of others. is_sum: whether the
/// only result is a linear function of sums.
std::shared_ptr<const program> random_program(std::mt19937& random, std::size_t n, bool is_sum = false) {
  const auto below = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most - 1)(random); };
  std::uniform_real_distribution<double> number(0.5, 1.5);
  recorder r;
  const std::size_t lengths[] = {n, n + 260};
  const std::vector<double> start(lengths[0] + lengths[1] + 3, 0.7);
  const slots inputs = range(r.input(start.data(), start.size()), start.size());
  std::vector<slots> families[] = {{slots(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(n))},
                                   {slots(inputs.begin() + static_cast<std::ptrdiff_t>(n), inputs.end() - 3)}};
  std::vector<slots> scalars{{r.constant(number(random))}};
  for (std::size_t i = 1; i < 4; ++i) scalars.push_back({inputs[inputs.size() - i]});
  for (int step = 0; step < 30; ++step) {
    const std::size_t family = below(2), length = lengths[family];
    std::vector<slots>& arrays = families[family];
    const slots x = arrays[below(arrays.size())];
    const slots y = below(5) == 0 ? scalars[below(scalars.size())] : arrays[below(arrays.size())];
    switch (below(12)) {
      case 0:
        arrays.push_back(record<agrad::sin_rule>(r, x));
        break;
      case 1:
        arrays.push_back(record<agrad::exp_rule>(r, record<agrad::sin_rule>(r, x)));
        break;
      case 2:
        arrays.push_back(record<agrad::multiply_rule>(r, x, y));
        break;
      case 3:
        arrays.push_back(record<agrad::add_rule>(r, y, x));
        break;
      case 4:
        arrays.push_back(record<agrad::fmax_rule>(r, x, y));
        break;
      case 5:
        arrays.push_back(record<agrad::divide_rule>(r, x, record<agrad::cosh_rule>(r, y)));
        break;
      case 6:
        arrays.push_back(record<agrad::square_rule>(r, record<agrad::sqrt_rule>(r, record<agrad::exp_rule>(r, y))));
        if (y.size() == 1) scalars.push_back(arrays.back()), arrays.pop_back();
        break;
      case 7: {  // scattered entries, also of the other length
        const std::vector<slots>& others = families[below(2)];
        const slots& from = others[below(others.size())];
        slots places;
        for (std::size_t i = 0; i < length; ++i) places.push_back(from[below(from.size())]);
        arrays.push_back(record<agrad::multiply_rule>(r, places, y));
        break;
      }
      case 8: {  // a shifted array and an entry of another one
        slots shifted(x.begin() + 1, x.end());
        shifted.push_back(y[0]);
        arrays.push_back(record<agrad::subtract_rule>(r, shifted, x));
        break;
      }
      case 9: {  // a matrix times a vector: a row for each entry
        slots matrix, vector;
        for (std::size_t i = 0; i < 3 * length; ++i) matrix.push_back(inputs[i % (2 * n)]);
        for (std::size_t l = 0; l < 3; ++l) vector.push_back(scalars[below(scalars.size())][0]);
        arrays.push_back(recording::product(r, matrix, vector, static_cast<std::uint32_t>(length), 3, 1));
        break;
      }
      case 10: {  // of which the vector is long, and may be a result of the same group
        slots matrix;
        for (std::size_t i = 0; i < 9 * length; ++i) matrix.push_back(inputs[(7 * i) % n]);
        const slots vector(x.begin(), x.begin() + 9);
        arrays.push_back(
            record<agrad::sin_rule>(r, recording::product(r, matrix, vector, static_cast<std::uint32_t>(length), 9, 1)));
        break;
      }
      default:
        scalars.push_back(record<agrad::tanh_rule>(r, recording::sum(r, x)));
        break;
    }
  }
  if (is_sum) {
    const slots half{r.constant(-0.5)};
    const slots all = record<agrad::add_rule>(r, record<agrad::multiply_rule>(r, half, recording::sum(r, families[0].back())),
                                              recording::sum(r, families[1].back()));
    return schedule(r, record<agrad::subtract_rule>(r, all, scalars[1]));
  }
  slots outputs = scalars.back();
  for (const std::vector<slots>& arrays : families) {
    outputs.push_back(recording::sum(r, record<agrad::sin_rule>(r, arrays.back()))[0]);
    for (int i = 0; i < 2; ++i) outputs.push_back(arrays[below(arrays.size())][below(n)]);
  }
  return schedule(r, outputs);
}

/// Runs operation after operation, without tiles.
struct whole_operations {
  workspace w;
  std::vector<double> y, gradient;

  whole_operations(const program& f, const std::vector<double>& x, const std::vector<double>& seeds)
      : y(f.output_size()), gradient(x.size()) {
    f.begin(w.values);
    for (std::size_t i = 0; i < x.size(); ++i) w.values[f.inputs()[i]] = x[i];
    run_forward(f.code(), w, true);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = w.values[f.outputs()[i]];
    w.adjoints.assign(f.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) w.adjoints[f.outputs()[i]] += seeds[i];
    run_reverse(f.code(), w);
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = w.adjoints[f.inputs()[i]];
  }

  void differentiate_along(const program& f, const std::vector<double>& along, const std::vector<double>& seeds) {
    w.tangents.assign(f.size(), 0.0);
    w.adjoints.assign(f.size(), 0.0);
    w.adjoint_tangents.assign(f.size(), 0.0);
    for (std::size_t i = 0; i < along.size(); ++i) w.tangents[f.inputs()[i]] = along[i];
    agrad::run_tangent<1>(f.code(), w);
    for (std::size_t i = 0; i < y.size(); ++i) w.adjoints[f.outputs()[i]] += seeds[i];
    agrad::run_second<1>(f.code(), w);
  }
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, scale = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return difference / scale;
}

std::vector<double> some_numbers(std::mt19937& random, std::size_t n, double lower, double upper) {
  std::uniform_real_distribution<double> number(lower, upper);
  std::vector<double> all(n);
  for (double& one : all) one = number(random);
  return all;
}

}  // namespace

TEST_CASE("random programs give in tiles what they give operation by operation") {
  std::mt19937 random(20261);
  std::size_t members = 0, locals = 0, joint = 0;
  for (int trial = 0; trial < 90; ++trial) {
    CAPTURE(trial);
    const std::size_t n = trial % 3 == 0 ? 512 : trial % 3 == 1 ? 700 : 1025;
    const auto f = random_program(random, n, trial % 2 == 0);
    joint += f->tiles().has_joint_groups() ? 1 : 0;
    for (const auto& group : f->tiles().groups())
      for (const auto& member : group.members) ++members, locals += member.is_local() ? 1 : 0;
    workspace w;
    for (int run = 0; run < 2; ++run) {
      const auto x = some_numbers(random, f->input_size(), 0.5, 1.5), seeds = some_numbers(random, f->output_size(), -1, 1);
      const whole_operations expected(*f, x, seeds);
      std::vector<double> y(f->output_size()), gradient(x.size()), rows(2 * x.size()), two_seeds = seeds;
      f->forward(w, x.data(), y.data(), false);
      CHECK(y == expected.y);
      f->forward(w, x.data(), y.data());
      CHECK(y == expected.y);
      f->reverse(w, seeds.data(), gradient.data());
      CHECK(distance(gradient, expected.gradient) < 1e-14);
      two_seeds.insert(two_seeds.end(), seeds.begin(), seeds.end());
      std::vector<double> y_of_both(y.size()), gradient_of_both(x.size());
      f->forward_and_reverse(w, x.data(), y_of_both.data(), seeds.data(), gradient_of_both.data());
      CHECK(y_of_both == expected.y);
      CHECK(distance(gradient_of_both, expected.gradient) < 1e-14);
      f->reverse(w, seeds.data(), gradient.data());
      CHECK(distance(gradient, expected.gradient) < 1e-14);
      f->forward(w, x.data(), y.data(), false);
      f->reverse(w, seeds.data(), gradient.data());
      CHECK(distance(gradient, expected.gradient) < 1e-14);
      f->reverse_rows(w, 2, two_seeds.data(), rows.data());
      CHECK(distance(std::vector<double>(rows.begin() + static_cast<std::ptrdiff_t>(x.size()), rows.end()), gradient) < 1e-14);
      f->reverse(w, seeds.data(), gradient.data());
      CHECK(distance(gradient, expected.gradient) < 1e-14);
    }
  }
  CHECK(members > 500);
  CHECK(locals > 200);
  CHECK(joint > 30);
}

TEST_CASE("tangents and second derivatives after a run in tiles are those of whole operations") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 15; ++trial) {
    CAPTURE(trial);
    const auto f = random_program(random, 600);
    const auto x = some_numbers(random, f->input_size(), 0.5, 1.5), seeds = some_numbers(random, f->output_size(), -1, 1),
               along = some_numbers(random, f->input_size(), -1, 1);
    workspace w;
    std::vector<double> y(f->output_size()), dy(y.size()), gradient(x.size()), again(x.size()), curvature(x.size());
    f->forward(w, x.data(), y.data());
    f->reverse(w, seeds.data(), gradient.data());
    f->forward(w, x.data(), y.data());
    f->tangent<1>(w, along.data(), dy.data());
    f->second<1>(w, seeds.data(), again.data(), curvature.data());
    whole_operations whole(*f, x, seeds);
    whole.differentiate_along(*f, along, seeds);
    CHECK(distance(again, gradient) < 1e-14);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(dy[i] == whole.w.tangents[f->outputs()[i]]);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(curvature[i] == whole.w.adjoint_tangents[f->inputs()[i]]);
  }
}

TEST_CASE("operations over one index are neighbours although others were recorded between them") {
  recorder r;
  const std::vector<double> start(1500, 0.3);
  const slots x = range(r.input(start.data(), 600), 600), y = range(r.input(start.data(), 900), 900);
  const slots a = record<agrad::sin_rule>(r, x), b = record<agrad::sin_rule>(r, y);
  const slots c = record<agrad::exp_rule>(r, a), d = record<agrad::exp_rule>(r, b);
  const slots e = record<agrad::multiply_rule>(r, c, recording::sum(r, d));
  const auto f = schedule(r, recording::sum(r, record<agrad::sin_rule>(r, e)));
  REQUIRE(f->tiles().groups().size() == 2);
  CHECK(f->tiles().groups()[0].members.size() + f->tiles().groups()[1].members.size() == 8);
}

TEST_CASE("a sum of conditions has no adjoints in its tiles") {
  recorder r;
  const std::vector<double> start(700, 0.3);
  const slots x = range(r.input(start.data(), 700), 700);
  const slots positive = record<agrad::greater_rule>(r, record<agrad::sin_rule>(r, x), slots{r.constant(0.0)});
  const slots total = record<agrad::add_rule>(r, recording::sum(r, positive), recording::sum(r, record<agrad::exp_rule>(r, x)));
  const auto f = schedule(r, total);
  const double one = 1;
  double y = 0;
  workspace w;
  std::vector<double> gradient(700), again(700);
  f->forward_and_reverse(w, start.data(), &y, &one, gradient.data());
  CHECK(y == doctest::Approx(700 * (1 + std::exp(0.3))));
  CHECK(gradient[3] == doctest::Approx(std::exp(0.3)));
  f->forward(w, start.data(), &y);
  f->reverse(w, &one, again.data());
  CHECK(again == gradient);
}

TEST_CASE("results that only a group reads are in registers, and dear ones are stored for the reverse pass") {
  recorder r;
  const std::vector<double> start(1000, 0.3);
  const slots x = range(r.input(start.data(), start.size()), start.size());
  const slots e = record<agrad::exp_rule>(r, record<agrad::multiply_rule>(r, x, x));
  const auto f = schedule(r, recording::sum(r, record<agrad::add_rule>(r, e, x)));
  REQUIRE(f->tiles().groups().size() == 1);
  const auto& members = f->tiles().groups()[0].members;
  REQUIRE(members.size() == 4);
  CHECK(members[0].is_local());
  CHECK(!members[0].is_stored);
  CHECK(members[1].is_local());
  CHECK(members[1].is_stored);
  CHECK(members[2].is_local());
  CHECK(!members[3].is_local());  // the sum, which is the output
}

TEST_CASE("a zero adjoint at an infinite slope in a tile is told from a zero of structure") {
  recorder r;
  const std::size_t n = 900;
  std::vector<double> start(n, 0.3);
  start[5] = start[700] = 0;
  const slots x = range(r.input(start.data(), n), n), zero{r.constant(0.0)};
  const slots root = record<agrad::sqrt_rule>(r, x);
  const slots masked = record<agrad::select_rule>(r, record<agrad::greater_rule>(r, x, zero), root, zero);
  const slots grown = record<agrad::cosh_rule>(r, root);
  const double one = 1;
  for (const bool is_masked : {true, false}) {
    CAPTURE(is_masked);
    const auto f = schedule(r, recording::sum(r, is_masked ? masked : grown));
    REQUIRE(f->tiles().groups().size() == 1);
    workspace w;
    double y = 0;
    std::vector<double> gradient(n);
    f->forward(w, start.data(), &y);
    f->reverse(w, &one, gradient.data());
    if (is_masked)
      CHECK(gradient[5] == 0);
    else
      CHECK(std::isnan(gradient[5]));
    CHECK(std::isnan(gradient[700]) == !is_masked);
    CHECK(gradient[6] > 0);
  }
}

}  // namespace test_tiles
