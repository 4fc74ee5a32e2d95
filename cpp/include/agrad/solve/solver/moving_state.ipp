// Definitions of solve/solver/moving_state.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/moving_state.hpp>

namespace agrad {

AGRAD_INLINE void moving_state::propagate_tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                                                  Eigen::Ref<tangent_rows> tangents) {
  if (!by.isZero(0)) tangents += slope_at(t, y) * by;
}

AGRAD_INLINE void moving_state::propagate_adjoint(const moving_place& at, const std::vector<double>& parameter_tangents,
                                                  moving_vector& state, moving_number& time, tangent_rows& parameters) {
  if (state.is_zero()) return;
  const Eigen::VectorXd& slope = slope_at(at.t, at.y);
  Eigen::RowVectorXd change = slope.transpose() * state.tangents;
  time.value += at.sign * state.value.dot(slope);
  y_adjoint_.resize(slope.size()), of_parameters_.setZero(parameters.rows());
  add_slope_changes(at, parameter_tangents, state.value, change);
  time.tangents += at.sign * change;
  if (at.by.isZero(0)) return;
  state.tangents += at.sign * y_adjoint_ * at.by;
  parameters += at.sign * of_parameters_ * at.by;
}

AGRAD_INLINE void moving_state::add_slope_changes(const moving_place& at, const std::vector<double>& parameter_tangents,
                                                  const Eigen::VectorXd& l, Eigen::RowVectorXd& time) {
  const Eigen::Index width = at.by.size();
  if (constrained_ != nullptr) {
    double of_time = 0;
    constrained_->slope_adjoint(at.t, at.y, l, of_time, y_adjoint_, of_parameters_);
    time +=
        of_time * at.by + y_adjoint_.transpose() * at.tangents +
        of_parameters_.transpose() * Eigen::Map<const tangent_rows>(parameter_tangents.data(), of_parameters_.size(), width);
    return;
  }
  moved_.resize(at.y.size(), width);
  system_.moving_tangent(
      {static_cast<int>(width), at.t, at.y.data(), at.tangents.data(), parameter_tangents.data(), at.by.data()}, moved_.data());
  time += l.transpose() * moved_;
  if (!at.by.isZero(0)) system_.vjp(at.t, at.y.data(), l.data(), y_adjoint_.data(), of_parameters_.data());
}

AGRAD_INLINE const Eigen::VectorXd& moving_state::slope_at(double t, const Eigen::VectorXd& y) {
  slope_.resize(y.size());
  if (constrained_ != nullptr)
    constrained_->slope(t, y.data(), slope_.data());
  else
    system_.rhs(t, y.data(), slope_.data());
  return slope_;
}

}  // namespace agrad
