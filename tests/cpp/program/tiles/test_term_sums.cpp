// Sums of terms by formulas against the operations that the terms consist of, in programs.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/families/counts/neg_binomial.hpp>
#include <agrad/families/positive/gamma.hpp>
#include <agrad/families/positive/weibull.hpp>
#include <agrad/probability/recorded.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "message_of.hpp"
#include "recording.hpp"

namespace test_term_sums {

using agrad::program;
using agrad::recorder;
using agrad::span;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

using vector = std::vector<double>;
using builder = std::function<slots(recorder&, const slots&)>;

span operand(recorder& r, const slots& x) {
  return x.size() == 1 ? span{x[0], 1, 0, r.is_active(x[0])} : r.consecutive(x.data(), x.size());
}

/// Records a density of n terms.
template <class Rule>
slots density(recorder& r, const std::vector<slots>& x, std::size_t n, bool propto = false) {
  std::vector<span> operands;
  for (const slots& one : x) operands.push_back(operand(r, one));
  return {agrad::record_probability<Rule>(r, operands.data(), n, propto)};
}

std::shared_ptr<const program> recorded(const vector& x, const builder& build) {
  recorder r;
  const slots inputs = range(r.input(x.data(), x.size()), x.size());
  return schedule(r, build(r, inputs));
}

struct derivatives {
  double value;
  vector gradient;
};

derivatives forward_and_reverse(const program& f, workspace& w, const vector& x) {
  derivatives d{0, vector(x.size())};
  const double one = 1;
  f.forward_and_reverse(w, x.data(), &d.value, &one, d.gradient.data());
  return d;
}

/// The same by the operations of the terms, without formulas.
derivatives by_operations(const program& f, const vector& x) {
  derivatives d{0, vector(x.size())};
  workspace w;
  const double one = 1;
  f.forward_for_tangents(w, x.data(), &d.value);
  f.reverse(w, &one, d.gradient.data());
  return d;
}

void check_same(const derivatives& a, const derivatives& b) {
  CHECK(a.value == doctest::Approx(b.value).epsilon(1e-13));
  for (std::size_t i = 0; i < a.gradient.size(); ++i) {
    INFO("input ", i);
    if (a.gradient[i] != b.gradient[i]) CHECK(a.gradient[i] == doctest::Approx(b.gradient[i]).epsilon(1e-12));
  }
}

vector positive(std::size_t n) {
  vector y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = 0.3 + 0.01 * static_cast<double>(i % 257);
  return y;
}

slots part(const slots& x, std::size_t begin, std::size_t n) {
  const auto from = x.begin() + static_cast<std::ptrdiff_t>(begin);
  return slots(from, from + static_cast<std::ptrdiff_t>(n));
}

}  // namespace

TEST_CASE("formulas and operations give the same values and gradients") {
  for (const std::size_t n : {16U, 17U, 23U, 255U, 256U, 257U, 1000U, 3001U}) {
    CAPTURE(n);
    vector x = positive(n);
    x.push_back(1.7), x.push_back(2.3);
    const auto f = recorded(x, [n](recorder& r, const slots& in) {
      return density<agrad::weibull_lpdf_rule>(r, {part(in, 0, n), {in[n]}, {in[n + 1]}}, n);
    });
    REQUIRE(f->tiles().sums().size() == 1);
    const auto& sum = f->tiles().sums()[0];
    CHECK(sum.number - sum.first > 20);  // operations that the formulas replace
    CHECK(sum.number + 1 == f->code().operations.size());
    workspace w;
    const derivatives d = forward_and_reverse(*f, w, x);
    CHECK(w.by_formulas.at(0));
    check_same(d, by_operations(*f, x));
    double alone = 0;
    f->forward(w, x.data(), &alone, false);
    CHECK(alone == d.value);
    vector gradient(x.size());
    const double one = 1;
    f->reverse(w, &one, gradient.data());  // after a run without derivatives
    check_same({alone, gradient}, d);
  }
}

