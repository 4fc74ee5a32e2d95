// Event problem: doses, stops and events of an initial value problem.
//
// Doses change a state by an amount, at once or at a constant rate for a while; stops are times at which steps must end because
// f jumps there; events are zeros of functions of time and state, and may reset the state. Times, amounts and durations are
// numbers of the problem like the initial state and have derivatives, too.
// Read next: solve/events/solver.hpp, the solver; solve/solver/event_watch.hpp, the search for zeros.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/system/function.hpp>
#include <agrad/solve/system/moving_numbers.hpp>

namespace agrad {

/// Adjoints of time, state and parameters, with tangents.
struct moving_gradient {
  moving_number time;
  moving_vector state, parameters;
};

/// An event: a root, at whose zeros the event is triggered, the reset of the state, and the delay from the trigger to the
/// event, as functions of time, state and their parameters.
class event_function final {
 public:
  using function = std::unique_ptr<differentiable_function>;

  /// n states. reset: null if the event keeps the state; delay: null if it happens at its trigger. The parameters are the
  /// root's, then the reset's, then the delay's, or where `shares` is true the same ones.
  event_function(function root, function reset, Eigen::Index n, bool shares = false, function delay = nullptr);

  Eigen::Index parameters() const { return parameters_; }
  void set_parameters(const double* p);

  double root(double t, const double* y);
  /// The root's value; writes the derivatives with respect to t, y and, unless null, the parameters.
  double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters);

  bool resets() const { return reset_ != nullptr; }
  bool delays() const { return delay_ != nullptr; }
  /// Whether the state changes at once where the root is zero.
  bool resets_there() const { return resets() && !delays(); }
  /// The state after the event.
  void reset(double t, const double* y, double* to) { reset_->value(t, y, to); }
  /// lambda' times the derivatives of the state after the event.
  void reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint, double* y_adjoint,
                 double* parameter_adjoint);

  /// The time from a trigger to the event.
  double delay(double t, const double* y);
  /// The derivatives of the delay with respect to t, y and the parameters, to which it adds.
  void delay_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters);

  /// Whether `reset_tangent` is available or not needed.
  bool has_tangents() const { return !resets() || reset_->order() >= 1; }
  /// The tangents of the state after the event, side by side.
  void reset_tangent(const ode_point& at, double* to) { reset_->tangent(from(at, first_), to); }

  /// Whether `root_second`, `reset_second` and `delay_second` are available or not needed.
  bool has_second() const {
    return root_->order() == 2 && (!resets() || reset_->order() == 2) && (!delays() || delay_->order() == 2);
  }
  /// The root's derivatives, with tangents along the directions.
  void root_second(const ode_point& at, moving_gradient& by);
  /// lambda' times the derivatives of the state after the event, with tangents along the directions.
  void reset_second(const ode_point& at, const moving_vector& lambda, moving_gradient& by);
  /// The delay's derivatives, with tangents along the directions.
  void delay_second(const ode_point& at, moving_gradient& by);

 private:
  /// first: index of f's first parameter among the event's parameters.
  static ode_point from(ode_point at, Eigen::Index first);
  void second(differentiable_function& f, Eigen::Index first, const ode_point& at, const moving_vector& lambda,
              moving_gradient& by) const;

  function root_, reset_, delay_;
  Eigen::Index first_, first_of_delay_, parameters_;  // the reset's and the delay's first parameters, and how many there are
  Eigen::VectorXd after_;
};

/// When an event happens, and what its reset sees, where several events and doses share an instant.
struct event_firing {
  bool is_condition = false;    // whether the event happens wherever root > 0 becomes true, also by a reset, a dose or at t0
  bool initially = true;        // of a condition: whether it counts as true before t0
  double priority = 0;          // at one instant events of higher priority come first, then those of lower index
  bool is_persistent = true;    // of a condition: whether the event happens though root > 0 has become false by then
  bool sees_trigger = false;    // whether the reset sees the state in which the event was triggered, and not the present one
  std::vector<bool> kept = {};  // with sees_trigger: the states that the reset leaves as they are now; empty for none
};

/// Which crossings count: upwards (1), downwards (-1) or both (0); terminal: after how many the solution ends, 0 for never.
struct event_rule {
  int direction = 0;
  long terminal = 0;
  event_firing firing = {};
};

/// Which crossings of its root an event must know: also those where a condition that waits becomes false.
inline int watched_direction(const event_rule& rule, const event_function& event) {
  return event.delays() && !rule.firing.is_persistent ? 0 : rule.direction;
}

