// Definitions of solve/posed/ode.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/ode.hpp>

namespace agrad {

AGRAD_INLINE posed_ode::posed_ode(std::unique_ptr<ode_system> system, std::unique_ptr<ode_solver> solver, ode_required required,
                                  std::size_t parameters, std::size_t times)
    : system_(std::move(system)),
      solver_(std::move(solver)),
      required_(required),
      constrained_(solver_->constrained()),
      moving_(*system_) {
  moving_.use(constrained_);
  const auto n = static_cast<std::size_t>(system_->states());
  of_state_ = argument_.add("initial_state", n);
  of_time_ = argument_.add("initial_time", 1);
  of_times_ = argument_.add("times", times);
  of_parameters_ = argument_.add("parameters", parameters);
  result_.add("states", n * times);
}

AGRAD_INLINE void posed_ode::solve(const double* x) {
  times_ = of_times_.list(x);
  system_->set_parameters(of_parameters_.in(x));
  started_ = *of_time_.in(x), start_ = of_state_.of(x);
  if (constrained_ != nullptr) constrained_->make_consistent(started_, start_);
  states_ = &solver_->integrate(start_, started_, times_);
}

AGRAD_INLINE void posed_ode::read(double* y) const { Eigen::Map<Eigen::MatrixXd>(y, states(), outputs()) = *states_; }

AGRAD_INLINE void posed_ode::reverse(const double* y_adjoint, double* x_adjoint) {
  add(from_start(solver_->reverse(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, states(), outputs()))), x_adjoint);
}

AGRAD_INLINE void posed_ode::reverse_rows(std::size_t count, const double* y_adjoints, double* x_adjoints, std::size_t stride) {
  std::vector<Eigen::Map<const Eigen::MatrixXd>> rows;
  for (std::size_t row = 0; row < count; ++row) rows.emplace_back(y_adjoints + row * stride, states(), outputs());
  const std::vector<ode_gradient> gradients = solver_->reverse_rows(rows);
  for (std::size_t row = 0; row < count; ++row) add(from_start(gradients[row]), x_adjoints + row * stride);
}

AGRAD_INLINE tangent_kind posed_ode::tangents() const {
  const bool has_second = solver_->has_tangents() && (!moves() || system_->has_time_tangents());
  return {has_second ? 2 : solver_->has_first_tangents() ? 1 : 0, solver_->tangents_match()};
}

AGRAD_INLINE void posed_ode::tangent(int width, const double* x_tangent, double* y_tangent) {
  along_ = of_parameters_.list(x_tangent, width);
  start_tangents_ = of_state_.rows(x_tangent, width), time_tangents_ = of_times_.rows(x_tangent, width);
  initial_time_tangents_ = of_time_.rows(x_tangent, width);
  if (constrained_ != nullptr) constrained_->tangent(started_, start_, initial_time_tangents_, along_, start_tangents_);
  moving_.propagate_tangent(started_, start_, -initial_time_tangents_, start_tangents_);
  Eigen::Map<tangent_rows> outputs_along(y_tangent, states() * outputs(), width);
  if (reverses())
    solver_->tangent({width, {start_tangents_.data(), start_tangents_.data() + start_tangents_.size()}, along_}, y_tangent);
  else
    outputs_along.setZero();
  for (Eigen::Index k = 0; k < outputs(); ++k)
    moving_.propagate_tangent(times_[static_cast<std::size_t>(k)], states_->col(k), time_tangents_.row(k),
                              outputs_along.middleRows(k * states(), states()));
  if (moves()) output_tangents_ = outputs_along;
}

AGRAD_INLINE moving_vector posed_ode::move_outputs(Eigen::MatrixXd& adjoints, tangent_rows& tangents,
                                                   tangent_rows& of_parameters) {
  moving_vector of_times = moving_vector::zero(outputs(), tangents.cols());
  for (Eigen::Index k = 0; k < outputs(); ++k) {
    moving_vector output{adjoints.col(k), tangents.middleRows(k * states(), states())};
    moving_number of_time{0, Eigen::RowVectorXd::Zero(tangents.cols())};
    const tangent_rows moved = output_tangents_.middleRows(k * states(), states());
    const Eigen::RowVectorXd by = time_tangents_.row(k);
    moving_.propagate_adjoint({1, times_[static_cast<std::size_t>(k)], states_->col(k), moved, by}, along_, output, of_time,
                              of_parameters);
    tangents.middleRows(k * states(), states()) = output.tangents;
    of_times.value[k] = of_time.value, of_times.tangents.row(k) = of_time.tangents;
  }
  return of_times;
}

AGRAD_INLINE void posed_ode::second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                                    double* x_adjoint_tangent) {
  const auto m = static_cast<Eigen::Index>(of_parameters_.size);
  moving_vector initial = moving_vector::zero(states(), width), of_parameters = moving_vector::zero(m, width);
  moving_number of_t0{0, Eigen::RowVectorXd::Zero(width)};
  Eigen::MatrixXd adjoints = Eigen::Map<const Eigen::MatrixXd>(y_adjoint, states(), outputs());
  tangent_rows tangents = Eigen::Map<const tangent_rows>(y_adjoint_tangent, states() * outputs(), width);
  const moving_vector of_times =
      moves() ? move_outputs(adjoints, tangents, of_parameters.tangents) : moving_vector::zero(outputs(), width);
  if (reverses()) {
    ode_directions dg;
    const ode_gradient g = solver_->second(adjoints, tangents.data(), dg);
    initial = {g.initial_state, Eigen::Map<const tangent_rows>(dg.initial_state.data(), states(), width)};
    of_parameters += {g.parameters, Eigen::Map<const tangent_rows>(dg.parameters.data(), m, width)};
  }
  if (moves())
    moving_.propagate_adjoint({-1, started_, start_, start_tangents_, initial_time_tangents_}, along_, initial, of_t0,
                              of_parameters.tangents);
  if (constrained_ != nullptr) {
    tangent_rows moved = start_tangents_;
    moving_.propagate_tangent(started_, start_, initial_time_tangents_, moved);
    constrained_->second({1, started_, start_, moved, initial_time_tangents_}, along_, initial, of_t0, of_parameters);
  }
  add({initial.value, of_t0.value, of_times.value, of_parameters.value}, x_adjoint);
  of_state_.rows(x_adjoint_tangent, width) += initial.tangents;
  of_time_.rows(x_adjoint_tangent, width) += of_t0.tangents;
  of_times_.rows(x_adjoint_tangent, width) += of_times.tangents;
  of_parameters_.rows(x_adjoint_tangent, width) += of_parameters.tangents;
}

AGRAD_INLINE ode_gradient posed_ode::from_start(ode_gradient g) {
  if (constrained_ == nullptr) return g;
  constrained_->adjoint(started_, start_, g.initial_state, g.initial_time, g.parameters);
  if (!required_.initial_state) g.initial_state.setZero();
  return g;
}

AGRAD_INLINE void posed_ode::add(const ode_gradient& g, double* x_adjoint) const {
  of_state_.add(g.initial_state, x_adjoint);
  of_time_.add(g.initial_time, x_adjoint);
  of_times_.add(g.times, x_adjoint);
  of_parameters_.add(g.parameters, x_adjoint);
}

}  // namespace agrad
