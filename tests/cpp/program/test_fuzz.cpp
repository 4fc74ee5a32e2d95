// Random programs against direct evaluation: what was recorded, scheduled and
// run must be what the same steps give on nested dual numbers, at the recorded
// point and at others: values, tangents, adjoints and their tangents, in both
// widths. Small programs mix everything, wide ones become runs, deep ones
// straight code in several sequences.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_fuzz {

using agrad::lane_count;
using agrad::recorder;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

constexpr std::size_t inputs = 4;
using first = agrad::dual<double, inputs>;
using second = agrad::dual<first, inputs>;

/// One step: which operation, on which of the values so far. Its results are
/// appended to the values.
struct step {
  int what;
  std::vector<std::size_t> x, y, z;  // places of the operands' entries
};
enum kind { sine, square, sum_of_groups, add, multiply, larger, quotient, power, product, fused, kinds };
enum class shape { small, wide, deep };

/// The operations on numbers, for any scalar.
template <class T>
std::vector<T> evaluate(const step& s, const std::vector<T>& values) {
  using agrad::fma, agrad::fmax, agrad::pow, std::sin;
  std::vector<T> x, y, z, result;
  for (const std::size_t i : s.x) x.push_back(values[i]);
  for (const std::size_t i : s.y) y.push_back(values[i]);
  for (const std::size_t i : s.z) z.push_back(values[i]);
  const std::size_t n = std::max(x.size(), y.size());
  for (std::size_t i = 0; i < n && s.what != sum_of_groups && s.what != product; ++i) {
    const T& a = x[x.size() == 1 ? 0 : i];
    const T b = y.empty() ? T(0) : y[y.size() == 1 ? 0 : i];
    switch (s.what) {
      case sine:
        result.push_back(sin(a));
        break;
      case square:
        result.push_back(a * a);
        break;
      case add:
        result.push_back(a + b);
        break;
      case multiply:
        result.push_back(a * b);
        break;
      case larger:
        result.push_back(fmax(a, b));
        break;
      case quotient:
        result.push_back(a / b);
        break;
      case fused:
        result.push_back(fma(a, b, z[i]));
        break;
      default:
        result.push_back(pow(a, b));
        break;
    }
  }
  if (s.what == sum_of_groups) {
    for (std::size_t g = 0; g < 2; ++g) {
      result.push_back(T(0));
      for (std::size_t i = 0; i < n / 2; ++i) result[g] += x[g * (n / 2) + i];
    }
  }
  for (std::size_t i = 0; i < 4 && s.what == product; ++i)  // of two by two
    result.push_back(x[2 * (i / 2)] * y[i % 2] + x[2 * (i / 2) + 1] * y[2 + i % 2]);
  return result;
}

slots record_step(recorder& r, const step& s, const slots& values) {
  slots x, y, z;
  for (const std::size_t i : s.x) x.push_back(values[i]);
  for (const std::size_t i : s.y) y.push_back(values[i]);
  for (const std::size_t i : s.z) z.push_back(values[i]);
  switch (s.what) {
    case sine:
      return record<agrad::sin_rule>(r, x);
    case square:
      return record<agrad::multiply_rule>(r, x, x);
    case add:
      return record<agrad::add_rule>(r, x, y);
    case multiply:
      return record<agrad::multiply_rule>(r, x, y);
    case larger:
      return record<agrad::fmax_rule>(r, x, y);
    case quotient:
      return record<agrad::divide_rule>(r, x, y);
    case power:
      return record<agrad::pow_rule>(r, x, y);
    case fused:
      return record<agrad::fma_rule>(r, x, y, z);
    case sum_of_groups:
      return recording::sum(r, x, 2);
    default:
      return recording::product(r, x, y, 2, 2, 2);
  }
}

/// A program of random steps over inputs and constants; steps are now and then
/// repeated as they are.
struct random_program {
  std::vector<double> constants;
  std::vector<step> steps;
  std::vector<std::size_t> outputs;

