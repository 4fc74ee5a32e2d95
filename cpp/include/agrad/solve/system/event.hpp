// Event problem: doses, stops and events of an initial value problem.
//
// Doses add an amount to a state, at once or at a constant rate for a while; stops are times at which steps must end because f
// jumps there; events are zeros of functions of time and state, and may reset the state. Times, amounts and durations are
// numbers of the problem like the initial state and have derivatives, too.
// Read next: solve/events/solver.hpp, the solver; solve/solver/event_watch.hpp, the search for zeros.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include <agrad/solve/system/moving_state.hpp>

namespace agrad {

/// A point with directions of time, state and parameters, each number's side by side, where a root or a reset is
/// differentiated.
struct event_point {
  int width;
  double t;
  const double* y;
  const double *t_tangents, *y_tangents, *parameter_tangents;
};

/// Adjoints of time, state and parameters, with tangents.
struct moving_gradient {
  moving_number time;
  moving_vector state, parameters;
};

/// An event function and its reset, with the active parameters of both.
class event_function {
 public:
  virtual ~event_function() = default;
  virtual Eigen::Index parameters() const = 0;
  /// Sets all parameters. Here: the functions have their values since they were made.
  virtual void set_parameters(const double* /*p*/) {}
  virtual double root(double t, const double* y) = 0;
  /// The root's value; writes the derivatives with respect to t, y and, unless null, the parameters.
  virtual double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) = 0;
  /// Whether the event changes the state.
  virtual bool resets() const { return false; }
  /// The state after the event.
  virtual void reset(double /*t*/, const double* /*y*/, double* /*to*/) {}
  /// lambda' times the derivatives of the state after the event.
  virtual void reset_vjp(double /*t*/, const double* /*y*/, const double* /*lambda*/, double& /*t_adjoint*/,
                         double* /*y_adjoint*/, double* /*parameter_adjoint*/) {}
  /// Whether `reset_tangent` is available or not needed.
  virtual bool has_tangents() const { return !resets(); }
  /// The tangents of the state after the event, side by side.
  virtual void reset_tangent(const event_point& /*at*/, double* /*to*/) {}
  /// Whether `root_second` and `reset_second` are available, for second derivatives.
  virtual bool has_second() const { return false; }
  /// The root's derivatives, with tangents along the directions.
  virtual void root_second(const event_point& /*at*/, moving_gradient& /*by*/) {}
  /// lambda' times the derivatives of the state after the event, with tangents along the directions.
  virtual void reset_second(const event_point& /*at*/, const moving_vector& /*lambda*/, moving_gradient& /*by*/) {}
};

/// Which crossings count: upwards (1), downwards (-1) or both (0); terminal: after how many the solution ends, 0 for never.
struct event_rule {
  int direction = 0;
  long terminal = 0;
};

/// An entry of a dose table: the infused state, and whether the dose takes a while.
struct dose_rule {
  Eigen::Index state = 0;
  bool is_infusion = false;
};

/// The part of a problem that is independent of values.
struct event_plan {
  std::vector<dose_rule> doses;
  std::size_t stops = 0;
  std::vector<event_rule> events;
  long max_events = 1000;
  /// Whether t0, an output time, or the time of a dose, an infusion's end or a stop has derivatives.
  bool times_move = false;
};

/// All numbers of a problem but the functions' parameters: a time, an amount and a duration for each dose.
struct event_values {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  std::vector<double> times;  // increasing; the first may be t0
  std::vector<double> dose_times, amounts, durations, stops;
};

/// An event that happened, with the state before it; at the same instant, the state after the previous event.
struct event_hit {
  std::size_t event = 0;
  double t = 0;
  Eigen::VectorXd state;
  double steepness = 0;  // approximate slope of the root around the event; a slope far below counts as zero
};

/// A solution. Output times after the end have the state at the end.
struct event_solution {
  Eigen::MatrixXd states;    // column k is the state at times[k], after what happens there
  Eigen::Index reached = 0;  // output times that are not after the end
  std::vector<event_hit> hits;
  double end = 0;  // time of a terminal event, or the last output time
  Eigen::VectorXd end_state;
  bool is_terminated = false;
};

/// Adjoints of a solution's numbers, with the same sizes.
struct event_adjoints {
  Eigen::MatrixXd states;
  double end = 0;
  Eigen::VectorXd end_state;
  std::vector<double> hit_times;
  Eigen::MatrixXd hit_states;
};

/// A gradient with respect to a problem's numbers and its functions' parameters.
struct event_gradient {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  Eigen::VectorXd times, dose_times, amounts, durations, stops, parameters;
  std::vector<Eigen::VectorXd> event_parameters;  // for each event
};

/// Directions of a problem's numbers, each number's side by side, or a gradient's tangents.
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
};

}  // namespace agrad
