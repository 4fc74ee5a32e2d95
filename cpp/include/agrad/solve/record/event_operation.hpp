// Event operation: an operation of a recorded program that solves an initial value problem with doses, stops and events.
//
// The operand is one vector: the n initial states, t0, the k output times, the parameters of the right-hand side, the times,
// amounts and durations of the doses, the stops, the parameters of the events. The result: the states at each output time, the
// end's time and state, the times of the hits (occurrences of events), event by event, and the states there. The number of hits
// depends on values, but the result has the size of the recording; other counts are an error where hits are read.
// Integration also stops where the right-hand side compares t with a number (solve/system/program/time_switches.hpp).
// Read next: solve/events/solver.hpp; solve/system/program/event.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/progress.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/events/solver.hpp>
#include <agrad/solve/record/maker.hpp>
#include <agrad/solve/record/stored_events.hpp>
#include <agrad/solve/system/program/event.hpp>
#include <agrad/solve/system/program/ode.hpp>
#include <agrad/solve/system/program/time_switches.hpp>

namespace agrad {

class event_operation final : public external_operation {
 public:
  using maker = ode_maker;

  /// function: the name at the start of messages. f: the right-hand side of (t, n states, parameters). events: one for each
  /// rule of the plan. progress, same_steps: as for `ode_operation`.
  event_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states, std::size_t times, maker make,
                  event_plan plan, std::vector<event_programs> events, event_counts counts,
                  std::shared_ptr<const progress_host> progress = nullptr, bool same_steps = false);

  /// Does the same as that of `ode_operation`.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const;
  std::size_t output_size() const { return n_ * times_ + 1 + n_ + hits_ * (1 + n_); }

  /// Can be stored under the same conditions as an `ode_operation`.
  static constexpr std::string_view stored_kind = "events";
  std::string_view kind() const override { return make_.is_portable() && !progress_ ? stored_kind : std::string_view(); }
  bool fits(std::size_t in, std::size_t out) const override { return in == input_size() && out == output_size(); }
  void write(portable_writer& to) const override;
  template <class ReadMaker>
  static std::shared_ptr<const external_operation> read(portable_reader& from, const ReadMaker& read_maker) {
    stored_events k;
    from(k);
    auto result = std::make_shared<event_operation>(k.function, k.f, static_cast<Eigen::Index>(k.states), k.times,
                                                    read_maker(from), k.plan, k.events, k.counts, nullptr, k.same_steps);
    result->active_ = std::move(k.active), result->reads_hits_ = k.reads_hits;
    return result;
  }

  /// From the next run on, a number of hits that differs from the recording is an error.
  void expect_hits() const { reads_hits_ = true; }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solve_states>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override;

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override;

  void expect_derivatives() const override { same_steps_ = true; }
  bool has_tangents() const override { return tangents_.order == 2; }
  bool has_first_tangents() const override { return tangents_.order >= 1; }
  /// Does the same as that of `ode_operation`.
  const external_operation* first_without_tangents(int order) const override;

  void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override;

  void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
              double* x_adjoint, double* x_adjoint_tangent) const override;

  /// Solves for any counts, with the steps of a run with or without derivatives.
  event_solution solve(const double* x, bool differentiated) const;

  /// Do the same as those of `ode_operation`.
  ode_statistics statistics() const { return ledger_.latest(); }
  bool log_steps(const double* x, detail::step_log& log, bool differentiated) const;

 private:
  struct solve_state {
    solve_state(const event_operation& of, bool with_adjoint);
    static event_solver::functions event_functions(const event_operation& of);
    program_system system;
    event_solver::functions events;
    event_solver solver;
    double started = 0;
    std::vector<double> parameters, along;      // along: from the last call of `tangent`
    std::vector<time_switches::time> switches;  // follow the stops of the operand
    time_switches::room at_switches;
    std::vector<std::size_t> slots;  // index of each hit among the outputs; hits_ for a hit that is not an output
  };
  struct solve_states final : external_operation::state {
    std::unique_ptr<solve_state> plain, differentiable;
  };

  /// Runs a solve, reports the progress and enters the costs into the ledger.
  const event_solution& solve_with_progress(solve_state& by, const double* x) const;

  const event_solution& solve(solve_state& by, const double* x) const;

  event_adjoints adjoints_of(const solve_state& mine, const double* y_adjoint) const;
  /// Returns the tangents of these adjoints.
  event_tangents tangents_of(const solve_state& mine, int width, const double* y_adjoint_tangent) const;

  static event_plan with_switches(event_plan plan, const time_switches& switches);

  /// Propagates the adjoints of switching times to the parameters.
  void reverse_switches(solve_state& mine, event_gradient& g) const;
  void reverse_switches_second(solve_state& mine, event_gradient& g, event_directions& dg) const;
  /// Appends the directions of the switching times to the directions of the stops.
  void propagate_switches(solve_state& mine, event_directions& along) const;

  /// As in `ode_operation`.
  struct tangent_kind {
    int order;
    bool match;
  };
  tangent_kind kind_of(const event_solver& by) const;

  event_directions directions(solve_state& of, int width, const double* x_tangent) const;

  void place(const event_solution& solution, std::vector<std::size_t>& slots) const;

  void check_counts(const event_solution& solution) const;

  [[noreturn]] AGRAD_COLD void fail(const event_solution& solution, const std::string& what, std::size_t recorded,
                                    std::size_t found, const std::string& advice) const;

  void add(const event_gradient& g, double* to) const;

  std::string function_;
  std::shared_ptr<const program> f_;
  std::shared_ptr<program_structure> structure_ = std::make_shared<program_structure>();
  std::size_t n_, times_, m_;
  time_switches switches_;
  maker make_;
  event_plan plan_;
  std::vector<event_programs> events_;
  event_counts counts_;
  std::size_t hits_;
  mutable std::atomic<bool> reads_hits_{false};
  std::shared_ptr<const progress_host> progress_;
  mutable ode_ledger ledger_;
  std::vector<bool> active_;
  mutable std::atomic<bool> same_steps_;
  tangent_kind tangents_;  // order 0: no tangents; order 2: with second derivatives
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/event_operation.ipp>
#endif
