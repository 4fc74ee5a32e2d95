// Event solver: an initial value problem with doses, stops and events, by a solver for each segment between them.
//
// A segment ends where something happens, and the next one begins there from the state that follows. Its solver gives the
// derivatives of its end by its begin; between two segments the state's jump has derivatives of its own, and the time of the
// jump is one number that both depend on: an end moves the state by f before it, a begin by minus f after it. The solvers are
// kept, so a second solve makes no new ones.
// Read next: solve/events/sweep.hpp, the way back; solve/events/tangent.hpp, along directions; solve/events/second.hpp, both;
// and solve/solver/event_watch.hpp, events; solve/record/event_operation.hpp, who uses it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/events/schedule.hpp>
#include <agrad/solve/events/system.hpp>
#include <agrad/solve/one_step/probe.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad {

namespace detail {

/// What a solution is made of: the way from one time at which something happens to the next, and what happens there.
struct event_segment {
  enum ending_type { finish, scheduled_ending, event_ending };
  double begin = 0, end = 0;
  Eigen::VectorXd at_begin, at_end;
  bool is_solved = false;  // else it ends where it begins
  std::size_t solver = 0;
  std::size_t first_output = 0, begin_outputs = 0, inner_outputs = 0;
  std::vector<std::size_t> running;  // infusions
  ending_type ending = finish;
  std::size_t happening = 0;  // place in the schedule, or first of the hits
  std::size_t hits = 0;
};

}  // namespace detail

class event_solver {
 public:
  using maker = std::function<std::unique_ptr<ode_solver>(const std::string&, ode_system&, ode_wanted)>;
  using functions = detail::event_watch::functions;

  /// Solves under a function's name. The system and the events, one for each rule of the plan, have to outlive the solver.
  /// differentiated: whether there will be a sweep.
  event_solver(std::string function, ode_system& system, const functions& events, maker make, event_plan plan,
               bool differentiated)
      : function_(std::move(function)),
        plan_(std::move(plan)),
        events_(events),
        make_(std::move(make)),
        differentiated_(differentiated),
        n_(system.states()),
        rate_of_(plan_.doses.size(), 0),
        system_(system, infused_states(), differentiated),
        moving_(system_),
        watch_(function_, events_, plan_.events, n_) {
    detail::check_plan(function_, plan_, n_);
    solver(0);
  }
  event_solver(const event_solver&) = delete;
  event_solver& operator=(const event_solver&) = delete;

  const event_solution& integrate(const event_values& values) {
    is_integrated_ = false;
    detail::check_values(function_, plan_, values, n_);
    v_ = values;
    detail::make_schedule(plan_, v_, schedule_);
    start();
    while (!advance()) continue;
    solution_.end = t_, solution_.end_state = y_;
    for (Eigen::Index k = solution_.reached; k < solution_.states.cols(); ++k) solution_.states.col(k) = y_;
    is_integrated_ = true;
    return solution_;
  }

  /// The gradient of a scalar from its derivatives with respect to the numbers of the solution.
  event_gradient sweep(const event_adjoints& adjoints);

  /// Whether it has the function below.
  bool has_first_tangents() const {
    return solvers_[0]->has_first_tangents() &&
           std::all_of(events_.begin(), events_.end(), [](const auto& event) { return event->has_tangents(); });
  }
  /// As `ode_solver::tangents_match`.
  bool tangents_match() const { return solvers_[0]->tangents_match(); }
  /// After `integrate`: the derivatives of the solution's numbers. reads_hits: whether times and states of events are wanted.
  event_tangents tangent(const event_directions& along, bool reads_hits);

  /// Whether it has the next one, too.
  bool has_tangents() const {
    return solvers_[0]->has_tangents() && has_first_tangents() && (!moves() || system_.has_time_tangents()) &&
           std::all_of(events_.begin(), events_.end(), [](const auto& event) { return event->has_second(); });
  }
  /// After `tangent`: the gradient, and its derivatives along those directions, for adjoints that have tangents of their own.
  event_gradient second(const event_adjoints& adjoints, const event_tangents& tangents, event_directions& back);

  const ode_statistics& statistics() const { return statistics_; }
  /// As `ode_solver::log_steps`.
  bool log_steps(detail::step_log* log) {
    log_ = log;
    return std::all_of(solvers_.begin(), solvers_.end(), [&](const auto& each) { return each->log_steps(log); });
  }
  const event_plan& plan() const { return plan_; }

 private:
  // ---- forwards

