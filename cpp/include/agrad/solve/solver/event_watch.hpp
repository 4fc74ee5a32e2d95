// Event watch: detects that a function of time and state crosses zero within a step, and finds the time.
//
// The watch remembers for each event on which side of zero the solution is. This side decides whether there is a crossing, not
// the sign of a value that is zero up to rounding, so an event does not repeat where it has just happened. Within a step the
// watch examines the cubic polynomial through the function's values and slopes at both ends, so it detects two crossings in a
// step as well. It then encloses a root and computes it on the method's own solution.
// Source: Chandrupatla (1997), Advances in Engineering Software 28:145, for the iteration.
// Read next: solve/events/solver.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad::detail {

/// The cubic polynomial on [0, 1] through two values and slopes.
struct step_cubic {
  double begin, end, begin_slope, end_slope;

  double operator()(double x) const;
  /// Writes the extrema within (0, 1) in order, and then 1. Returns how many numbers that are.
  int corners(std::array<double, 3>& at) const;
  /// The zero between two places with different signs.
  double root(double low, double high) const;
};

class event_watch {
 public:
  using functions = std::vector<std::unique_ptr<event_function>>;

  event_watch(std::string function, const functions& events, const std::vector<event_rule>& rules, Eigen::Index states)
      : function_(std::move(function)), events_(events), rules_(rules), of_(events.size()), by_y_(states) {}

  // ---- for the driver

  /// Forgets all events.
  void start() { of_.assign(of_.size(), {}); }
  /// The state or f has changed: the watch must determine the sides again.
  void expect_change();
  /// Restores the sides at the last `expect_change`, to repeat the same steps.
  void rewind() { of_ = at_change_; }
  /// The events that ended the last step, in order; empty if no event did.
  const std::vector<std::size_t>& fired() const { return fired_; }
  /// The approximate rate of change of event e around its zero.
  double steepness(std::size_t e) const { return of_[e].steepness; }
  /// The side of zero before event e, and whether its function jumps to the other side.
  int came_from(std::size_t e) const { return of_[e].from; }
  bool jumps(std::size_t e) const { return of_[e].jumps; }
  /// Whether event e happened again before its function had left zero.
  bool sticks(std::size_t e) const { return of_[e].sticks; }
  /// Tells the value of event e where it happened, and its rate towards zero. Values of this size then count as zero. If the
  /// function clearly crossed zero, rather than turned there, and its reset stops it, any further motion crosses zero again.
  void expect_return(std::size_t e, double value, double rate);
  /// The time of the events.
  double where() const { return where_; }

  // ---- for the solver

  /// Starts at a step that does not follow the last one. The solver's clock is zero at `start`: late in time this clock has a
  /// finer resolution than the problem's clock, which `where` uses.
  void begin(double t, const double* y, const double* slope, double start = 0);

  /// After a step to (t, y): whether an event may lie in the step. If none does, the next step begins at the step's end.
  bool sees(double t, const double* y, const double* slope);

  /// The size of the step that ends at the first event, or h if there is none. state_at(h) is the solution after a step of size
  /// h.
  template <class StateAt>
  double locate(double h, const StateAt& state_at) {
    double first = h;
    for (candidate& each : candidates_) {
      if (!enclose(each, h, state_at)) continue;
      each.at = each.high > 0 ? root_of(each, state_at) : 0;
      first = std::min(first, each.at);
    }
    const double size = std::max(std::abs(start_ + t_), first), as_good_as = first + 1e-13 * size;
    for (const candidate& each : candidates_) {
      if (!each.is_enclosed || each.at > as_good_as) continue;
      fired_.push_back(each.event);
      event& of = of_[each.event];
      of.approach = std::abs(each.low_value) / std::max(each.at - each.low, std::numeric_limits<double>::min());
      of.steepness = each.steepness, of.from = each.side, of.jumps = each.jumps, of.sticks = each.sticks;
      const double rounding = std::numeric_limits<double>::epsilon() * size;
      of.zero = std::max(1e-10 * each.scale, each.jumps ? 0 : 64 * rounding * each.steepness);
    }
    if (fired_.empty()) go_on(t_ + h);
    if (fired_.empty()) return h;
    first = std::max(first, std::nextafter(t_, HUGE_VAL) - t_);
    where_ = start_ + (t_ + first);
    return first;
  }

 private:
  struct event {
    double value = 0, slope = 0, next_value = 0, next_slope = 0;
    double zero = 0;       // values of this size count as zero from an event until the function leaves zero
    double steepness = 0;  // in the step in which the event happened
    double approach = 0;   // from that step's begin to the event
    int side = 0;          // of zero; 0 if unknown
    bool is_new = true;
    bool returns = false;  // the event has just happened and the function must leave zero
    int from = 0;          // the side before the last event
    bool jumps = false, sticks = false, stops = false;
  };
  /// A part of a step, between times since its begin, that contains a crossing.
  struct candidate {
    std::size_t event;
    int side;
    double low, high, guess;
    bool is_doubtful = false;  // the cubic turns at `guess` before zero, but the solution may cross zero twice
    double low_value = 0, high_value = 0, at = 0, scale = 0, steepness = 0;
    bool is_enclosed = false, jumps = false, sticks = false;
  };

  static int sign(double x) { return (x > 0) - (x < 0); }

  void evaluate(std::size_t e, double t, const double* y, const double* slope, double& value, double& rate);

  /// Adds the step's first crossing in the event's direction to the candidates.
  void scan(std::size_t e, double h);
  /// Whether a cubic that turns within a step does so nearer to zero than a long step's cubic is accurate.
  static bool turns_near_zero(const event& of, double extremum);