/// What a dose at once does with its amount: adds it to the state, replaces the state by it, or multiplies the state by it.
enum class dose_kind { add, set, scale };

/// An entry of a dose table: the state, whether the dose takes a while (an infusion, which adds), and what it does.
struct dose_rule {
  Eigen::Index state = 0;
  bool is_infusion = false;
  dose_kind kind = dose_kind::add;

  /// The state after a dose at once, and its derivatives with respect to the state before and to the amount.
  double after(double y, double amount) const {
    return kind == dose_kind::add ? y + amount : kind == dose_kind::set ? amount : y * amount;
  }
  double by_state(double amount) const { return kind == dose_kind::add ? 1 : kind == dose_kind::set ? 0 : amount; }
  double by_amount(double y) const { return kind == dose_kind::scale ? y : 1; }
};

/// The part of a problem that is independent of values.
struct event_plan {
  std::vector<dose_rule> doses;
  std::size_t stops = 0;
  std::vector<event_rule> events;
  long max_events = 1000;
  /// Whether t0, an output time, or the time of a dose, an infusion's end or a stop has derivatives.
  bool times_move = false;
  /// Whether the initial state has derivatives.
  bool state_moves = true;
  /// The output times, by increasing indices, at which the state before doses is a result, too.
  std::vector<std::size_t> before = {};
};

/// All numbers of a problem but the functions' parameters: a time, an amount and a duration for each dose.
struct event_values {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  std::vector<double> times;  // increasing; the first may be t0
  std::vector<double> dose_times, amounts, durations, stops;
};

/// What happens to an event: the event itself at its trigger; of an event with a delay its trigger, the event, or its
/// withdrawal, because its condition became false while it waited.
enum class hit_kind { event, trigger, delayed, withdrawal };

/// Something that happened, with the state before it; where events share an instant, the state after the previous event.
struct event_hit {
  std::size_t event = 0;
  double t = 0;
  Eigen::VectorXd state;
  double steepness = 0;  // approximate slope of the root around the event; a slope far below counts as zero
  bool follows = false;  // whether a jump or t0 made the condition true: the time is that of the jump, and no zero
  std::size_t seen = 0;  // the hit whose state the reset sees: this one, or an earlier one
  hit_kind kind = hit_kind::event;
  std::size_t trigger = 0;  // of a delayed event: the hit that was its trigger
  bool rests = false;       // of a kink: whether the solution touches the threshold, or rests there, and does not cross it

  /// Whether the event happened, and not its trigger or withdrawal alone.
  bool happens() const { return kind == hit_kind::event || kind == hit_kind::delayed; }
};

/// A solution. Output times after the end have the state at the end.
struct event_solution {
  Eigen::MatrixXd states;    // column k is the state at times[k], after what happens there
  Eigen::Index reached = 0;  // output times that are not after the end
  std::vector<event_hit> hits;
  double end = 0;  // time of a terminal event, or the last output time
  Eigen::VectorXd end_state;
  bool is_terminated = false;
  Eigen::MatrixXd before;     // a column for each entry of the plan's `before`
  std::vector<bool> differs;  // whether something is scheduled there; else the column is that of `states`
};

/// Adjoints of a solution's numbers, with the same sizes.
struct event_adjoints {
  Eigen::MatrixXd states;
  double end = 0;
  Eigen::VectorXd end_state;
  std::vector<double> hit_times;
  Eigen::MatrixXd hit_states;
  Eigen::MatrixXd before = {};  // zero where the solution's `differs` is false
};

/// A gradient with respect to a problem's numbers and its functions' parameters.
struct event_gradient {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  Eigen::VectorXd times, dose_times, amounts, durations, stops, parameters;
  std::vector<Eigen::VectorXd> event_parameters;  // for each event
};

/// Directions of a problem's numbers, or the tangents of a gradient; the directions of a number lie side by side.
struct event_directions {
  int width = 1;
  std::vector<double> initial_state, parameters, amounts;
  std::vector<double> initial_time = {}, times = {}, dose_times = {}, durations = {}, stops = {};
  std::vector<std::vector<double>> event_parameters = {};  // for each event
};

/// The tangents of a solution's numbers, or of their adjoints: a row for each number.
struct event_tangents {
  using rows = tangent_rows;
  rows states, end_state;  // states: at all output times in order
  Eigen::RowVectorXd end;
  rows hit_times, hit_states;
  rows before = {};
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/event.ipp>
#endif