TEST_CASE("arguments may all be arrays, results of other operations, and shared with other terms") {
  constexpr std::size_t n = 700;
  vector x = positive(n);
  x.push_back(0.7), x.push_back(0.1);
  const builder build = [](recorder& r, const slots& in) {
    const slots y = part(in, 0, n);
    const slots shape = record<agrad::exp_rule>(r, record<agrad::multiply_rule>(r, y, {in[n]}));
    const slots scale = record<agrad::add_rule>(r, record<agrad::square_rule>(r, shape), {in[n + 1]});
    const slots first = density<agrad::gamma_lpdf_rule>(r, {y, shape, scale}, n);
    const slots sum = density<agrad::weibull_lpdf_rule>(r, {y, shape, scale}, n, true);
    const slots second = record<agrad::multiply_rule>(r, sum, {r.constant(0.001)});
    const slots other = recording::sum(r, record<agrad::multiply_rule>(r, shape, scale));
    return record<agrad::add_rule>(r, record<agrad::add_rule>(r, first, record<agrad::sin_rule>(r, second)), other);
  };
  const auto f = recorded(x, build);
  CHECK(f->tiles().sums().size() == 2);
  workspace w;
  check_same(forward_and_reverse(*f, w, x), by_operations(*f, x));
  CHECK((w.by_formulas.at(0) && w.by_formulas.at(1)));
  // Second derivatives run the operations.
  vector direction(x.size(), 0.01), along(x.size()), gradient(x.size());
  double value = 0, tangent = 0;
  const double one = 1;
  f->forward(w, x.data(), &value);
  f->tangent<1>(w, direction.data(), &tangent);
  f->second<1>(w, &one, gradient.data(), along.data());
  vector up = x, down = x;
  constexpr double h = 1e-5;
  for (std::size_t i = 0; i < x.size(); ++i) up[i] += h * direction[i], down[i] -= h * direction[i];
  const derivatives above = forward_and_reverse(*f, w, up), below = forward_and_reverse(*f, w, down);
  CHECK(tangent == doctest::Approx((above.value - below.value) / (2 * h)).epsilon(1e-6));
  for (std::size_t i = 0; i < x.size(); i += 37)
    CHECK(along[i] == doctest::Approx((above.gradient[i] - below.gradient[i]) / (2 * h)).epsilon(1e-5));
}

TEST_CASE("where formulas do not suit a term the operations run, also after a run where they did") {
  constexpr std::size_t n = 640;
  vector x = positive(n);
  x.push_back(1.0), x.push_back(2.3);
  const auto f = recorded(x, [](recorder& r, const slots& in) {
    return density<agrad::weibull_lpdf_rule>(r, {part(in, 0, n), {in[n]}, {in[n + 1]}}, n);
  });
  workspace w;
  const derivatives suited = forward_and_reverse(*f, w, x);
  vector at_zero = x;
  at_zero[300] = 0;
  const derivatives d = forward_and_reverse(*f, w, at_zero);
  CHECK_FALSE(w.by_formulas.at(0));
  check_same(d, by_operations(*f, at_zero));
  check_same(forward_and_reverse(*f, w, x), suited);
  CHECK(w.by_formulas.at(0));
  vector outside = x;
  outside[8] = -1;
  CHECK(forward_and_reverse(*f, w, outside).value == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a faulty argument is refused as without formulas, and the next run is right") {
  constexpr std::size_t n = 100;
  vector x(n, 3.0);
  x.push_back(1.5), x.push_back(0.8);
  const auto f = recorded(x, [](recorder& r, const slots& in) {
    const slots y = range(r.constant(vector(n, 4.0).data(), n), n);
    return density<agrad::neg_binomial_2_lpmf_rule>(r, {y, part(in, 0, n), {in[n]}}, n);
  });
  CHECK(f->tiles().sums().size() == 1);
  workspace w;
  const derivatives before = forward_and_reverse(*f, w, x);
  check_same(before, by_operations(*f, x));
  vector faulty = x;
  faulty[41] = -2;
  const std::string message = messages::message_of<agrad::DomainError>([&] { forward_and_reverse(*f, w, faulty); });
  CHECK(message.find("mu[41] is -2") != std::string::npos);
  check_same(forward_and_reverse(*f, w, x), before);
}

TEST_CASE("few terms remain operations") {
  vector x = positive(3);
  x.push_back(1.7), x.push_back(2.3);
  const auto few = recorded(x, [](recorder& r, const slots& in) {
    return density<agrad::weibull_lpdf_rule>(r, {part(in, 0, 3), {in[3]}, {in[4]}}, 3);
  });
  CHECK(few->tiles().is_empty());
}

}  // namespace test_term_sums
