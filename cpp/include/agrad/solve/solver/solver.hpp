// ODE solver: what a solve is to those who record it, whichever method is behind it.
//
// A solver integrates an `ode_system` from an initial state to output times, and then sends adjoints of the states at these
// times back to the initial state, the initial time, the times and the system's active parameters.
// Read next: solve/cvodes/adjoint.hpp, solve/one_step/explicit_runge_kutta.hpp.
#pragma once

#include <Eigen/Core>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/solve/solver/statistics.hpp>

namespace agrad {

namespace detail {
class event_watch;
struct step_log;
}  // namespace detail

/// Which derivatives a solve will be asked for; those of the active parameters are, when there are any.
struct ode_wanted {
  bool initial_state = false;
  bool initial_time = false;
  bool times = false;

  friend bool operator==(const ode_wanted& a, const ode_wanted& b) {
    return a.initial_state == b.initial_state && a.initial_time == b.initial_time && a.times == b.times;
  }
};

/// Gradient of a scalar through the solution of an initial value problem; what was not wanted is zero.
struct ode_gradient {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  Eigen::VectorXd times;
  Eigen::VectorXd parameters;
};

/// Directions of the initial state and the parameters, or a gradient's derivatives along them, side by side: entry i in direction
/// k is number i * width + k, and the width is 1 or 8.
struct ode_directions {
  int width = 1;
  std::vector<double> initial_state, parameters;
};

class ode_solver {
 public:
  virtual ~ode_solver() = default;

  /// Integrates from (t0, y0); column k of the result is the state at times[k].
  virtual const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) = 0;

  /// The gradient of a scalar whose derivative with respect to the state at times[k] is column k of `adjoints`.
  virtual ode_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) = 0;

  /// The gradients of several scalars at once, each as by `sweep`.
  virtual std::vector<ode_gradient> sweep_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
    std::vector<ode_gradient> gradients;
    for (const auto& each : adjoints) gradients.push_back(sweep(each));
    return gradients;
  }

  virtual const ode_statistics& statistics() const = 0;

  /// Of methods whose steps are controlled by a tangent as well (solve/one_step/probe.hpp): the tangent with which the next
  /// `integrate` begins, for a later part of one solution, and the tangent with which the last one ended, empty where there is
  /// none.
  virtual void continue_probe(const std::vector<double>& /*tangent*/) {}
  virtual const std::vector<double>& probe() const {
    static const std::vector<double> none;
    return none;
  }

  /// From now on `integrate` ends at the first event that the watch finds (null: goes on to the end). Its last column is then
  /// the state there, in the place of the output times from there on. Whether the method can.
  virtual bool watch(detail::event_watch*) { return false; }

  /// From now on `integrate` writes down what limits its steps (solve/solver/step_log.hpp; null: no longer). Whether the method
  /// can.
  virtual bool log_steps(detail::step_log*) { return false; }

  /// Whether it has the two functions below, in which times stay where they are; solve/system/moving_state.hpp moves them.
  virtual bool has_tangents() const { return false; }
  /// Whether it has the first of them.
  virtual bool has_first_tangents() const { return has_tangents(); }
  /// Whether they agree with sweeps to rounding, and not within tolerances only.
  virtual bool tangents_match() const { return true; }

  /// After `integrate`: the states' derivatives at fixed times along directions of what was wanted, entry by entry as the states
  /// are, each `width` numbers. A direction of the initial time is one of the initial state, -f(t0, y0) times as long.
  virtual void tangent(const ode_directions& along, double* states);

  /// After `tangent`: the gradient, and its derivatives along those directions, for adjoints that have `tangents` of their own.
  virtual ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                              ode_directions& gradient_tangents);
};

inline void ode_solver::tangent(const ode_directions&, double*) {
  throw DerivativeError("ode_solver: the method has first derivatives only");
}
inline ode_gradient ode_solver::second(const Eigen::Ref<const Eigen::MatrixXd>&, const double*, ode_directions&) {
  throw DerivativeError("ode_solver: the method has first derivatives only");
}

}  // namespace agrad