  void go_on(double t);

  template <class StateAt>
  double value_at(const candidate& c, double h, const StateAt& state_at) {
    const double value = events_[c.event]->root(start_ + (t_ + h), state_at(h));
    if (!std::isfinite(value)) fail(c.event, t_ + h, value);
    return value;
  }

  /// Looks for the extremum by parabolas through three points, and ends where the solution is beyond zero. Returns whether that
  /// is found, with the part of the step that contains the crossing in the event's direction.
  template <class StateAt>
  bool finds_turn(candidate& c, double h, const StateAt& state_at) {
    const event& of = of_[c.event];
    double a = 0, fa = of.value * c.side, b = c.guess, fb = value_at(c, b, state_at) * c.side, d = h,
           fd = of.next_value * c.side;
    for (int i = 0; i < 8 && fb > 0; ++i) {
      const double left = (b - a) * (fb - fd), right = (d - b) * (fb - fa);
      const double x = b + 0.5 * ((d - b) * right - (b - a) * left) / (left + right);
      if (!(x > a && x < d) || std::abs(x - b) < 1e-3 * (d - a)) break;
      const double fx = value_at(c, x, state_at) * c.side;
      const bool is_lower = fx < fb;
      ((x > b) == is_lower ? a : d) = is_lower ? b : x;
      ((x > b) == is_lower ? fa : fd) = is_lower ? fb : fx;
      if (is_lower) b = x, fb = fx;
    }
    if (fb > 0) return false;
    const int direction = rules_[c.event].direction;
    if (direction == 0 || direction == -c.side)
      c.high = b;
    else
      c.low = b, c.side = -c.side;
    c.guess = (c.low + c.high) / 2;
    return true;
  }

  /// Whether the solution itself, not only the cubic, has different sides at both ends.
  template <class StateAt>
  bool enclose(candidate& c, double h, const StateAt& state_at) {
    if (c.is_doubtful && !finds_turn(c, h, state_at)) return false;
    c.low_value = c.low == 0 ? of_[c.event].value : value_at(c, c.low, state_at);
    c.high_value = c.high == h ? of_[c.event].next_value : value_at(c, c.high, state_at);
    if (c.low > 0 && sign(c.low_value) != c.side && sign(of_[c.event].value) == c.side) {  // before the cubic's crossing
      c.high = c.low, c.high_value = c.low_value;
      c.low = 0, c.low_value = of_[c.event].value, c.guess = c.high / 2;
    }
    const event& of = of_[c.event];
    const auto encloses = [&c](double low, double high) { return sign(low) == c.side && sign(high) != c.side; };
    if (!encloses(c.low_value, c.high_value) && encloses(of.value, of.next_value)) {  // the cubic misplaces the crossing
      c.low = 0, c.low_value = of.value, c.high = h, c.high_value = of.next_value, c.guess = h / 2;
    }
    c.scale = std::max(std::abs(c.low_value), std::abs(c.high_value));
    c.steepness = c.scale / (c.high - c.low);
    c.is_enclosed = encloses(c.low_value, c.high_value);
    if (!c.is_enclosed && of.returns && events_[c.event]->resets()) {
      // The reset's effect is below what the method resolves: the event repeats at once.
      c.is_enclosed = c.sticks = true, c.high = 0;
    }
    return c.is_enclosed;
  }

  /// Chandrupatla's method. The first guess is the cubic's root.
  template <class StateAt>
  double root_of(candidate& c, const StateAt& state_at) {
    double b = c.low, fb = c.low_value, a = c.high, fa = c.high_value, x = c.guess;
    if (fa == 0) return a;
    for (int i = 0; i < 100; ++i) {
      const double tolerance = 2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t_), std::max(a, b)) +
                               std::numeric_limits<double>::min();
      if (std::abs(b - a) <= 2 * tolerance) break;
      x = std::clamp(x, std::min(a, b) + tolerance, std::max(a, b) - tolerance);
      const double fx = value_at(c, x, state_at);
      if (fx == 0) return x;
      double d, fd;
      if (sign(fx) == sign(fa))
        d = a, fd = fa;
      else
        d = b, fd = fb, b = a, fb = fa;
      a = x, fa = fx;
      const double ratio = (a - b) / (d - b), phi = (fa - fb) / (fd - fb);
      double part = 0.5;
      if (phi * phi < ratio && (1 - phi) * (1 - phi) < 1 - ratio)
        part = fa / (fb - fa) * (fd / (fb - fd)) + (d - a) / (b - a) * (fa / (fd - fa)) * (fb / (fd - fb));
      x = a + part * (b - a);
    }
    const bool is_large = std::min(std::abs(fa), std::abs(fb)) > 1e-3 * c.scale;
    // Within a shorter time a steep function looks like a jump.
    c.jumps =
        is_large && c.high - c.low > 1e7 * std::numeric_limits<double>::epsilon() * std::max(std::abs(start_ + t_), c.high);
    if (is_large) return sign(fa) != c.side ? a : b;  // after the jump, else the jump would be found again
    return std::abs(fa) <= std::abs(fb) ? a : b;
  }

  [[noreturn]] AGRAD_COLD void fail(std::size_t e, double t, double value) const;

  std::string function_;
  const functions& events_;
  const std::vector<event_rule>& rules_;
  std::vector<event> of_, at_change_;
  Eigen::VectorXd by_y_;
  std::vector<candidate> candidates_;
  std::vector<std::size_t> fired_;
  double start_ = 0;  // the problem's time at t_ = 0
  double t_ = 0, where_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/event_watch.ipp>
#endif
