// Doses, events and stops: values and gradients against closed forms, by every method.
#include <agrad/functionals/gradient.hpp>
#include <agrad/solve/ode_events.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace test_events {

using agrad::var;
using vector = Eigen::VectorXd;
template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;

namespace {

struct method {
  std::string name;
  bool is_cvodes;
  agrad::ode_one_step_method step;
  agrad::ode_method multistep;
};

const std::vector<method>& methods() {
  using agrad::ode_method;
  using agrad::ode_one_step_method;
  static const std::vector<method> all{{"Tsit5", false, ode_one_step_method::tsit5, {}},
                                       {"RK45", false, ode_one_step_method::rk45, {}},
                                       {"CKRK", false, ode_one_step_method::ckrk, {}},
                                       {"DOP853", false, ode_one_step_method::dop853, {}},
                                       {"Rodas4", false, ode_one_step_method::rodas4, {}},
                                       {"Rodas5P", false, ode_one_step_method::rodas5p, {}},
                                       {"auto", false, ode_one_step_method::automatic, {}},
                                       {"BDF", true, {}, ode_method::bdf},
                                       {"Adams", true, {}, ode_method::adams}};
  return all;
}

/// Solves by any method with tight tolerances.
template <class Doses, class Events, class F, class Y0, class T0, class Time, class... Args>
auto solve(const method& by, const Doses& doses, const Events& events, const agrad::ode_events_options& more, const F& f,
           const Y0& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  if (by.is_cvodes) {
    agrad::ode_adjoint_options o = agrad::tolerance_options("test", y0.size(), 1e-10, 1e-11, 100000);
    o.solver_forward = o.solver_backward = by.multistep;
    o.interpolation_polynomial =
        by.multistep == agrad::ode_method::adams ? agrad::ode_interpolation::polynomial : agrad::ode_interpolation::hermite;
    return agrad::ode_solve_events(o, doses, events, more, f, y0, t0, times, args...);
  }
  agrad::step_options o;
  o.states.relative = 1e-10;
  o.states.absolute = vector::Constant(y0.size(), 1e-11);
  return agrad::ode_solve_events(o, by.step, doses, events, more, f, y0, t0, times, args...);
}

const auto decay = [](double, const auto& y, const auto& k) { return (-k * y).eval(); };

/// What a dose contributes at t, later than its time, to y' = -k y: of a bolus, of an infusion while it runs and after its end.
var bolus(double t, const var& k, const var& time, const var& amount) { return amount * exp(-k * (t - time)); }
var rising(double t, const var& k, const var& time, const var& amount, const var& duration) {
  return amount / (duration * k) * (1 - exp(-k * (t - time)));
}
var falling(double t, const var& k, const var& time, const var& amount, const var& duration) {
  return amount / (duration * k) * (exp(-k * (t - time - duration)) - exp(-k * (t - time)));
}

using function = std::function<var(const vector_of<var>&)>;

/// Value and gradient of two functions, which are to be the same.
void check_same(const function& solved, const function& closed, const vector& x, double tolerance = 2e-8) {
  double value = 0, expected = 0;
  vector gradient, expected_gradient;
  agrad::gradient(solved, x, value, gradient);
  agrad::gradient(closed, x, expected, expected_gradient);
  CHECK(value == doctest::Approx(expected).epsilon(tolerance));
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(gradient[i] - expected_gradient[i]) <= tolerance * (1 + expected_gradient.cwiseAbs().maxCoeff()));
  }
}

vector point(std::initializer_list<double> x) {
  return Eigen::Map<const vector>(x.begin(), static_cast<Eigen::Index>(x.size()));
}

}  // namespace

