// Definitions of solve/system/program/event.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/event.hpp>

namespace agrad {

AGRAD_INLINE bool event_programs::fit(std::size_t states) const {
  return root->input_size() > states && root->output_size() == 1 &&
         (reset == nullptr || (reset->input_size() > states && reset->output_size() == states));
}

AGRAD_INLINE std::size_t event_programs::parameters(std::size_t states) const {
  return root->input_size() - 1 - states + (reset == nullptr ? 0 : reset->input_size() - 1 - states);
}

AGRAD_INLINE void program_event::set_parameters(const double* p) {
  root_.set(p);
  reset_.set(p + root_.parameters);
}

AGRAD_INLINE double program_event::root(double t, const double* y) {
  double value = 0;
  root_.run(t, y, &value, false);
  return value;
}

AGRAD_INLINE double program_event::root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) {
  double value = 0;
  const double one = 1;
  root_.run(t, y, &value, true);
  root_.back(&one, by_t, by_y, by_parameters);
  return value;
}

AGRAD_INLINE void program_event::reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint,
                                           double* y_adjoint, double* parameter_adjoint) {
  after_.resize(n_);
  reset_.run(t, y, after_.data(), true);
  reset_.back(lambda, t_adjoint, y_adjoint, parameter_adjoint + root_.parameters);
}

AGRAD_INLINE void program_event::reset_tangent(const event_point& at, double* to) {
  after_.resize(n_);
  reset_.run(at.t, at.y, after_.data(), true);
  const auto skipped = static_cast<std::ptrdiff_t>(root_.parameters) * at.width;
  reset_.along(at, at.parameter_tangents + skipped, to);
}

AGRAD_INLINE bool program_event::has_second() const {
  return root_.code->first_without_tangents() == nullptr && (!resets() || reset_.code->first_without_tangents() == nullptr);
}

AGRAD_INLINE void program_event::root_second(const event_point& at, moving_gradient& by) {
  by.parameters = moving_vector::zero(parameters(), at.width);
  const moving_vector one{Eigen::VectorXd::Ones(1), tangent_rows::Zero(1, at.width)};
  root_.second(at, one, 0, by);
}

AGRAD_INLINE void program_event::reset_second(const event_point& at, const moving_vector& lambda, moving_gradient& by) {
  by.parameters = moving_vector::zero(parameters(), at.width);
  reset_.second(at, lambda, root_.parameters, by);
}

AGRAD_INLINE void program_event::part::run(double t, const double* y, double* to, bool with_adjoint) {
  inputs[0] = t;
  std::copy_n(y, states, inputs.begin() + 1);
  code->forward(space, inputs.data(), to, with_adjoint);
}

AGRAD_INLINE void program_event::part::back(const double* lambda, double& by_t, double* by_y, double* by_parameters) {
  adjoints.resize(inputs.size());
  code->reverse(space, lambda, adjoints.data());
  by_t = adjoints[0];
  std::copy_n(adjoints.begin() + 1, states, by_y);
  if (by_parameters != nullptr)
    std::copy_n(adjoints.begin() + static_cast<std::ptrdiff_t>(1 + states), parameters, by_parameters);
}

AGRAD_INLINE void program_event::part::along(const event_point& at, const double* parameter_tangents, double* to) {
  const auto w = static_cast<std::size_t>(at.width);
  tangents.assign(at.t_tangents, at.t_tangents + w);
  tangents.insert(tangents.end(), at.y_tangents, at.y_tangents + states * w);
  tangents.insert(tangents.end(), parameter_tangents, parameter_tangents + parameters * w);
  if (at.width == 1)
    code->tangent<1>(space, tangents.data(), to);
  else
    code->tangent<lane_count>(space, tangents.data(), to);
}

AGRAD_INLINE void program_event::part::second(const event_point& at, const moving_vector& lambda, std::size_t first,
                                              moving_gradient& by) {
  const auto w = static_cast<std::size_t>(at.width);
  outputs.resize(code->output_size()), moved.resize(outputs.size() * w);
  run(at.t, at.y, outputs.data(), true);
  along(at, at.parameter_tangents + first * w, moved.data());
  adjoints.resize(inputs.size()), moved.resize(inputs.size() * w);
  if (at.width == 1)
    code->second<1>(space, lambda.value.data(), adjoints.data(), moved.data(), lambda.tangents.data());
  else
    code->second<lane_count>(space, lambda.value.data(), adjoints.data(), moved.data(), lambda.tangents.data());
  const auto n = static_cast<Eigen::Index>(states), m = static_cast<Eigen::Index>(parameters);
  const auto tangents_from = [&](Eigen::Index i, Eigen::Index count) {
    return tangent_rows::Map(moved.data() + static_cast<std::size_t>(i) * w, count, at.width);
  };
  by.time = {adjoints[0], tangents_from(0, 1)};
  by.state = {Eigen::VectorXd::Map(adjoints.data() + 1, n), tangents_from(1, n)};
  by.parameters.value.segment(static_cast<Eigen::Index>(first), m) = Eigen::VectorXd::Map(adjoints.data() + 1 + n, m);
  by.parameters.tangents.middleRows(static_cast<Eigen::Index>(first), m) = tangents_from(1 + n, m);
}

}  // namespace agrad