  void start() {
    t_ = v_.initial_time, y_ = v_.initial_state;
    used_ = solved_ = place_ = 0;
    probe_.clear();
    running_.clear();
    statistics_ = {};
    counts_.assign(events_.size(), 0);
    last_.assign(events_.size(), -std::numeric_limits<double>::infinity());
    watch_.start();
    watch_.expect_change();
    solution_.states.resize(n_, static_cast<Eigen::Index>(v_.times.size()));
    solution_.reached = 0;
    solution_.hits.clear();
    solution_.is_terminated = false;
  }

  /// One segment, and what happens at its end; whether that is the solution's end.
  bool advance() {
    if (used_ == segments_.size()) segments_.emplace_back();
    detail::event_segment& s = segments_[used_++];
    const bool is_last = place_ == schedule_.size();
    s.begin = t_, s.at_begin = y_, s.running = running_;
    s.end = is_last ? v_.times.back() : schedule_[place_].time;
    s.is_solved = s.end > t_;
    s.hits = s.inner_outputs = 0, s.ending = detail::event_segment::finish;
    take_begin_outputs(s, is_last);
    enter(s);
    if (s.is_solved) solve(s);
    t_ = s.end, s.at_end = y_;
    if (s.is_solved && !watch_.fired().empty()) return happen(s);
    s.ending = is_last ? detail::event_segment::finish : detail::event_segment::scheduled_ending;
    if (is_last) return true;
    s.happening = place_;
    happen(schedule_[place_++]);
    return false;
  }

  /// Outputs at a segment's begin, unless something else happens at the same instant.
  void take_begin_outputs(detail::event_segment& s, bool is_last) {
    Eigen::Index& k = solution_.reached;
    s.first_output = static_cast<std::size_t>(k);
    if (s.end > s.begin || is_last) {
      const double before = is_last && !s.is_solved ? HUGE_VAL : s.end, here = s.begin + same_time(s.begin);
      const auto is_here = [&](double t) { return t < before && (t <= here || !s.is_solved); };
      while (k < solution_.states.cols() && is_here(v_.times[static_cast<std::size_t>(k)])) solution_.states.col(k++) = y_;
    }
    s.begin_outputs = static_cast<std::size_t>(k) - s.first_output;
  }

  void enter(const detail::event_segment& s) {
    rates_.assign(system_.rates(), 0.0);
    for (const std::size_t i : s.running) rates_[rate_of_[i]] += v_.amounts[i] / detail::infusion_length(v_, i);
    const bool is_behind_event = &s != segments_.data() && (&s - 1)->ending == detail::event_segment::event_ending;
    const bool is_before_event = s.ending == detail::event_segment::event_ending;
    system_.enter(s.begin, s.end, v_.initial_time,
                  {is_behind_event ? same_time(s.begin) : 0, is_before_event ? same_time(s.end) : 0}, rates_);
  }

  void solve(detail::event_segment& s) {
    ends_.clear();
    for (auto k = static_cast<std::size_t>(solution_.reached); k < v_.times.size() && v_.times[k] < s.end; ++k)
      ends_.push_back(v_.times[k]);
    ends_.push_back(s.end);
    s.solver = differentiated_ ? solved_++ : 0;
    ode_solver& by = solver(s.solver);
    if (log_ != nullptr) log_->at_end = place_ == schedule_.size() ? detail::step_limit::end : detail::step_limit::stop;
    move_probe(by);
    const Eigen::MatrixXd& states = by.integrate(y_, s.begin, ends_);
    probe_ = by.probe(), after_probe_ = states.col(states.cols() - 1);
    statistics_ += by.statistics();
    y_ = states.col(states.cols() - 1);
    const bool has_event = !watch_.fired().empty();
    if (has_event) s.end = event_time(states.cols());
    const bool is_finish = !has_event && place_ == schedule_.size();
    s.inner_outputs = static_cast<std::size_t>(states.cols() - (is_finish ? 0 : 1));
    const auto count = static_cast<Eigen::Index>(s.inner_outputs);
    solution_.states.middleCols(solution_.reached, count) = states.leftCols(count);
    solution_.reached += count;
  }
  /// Hands the tangent that controls steps to the segment's solver. What a dose or a reset has changed moves in a generic direction.
  void move_probe(ode_solver& by) {
    if (probe_.size() != static_cast<std::size_t>(n_)) return;
    for (Eigen::Index i = 0; i < n_; ++i)
      probe_[static_cast<std::size_t>(i)] +=
          detail::generic_factor(static_cast<std::size_t>(i)) * std::abs(y_[i] - after_probe_[i]);
    by.continue_probe(probe_);
  }
  /// The last column's time: the event's, or the one that the column was meant for where they are the same but for rounding.
  double event_time(Eigen::Index count) const {
    const double meant = ends_[static_cast<std::size_t>(count - 1)];
    return std::abs(watch_.where() - meant) <= same_time(meant) ? meant : watch_.where();
  }
  /// By how much two times may differ and are the same but for rounding.
  static double same_time(double t) { return 32 * std::numeric_limits<double>::epsilon() * std::abs(t); }