TEST_CASE("doses superpose, and have gradients with respect to times, amounts, durations and the rate") {
  // x: k, y0, and of each dose: time, amount; of the infusion also its duration.
  const vector x = point({0.7, 1.3, 0.5, 2.0, 1.5, 1.0, 0.8, 3.0, 1.4});
  const std::vector<double> times{0.0, 0.5, 1.0, 1.5, 2.0, 4.0};
  const vector weights = point({0.3, -1.1, 0.7, 1.9, -0.4, 1.0});
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const std::vector<agrad::ode_dose<var>> doses{{q[2], 0, q[3]}, {q[4], 0, q[5]}, {q[6], 0, q[7], q[8]}};
      const vector_of<var> y0 = q.segment(1, 1);
      const auto solution = solve(by, doses, std::tuple<>(), {}, decay, y0, 0.0, times, q[0]);
      var sum = 0;
      for (std::size_t k = 0; k < times.size(); ++k) sum += weights[static_cast<Eigen::Index>(k)] * solution.states[k][0];
      return sum;
    };
    const function closed = [&](const vector_of<var>& q) {
      var sum = 0;
      for (std::size_t k = 0; k < times.size(); ++k) {
        const double t = times[k];
        var y = q[1] * exp(-q[0] * t);
        if (t >= 0.5) y += bolus(t, q[0], q[2], q[3]);
        if (t >= 1.5) y += bolus(t, q[0], q[4], q[5]);
        if (t >= 0.8) y += t < 2.2 ? rising(t, q[0], q[6], q[7], q[8]) : falling(t, q[0], q[6], q[7], q[8]);
        sum += weights[static_cast<Eigen::Index>(k)] * y;
      }
      return sum;
    };
    check_same(solved, closed, x);
  }
}

TEST_CASE("doses at t0, at one instant, at the last output and after it") {
  const vector x = point({0.0, 2.0, 0.0, 0.5, 1.0, 4.0, 1.5, 7.0, 0.9});  // times and amounts, then k
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const std::vector<agrad::ode_dose<var>> doses{{q[4], 0, q[5]}, {q[2], 0, q[3]}, {q[0], 0, q[1]}, {q[6], 0, q[7]}};
      const auto s = solve(by, doses, std::tuple<>(), {}, decay, vector::Ones(1), 0.0, std::vector<double>{0.0, 1.0}, q[8]);
      return var(s.states[0][0] + 10 * s.states[1][0]);
    };
    const function closed = [&](const vector_of<var>& q) {
      const var early = 1 + bolus(0.0, q[8], q[0], q[1]) + bolus(0.0, q[8], q[2], q[3]);
      const var late = exp(-q[8]) + bolus(1.0, q[8], q[0], q[1]) + bolus(1.0, q[8], q[2], q[3]) + bolus(1.0, q[8], q[4], q[5]);
      return var(early + 10 * late);
    };
    check_same(solved, closed, x);
  }
}

TEST_CASE("doses set and scale states, and outputs come before and after them") {
  const vector x = point({2.0, 0.3, 0.5, 0.8, 4.0, 1.5, 0.7, 0.9});  // y0, times and amounts, then k
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      using agrad::dose_kind;
      const std::vector<agrad::ode_dose<var>> doses{
          {q[1], 0, q[2], 0, dose_kind::scale}, {q[3], 0, q[4], 0, dose_kind::set}, {q[5], 0, q[6], 0, dose_kind::scale}};
      agrad::ode_events_options more;
      more.before = {0, 1, 2};
      const std::vector<var> times{q[3], q[5], var(2.0)};
      const auto s = solve(by, doses, std::tuple<>(), more, decay, q.head(1).eval(), 0.0, times, q[7]);
      return var(s.before[0][0] + 3 * s.states[0][0] + 5 * s.before[1][0] + 7 * s.states[2][0] + 11 * s.before[2][0]);
    };
    const function closed = [&](const vector_of<var>& q) {
      const var first = q[2] * q[0] * exp(-q[7] * q[3]), second = q[4] * exp(-q[7] * (q[5] - q[3])),
                last = q[6] * second * exp(-q[7] * (2.0 - q[5]));
      return var(first + 3 * q[4] + 5 * second + 18 * last);
    };
    check_same(solved, closed, x);
  }
}