  random_program(std::mt19937& random, shape form) {
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::uniform_real_distribution<double> number(-2, 2);
    for (int i = 0; i < 3; ++i) constants.push_back(number(random));
    std::size_t size = inputs + constants.size();
    const auto places = [&](std::size_t n) {
      std::vector<std::size_t> chosen(n);
      // Scattered, in a row, or all the same; of a deep program mostly among
      // the latest.
      const std::size_t style = below(3), from = form == shape::deep && size > 6 && below(200) != 0 ? size - 6 : 0;
      const auto any = [&] { return from + below(size - from); };
      const std::size_t start = any();
      for (std::size_t i = 0; i < n; ++i)
        chosen[i] = style == 0 ? any() : style == 1 ? from + (start - from + i) % (size - from) : start;
      return chosen;
    };
    const auto length = [&] {
      if (form == shape::small) return 1 + below(5);
      if (form == shape::deep) return 1 + below(3);
      const std::size_t kind_of_length = below(8);
      return kind_of_length == 0 ? std::size_t{300} : 1 + below(kind_of_length < 4 ? 40 : 14);
    };
    const std::size_t count = form == shape::small ? 25 : form == shape::wide ? 20 : 2000;
    std::vector<double> values(inputs, 0.5);
    values.insert(values.end(), constants.begin(), constants.end());
    while (steps.size() < count) {
      step s;
      if (form != shape::deep && !steps.empty() && below(6) == 0) {
        s = steps[below(steps.size())];
      } else {
        s.what = static_cast<int>(below(kinds));
        if (form == shape::deep) {
          // Sines keep slopes small; what grows near zero would send back infinite adjoints; what stays whole ends the code.
          const bool is_steep = s.what == quotient || s.what == power, is_whole = s.what == sum_of_groups || s.what == product;
          if (is_steep || below(3) != 0) s.what = sine;
          if (is_whole && below(50) != 0) s.what = square;
        }
        const std::size_t n = length();
        s.x = places(s.what == product ? 4 : s.what == sum_of_groups ? 2 * n : n);
        if (s.what >= add) s.y = places(s.what == product ? 4 : below(3) == 0 ? 1 : n);
        if (s.what == fused) s.z = places(s.x.size());
        if (s.what >= add && s.what < product && below(4) == 0) std::swap(s.x, s.y);
      }
      const std::vector<double> results = evaluate(s, values);
      const bool tame = std::all_of(results.begin(), results.end(), [](double v) { return std::abs(v) < 20; });
      if (!tame) continue;
      values.insert(values.end(), results.begin(), results.end());
      size += results.size();
      steps.push_back(s);
    }
    for (int i = 0; i < 5; ++i) outputs.push_back(below(size));
    for (std::size_t i = 0; i < 3; ++i) outputs.push_back(size - 1 - i);
  }

  template <class T>
  std::vector<T> evaluate_at(const std::vector<T>& x) const {
    std::vector<T> values = x;
    values.insert(values.end(), constants.begin(), constants.end());
    for (const step& s : steps) {
      const std::vector<T> results = evaluate(s, values);
      values.insert(values.end(), results.begin(), results.end());
    }
    std::vector<T> y;
    for (const std::size_t i : outputs) y.push_back(values[i]);
    return y;
  }

  std::shared_ptr<const agrad::program> recorded_at(const std::vector<double>& x) const {
    recorder r;
    slots values = range(r.input(x.data(), x.size()), x.size());
    for (const double c : constants) values.push_back(r.constant(c));
    for (const step& s : steps) {
      const slots results = record_step(r, s, values);
      values.insert(values.end(), results.begin(), results.end());
    }
    slots y;
    for (const std::size_t i : outputs) y.push_back(values[i]);
    return schedule(r, y);
  }
};

bool same(double a, double b, double scale) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-10 * scale;
}

/// Whether nothing infinite or nan comes up at x, in values and in tangents of
/// all directions.
bool is_finite_at(const agrad::program& f, workspace& w, const std::vector<double>& x) {
  std::vector<double> y(f.output_size());
  f.forward(w, x.data(), y.data());
  program_probe::along<lane_count>(f, w, x, program_probe::unit_directions(inputs), y);
  const auto finite = [](double v) { return std::isfinite(v); };
  return std::all_of(w.values.begin(), w.values.end(), finite) && std::all_of(w.tangents.begin(), w.tangents.end(), finite);
}

