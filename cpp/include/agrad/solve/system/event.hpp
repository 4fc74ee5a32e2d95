// Event problem: what happens to an initial value problem on its way, beside its right-hand side.
//
// Doses add an amount to a state, at once or at a constant rate for a while; stops are times that steps end at because f jumps
// there; events are zeros of functions of time and state, and may reset the state. Their times, amounts and durations are
// numbers of the problem like its initial state, and have derivatives like it.
// Read next: solve/events/solver.hpp, which solves it; solve/solver/event_watch.hpp, how zeros are found.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include <agrad/solve/system/moving_state.hpp>

namespace agrad {

/// Where a root or a reset is differentiated along directions, each number's side by side: those of time, state and parameters.
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

/// A zero that is looked for, and the state that follows it. Active parameters are those of both functions together.
class event_function {
 public:
  virtual ~event_function() = default;
  virtual Eigen::Index parameters() const = 0;
  virtual double root(double t, const double* y) = 0;
  /// The root's value; its derivatives with respect to t, y and, unless null, the parameters.
  virtual double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) = 0;
  /// Whether the state changes.
  virtual bool resets() const { return false; }
  /// The state after the event.
  virtual void reset(double /*t*/, const double* /*y*/, double* /*to*/) {}
  /// lambda' times the derivatives of that state.
  virtual void reset_vjp(double /*t*/, const double* /*y*/, const double* /*lambda*/, double& /*t_adjoint*/,
                         double* /*y_adjoint*/, double* /*parameter_adjoint*/) {}
  /// Whether it has the function below, or no use for it.
  virtual bool has_tangents() const { return !resets(); }
  /// The derivatives of that state along directions, side by side.
  virtual void reset_tangent(const event_point& /*at*/, double* /*to*/) {}
  /// Whether it has the two functions below, which are for second derivatives.
  virtual bool has_second() const { return false; }
  /// The root's derivatives, and theirs along the directions.
  virtual void root_second(const event_point& /*at*/, moving_gradient& /*by*/) {}
  /// lambda' times the derivatives of the state after the event, and the derivatives of that along the directions.
  virtual void reset_second(const event_point& /*at*/, const moving_vector& /*lambda*/, moving_gradient& /*by*/) {}
};

/// When an event counts: for crossings upwards (1), downwards (-1) or both (0); and after how many the solution ends, if ever.
struct event_rule {
  int direction = 0;
  long terminal = 0;
};

/// A row of a dose table: the state that gets it, and whether it takes a while.
struct dose_rule {
  Eigen::Index state = 0;
  bool is_infusion = false;
};

/// What does not depend on values.
struct event_plan {
  std::vector<dose_rule> doses;
  std::size_t stops = 0;
  std::vector<event_rule> events;
  long max_events = 1000;
  /// Whether t0, an output time, or the time of a dose, an infusion's end or a stop moves.
  bool times_move = false;
};

/// All numbers of a problem but the parameters of its functions. One time, amount and duration for each dose.
struct event_values {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  std::vector<double> times;  // increasing; the first may be t0
  std::vector<double> dose_times, amounts, durations, stops;
};

/// An event that happened, with the state before it: at one instant the one that the event before has left.
struct event_hit {
  std::size_t event = 0;
  double t = 0;
  Eigen::VectorXd state;
  double steepness = 0;  // of the root around it, roughly: what its slope there is zero beside
};

/// A solution. Output times after the end have the state at the end.
struct event_solution {
  Eigen::MatrixXd states;    // column k is the state at times[k], after what happens there
  Eigen::Index reached = 0;  // output times that are not after the end
  std::vector<event_hit> hits;
  double end = 0;  // where a terminal event, or the last output time, is
  Eigen::VectorXd end_state;
  bool is_terminated = false;
};

/// Adjoints of a solution's numbers, which have the sizes of theirs.
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

/// Directions of a problem's numbers, each number's side by side. Or a gradient's derivatives along them.
struct event_directions {
  int width = 1;
  std::vector<double> initial_state, parameters, amounts;
  std::vector<double> initial_time = {}, times = {}, dose_times = {}, durations = {}, stops = {};
  std::vector<std::vector<double>> event_parameters = {};  // for each event
};

/// The derivatives of a solution's numbers along directions, or of their adjoints: a row for each number.
struct event_tangents {
  using rows = tangent_rows;
  rows states, end_state;  // states: those at one output time after the other
  Eigen::RowVectorXd end;
  rows hit_times, hit_states;
};

}  // namespace agrad
