// Event tangents: along every number of a problem with doses, stops and events, they are the transposed adjoints; and adjoints
// with tangents of their own are the derivatives of the adjoints.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "recording.hpp"

namespace test_event_tangents {

using agrad::program;
using agrad::solve_operation;
using recording::record;
using recording::slots;
using numbers = std::vector<double>;

namespace {

/// A program of n inputs; body(recorder, input slots, each as one) gives its outputs.
template <class Body>
std::shared_ptr<const program> recorded(std::size_t n, const Body& body) {
  agrad::recorder r;
  const numbers at(n, 0.7);
  std::vector<slots> x;
  for (const agrad::slot each : recording::range(r.input(at.data(), n), n)) x.push_back({each});
  return schedule(r, body(r, x));
}

slots times(agrad::recorder& r, const slots& a, const slots& b) { return record<agrad::multiply_rule>(r, a, b); }
slots plus(agrad::recorder& r, const slots& a, const slots& b) { return record<agrad::add_rule>(r, a, b); }
slots minus(agrad::recorder& r, const slots& a, const slots& b) { return record<agrad::subtract_rule>(r, a, b); }

/// Of t, y0, y1, p0, p1: (p1 - p0 y0, t y0 - y1).
std::shared_ptr<const program> slope() {
  return recorded(5, [](agrad::recorder& r, const std::vector<slots>& x) {
    return slots{minus(r, x[4], times(r, x[3], x[1]))[0], minus(r, times(r, x[0], x[1]), x[2])[0]};
  });
}
/// Of t, y0, y1, q: y0 - q t.
std::shared_ptr<const program> root() {
  return recorded(4, [](agrad::recorder& r, const std::vector<slots>& x) { return minus(r, x[1], times(r, x[3], x[0])); });
}
/// Of t, y0, y1, r: (r y0, y1 + t y0 y1).
std::shared_ptr<const program> reset() {
  return recorded(4, [](agrad::recorder& r, const std::vector<slots>& x) {
    return slots{times(r, x[3], x[1])[0], plus(r, x[2], times(r, times(r, x[0], x[1]), x[2]))[0]};
  });
}

constexpr std::size_t inputs = 2 + 1 + 3 + 2 + 3 * 2 + 1 + 2;

std::shared_ptr<const solve_operation> made(agrad::ode_one_step_method method, long terminal, std::size_t hits,
                                            double tolerance = 1e-9) {
  agrad::step_options options;
  options.states.relative = tolerance;
  options.states.absolute = Eigen::VectorXd::Constant(2, tolerance);
  const auto make = [options, method](const std::string& function, agrad::ode_system& system, agrad::ode_required required) {
    return make_one_step_solver(method, function, system, options, required);
  };
  agrad::event_plan plan;
  plan.doses = {{0, false}, {1, true}};
  plan.stops = 1;
  plan.events = {{1, terminal}};
  plan.times_move = true;
  std::vector<agrad::event_programs> events{{root(), reset()}};
  agrad::event_problem::fields fields{{"solve", slope(), 2, 3}, plan, events, {{hits}, -1, 0}};
  return std::make_shared<const solve_operation>(std::make_shared<agrad::event_problem>(fields, make));
}

/// y0, t0, times, p, times, amounts and durations of doses, a stop, q, r.
numbers point() { return {0.0, 0.2, 0.1, 0.1, 1.0, 2.5, 0.4, 1.5, 0.7, 0.5, -1.0, 1.1, 0.0, 0.4, 1.8, 0.6, -0.8}; }

double dot(const numbers& a, const numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
numbers waves(std::size_t n, double pace) {
  numbers all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = std::cos(pace * static_cast<double>(i + 1));
  return all;
}
/// Direction k of some that lie side by side.
numbers direction(const numbers& all, int width, int k) {
  numbers one(all.size() / static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < one.size(); ++i) one[i] = all[i * static_cast<std::size_t>(width) + static_cast<std::size_t>(k)];
  return one;
}

void check_transposed(const solve_operation& f, std::size_t hits) {
  const std::size_t outputs = f.output_size();
  const numbers x = point(), w = waves(outputs, 2.3);
  REQUIRE(x.size() == inputs);
  const auto state = f.make_state();
  numbers y(outputs), back(inputs, 0.0);
  f.forward(*state, x.data(), y.data(), true);
  for (const double each : y) REQUIRE(std::isfinite(each));
  REQUIRE(outputs == 6 + 1 + 2 + 3 * hits);
  f.reverse(*state, w.data(), back.data());
  for (const int width : {1, agrad::lane_count}) {
    const auto lanes = static_cast<std::size_t>(width);
    const numbers dx = waves(inputs * lanes, 1.7);
    numbers dy(outputs * lanes);
    f.tangent(*state, width, dx.data(), dy.data());
    for (int k = 0; k < width; ++k)
      CHECK(dot(direction(dy, width, k), w) == doctest::Approx(dot(direction(dx, width, k), back)).epsilon(1e-12));
  }
  for (std::size_t i = 0; i < inputs; ++i) {  // each number for itself
    numbers dx(inputs, 0.0), dy(outputs), ahead = x, behind = x, later(outputs), earlier(outputs);
    dx[i] = 1;
    f.tangent(*state, 1, dx.data(), dy.data());
    CHECK(dot(dy, w) == doctest::Approx(back[i]).epsilon(1e-12).scale(1.0));
    if (i == 2 || i == 3 || i == 12) continue;  // t0 is an output time, no dose at once has a duration
    ahead[i] += 1e-5, behind[i] -= 1e-5;
    f.forward(*f.make_state(), ahead.data(), later.data(), false);
    f.forward(*f.make_state(), behind.data(), earlier.data(), false);
    for (std::size_t j = 0; j < outputs; ++j)
      CHECK((later[j] - earlier[j]) / 2e-5 == doctest::Approx(dy[j]).epsilon(1e-5).scale(1.0));
  }
}

/// The gradient for adjoints w at x.
numbers gradient(const solve_operation& f, const numbers& x, const numbers& w) {
  const auto state = f.make_state();
  numbers y(f.output_size()), back(x.size(), 0.0);
  f.forward(*state, x.data(), y.data(), true);
  f.reverse(*state, w.data(), back.data());
  return back;
}
numbers moved(const numbers& x, const numbers& along, double by) {
  numbers to = x;
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += by * along[i];
  return to;
}

void check_second(const solve_operation& f) {
  const std::size_t outputs = f.output_size();
  numbers x = point();
  x[3] = 0.2;  // so that t0 may move
  const numbers w = waves(outputs, 2.3);
  const auto state = f.make_state();
  numbers y(outputs);
  f.forward(*state, x.data(), y.data(), true);
  const numbers first = gradient(f, x, w);
  for (const int width : {1, agrad::lane_count}) {
    const auto lanes = static_cast<std::size_t>(width);
    const numbers dx = waves(inputs * lanes, 1.7), dw = waves(outputs * lanes, 0.9);
    numbers dy(outputs * lanes), back(inputs, 0.0), back_tangents(inputs * lanes, 0.0);
    f.tangent(*state, width, dx.data(), dy.data());
    f.second(*state, width, w.data(), dw.data(), back.data(), back_tangents.data());
    for (std::size_t i = 0; i < inputs; ++i) CHECK(back[i] == doctest::Approx(first[i]).epsilon(1e-11).scale(1.0));
    for (int k = 0; k < width; k += 3) {
      const numbers along = direction(dx, width, k), of_adjoints = direction(dw, width, k),
                    found = direction(back_tangents, width, k);
      const auto at = [&](double by) { return gradient(f, moved(x, along, by), moved(w, of_adjoints, by)); };
      const numbers ahead = at(1e-4), behind = at(-1e-4), far_ahead = at(2e-4), far_behind = at(-2e-4);
      for (std::size_t i = 0; i < inputs; ++i) {
        CAPTURE(i);
        const double difference = (8 * (ahead[i] - behind[i]) - (far_ahead[i] - far_behind[i])) / 12e-4;
        CHECK(difference == doctest::Approx(found[i]).epsilon(1e-5).scale(10.0));
      }
    }
  }
  numbers some = waves(inputs, 1.1), others = waves(inputs, 0.6),
          dy(outputs);  // the second derivative of one number is symmetric
  const numbers still(outputs, 0.0);
  const auto times_second = [&](const numbers& along) {
    numbers back(inputs, 0.0), tangents(inputs, 0.0);
    f.tangent(*state, 1, along.data(), dy.data());
    f.second(*state, 1, w.data(), still.data(), back.data(), tangents.data());
    return tangents;
  };
  CHECK(dot(others, times_second(some)) == doctest::Approx(dot(some, times_second(others))).epsilon(1e-10));
}

}  // namespace

TEST_CASE("tangents along all numbers of a problem with doses, a stop and events are the transposed adjoints") {
  using method = agrad::ode_one_step_method;
  for (const method by : {method::tsit5, method::rk45, method::dop853, method::rodas4, method::rodas5p}) {
    CAPTURE(static_cast<int>(by));
    check_transposed(*made(by, 0, 3), 3);
  }
}

TEST_CASE("tangents of a solution that an event ends") { check_transposed(*made(agrad::ode_one_step_method::tsit5, 2, 2), 2); }

TEST_CASE("adjoints with tangents are the derivatives of adjoints, along all numbers at once") {
  using method = agrad::ode_one_step_method;
  for (const method by : {method::tsit5, method::dop853, method::rodas4}) {
    CAPTURE(static_cast<int>(by));
    check_second(*made(by, 0, 3, 1e-11));
  }
  check_second(*made(method::tsit5, 2, 2, 1e-11));
}

TEST_CASE("solves with events have derivatives of both orders") {
  const auto f = made(agrad::ode_one_step_method::tsit5, 0, 3);
  CHECK(f->has_first_tangents());
  CHECK(f->has_tangents());
  CHECK(f->first_without_tangents(2) == nullptr);
}

}  // namespace test_event_tangents