  void happen(const detail::scheduled& what) {
    if (what.kind == detail::scheduled::infusion_end) {
      running_.erase(std::find(running_.begin(), running_.end(), what.index));
    } else if (what.kind == detail::scheduled::dose) {
      if (what.is_at_once)
        y_[plan_.doses[what.index].state] += v_.amounts[what.index];
      else
        running_.push_back(what.index);
    }
    watch_.expect_change();
  }

  /// The events at a segment's end, in order; whether one of them is the last.
  bool happen(detail::event_segment& s) {
    s.ending = detail::event_segment::event_ending;
    s.happening = solution_.hits.size();
    bool is_over = false;
    for (const std::size_t e : watch_.fired()) {
      solution_.hits.push_back({e, t_, y_, watch_.steepness(e)});
      is_over = ++counts_[e] == plan_.events[e].terminal || is_over;
      reset(e);
    }
    s.hits = solution_.hits.size() - s.happening;
    look_whether_turned(s);
    watch_.expect_change();
    if (!is_over) return false;
    solution_.is_terminated = true;
    Eigen::Index& k = solution_.reached;
    while (k < solution_.states.cols() && v_.times[static_cast<std::size_t>(k)] <= t_) solution_.states.col(k++) = y_;
    return true;
  }

  void reset(std::size_t e) {
    if (static_cast<long>(solution_.hits.size()) > plan_.max_events)
      fail(e, "too_many_events", "more than max_events = " + std::to_string(plan_.max_events) + " events", "raise max_events");
    if (!events_[e]->resets()) return;
    if (watch_.sticks(e) ||
        t_ - last_[e] <= 4096 * std::numeric_limits<double>::epsilon() * std::abs(t_) + std::numeric_limits<double>::min())
      fail_accumulated(e);
    last_[e] = t_;
    slope_.resize(n_);
    events_[e]->reset(t_, y_.data(), slope_.data());
    y_ = slope_;
    if (!y_.allFinite()) fail(e, "not_finite", "the state after its reset is not finite", "look at what the reset divides by");
  }

  /// How fast an event's function changes.
  double rate_of(std::size_t e, double t, const Eigen::VectorXd& y) {
    double rate = 0;
    const Eigen::VectorXd slope = slope_at(t, y);
    Eigen::VectorXd by_y(n_);
    events_[e]->root_gradient(t, y.data(), rate, by_y.data(), nullptr);
    return rate + by_y.dot(slope);
  }
  /// A solution that falls through zero while it rises there has come back by less than the method resolves. A reset that takes
  /// it for falling, and turns it, lets it through instead of back.
  void look_whether_turned(const detail::event_segment& s) {
    for (const std::size_t e : watch_.fired()) {
      if (!events_[e]->resets() || watch_.jumps(e)) continue;
      const int from = watch_.came_from(e);
      const double before = rate_of(e, t_, s.at_end) * from;
      watch_.expect_return(e, events_[e]->root(t_, s.at_end.data()), -before);
      if (before > 0 && counts_[e] > 1 && rate_of(e, t_, y_) * from < 0) fail_accumulated(e);
    }
  }

  [[noreturn]] AGRAD_COLD void fail_accumulated(std::size_t e) const {
    fail(e, "events_accumulate", "events follow each other without time in between",
         "end the solution before, by a terminal event or a count of events");
  }
  [[noreturn]] AGRAD_COLD void fail(std::size_t e, const std::string& code, const std::string& what,
                                    const std::string& advice) const {
    throw SolverError(function_ + ": stopped at t = " + detail::to_text(t_) + " after " +
                          std::to_string(statistics_.forward.steps) + " steps (" + code + "); events[" + std::to_string(e) +
                          "]: " + what + "; " + advice,
                      t_, statistics_.forward.steps, code, advice);
  }

  // ---- backwards (solve/events/sweep.hpp)

