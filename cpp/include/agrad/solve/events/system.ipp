// Definitions of solve/events/system.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/events/system.hpp>

namespace agrad::detail {

AGRAD_INLINE event_system::event_system(ode_system& inner, std::vector<Eigen::Index> infused, bool differentiated)
    : inner_(inner),
      infused_(std::move(infused)),
      columns_(infused_.size()),
      rates_(infused_.size(), 0.0),
      per_duration_(infused_.size(), 0.0),
      differentiated_(differentiated),
      m_(static_cast<std::size_t>(inner.parameters())) {
  for (std::size_t j = 0; j < infused_.size(); ++j) columns_[j] = {{static_cast<std::size_t>(infused_[j]), 1.0}};
}

AGRAD_INLINE void event_system::use(const mass_matrix& mass) {
  for (auto& column : columns_) column.clear();
  mass.each([&](std::size_t i, std::size_t state, double value) {
    for (std::size_t j = 0; j < infused_.size(); ++j)
      if (static_cast<std::size_t>(infused_[j]) == state) columns_[j].emplace_back(i, value);
  });
}

AGRAD_INLINE void event_system::enter(double begin, double end, double initial, const margins& off,
                                      const std::vector<infusion>& into) {
  if (begin == end)
    first_ = last_ = std::nextafter(begin, begin > initial ? -HUGE_VAL : HUGE_VAL);
  else if (std::nextafter(begin, end) == end)
    first_ = last_ = begin;  // there is no number in between
  else
    first_ = std::nextafter(begin, end), last_ = std::nextafter(end, begin);
  if (first_ + off.begin < last_ - off.end) first_ += off.begin, last_ -= off.end;
  for (std::size_t j = 0; j < rates_.size(); ++j) rates_[j] = into[j].rate, per_duration_[j] = into[j].per_duration;
}

AGRAD_INLINE Eigen::Index event_system::parameters() const {
  return inner_.parameters() + (differentiated_ ? static_cast<Eigen::Index>(rates_.size()) : 0);
}

AGRAD_INLINE void event_system::parameter_values(double* p) const {
  inner_.parameter_values(p);
  if (differentiated_) std::copy(rates_.begin(), rates_.end(), p + m_);
}

AGRAD_INLINE void event_system::parameter_sizes(const double* of_states, double* sizes) const {
  inner_.parameter_sizes(of_states, sizes);
  for (std::size_t j = 0; j < rates_.size() && differentiated_; ++j)
    sizes[m_ + j] = std::max(std::abs(rates_[j]), per_duration_[j] * of_states[infused_[j]]);
}

AGRAD_INLINE void event_system::rhs(double t, const double* y, double* dydt) {
  inner_.rhs(inside(t), y, dydt);
  for (std::size_t j = 0; j < rates_.size(); ++j) add_rate(j, &rates_[j], 1, dydt);
}

AGRAD_INLINE void event_system::vjp(double t, const double* y, const double* lambda, double* y_adjoint,
                                    double* parameter_adjoint) {
  inner_.vjp(inside(t), y, lambda, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
  write_rate_adjoints(lambda, parameter_adjoint);
}

AGRAD_INLINE void event_system::linearize(int points, const double* t, const double* y) {
  points_.assign(t, t + points);
  for (double& each : points_) each = inside(each);
  inner_.linearize(points, points_.data(), y);
}

AGRAD_INLINE void event_system::linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
  inner_.linear_vjp(k, lambda, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
  write_rate_adjoints(lambda, parameter_adjoint);
}

AGRAD_INLINE void event_system::linear_jvp(int k, const double* v, const double* w, double* to) {
  inner_.linear_jvp(k, v, w, to);
  add_rates(w, to);
}

AGRAD_INLINE bool event_system::rhs_with(double t, const double* y, const double* p, double* dydt) {
  if (!inner_.rhs_with(inside(t), y, p, dydt)) return false;
  if (differentiated_)
    add_rates(p, dydt);
  else
    for (std::size_t j = 0; j < rates_.size(); ++j) add_rate(j, &rates_[j], 1, dydt);
  return true;
}

AGRAD_INLINE void event_system::jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                                 double* parameter_adjoint) {
  inner_.jacobian_adjoint(inside(t), y, weights, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
  if (parameter_adjoint != nullptr && differentiated_) std::fill_n(parameter_adjoint + m_, rates_.size(), 0.0);
}

AGRAD_INLINE void event_system::jacobian_tangent(const ode_point& at, double* entry_tangents) {
  inner_.jacobian_tangent(moved_inside(at), entry_tangents);
}

AGRAD_INLINE void event_system::jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                                const ode_adjoints& to) {
  inner_.jacobian_second(moved_inside(at), weights, weight_tangents, to);
  std::fill_n(to.parameters + m_, rates_.size(), 0.0);
  std::fill_n(to.parameter_tangents + m_ * static_cast<std::size_t>(at.width),
              rates_.size() * static_cast<std::size_t>(at.width), 0.0);
}

AGRAD_INLINE void event_system::tangent(int width, double t, const double* y, const double* y_tangents,
                                        const double* parameter_tangents, double* dydt_tangents) {
  inner_.tangent(width, inside(t), y, y_tangents, parameter_tangents, dydt_tangents);
  add_rate_tangents(width, parameter_tangents, dydt_tangents);
}

AGRAD_INLINE void event_system::moving_tangent(const ode_point& at, double* dydt_tangents) {
  inner_.moving_tangent(moved_inside(at), dydt_tangents);
  add_rate_tangents(at.width, at.parameter_tangents, dydt_tangents);
}

AGRAD_INLINE void event_system::second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                                       const ode_adjoints& to) {
  inner_.second(moved_inside(at), lambda, lambda_tangents, to);
  const auto w = static_cast<std::size_t>(at.width);
  for (std::size_t j = 0; j < rates_.size(); ++j) {
    to.parameters[m_ + j] = rate_adjoint(j, lambda);
    for (std::size_t k = 0; k < w; ++k) to.parameter_tangents[(m_ + j) * w + k] = rate_adjoint(j, lambda_tangents, w, k);
  }
}

AGRAD_INLINE void event_system::add_rates(const double* p, double* dydt) const {
  if (!differentiated_) return;
  for (std::size_t j = 0; j < rates_.size(); ++j) add_rate(j, p + m_ + j, 1, dydt);
}

AGRAD_INLINE void event_system::add_rate_tangents(int width, const double* parameter_tangents, double* dydt_tangents) const {
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t j = 0; j < rates_.size(); ++j) add_rate(j, parameter_tangents + (m_ + j) * w, w, dydt_tangents);
}

AGRAD_INLINE void event_system::write_rate_adjoints(const double* lambda, double* parameter_adjoint) const {
  if (parameter_adjoint == nullptr || !differentiated_) return;
  for (std::size_t j = 0; j < rates_.size(); ++j) parameter_adjoint[m_ + j] = rate_adjoint(j, lambda);
}

AGRAD_INLINE ode_point event_system::moved_inside(ode_point at) const {
  at.t = inside(at.t);
  return at;
}

}  // namespace agrad::detail
