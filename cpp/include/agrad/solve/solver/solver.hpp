// ODE solver: the interface of all methods to the operations that record a solve.
//
// A solver integrates an `ode_system` from an initial state to output times. The reverse pass (`reverse`) then propagates
// adjoints of the states at these times to the initial state, the initial time, the times and the system's active parameters.
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

/// Which derivatives a solve must provide. Derivatives of active parameters are always included.
struct ode_required {
  bool initial_state = false;
  bool initial_time = false;
  bool times = false;
  /// Whether wanted derivatives move the initial state. If not, as for the first part of a solution from a constant state, its
  /// adjoint serves only what lies before, and a probe (solve/one_step/probe.hpp) starts from zero.
  bool state_moves = true;

  friend bool operator==(const ode_required& a, const ode_required& b) {
    return a.initial_state == b.initial_state && a.initial_time == b.initial_time && a.times == b.times &&
           a.state_moves == b.state_moves;
  }
};

/// The gradient of a scalar through the solution of an initial value problem, zero where not required.
struct ode_gradient {
  Eigen::VectorXd initial_state;
  double initial_time = 0;
  Eigen::VectorXd times;
  Eigen::VectorXd parameters;
};

/// Directions of the initial state and the parameters, or a gradient's tangents, side by side: entry i in direction k is number
/// i * width + k, and the width is 1 or 8.
struct ode_directions {
  int width = 1;
  std::vector<double> initial_state, parameters;
};

class constrained_state;

class ode_solver {
 public:
  virtual ~ode_solver() = default;

  /// Integrates from (t0, y0). Column k of the result is the state at times[k]. With a mass matrix, y0 must be consistent.
  virtual const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) = 0;

  /// Returns the gradient of a scalar whose derivative with respect to the state at times[k] is column k of `adjoints`.
  virtual ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) = 0;

  /// Returns the gradients of several scalars, each as by `reverse`.
  virtual std::vector<ode_gradient> reverse_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
    std::vector<ode_gradient> gradients;
    for (const auto& each : adjoints) gradients.push_back(reverse(each));
    return gradients;
  }

  virtual const ode_statistics& statistics() const = 0;

  /// Returns the slopes and consistent states of a system with a mass matrix; null without one.
  virtual constrained_state* constrained() { return nullptr; }

  /// For methods with a probe (solve/one_step/probe.hpp): sets the probe's tangent at the start of the next `integrate`, for a
  /// later part of the same solution, and which states have just been changed, if any; returns the tangent at the end of the
  /// last `integrate`, empty without a probe.
  virtual void continue_probe(const std::vector<double>& /*tangent*/, const std::vector<bool>& /*changed*/) {}
  virtual const std::vector<double>& probe() const {
    static const std::vector<double> none;
    return none;
  }

  /// Makes `integrate` end at the first event that the watch finds (null: at the last output time). The last column is then the
  /// state at the event, which replaces the remaining output times. Returns whether the method supports events.
  virtual bool watch(detail::event_watch*) { return false; }

  /// Makes `integrate` log what limits its steps (solve/solver/step_log.hpp; null: ends logging). Returns whether the method
  /// supports logs.
  virtual bool log_steps(detail::step_log*) { return false; }

  /// Returns whether `tangent` and `second` are available. Both hold the times fixed; solve/solver/moving_state.hpp moves the
  /// times.
  virtual bool has_tangents() const { return false; }
  /// Returns whether `tangent` is available.
  virtual bool has_first_tangents() const { return has_tangents(); }
  /// Returns whether tangents agree with reverse passes to rounding, not only within tolerances.
  virtual bool tangents_match() const { return true; }

  /// After `integrate`: computes the tangents of the states at fixed times along directions of the initial state and
  /// parameters, in the order of the states' entries, `width` numbers each. A direction d of the initial time is the direction
  /// -f(t0, y0) d of the initial state.
  inline virtual void tangent(const ode_directions& along, double* states);

  /// After `tangent`: returns the gradient and writes its tangents along the same directions, for adjoints with `tangents`.
  inline virtual ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                     ode_directions& gradient_tangents);
};

inline void ode_solver::tangent(const ode_directions&, double*) {
  throw DerivativeError("ode_solver: the method has first derivatives only, but must have second ones");
}
inline ode_gradient ode_solver::second(const Eigen::Ref<const Eigen::MatrixXd>&, const double*, ode_directions&) {
  throw DerivativeError("ode_solver: the method has first derivatives only, but must have second ones");
}

}  // namespace agrad