/// Whether a run at x agrees with direct evaluation: values, tangents of all
/// directions, adjoints of a random seed, and the Hessian of the seeded sum.
/// Where something infinite or nan comes up, only values and tangents are
/// compared, and programs may answer nan for a zero of the duals: an infinite
/// tangent that meets a computed zero is unknown to programs alone.
template <int Width>
bool agrees(const random_program& direct, const agrad::program& f, workspace& w, const std::vector<double>& x,
            const std::vector<double>& seeds) {
  std::vector<second> nested(x.begin(), x.end());
  for (std::size_t i = 0; i < inputs; ++i) {
    nested[i].value.tangent[i] = 1;
    nested[i].tangent[i] = 1.0;
  }
  const std::vector<second> expected = direct.evaluate_at(nested);
  second sum = 0.0;
  double scale = 1, scale_of_second = 1;
  const auto grow = [](double& by, double d) { by = std::isfinite(d) ? std::max(by, std::abs(d)) : by; };
  for (std::size_t k = 0; k < expected.size(); ++k) {
    sum += expected[k] * seeds[k];
    for (const double d : expected[k].value.tangent) grow(scale, d);
  }
  for (const first& row : sum.tangent)
    for (const double d : row.tangent) grow(scale_of_second, d);

  const bool finite = is_finite_at(f, w, x);
  std::vector<double> y(f.output_size());
  f.forward(w, x.data(), y.data());
  const auto all = program_probe::along<Width>(f, w, x, program_probe::unit_directions(inputs), seeds);
  bool right = true;
  const auto expect = [&](double found, double exact, double by) { right = right && same(found, exact, by); };
  for (std::size_t k = 0; k < y.size(); ++k) {
    expect(y[k], expected[k].value.value, std::max(scale, std::abs(y[k])));
    for (std::size_t i = 0; i < inputs; ++i)
      if (std::isfinite(expected[k].value.tangent[i])) {
        const double found = all.tangents(program_probe::index(k), program_probe::index(i));
        if (finite || !std::isnan(found)) expect(found, expected[k].value.tangent[i], scale);
      }
  }
  if (!finite) return right;
  std::vector<double> adjoint(inputs);
  f.reverse(w, seeds.data(), adjoint.data());
  for (std::size_t i = 0; i < inputs; ++i) {
    expect(adjoint[i], sum.tangent[i].value, scale);
    expect(all.gradient[i], sum.tangent[i].value, scale);
    for (std::size_t j = 0; j < inputs; ++j)
      if (std::isfinite(sum.tangent[i].tangent[j]))  // infinite terms cancel in
                                                     // another order
        expect(all.hessian(program_probe::index(i), program_probe::index(j)), sum.tangent[i].tangent[j],
               std::max(scale, scale_of_second));
  }
  return right;
}

/// What the schedules of many programs contained.
struct census {
  std::size_t wrong = 0, finite_runs = 0, runs = 0, lists = 0, longest = 0, gathers = 0;
  void take(const agrad::program& f) {
    gathers += recording::count(f.code(), "gather");
    for (const agrad::operation& op : f.code().operations) {
      longest += op.what == &agrad::kernels::straight && op.count == agrad::longest_straight ? 1 : 0;
      runs += op.what->steps != nullptr ? 1 : 0;
      lists += std::any_of(op.operands.begin(), op.operands.end(), [](const agrad::span& x) { return x.listed; }) ? 1 : 0;
    }
  }
};

/// Records `trials` programs and runs each at four points, on one workspace.
census run_random_programs(unsigned seed, shape form, int trials) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(0.1, 2), weight(-1, 1);
  census all;
  for (int trial = 0; trial < trials; ++trial) {
    const random_program direct(random, form);
    const auto f = direct.recorded_at(std::vector<double>(inputs, 0.5));
    all.take(*f);
    workspace w;
    for (int run = 0; run < 4; ++run) {
      std::vector<double> x(inputs), seeds(f->output_size());
      for (double& v : x) v = number(random);
      for (double& v : seeds) v = weight(random);
      if (!agrees<1>(direct, *f, w, x, seeds) || !agrees<lane_count>(direct, *f, w, x, seeds)) ++all.wrong;
      const std::vector<double> y = direct.evaluate_at(x);
      if (std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); })) ++all.finite_runs;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("random programs agree with direct evaluation wherever they are run") {
  const census small = run_random_programs(424242, shape::small, 400);
  CHECK(small.wrong == 0);
  CHECK(small.finite_runs > 800);  // or the comparison would be of nan with nan
}

TEST_CASE("random programs of long vectors agree with direct evaluation") {
  const census wide = run_random_programs(7, shape::wide, 150);
  CHECK(wide.wrong == 0);
  CHECK(wide.finite_runs > 300);
  CHECK(wide.runs > 400);
  CHECK(wide.lists > 80);
  CHECK(wide.gathers > 50);
}

TEST_CASE("random programs of many small steps agree with direct evaluation") {
  const census deep = run_random_programs(99, shape::deep, 20);
  CHECK(deep.wrong == 0);
  CHECK(deep.finite_runs > 60);
  CHECK(deep.longest > 10);
}

}  // namespace test_program_fuzz
