// Event solver: solves an initial value problem with doses, stops and events, with a solver for each segment between them.
//
// A segment ends at a dose, a stop or an event; the next segment begins there from the state after it. A segment's solver has
// the derivatives of the segment's end with respect to its begin. Between two segments the jump of the state has derivatives of
// its own, and both segments depend on the time of the jump: this time moves the end of the earlier segment by f before the
// jump, and the begin of the later segment by minus f after the jump. Solvers are reused, so a second solve allocates none.
// Read next: solve/events/trajectory.hpp, the results of a solve; solve/events/sweep.hpp, the reverse pass;
// solve/events/tangent.hpp, tangents; solve/events/second.hpp, second order; solve/solver/event_watch.hpp, events;
// solve/record/event_operation.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/events/second.hpp>
#include <agrad/solve/events/sweep.hpp>
#include <agrad/solve/events/tangent.hpp>
#include <agrad/solve/events/trajectory.hpp>
#include <agrad/solve/one_step/probe.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad {

class event_solver {
 public:
  using maker = std::function<std::unique_ptr<ode_solver>(const std::string&, ode_system&, ode_wanted)>;
  using functions = detail::event_watch::functions;

  /// function: the name in errors. The system and the events, one for each rule of the plan, must outlive the solver.
  /// differentiated: whether reverse passes will follow.
  event_solver(std::string function, ode_system& system, const functions& events, maker make, event_plan plan,
               bool differentiated)
      : way_(std::move(function), system, events, std::move(plan), differentiated),
        make_(std::move(make)),
        differentiated_(differentiated),
        watch_(way_.function, way_.events, way_.plan.events, way_.n),
        tangent_(way_) {
    detail::check_plan(way_.function, way_.plan, way_.n);
    solver(0);
  }
  event_solver(const event_solver&) = delete;
  event_solver& operator=(const event_solver&) = delete;

  const event_solution& integrate(const event_values& values) {
    is_integrated_ = false;
    detail::check_values(way_.function, way_.plan, values, way_.n);
    way_.v = values;
    detail::make_schedule(way_.plan, way_.v, way_.schedule);
    start();
    while (!advance()) continue;
    way_.solution.end = t_, way_.solution.end_state = y_;
    for (Eigen::Index k = way_.solution.reached; k < way_.solution.states.cols(); ++k) way_.solution.states.col(k) = y_;
    is_integrated_ = true;
    return way_.solution;
  }

  /// The gradient of a scalar from the adjoints of the solution's numbers.
  event_gradient sweep(const event_adjoints& adjoints) {
    if (!is_integrated_) throw std::logic_error(way_.function + ": sweep comes after integrate has succeeded");
    event_gradient g = detail::event_sweep(way_, adjoints).run();
    add_up_sweeps();
    return g;
  }

  /// Whether `tangent` is available.
  bool has_first_tangents() const {
    return way_.solvers[0]->has_first_tangents() &&
           std::all_of(way_.events.begin(), way_.events.end(), [](const auto& event) { return event->has_tangents(); });
  }
  /// As `ode_solver::tangents_match`.
  bool tangents_match() const { return way_.solvers[0]->tangents_match(); }
  /// After `integrate`: the tangents of the solution's numbers. reads_hits: whether times and states of events are wanted.
  event_tangents tangent(const event_directions& along, bool reads_hits) {
    if (!is_integrated_) throw std::logic_error(way_.function + ": tangent comes after integrate has succeeded");
    return tangent_.run(along, reads_hits);
  }

  /// Whether `second` is available.
  bool has_tangents() const {
    return way_.solvers[0]->has_tangents() && has_first_tangents() && (!way_.moves() || way_.system.has_time_tangents()) &&
           std::all_of(way_.events.begin(), way_.events.end(), [](const auto& event) { return event->has_second(); });
  }
  /// After `tangent`: the gradient and its tangents along the same directions, for adjoints with tangents.
  event_gradient second(const event_adjoints& adjoints, const event_tangents& tangents, event_directions& back) {
    return detail::event_second_sweep(way_, tangent_, adjoints, tangents, back).run();
  }

  const ode_statistics& statistics() const { return statistics_; }
  /// As `ode_solver::log_steps`.
  bool log_steps(detail::step_log* log) {
    log_ = log;
    return std::all_of(way_.solvers.begin(), way_.solvers.end(), [&](const auto& each) { return each->log_steps(log); });
  }
  const event_plan& plan() const { return way_.plan; }

 private:
  // ---- forward pass

  void start() {
    t_ = way_.v.initial_time, y_ = way_.v.initial_state;
    way_.used = solved_ = place_ = 0;
    probe_.clear();
    running_.clear();
    statistics_ = {};
    counts_.assign(way_.events.size(), 0);
    last_.assign(way_.events.size(), -std::numeric_limits<double>::infinity());
    watch_.start();
    watch_.expect_change();
    way_.solution.states.resize(way_.n, static_cast<Eigen::Index>(way_.v.times.size()));
    way_.solution.reached = 0;
    way_.solution.hits.clear();
    way_.solution.is_terminated = false;
  }