TEST_CASE("a ball bounces: times, states and their gradients") {
  // x: gravity, restitution, height. Bounce j is at s (1 + 2 sum_{i<j} r^i) with s = sqrt(2 h / g).
  const vector x = point({9.81, 0.8, 2.0});
  const auto fall = [](double, const auto& y, const auto& g, const auto&) {
    using scalar = agrad::promoted_t<std::decay_t<decltype(y[0])>, std::decay_t<decltype(g)>>;
    vector_of<scalar> slope(2);
    slope << y[1], -g;
    return slope;
  };
  const auto floor = [](const auto&, const auto& y, const auto&, const auto&) { return y[0]; };
  const auto bounce = [](const auto&, const auto& y, const auto&, const auto& r) {
    using scalar = agrad::promoted_t<std::decay_t<decltype(y[0])>, std::decay_t<decltype(r)>>;
    vector_of<scalar> after(2);
    after << y[0], -r * y[1];
    return after;
  };
  for (const method& by : methods()) {
    CAPTURE(by.name);
    std::size_t bounces = 0;
    const function solved = [&](const vector_of<var>& q) {
      vector_of<var> y0(2);
      y0 << q[2], 0.0;
      const auto events = std::make_tuple(agrad::ode_event{floor, bounce, -1});
      const auto s =
          solve(by, std::vector<agrad::ode_dose<>>{}, events, {}, fall, y0, 0.0, std::vector<double>{1.0, 3.5}, q[0], q[1]);
      bounces = s.event_times[0].size();
      return var(s.event_times[0][2] + 0.1 * s.event_states[0][1][1] + 0.3 * s.states[1][0] + 0.07 * s.states[1][1]);
    };
    const function closed = [&](const vector_of<var>& q) {
      const var s = sqrt(2 * q[2] / q[0]), v = sqrt(2 * q[2] * q[0]);
      const auto time = [&](int j) {
        var t = s;
        for (int i = 1; i < j; ++i) t += 2 * s * pow(q[1], i);
        return t;
      };
      const var since = 3.5 - time(4), up = v * pow(q[1], 4);
      return var(time(3) - 0.1 * v * q[1] + 0.3 * (up * since - 0.5 * q[0] * since * since) + 0.07 * (up - q[0] * since));
    };
    check_same(solved, closed, x, 1e-7);
    CHECK(bounces == 4);
  }
}

TEST_CASE("a neuron fires at a threshold that the state reaches, and starts anew") {
  // x: current, threshold, reset. v' = I - v: period log((I - v_r) / (I - v_t)).
  const vector x = point({1.6, 1.0, 0.2});
  const auto leak = [](double, const auto& y, const auto& current, const auto&, const auto&) {
    return (current - y.array()).matrix().eval();
  };
  const auto above = [](const auto&, const auto& y, const auto&, const auto& threshold, const auto&) {
    return y[0] - threshold;
  };
  const auto back = [](const auto&, const auto& y, const auto&, const auto&, const auto& reset) {
    using scalar = agrad::promoted_t<std::decay_t<decltype(y[0])>, std::decay_t<decltype(reset)>>;
    return vector_of<scalar>::Constant(1, scalar(reset)).eval();
  };
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const auto events = std::make_tuple(agrad::ode_event{above, back, 1, 3});
      const auto s = solve(by, std::vector<agrad::ode_dose<>>{}, events, {}, leak, vector::Zero(1), 0.0,
                           std::vector<double>{2.0, 9.0}, q[0], q[1], q[2]);
      CHECK(s.is_terminated);
      CHECK(s.event_times[0].size() == 3);
      CHECK(s.end.val() == s.event_times[0][2].val());
      return var(s.end + 0.5 * s.states[0][0] + 0.25 * s.states[1][0]);
    };
    const function closed = [&](const vector_of<var>& q) {
      const var first = log(q[0] / (q[0] - q[1])), period = log((q[0] - q[2]) / (q[0] - q[1]));
      const var since = 2.0 - first - period;
      return var(first + 2 * period + 0.5 * (q[0] - (q[0] - q[2]) * exp(-since)) + 0.25 * q[2]);
    };
    check_same(solved, closed, x);
  }
}

