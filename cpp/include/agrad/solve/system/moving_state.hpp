// Moving state: the derivatives of a state whose time moves, for tangents and adjoints, to second order.
//
// A state moved along the solution from a fixed time to a time later by d is y + f d + (f_t + f_y f) d^2 / 2 + ...; a state
// moved from a moving time back to a fixed time is y - f d + (f_y f - f_t) d^2 / 2 + .... At d = 0, with s the sign of the
// move, tangents are dz = dy + s f dd. The adjoint l of z is also the adjoint of y, and the adjoint of d is s l' f. Along the
// directions the adjoint of y changes by s f_y' l dd, the adjoint of the parameters by s f_p' l dd and the adjoint of d by s
// (dl' f + l' df), where df is the change of f at (t, z) as time moves by dd.
// Read next: solve/events/second.hpp and solve/posed/ode.hpp, which use this class.
#pragma once

#include <Eigen/Core>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// Tangents of several numbers: a row for each number, with the directions side by side.
using tangent_rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A number, or a vector, with tangents.
struct moving_number {
  double value = 0;
  Eigen::RowVectorXd tangents;
};
struct moving_vector {
  Eigen::VectorXd value;
  tangent_rows tangents;

  static moving_vector zero(Eigen::Index n, Eigen::Index width);
  bool is_zero() const { return value.isZero(0) && tangents.isZero(0); }
  moving_vector& operator+=(const moving_vector& other);
};

/// A state that moves with its time: to a moving time (sign 1), or from a moving time (-1).
struct moving_place {
  int sign;
  double t;
  const Eigen::VectorXd& y;
  const tangent_rows& tangents;  // of the moved state
  const Eigen::RowVectorXd& by;  // of the time
};

class moving_state {
 public:
  explicit moving_state(ode_system& system) : system_(system) {}

  /// Moves a state's tangents to a time that is later by `by`.
  void propagate_tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, Eigen::Ref<tangent_rows> tangents);

  /// Turns the adjoint of the moved state into the adjoint of the given state; adds to `time` and to the tangents of the
  /// parameters' adjoints. parameter_tangents: of the system's parameters, along the directions.
  void propagate_adjoint(const moving_place& at, const std::vector<double>& parameter_tangents, moving_vector& state,
                         moving_number& time, tangent_rows& parameters);

 private:
  const Eigen::VectorXd& slope_at(double t, const Eigen::VectorXd& y);

  ode_system& system_;
  Eigen::VectorXd slope_, y_adjoint_, of_parameters_;
  tangent_rows moved_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/moving_state.ipp>
#endif