  /// Integrates a segment and applies what happens at its end. Returns whether the solution ends there.
  bool advance() {
    if (way_.used == way_.segments.size()) way_.segments.emplace_back();
    detail::event_segment& s = way_.segments[way_.used++];
    const bool is_last = place_ == way_.schedule.size();
    s.begin = t_, s.at_begin = y_, s.running = running_;
    s.end = is_last ? way_.v.times.back() : way_.schedule[place_].time;
    s.is_solved = s.end > t_;
    s.hits = s.inner_outputs = 0, s.ending = detail::event_segment::finish;
    take_begin_outputs(s, is_last);
    way_.enter(s);
    if (s.is_solved) solve(s);
    t_ = s.end, s.at_end = y_;
    if (s.is_solved && !watch_.fired().empty()) return happen(s);
    s.ending = is_last ? detail::event_segment::finish : detail::event_segment::scheduled_ending;
    if (is_last) return true;
    s.happening = place_;
    happen(way_.schedule[place_++]);
    return false;
  }

  /// Writes the outputs at a segment's begin, unless more happens at the same instant.
  void take_begin_outputs(detail::event_segment& s, bool is_last) {
    Eigen::Index& k = way_.solution.reached;
    s.first_output = static_cast<std::size_t>(k);
    if (s.end > s.begin || is_last) {
      const double before = is_last && !s.is_solved ? HUGE_VAL : s.end, here = s.begin + way_.same_time(s.begin);
      const auto is_here = [&](double t) { return t < before && (t <= here || !s.is_solved); };
      while (k < way_.solution.states.cols() && is_here(way_.v.times[static_cast<std::size_t>(k)]))
        way_.solution.states.col(k++) = y_;
    }
    s.begin_outputs = static_cast<std::size_t>(k) - s.first_output;
  }

  void solve(detail::event_segment& s) {
    ends_.clear();
    for (auto k = static_cast<std::size_t>(way_.solution.reached); k < way_.v.times.size() && way_.v.times[k] < s.end; ++k)
      ends_.push_back(way_.v.times[k]);
    ends_.push_back(s.end);
    s.solver = differentiated_ ? solved_++ : 0;
    ode_solver& by = solver(s.solver);
    if (log_ != nullptr) log_->at_end = place_ == way_.schedule.size() ? detail::step_limit::end : detail::step_limit::stop;
    move_probe(by);
    const Eigen::MatrixXd& states = by.integrate(y_, s.begin, ends_);
    probe_ = by.probe(), after_probe_ = states.col(states.cols() - 1);
    statistics_ += by.statistics();
    y_ = states.col(states.cols() - 1);
    const bool has_event = !watch_.fired().empty();
    if (has_event) s.end = event_time(states.cols());
    const bool is_finish = !has_event && place_ == way_.schedule.size();
    s.inner_outputs = static_cast<std::size_t>(states.cols() - (is_finish ? 0 : 1));
    const auto count = static_cast<Eigen::Index>(s.inner_outputs);
    way_.solution.states.middleCols(way_.solution.reached, count) = states.leftCols(count);
    way_.solution.reached += count;
  }
  /// Hands the probe's tangent to the segment's solver. The change by a dose or a reset moves in a generic direction.
  void move_probe(ode_solver& by) {
    if (probe_.size() != static_cast<std::size_t>(way_.n)) return;
    for (Eigen::Index i = 0; i < way_.n; ++i)
      probe_[static_cast<std::size_t>(i)] +=
          detail::generic_factor(static_cast<std::size_t>(i)) * std::abs(y_[i] - after_probe_[i]);
    by.continue_probe(probe_);
  }
  /// The time of the last column: the event's time, or the requested time if both are equal up to rounding.
  double event_time(Eigen::Index count) const {
    const double meant = ends_[static_cast<std::size_t>(count - 1)];
    return std::abs(watch_.where() - meant) <= way_.same_time(meant) ? meant : watch_.where();
  }
  void happen(const detail::scheduled& what) {
    if (what.kind == detail::scheduled::infusion_end) {
      running_.erase(std::find(running_.begin(), running_.end(), what.index));
    } else if (what.kind == detail::scheduled::dose) {
      if (what.is_at_once)
        y_[way_.plan.doses[what.index].state] += way_.v.amounts[what.index];
      else
        running_.push_back(what.index);
    }
    watch_.expect_change();
  }