  /// What is carried from a segment to the one before: adjoints of the state and of the time at which it begins.
  struct boundary {
    Eigen::VectorXd state;
    double time = 0;
  };
  void take_end_outputs(const event_adjoints& adjoints, boundary& at, event_gradient& g);
  void leave(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at, event_gradient& g);
  void leave_event(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at, event_gradient& g);
  void back_through(const detail::event_segment& s, const event_adjoints& adjoints, boundary& at, event_gradient& g);
  void add_rates(const detail::event_segment& s, const double* rate_gradient, event_gradient& g) const;
  event_gradient no_gradient() const;
  void add_up_sweeps();
  void check_crosses(const event_hit& hit, double rate) const;

  // ---- along directions (solve/events/tangent.hpp)

  /// What is kept of a segment for the second order.
  struct moving_segment {
    tangent_rows begin, end, moved;           // of the states at its ends at fixed times, and at the end as that moves
    Eigen::RowVectorXd begin_time, end_time;  // of an event the first of the instant
    std::vector<tangent_rows> before;         // of the state that each hit finds, at the time of the first
    bool is_placed = true;                    // whether that time is used
  };
  /// What is carried from a segment to the one after.
  struct moving {
    event_tangents::rows state;
    Eigen::RowVectorXd time;
    moving_segment* kept = nullptr;
  };
  class second_sweep;  // solve/events/second.hpp
  bool moves() const { return plan_.times_move || !events_.empty(); }
  bool is_placed(const detail::event_segment& s);
  event_tangents no_tangents() const;
  void put_output(Eigen::Index k, double t, const Eigen::VectorXd& y, const event_tangents::rows& fixed, event_tangents& d);
  void move(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, Eigen::Ref<event_tangents::rows> state);
  void forth_through(const detail::event_segment& s, event_tangents& d, moving& at);
  std::vector<double> segment_parameters(const detail::event_segment& s) const;
  void enter_next(const detail::event_segment& s, bool reads_hits, event_tangents& d, moving& at);
  Eigen::RowVectorXd ending_time(const detail::event_segment& s) const;
  void take_hits(const detail::event_segment& s, bool reads_hits, event_tangents& d, moving& at);
  Eigen::RowVectorXd hit_time(const detail::event_segment& s, std::size_t hit, bool is_used, const event_tangents::rows& fixed,
                              const Eigen::VectorXd& slope);
  const Eigen::VectorXd& slope_at(double t, const Eigen::VectorXd& y) {
    slope_.resize(n_);
    system_.rhs(t, y.data(), slope_.data());
    return slope_;
  }

  // ---- parts

  std::vector<Eigen::Index> infused_states() {
    std::vector<Eigen::Index> states;
    for (std::size_t i = 0; i < plan_.doses.size(); ++i) {
      if (!plan_.doses[i].is_infusion) continue;
      const auto found = std::find(states.begin(), states.end(), plan_.doses[i].state);
      rate_of_[i] = static_cast<std::size_t>(found - states.begin());
      if (found == states.end()) states.push_back(plan_.doses[i].state);
    }
    return states;
  }

  ode_solver& solver(std::size_t i) {
    while (solvers_.size() <= i) {
      solvers_.push_back(make_(function_, system_, {differentiated_, false, false}));
      if (log_ != nullptr) solvers_.back()->log_steps(log_);
      if (!events_.empty() && !solvers_.back()->watch(&watch_))
        throw std::logic_error(function_ + ": events are for CVODES' adjoint and the one-step methods");
    }
    return *solvers_[i];
  }

  std::string function_;
  event_plan plan_;
  const functions& events_;
  maker make_;
  bool differentiated_;
  Eigen::Index n_;
  std::vector<std::size_t> rate_of_;  // of an infusion: which of the system's rates
  detail::event_system system_;
  moving_state moving_;
  detail::event_watch watch_;
  std::vector<std::unique_ptr<ode_solver>> solvers_;

  event_values v_;
  std::vector<detail::scheduled> schedule_;
  std::vector<detail::event_segment> segments_;  // the first `used_` of them
  std::size_t used_ = 0, solved_ = 0, place_ = 0;
  double t_ = 0;
  Eigen::VectorXd y_, slope_, after_probe_;  // the last: the state in which the probe ended
  std::vector<std::size_t> running_;
  std::vector<long> counts_;
  std::vector<double> last_, rates_, ends_, probe_;
  event_solution solution_;
  ode_statistics statistics_;
  detail::step_log* log_ = nullptr;
  event_directions along_;
  std::vector<moving_segment> moved_;
  event_tangents numbers_;  // of the last `tangent`
  bool is_integrated_ = false;
};

}  // namespace agrad

#include <agrad/solve/events/second.hpp>   // IWYU pragma: keep
#include <agrad/solve/events/sweep.hpp>    // IWYU pragma: keep
#include <agrad/solve/events/tangent.hpp>  // IWYU pragma: keep
