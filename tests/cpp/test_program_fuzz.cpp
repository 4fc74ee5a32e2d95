// Random programs against direct evaluation: what was recorded, scheduled and run must be what the same steps give on dual
// numbers, at the recorded point and at others, forwards with doubles and lanes and backwards.
#include <doctest/doctest.h>
#include <agrad/rules/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "recording.hpp"

using agrad::lanes;
using agrad::recorder;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

constexpr std::size_t inputs = 4;  // as many as lanes have directions

/// One step: which operation, on which of the values so far. Its results are appended to the values.
struct step {
  int what;
  std::vector<std::size_t> x, y;  // places of the operands' entries
};
enum kind { sine, square, sum_of_groups, add, multiply, larger, quotient, power, product, kinds };

/// The operations on numbers, for any scalar.
template <class T>
std::vector<T> evaluate(const step& s, const std::vector<T>& values) {
  using agrad::fmax, agrad::pow, std::sin;
  std::vector<T> x, y, result;
  for (const std::size_t i : s.x) x.push_back(values[i]);
  for (const std::size_t i : s.y) y.push_back(values[i]);
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
  slots x, y;
  for (const std::size_t i : s.x) x.push_back(values[i]);
  for (const std::size_t i : s.y) y.push_back(values[i]);
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
    case sum_of_groups:
      return recording::sum(r, x, 2);
    default:
      return recording::product(r, x, y, 2, 2, 2);
  }
}

/// A program of random steps over inputs and constants; steps are now and then repeated as they are.
struct random_program {
  std::vector<double> constants;
  std::vector<step> steps;
  std::vector<std::size_t> outputs;

  explicit random_program(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::uniform_real_distribution<double> number(-2, 2);
    for (int i = 0; i < 3; ++i) constants.push_back(number(random));
    std::size_t size = inputs + constants.size();
    const auto places = [&](std::size_t n) {
      std::vector<std::size_t> chosen(n);
      const std::size_t first = below(size), style = below(3);  // scattered, in a row, all the same
      for (std::size_t i = 0; i < n; ++i) chosen[i] = style == 0 ? below(size) : style == 1 ? (first + i) % size : first;
      return chosen;
    };
    std::vector<double> values(inputs, 0.5);
    values.insert(values.end(), constants.begin(), constants.end());
    while (steps.size() < 25) {
      step s;
      if (!steps.empty() && below(6) == 0) {
        s = steps[below(steps.size())];
      } else {
        s.what = static_cast<int>(below(kinds));
        const std::size_t n = 1 + below(5);
        s.x = places(s.what == product ? 4 : s.what == sum_of_groups ? 2 * n : n);
        if (s.what >= add) s.y = places(s.what == product ? 4 : below(3) == 0 ? 1 : n);
        if (s.what >= add && s.what != product && below(4) == 0) std::swap(s.x, s.y);
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

/// Whether a run at x agrees with direct evaluation: values, tangents of all directions, adjoints of a random seed, and the
/// Hessian of the seeded sum. Where a value is infinite or nan, only values and tangents are compared.
bool agrees(const random_program& direct, const agrad::program& f, workspace<double>& w, workspace<lanes>& t,
            const std::vector<double>& x, std::mt19937& random) {
  using second = agrad::dual<lanes, inputs>;
  std::vector<lanes> in(x.begin(), x.end()), out(f.output_size()), seeds, adjoint(inputs);
  for (std::size_t i = 0; i < inputs; ++i) in[i].tangent[i] = 1;
  std::vector<second> nested(in.begin(), in.end());
  for (std::size_t i = 0; i < inputs; ++i) nested[i].tangent[i] = 1.0;
  const std::vector<lanes> expected = direct.evaluate_at(in);

  std::vector<double> y(f.output_size()), real_seeds, real_adjoint(inputs);
  f.forward(w, x.data(), y.data());
  f.forward(t, in.data(), out.data());
  double scale = 1;
  for (const lanes& v : expected)
    for (const double d : v.tangent) scale = std::isfinite(d) ? std::max(scale, std::abs(d)) : scale;
  bool right = true;
  for (std::size_t k = 0; k < y.size(); ++k) {
    right =
        right && same(y[k], expected[k].value, 1 + std::abs(expected[k].value)) && same(out[k].value, y[k], 1 + std::abs(y[k]));
    for (std::size_t i = 0; i < inputs; ++i) right = right && same(out[k].tangent[i], expected[k].tangent[i], scale);
    seeds.push_back(real_seeds.emplace_back(std::uniform_real_distribution<double>(-1, 1)(random)));
  }
  for (const lanes& v : t.values)
    for (const double d : v.tangent)
      if (!std::isfinite(v.value) || !std::isfinite(d)) return right;

  second sum = 0.0;
  const std::vector<second> results = direct.evaluate_at(nested);
  for (std::size_t k = 0; k < y.size(); ++k) sum += results[k] * real_seeds[k];
  f.reverse(w, real_seeds.data(), real_adjoint.data());
  f.reverse(t, seeds.data(), adjoint.data());
  for (std::size_t i = 0; i < inputs; ++i) {
    right = right && same(real_adjoint[i], sum.tangent[i].value, scale) && same(adjoint[i].value, real_adjoint[i], scale);
    for (const double d : sum.tangent[i].tangent) scale = std::isfinite(d) ? std::max(scale, std::abs(d)) : scale;
    for (std::size_t j = 0; j < inputs; ++j) right = right && same(adjoint[i].tangent[j], sum.tangent[i].tangent[j], scale);
  }
  return right;
}

}  // namespace

TEST_CASE("random programs agree with direct evaluation wherever they are run") {
  std::mt19937 random(424242);
  std::uniform_real_distribution<double> number(0.1, 2);
  std::size_t wrong = 0, finite_runs = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const random_program direct(random);
    const auto f = direct.recorded_at(std::vector<double>(inputs, 0.5));
    workspace<double> w;
    workspace<lanes> t;
    for (int run = 0; run < 4; ++run) {
      std::vector<double> x(inputs);
      for (double& v : x) v = number(random);
      if (!agrees(direct, *f, w, t, x, random)) ++wrong;
      const std::vector<double> y = direct.evaluate_at(x);
      if (std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); })) ++finite_runs;
    }
  }
  CHECK(wrong == 0);
  CHECK(finite_runs > 800);  // or the comparison would be of nan with nan
}