TEST_CASE("a jump of f at a stop is seen from both sides") {
  const auto switched = [](double t, const auto& y, const auto& k) { return ((t < 1.0 ? -k : k) * y).eval(); };
  for (const method& by : methods()) {
    CAPTURE(by.name);
    agrad::ode_events_options more;
    more.stops = {1.0, -3.0, 7.0};
    const function solved = [&](const vector_of<var>& q) {
      return solve(by, std::vector<agrad::ode_dose<>>{}, std::tuple<>(), more, switched, vector::Ones(1), 0.0,
                   std::vector<double>{1.0, 3.0}, q[0])
          .states[1][0];
    };
    check_same(
        solved, [](const vector_of<var>& q) { return var(exp(q[0])); }, point({0.8}));
  }
}

TEST_CASE("two crossings within one step are both seen") {
  const auto still = [](double, const auto& y) { return (0.0 * y).eval(); };
  const auto dip = [](const auto& t, const auto&) { return (t - 0.3) * (t - 0.31); };
  for (const method& by : methods()) {
    CAPTURE(by.name);
    for (const int direction : {-1, 0, 1}) {
      const auto events = std::make_tuple(agrad::ode_event{dip, agrad::no_reset{}, direction});
      const auto s =
          solve(by, std::vector<agrad::ode_dose<>>{}, events, {}, still, vector::Ones(1), 0.0, std::vector<double>{1.0});
      REQUIRE(s.event_times[0].size() == (direction == 0 ? 2 : 1));
      CHECK(s.event_times[0][0] == doctest::Approx(direction > 0 ? 0.31 : 0.3).epsilon(1e-12));
      CHECK(s.event_times[0].back() == doctest::Approx(direction < 0 ? 0.3 : 0.31).epsilon(1e-12));
    }
  }
}

TEST_CASE("the second event of an instant has the state that the first one's reset has left") {
  // y0 falls from 1 to c at log(1 / c) / k and is doubled there; the second event looks at it.
  const auto low = [](const auto&, const auto& y, const auto&, const auto& c) { return y[0] - c; };
  const auto also_low = [](const auto&, const auto& y, const auto&, const auto& c) { return 3.0 * (y[0] - c); };
  const auto twice = [](const auto& t, const auto& y, const auto& k, const auto&) { return (2.0 * y + k * t * y).eval(); };
  const auto falling_by_k = [](double, const auto& y, const auto& k, const auto&) { return (-k * y).eval(); };
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const auto events = std::make_tuple(agrad::ode_event{low, twice}, agrad::ode_event{also_low});
      const auto s = solve(by, std::vector<agrad::ode_dose<>>{}, events, {}, falling_by_k, vector::Ones(1), 0.0,
                           std::vector<double>{1.0}, q[0], q[1]);
      REQUIRE(s.event_states[1].size() == 1);
      return var(s.event_states[1][0][0] + 0.3 * s.event_states[0][0][0] + 0.1 * s.event_times[1][0]);
    };
    const function closed = [](const vector_of<var>& q) {
      const var at = -log(q[1]) / q[0];
      return var((2.0 + q[0] * at) * q[1] + 0.3 * q[1] + 0.1 * at);
    };
    check_same(solved, closed, point({0.9, 0.6}));
  }
}

