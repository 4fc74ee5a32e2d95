// Searches and integrals as operations of programs: closed forms, steps out of the domain, paths, what has no derivatives.
#include <doctest/doctest.h>
#include <agrad/functionals/search/quadrature_operation.hpp>
#include <agrad/functionals/search/search_operation.hpp>
#include <agrad/program/products.hpp>
#include <agrad/rules/linalg/rule.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "recording.hpp"

namespace test_search_operation {

using agrad::body;
using agrad::minimum_operation;
using agrad::recorder;
using agrad::root_operation;
using agrad::slot;
using agrad::detail::root_method;
using agrad::detail::search_end;
using recording::range;
using recording::record;
using recording::slots;
using vector = std::vector<double>;

namespace {

/// y = x for x in [0, 100), an error of another type at each side, and no tangents.
class bounded final : public agrad::external_operation {
 public:
  struct nothing final : state {};
  std::string_view name() const override { return "bounded"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<nothing>(); }
  void forward(state&, const double* x, double* y, bool) const override {
    if (*x < -100) throw agrad::ShapeError("bounded: x is of another kind");
    if (*x < 0) throw agrad::DomainError("bounded: x is negative");
    if (*x >= 100) throw agrad::SolverError("bounded: x is large", 0, 0, "", "");
    *y = *x;
  }
  void reverse(state&, const double* y_adjoint, double* x_adjoint) const override { *x_adjoint += *y_adjoint; }
};

slots recorded_bounded(recorder& r, const slots& x) {
  return {r.apply(std::make_shared<const bounded>(), r.dense(x.data(), 1), 1, true)};
}

/// A body of n unknowns and one captured value c, from `results(recorder, unknowns, c)`.
template <class Results>
std::shared_ptr<body> body_of(std::size_t n, const Results& results) {
  recorder r;
  const vector at(n, 1.0);
  const slots x = range(r.input(at.data(), n), n), c = range(r.input(at.data(), 1), 1);
  const auto of = std::make_shared<body>("f", n);
  of->add({schedule(r, results(r, x, c)), 1});
  return of;
}

/// log(x) - c: of Newton's steps from a large x the first leave the domain.
std::shared_ptr<body> logarithm(bool is_bounded) {
  return body_of(1, [&](recorder& r, const slots& x, const slots& c) {
    return record<agrad::subtract_rule>(r, record<agrad::log_rule>(r, is_bounded ? recorded_bounded(r, x) : x), c);
  });
}
/// exp(x) - c x, and where `given` its derivatives.
std::shared_ptr<body> hollow(bool is_bounded, bool given) {
  return body_of(1, [&](recorder& r, const slots& x, const slots& c) {
    const slots inside = is_bounded ? recorded_bounded(r, x) : x, e = record<agrad::exp_rule>(r, inside);
    slots all = record<agrad::subtract_rule>(r, e, record<agrad::multiply_rule>(r, c, x));
    if (given) all = {all[0], record<agrad::subtract_rule>(r, e, c)[0], e[0]};
    return all;
  });
}

vector run(const agrad::body_operation& f, const vector& x) {
  vector y(f.output_size());
  const auto state = f.make_state();
  f.forward(*state, x.data(), y.data(), false);
  return y;
}
double end_of(search_end end) { return static_cast<double>(end); }

}  // namespace

TEST_CASE("a step out of the domain is shortened, by both methods, with and without tangents") {
  for (const root_method method : {root_method::newton, root_method::powell})
    for (const bool is_bounded : {true, false}) {
      const root_operation f(logarithm(is_bounded), method, {}, 1);
      CHECK(f.input_size() == 2);
      for (const double c : {1.0, 0.5}) {
        const vector y = run(f, {20, c});  // found, end, steps, x, inverse, value
        CHECK(y[0] == 1);
        CHECK(y[1] == end_of(search_end::found));
        CHECK(y[3] == doctest::Approx(std::exp(c)).epsilon(1e-14));
        CHECK(y[4] == doctest::Approx(std::exp(c)).epsilon(1e-9));
        CHECK(std::abs(y[5]) < 1e-15);
      }
    }
}

TEST_CASE("minima by second derivatives of the operations, and by those that the body gives") {
  for (const bool given : {false, true}) {
    const vector y = run(minimum_operation(hollow(given, given), {}, 1), {20, 3});
    CHECK(y[1] == end_of(search_end::found));
    CHECK(y[3] == doctest::Approx(std::log(3.0)).epsilon(1e-13));
    CHECK(y[4] == doctest::Approx(1 / 3.0).epsilon(1e-9));
  }
  CHECK_THROWS_AS(run(minimum_operation(hollow(true, false), {}, 1), {20, 3}), agrad::DerivativeError);
}

TEST_CASE("searches that fail say how, with zeros for the inverse") {
  const root_operation f(logarithm(false), root_method::powell, {1e-10, 1e-300, 3, 0}, 1);
  vector y = run(f, {20, 1});
  CHECK(y[0] == 0);
  CHECK(y[1] == end_of(search_end::running));
  CHECK(y[2] == 3);
  CHECK(y[4] == 0);
  y = run(f, {-1, 1});
  CHECK(y[1] == end_of(search_end::undefined));
  const auto square = body_of(1, [](recorder& r, const slots& x, const slots& c) {
    return record<agrad::multiply_rule>(r, c, record<agrad::square_rule>(r, x));
  });
  CHECK(run(root_operation(square, root_method::newton, {}, 1), {1, 1})[1] == end_of(search_end::singular));
  CHECK(run(minimum_operation(square, {}, 1), {1, -1})[1] == end_of(search_end::running));
  CHECK(run(minimum_operation(square, {}, 1), {0, -1})[1] == end_of(search_end::singular));
}

TEST_CASE("errors at the start, and errors of another kind, are thrown and leave the operation usable") {
  const root_operation f(logarithm(true), root_method::newton, {}, 1);
  const auto state = f.make_state();
  vector y(f.output_size());
  const auto at = [&](vector x) { f.forward(*state, x.data(), y.data(), false); };
  CHECK_THROWS_AS(at({-1, 1}), agrad::DomainError);
  CHECK_THROWS_AS(at({200, 1}), agrad::SolverError);
  CHECK_THROWS_AS(at({-200, 1}), agrad::ShapeError);
  CHECK_THROWS_AS(at({90, 1}), agrad::ShapeError);  // by the first trial step
  at({2, 1});
  CHECK(y[3] == doctest::Approx(std::exp(1.0)).epsilon(1e-14));
}

TEST_CASE("a path that is not recorded is recorded during the search, and may capture more") {
  // c x - 1 below 1, and d (c x - 1) above, where only the second path knows d = 4
  const auto path = [](bool above) {
    recorder r;
    const vector at{above ? 2.0 : 0.5, 1, 1};
    const slots x = range(r.input(at.data(), above ? 3 : 2), above ? 3 : 2), one{r.constant(1.0)};
    r.guard(record<agrad::greater_rule>(r, slots{x[0]}, one)[0]);
    slots y = record<agrad::subtract_rule>(r, record<agrad::multiply_rule>(r, slots{x[1]}, slots{x[0]}), one);
    if (above) y = record<agrad::multiply_rule>(r, y, slots{x[2]});
    return agrad::body_path{schedule(r, y), above ? std::size_t{2} : std::size_t{1}};
  };
  const auto of = std::make_shared<body>("f", 1, [&](const double*, vector& captured) {
    captured.push_back(4);
    return path(true);
  });
  of->add(path(false));
  root_operation f(of, root_method::newton, {});
  const double start = 0.5;
  const vector y = f.prepare(&start, {0.25});
  CHECK(f.input_size() == 3);
  CHECK(y[3] == doctest::Approx(4.0).epsilon(1e-14));
  CHECK(y[4] == doctest::Approx(1.0).epsilon(1e-14));
  CHECK(run(f, {0.5, 0.25, 4}) == y);  // taken over by the first run
  CHECK(run(f, {0.5, 0.25, 6})[4] == doctest::Approx(1 / 1.5).epsilon(1e-14));
}

TEST_CASE("an integral, its error, and the nodes of its division") {
  const auto of = body_of(2, [](recorder& r, const slots& x, const slots& c) {  // of x and its distance
    return record<agrad::exp_rule>(r, record<agrad::multiply_rule>(r, c, slots{x[0]}));
  });
  agrad::quadrature_form form;
  form.relative_tolerance = 1e-5, form.limit = 20, form.points = 1, form.gives_nodes = true;
  const agrad::quadrature_operation f(of, form, 1);
  const double expected = (std::exp(1.5) - std::exp(0.5)) / 0.5;
  const vector y = run(f, {1, 3, 2.2, 0.5});  // accurate, intervals, odd, has values, integral, error, allowed, nodes
  CHECK(y[0] == 1);
  CHECK(y[1] == 9);
  CHECK(std::isnan(y[2]));
  CHECK(y[4] == doctest::Approx(expected).epsilon(1e-14));
  CHECK(y[5] <= y[6]);
  CHECK(vector(y.begin() + 7, y.begin() + 10) == vector{1, 1, 0});
  const double *weights = &y[10], *x = weights + 3 * 168, *distances = x + 3 * 168;
  double sum = 0, furthest = 0;
  for (std::size_t i = 0; i < 3 * 168; ++i) {
    sum += weights[i] * std::exp(0.5 * x[i]);
    furthest = std::max(furthest, std::abs(distances[i] - (x[i] < 2 ? 1 - x[i] : 3 - x[i])));
    CHECK((weights[i] != 0) == (i < 9 * 21));
  }
  CHECK(sum == doctest::Approx(expected).epsilon(1e-14));
  CHECK(furthest < 1e-15);
  CHECK(run(f, {std::nan(""), 3, 2.2, 0.5})[0] == 0);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(run(f, {infinite, 3, 2.2, 0.5})[0] == 0);
  CHECK(run(f, {1, infinite, 2.2, -0.5})[4] == doctest::Approx(std::exp(-0.5) / 0.5).epsilon(1e-5));
}

TEST_CASE("results have no derivatives, and recorded again they are constants") {
  const auto search = std::make_shared<const root_operation>(logarithm(false), root_method::powell, agrad::root_options{}, 1);
  recorder r;
  const vector at{2, 1};
  const slots in = range(r.input(at.data(), 2), 2);
  slots out = range(r.apply(search, r.dense(in.data(), 2), search->output_size(), true), search->output_size());
  out = {out[3], in[1]};
  const auto f = schedule(r, out);
  const vector along{1, 2}, seeds{10, 20};
  vector y(2), tangents(2), adjoints(2), second(2);
  agrad::workspace w;
  agrad::jacobian_products(*f, w, at.data(), along.data(), 1, y.data(), tangents.data());
  CHECK(tangents == vector{0, 2});
  agrad::adjoint_products(*f, w, at.data(), seeds.data(), 1, y.data(), adjoints.data());
  CHECK(adjoints == vector{0, 20});
  agrad::hessian_products(*f, w, at.data(), seeds.data(), along.data(), 1, y.data(), adjoints.data(), second.data());
  CHECK(adjoints == vector{0, 20});
  CHECK(second == vector{0, 0});
  recorder again;
  const slots same = range(again.input(at.data(), 2), 2), found = search->record(again, again.dense(same.data(), 2));
  CHECK(again.values()[found[3]] == doctest::Approx(std::exp(1.0)).epsilon(1e-14));
  CHECK_FALSE(again.is_active(found[3]));
}

}  // namespace test_search_operation