  /// Applies the events at a segment's end in order. Returns whether a terminal event ends the solution.
  bool happen(detail::event_segment& s) {
    s.ending = detail::event_segment::event_ending;
    s.happening = way_.solution.hits.size();
    bool is_over = false;
    for (const std::size_t e : watch_.fired()) {
      way_.solution.hits.push_back({e, t_, y_, watch_.steepness(e)});
      is_over = ++counts_[e] == way_.plan.events[e].terminal || is_over;
      reset(e);
    }
    s.hits = way_.solution.hits.size() - s.happening;
    look_whether_turned(s);
    watch_.expect_change();
    if (!is_over) return false;
    way_.solution.is_terminated = true;
    Eigen::Index& k = way_.solution.reached;
    while (k < way_.solution.states.cols() && way_.v.times[static_cast<std::size_t>(k)] <= t_)
      way_.solution.states.col(k++) = y_;
    return true;
  }

  void reset(std::size_t e) {
    if (static_cast<long>(way_.solution.hits.size()) > way_.plan.max_events)
      fail(e, "too_many_events", "more than max_events = " + std::to_string(way_.plan.max_events) + " events",
           "raise max_events");
    if (!way_.events[e]->resets()) return;
    if (watch_.sticks(e) ||
        t_ - last_[e] <= 4096 * std::numeric_limits<double>::epsilon() * std::abs(t_) + std::numeric_limits<double>::min())
      fail_accumulated(e);
    last_[e] = t_;
    after_reset_.resize(way_.n);
    way_.events[e]->reset(t_, y_.data(), after_reset_.data());
    y_ = after_reset_;
    if (!y_.allFinite()) fail(e, "not_finite", "the state after its reset is not finite", "look at what the reset divides by");
  }

  /// The rate of change of an event function along the solution.
  double rate_of(std::size_t e, double t, const Eigen::VectorXd& y) {
    double rate = 0;
    const Eigen::VectorXd slope = way_.slope_at(t, y);
    Eigen::VectorXd by_y(way_.n);
    way_.events[e]->root_gradient(t, y.data(), rate, by_y.data(), nullptr);
    return rate + by_y.dot(slope);
  }
  /// Finds a solution that crosses zero downwards while its rate there is upwards: since the last event the solution has risen
  /// by less than the method resolves. A reset that mistakes the rate for downwards, and reverses it, lets the solution
  /// through.
  void look_whether_turned(const detail::event_segment& s) {
    for (const std::size_t e : watch_.fired()) {
      if (!way_.events[e]->resets() || watch_.jumps(e)) continue;
      const int from = watch_.came_from(e);
      const double before = rate_of(e, t_, s.at_end) * from;
      watch_.expect_return(e, way_.events[e]->root(t_, s.at_end.data()), -before);
      if (before > 0 && counts_[e] > 1 && rate_of(e, t_, y_) * from < 0) fail_accumulated(e);
    }
  }

  [[noreturn]] AGRAD_COLD void fail_accumulated(std::size_t e) const {
    fail(e, "events_accumulate", "events follow each other without time in between",
         "end the solution before, by a terminal event or a count of events");
  }
  [[noreturn]] AGRAD_COLD void fail(std::size_t e, const std::string& code, const std::string& what,
                                    const std::string& advice) const {
    throw SolverError(way_.function + ": stopped at t = " + detail::to_text(t_) + " after " +
                          std::to_string(statistics_.forward.steps) + " steps (" + code + "); events[" + std::to_string(e) +
                          "]: " + what + "; " + advice,
                      t_, statistics_.forward.steps, code, advice);
  }

  // ---- parts

  /// Each segment has a solver, whose statistics cover the forward and the reverse pass.
  void add_up_sweeps() {
    statistics_ = {};
    for (std::size_t i = 0; i < way_.used; ++i)
      if (way_.segments[i].is_solved) statistics_ += way_.solvers[way_.segments[i].solver]->statistics();
  }

  ode_solver& solver(std::size_t i) {
    while (way_.solvers.size() <= i) {
      way_.solvers.push_back(make_(way_.function, way_.system, {differentiated_, false, false}));
      if (log_ != nullptr) way_.solvers.back()->log_steps(log_);
      if (!way_.events.empty() && !way_.solvers.back()->watch(&watch_))
        throw std::logic_error(way_.function + ": events are for CVODES' adjoint and the one-step methods");
    }
    return *way_.solvers[i];
  }

  detail::event_trajectory way_;
  maker make_;
  bool differentiated_;
  detail::event_watch watch_;
  detail::event_tangent tangent_;

  std::size_t solved_ = 0, place_ = 0;
  double t_ = 0;
  Eigen::VectorXd y_, after_reset_, after_probe_;  // after_probe_: the state in which the probe ended
  std::vector<std::size_t> running_;
  std::vector<long> counts_;
  std::vector<double> last_, ends_, probe_;
  ode_statistics statistics_;
  detail::step_log* log_ = nullptr;
  bool is_integrated_ = false;
};

}  // namespace agrad