TEST_CASE("a reset and a dose make a condition true, by priority and from the state at the trigger") {
  // y0 is a clock; at y0 = c the valve fills y1, and that rings the alarm, which y2 stores; a dose rings it again.
  const auto at_c = [](const auto&, const auto& y, const auto& c) { return y[0] - c; };
  const auto fill = [](const auto&, const auto& y, const auto& c) {
    auto after = y;
    after[1] = y[1] + 2.0 * c;
    return after;
  };
  const auto empty = [](const auto&, const auto& y, const auto& c) {
    auto after = y;
    after[1] = 0.1 * c, after[2] = y[2] + y[1] * y[0];
    return after;
  };
  const auto is_full = [](const auto&, const auto& y, const auto&) { return y[1] - 1.0; };
  const auto count = [](const auto&, const auto& y, const auto&) {
    auto after = y;
    after[3] = y[3] + y[1];
    return after;
  };
  const auto clock = [](double, const auto& y, const auto& c) {
    auto slope = (c * y).eval();
    slope[0] = c, slope[1] = slope[2] = slope[3] = 0.0 * c;
    return slope;
  };
  agrad::event_firing often, first, seeing;
  often.is_condition = first.is_condition = seeing.is_condition = true;
  first.priority = 1, seeing.sees_trigger = true, seeing.kept = {true, true, true, false};
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const auto events =
          std::make_tuple(agrad::ode_event{is_full, count, 1, 0, seeing}, agrad::ode_event{at_c, fill, 1, 0, often},
                          agrad::ode_event{is_full, empty, 1, 0, first});
      const std::vector<agrad::ode_dose<var>> doses{{q[1], 1, q[1]}};
      const auto s = solve(by, doses, events, {}, clock, vector::Zero(4), 0.0, std::vector<double>{3.0}, q[0]);
      REQUIRE(s.event_times[0].size() == 2);
      return var(s.states[0][2] + 0.3 * s.states[0][3] + 0.1 * s.event_times[2][1] + 0.7 * s.event_states[2][1][0] +
                 s.states[0][1]);
    };
    const function closed = [](const vector_of<var>& q) {  // the clock shows c t, so that the valve opens at t = 1
      const var filled = 2.0 * q[0], dosed = 0.1 * q[0] + q[1], at_dose = q[0] * q[1];
      return var(filled * q[0] + dosed * at_dose + 0.3 * (filled + dosed) + 0.1 * q[1] + 0.7 * at_dose + 0.1 * q[0]);
    };
    check_same(solved, closed, point({0.9, 1.6}));
  }
}

TEST_CASE("delayed events move with their triggers and their delays") {
  // The state falls to q[1]; after a delay it is raised to twice the value at the trigger and the time.
  const auto falls = [](const auto&, const auto& y, const auto& k, const auto& c, const auto&) {
    (void)k;
    return (c - y[0]);
  };
  const auto raise = [](const auto& t, const auto& y, const auto&, const auto&, const auto&) {
    auto after = (2.0 * y).eval();
    after[0] = after[0] + t;
    return after;
  };
  const auto later = [](const auto& t, const auto& y, const auto&, const auto&, const auto& d) { return (d * y[0] + 0.1 * t); };
  const auto slope = [](double, const auto& y, const auto& k, const auto&, const auto&) { return (-k * y).eval(); };
  agrad::event_firing firing;
  firing.sees_trigger = true;
  for (const method& by : methods()) {
    CAPTURE(by.name);
    const function solved = [&](const vector_of<var>& q) {
      const auto events = std::make_tuple(agrad::ode_event{falls, raise, 1, 0, firing, later});
      const std::vector<agrad::ode_dose<double>> doses;
      const auto s =
          solve(by, doses, events, {}, slope, vector::Constant(1, 2.0), 0.0, std::vector<double>{3.0}, q[0], q[1], q[2]);
      REQUIRE(s.event_times[0].size() == 1);
      return var(s.states[0][0] + 0.3 * s.event_times[0][0]);
    };
    const function closed = [](const vector_of<var>& q) {
      const var trigger = log(2.0 / q[1]) / q[0], then = trigger + q[2] * q[1] + 0.1 * trigger;
      return var((2.0 * q[1] + then) * exp(-q[0] * (3.0 - then)) + 0.3 * then);
    };
    check_same(solved, closed, point({0.4, 1.1, 0.5}));
  }
}

}  // namespace test_events
