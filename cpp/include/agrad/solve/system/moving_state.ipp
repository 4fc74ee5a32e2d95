// Definitions of solve/system/moving_state.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/moving_state.hpp>

namespace agrad {

AGRAD_INLINE moving_vector moving_vector::zero(Eigen::Index n, Eigen::Index width) {
  return {Eigen::VectorXd::Zero(n), tangent_rows::Zero(n, width)};
}

AGRAD_INLINE moving_vector& moving_vector::operator+=(const moving_vector& other) {
  value += other.value, tangents += other.tangents;
  return *this;
}

AGRAD_INLINE void moving_state::propagate_tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                                                  Eigen::Ref<tangent_rows> tangents) {
  if (!by.isZero(0)) tangents += slope_at(t, y) * by;
}

AGRAD_INLINE void moving_state::propagate_adjoint(const moving_place& at, const std::vector<double>& parameter_tangents,
                                                  moving_vector& state, moving_number& time, tangent_rows& parameters) {
  if (state.is_zero()) return;
  const Eigen::VectorXd& slope = slope_at(at.t, at.y);
  moved_.resize(slope.size(), at.by.size());
  system_.moving_tangent(
      {static_cast<int>(at.by.size()), at.t, at.y.data(), at.tangents.data(), parameter_tangents.data(), at.by.data()},
      moved_.data());
  time.value += at.sign * state.value.dot(slope);
  time.tangents += at.sign * (slope.transpose() * state.tangents + state.value.transpose() * moved_);
  if (at.by.isZero(0)) return;
  y_adjoint_.resize(slope.size()), of_parameters_.setZero(parameters.rows());
  system_.vjp(at.t, at.y.data(), state.value.data(), y_adjoint_.data(), of_parameters_.data());
  state.tangents += at.sign * y_adjoint_ * at.by;
  parameters += at.sign * of_parameters_ * at.by;
}

AGRAD_INLINE const Eigen::VectorXd& moving_state::slope_at(double t, const Eigen::VectorXd& y) {
  slope_.resize(y.size());
  system_.rhs(t, y.data(), slope_.data());
  return slope_;
}

}  // namespace agrad
