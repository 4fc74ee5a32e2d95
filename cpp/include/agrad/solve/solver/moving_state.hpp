// Moving state: the derivatives of a state whose time moves, for tangents and adjoints, to second order.
//
// A state moved along the solution from a fixed time to a time later by d is y + f d + (f_t + f_y f) d^2 / 2 + ...; a state
// moved from a moving time back to a fixed time is y - f d + (f_y f - f_t) d^2 / 2 + .... At d = 0, with s the sign of the
// move, tangents are dz = dy + s f dd. The adjoint l of z is also the adjoint of y, and the adjoint of d is s l' f. Along the
// directions the adjoint of y changes by s f_y' l dd, the adjoint of the parameters by s f_p' l dd and the adjoint of d by s
// (dl' f + l' df), where df is the change of f at (t, z) as time moves by dd. With a mass matrix, y' takes the place of f.
// Read next: solve/events/second.hpp and solve/posed/ode.hpp, which use this class.
#pragma once

#include <Eigen/Core>
#include <vector>

#include <agrad/solve/algebra/constrained_state.hpp>
#include <agrad/solve/system/moving_numbers.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

class moving_state {
 public:
  explicit moving_state(ode_system& system) : system_(system) {}
  /// Lets another object, which must outlive this one, give the slopes of a system with a mass matrix; null for no such system.
  void use(constrained_state* constrained) { constrained_ = constrained; }

  /// Returns the derivative of the solution through y at t.
  const Eigen::VectorXd& slope_at(double t, const Eigen::VectorXd& y);

  /// Moves a state's tangents to a time that is later by `by`.
  void propagate_tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, Eigen::Ref<tangent_rows> tangents);

  /// Turns the adjoint of the moved state into the adjoint of the given state; adds to `time` and to the tangents of the
  /// parameters' adjoints. parameter_tangents: of the system's parameters, along the directions.
  void propagate_adjoint(const moving_place& at, const std::vector<double>& parameter_tangents, moving_vector& state,
                         moving_number& time, tangent_rows& parameters);

 private:
  /// Adds l' times the change of the slope along the tangents to the tangents of the time's adjoint; computes l' times the
  /// derivatives of the slope where the time moves.
  void add_slope_changes(const moving_place& at, const std::vector<double>& parameter_tangents, const Eigen::VectorXd& l,
                         Eigen::RowVectorXd& time);

  ode_system& system_;
  constrained_state* constrained_ = nullptr;
  Eigen::VectorXd slope_, y_adjoint_, of_parameters_;
  tangent_rows moved_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/moving_state.ipp>
#endif
