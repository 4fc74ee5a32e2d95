// Posed events: an initial value problem with doses, stops and events as a function of all of its numbers.
//
// The argument: the initial state, the initial time, the output times, the parameters of the right-hand side, the times,
// amounts and durations of the doses, the stops, the parameters of the events. The result: the states at each output time, the
// end's time and state, the times of the hits (occurrences of events), event by event, the states there, and the states before
// doses at chosen output times. The number of hits depends on values. With counts given, the result has their size; other
// counts are an error where hits are read.
// Read next: solve/events/solver.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/solver.hpp>
#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/posed/switched_stops.hpp>
#include <agrad/solve/system/held_switches.hpp>

namespace agrad {

/// The sizes of a solution that depend on values.
struct event_counts {
  std::vector<std::size_t> hits;  // of each event
  Eigen::Index reached = -1;      // output times until the end; -1: any number; later output times have the state at the end
  Eigen::Index counted = 0;       // number of leading output times that `reached` counts
};

/// Functions and sizes of a problem with events.
struct event_setup {
  std::string function;  // the name at the start of messages
  std::unique_ptr<ode_system> system;
  event_solver::functions events;  // one for each rule of the plan
  event_solver::maker make;
  event_plan plan;
  std::size_t parameters = 0, times = 0;
  std::optional<time_switches> switches = std::nullopt;  // of a recorded right-hand side
  std::unique_ptr<held_switches> held = nullptr;         // of the same
  std::optional<event_counts> counts = std::nullopt;     // without: those of each solution
  std::shared_ptr<const std::atomic<bool>> reads_hits = nullptr;
};

class posed_events final : public posed_solve {
 public:
  posed_events(event_setup setup, bool differentiated);

  AGRAD_INLINE void solve(const double* x) override;
  /// Throws SolverError where the result has the size of given counts and these differ.
  AGRAD_INLINE void read(double* y) const override;
  double begin() const override { return started_; }
  double end() const override { return solution_->end; }

  AGRAD_INLINE void reverse(const double* y_adjoint, double* x_adjoint) override;

  AGRAD_INLINE tangent_kind tangents() const override;
  AGRAD_INLINE void tangent(int width, const double* x_tangent, double* y_tangent) override;
  AGRAD_INLINE void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                           double* x_adjoint_tangent) override;

  ode_statistics statistics() const override { return solver_.statistics(); }
  bool log_steps(detail::step_log* log) override { return solver_.log_steps(log); }

  /// Returns whether a hit is one of the setup's events, which happened.
  bool is_own(const event_hit& hit) const { return hit.event < own_events_ && hit.happens(); }
  /// Returns the last solution, with any counts.
  const event_solution& solution() const { return *solution_; }
  /// Returns the counts for which the result has its size.
  const event_counts& counts() const { return counts_; }

 private:
  /// Parts of the argument, and of the result.
  struct argument_parts {
    flat_part state, time, times, parameters, dose_times, amounts, durations, stops;
    std::vector<flat_part> events;
  };
  struct result_parts {
    flat_part states, end, end_state, hit_times, hit_states, before;
    /// Returns the part of one hit's state among n states.
    flat_part hit_state(std::size_t hit, std::size_t n) const { return {hit_states.begin + hit * n, n}; }
  };

  void name_arguments();
  void name_results();
  std::size_t hits() const { return to_.hit_times.size; }

  /// Calls use(i, place) for each hit i of the solution that has a place in the result.
  template <class Use>
  void each_hit(const Use& use) const {
    for (std::size_t j = 0; j < places_.size(); ++j)
      if (places_[j] < hits()) use(j, places_[j]);
  }
  /// Calls use(j, k) for each state j before doses at output time k where nothing is scheduled.
  template <class Use>
  void each_same(const Use& use) const {
    for (std::size_t j = 0; j < solution_->differs.size(); ++j)
      if (!solution_->differs[j]) use(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(setup_.plan.before[j]));
  }
  void place_hits();
  bool reads_hits() const { return setup_.reads_hits == nullptr || *setup_.reads_hits; }
  void check_counts() const;
  [[noreturn]] AGRAD_COLD void fail(const std::string& what, std::size_t recorded, std::size_t found,
                                    const std::string& advice) const;

  event_adjoints adjoints_of(const double* y_adjoint) const;
  /// Returns the tangents of these adjoints.
  event_tangents tangents_of(int width, const double* y_adjoint_tangent) const;
  event_directions directions(int width, const double* x_tangent);
  void add(const event_gradient& g, double* x_adjoint) const;

  event_setup setup_;
  std::size_t own_events_;  // those of the setup; the roots of held switches follow
  switched_stops switches_;
  event_solver solver_;
  event_counts counts_;
  std::size_t n_;
  argument_parts from_;
  result_parts to_;

  double started_ = 0;
  const event_solution* solution_ = nullptr;
  std::vector<double> along_;        // the parameters' tangents of the last `tangent`
  std::vector<std::size_t> places_;  // of each hit among the result's hits; hits() for a hit that is not in the result
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/posed/events.ipp>
#endif
