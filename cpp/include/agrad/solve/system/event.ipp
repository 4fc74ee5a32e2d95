// Definitions of solve/system/event.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad {

AGRAD_INLINE event_function::event_function(function root, function reset, Eigen::Index n, bool shares, function delay)
    : root_(std::move(root)), reset_(std::move(reset)), delay_(std::move(delay)), after_(n) {
  first_ = shares ? 0 : root_->parameters();
  first_of_delay_ = first_ + (shares || !resets() ? 0 : reset_->parameters());
  parameters_ = delays()   ? first_of_delay_ + delay_->parameters()
                : resets() ? first_ + reset_->parameters()
                           : root_->parameters();
}

AGRAD_INLINE void event_function::set_parameters(const double* p) {
  root_->set_parameters(p);
  if (resets()) reset_->set_parameters(p + first_);
  if (delays()) delay_->set_parameters(p + first_of_delay_);
}

AGRAD_INLINE double event_function::root(double t, const double* y) {
  double value = 0;
  root_->value(t, y, &value);
  return value;
}

AGRAD_INLINE double event_function::root_gradient(double t, const double* y, double& by_t, double* by_y,
                                                  double* by_parameters) {
  double value = 0;
  const double one = 1;
  root_->vjp(t, y, &one, &value, by_t, by_y, by_parameters);
  return value;
}

AGRAD_INLINE void event_function::reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint,
                                            double* y_adjoint, double* parameter_adjoint) {
  reset_->vjp(t, y, lambda, after_.data(), t_adjoint, y_adjoint, parameter_adjoint + first_);
}

AGRAD_INLINE double event_function::delay(double t, const double* y) {
  double value = 0;
  delay_->value(t, y, &value);
  return value;
}

AGRAD_INLINE void event_function::delay_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) {
  double value = 0;
  const double one = 1;
  delay_->vjp(t, y, &one, &value, by_t, by_y, by_parameters + first_of_delay_);
}

AGRAD_INLINE void event_function::root_second(const ode_point& at, moving_gradient& by) {
  second(*root_, 0, at, {Eigen::VectorXd::Ones(1), tangent_rows::Zero(1, at.width)}, by);
}

AGRAD_INLINE void event_function::reset_second(const ode_point& at, const moving_vector& lambda, moving_gradient& by) {
  second(*reset_, first_, at, lambda, by);
}

AGRAD_INLINE void event_function::delay_second(const ode_point& at, moving_gradient& by) {
  second(*delay_, first_of_delay_, at, {Eigen::VectorXd::Ones(1), tangent_rows::Zero(1, at.width)}, by);
}

AGRAD_INLINE ode_point event_function::from(ode_point at, Eigen::Index first) {
  at.parameter_tangents += first * at.width;
  return at;
}

AGRAD_INLINE void event_function::second(differentiable_function& f, Eigen::Index first, const ode_point& at,
                                         const moving_vector& lambda, moving_gradient& by) const {
  by = {{0, Eigen::RowVectorXd::Zero(at.width)},
        moving_vector::zero(after_.size(), at.width),
        moving_vector::zero(parameters(), at.width)};
  f.second(from(at, first), lambda.value.data(), lambda.tangents.data(),
           {by.state.value.data(), by.parameters.value.data() + first, by.state.tangents.data(),
            by.parameters.tangents.data() + first * at.width, &by.time.value, by.time.tangents.data()});
}

}  // namespace agrad
