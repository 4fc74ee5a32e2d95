// Definitions of solve/system/program/ode.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

AGRAD_INLINE program_system::program_system(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
                                            std::shared_ptr<program_structure> structure, std::size_t held)
    : f_(std::move(f), n, differentiated, held),
      structure_(std::move(structure)),
      held_(held),
      slope_(static_cast<std::size_t>(n)) {
  f_.use_moving(structure_->moving(f_.code(), n));
}

AGRAD_INLINE void program_system::parameter_sizes(const double* of_states, double* sizes) const {
  ode_system::parameter_sizes(of_states, sizes);
  for (std::size_t j = 0; j < active_.size() && parameters() > 0; ++j)
    if (!active_[j]) sizes[j] = 0;
}

AGRAD_INLINE void program_system::set_parameters(const double* p) {
  f_.set_parameters(p);
  if (entries_) entries_->set_parameters(p);
}

AGRAD_INLINE void program_system::hold(std::vector<double> sides) {
  held_ = std::move(sides);
  f_.hold(held_);
  if (entries_) entries_->hold(held_);
}

AGRAD_INLINE void program_system::rhs(double t, const double* y, double* dydt) { f_.value(t, y, dydt); }

AGRAD_INLINE void program_system::jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) {
  const auto n = static_cast<std::size_t>(states());
  dense_.resize(n * n);
  if (pattern_ == nullptr && find_entries())
    entries_->value(t, y, dense_.data());
  else if (!f_.has(2))
    return jacobian_by_rows(t, y, J);
  else
    jacobian_columns(f_.code(), columns_work_, f_.set(t, y), 1, n, slope_.data(), dense_.data());
  using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  J = Eigen::Map<const row_major>(dense_.data(), states(), states());
}

AGRAD_INLINE void program_system::jvp(double t, const double* y, const double* v, double* to) {
  if (!f_.has(2)) return ode_system::jvp(t, y, v, to);
  f_.tangent({1, t, y, v, nullptr}, to);
}

AGRAD_INLINE void program_system::use_pattern(std::shared_ptr<const csr_pattern> pattern) {
  ode_system::use_pattern(std::move(pattern));
  has_searched_ = false;
  if (!find_entries()) compressed_ = structure_->compressed(f_.code(), states(), *pattern_);
}

AGRAD_INLINE void program_system::jacobian_entries(double t, const double* y, double* entries) {
  if (entries_)
    entries_->value(t, y, entries);
  else
    (*compressed_)(f_.code(), columns_work_, f_.set(t, y), slope_.data(), entries);
}

AGRAD_INLINE void program_system::jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                                   double* parameter_adjoint) {
  entries_->run(t, y);
  write_adjoints(entries_->adjoints(weights), y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::jacobian_tangent(const ode_point& at, double* entry_tangents) {
  entries_->tangent(at, entry_tangents);
}

AGRAD_INLINE void program_system::jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                                  const ode_adjoints& to) {
  entries_->second(at, weights, weight_tangents, to);
}

AGRAD_INLINE void program_system::vjp(double t, const double* y, const double* lambda, double* y_adjoint,
                                      double* parameter_adjoint) {
  f_.run(t, y);
  write_adjoints(f_.adjoints(lambda), y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::linearize(int points, const double* t, const double* y) {
  if (linear_at_ != points) {
    linear_ = structure_->linear(f_.code(), states(), parameters(), points);
    if (linear_ != nullptr && !pays(*linear_)) linear_ = nullptr;
    linear_at_ = points;
    is_linear_ready_ = false;
  }
  if (linear_ == nullptr) return ode_system::linearize(points, t, y);
  f_.poll();
  linear_->evaluate(linear_work_, t, y, f_.parameter_values());
  is_linear_ready_ = true;
}

AGRAD_INLINE bool program_system::restore_linear(int points, const double* from) {
  if (linear_at_ != points || !is_linear_ready_) return false;
  linear_->restore(linear_work_, from);
  return true;
}

AGRAD_INLINE void program_system::linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
  if (linear_ == nullptr) return ode_system::linear_vjp(k, lambda, y_adjoint, parameter_adjoint);
  linear_->product(linear_work_, static_cast<std::size_t>(k), lambda, y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::linear_jvp(int k, const double* v, const double* w, double* to) {
  if (linear_ == nullptr) return ode_system::linear_jvp(k, v, w, to);
  linear_->forward_product(linear_work_, static_cast<std::size_t>(k), v, parameters() > 0 ? w : nullptr, to);
}

AGRAD_INLINE bool program_system::rhs_with(double t, const double* y, const double* p, double* dydt) {
  const std::vector<double> own(f_.parameter_values(), f_.parameter_values() + parameters());
  if (!own.empty()) f_.set_parameters(p);
  f_.value(t, y, dydt);
  if (!own.empty()) f_.set_parameters(own.data());
  return true;
}

AGRAD_INLINE void program_system::tangent(int width, double t, const double* y, const double* y_tangents,
                                          const double* parameter_tangents, double* dydt_tangents) {
  f_.tangent({width, t, y, y_tangents, parameter_tangents}, dydt_tangents);
}

AGRAD_INLINE void program_system::moving_tangent(const ode_point& at, double* dydt_tangents) { f_.tangent(at, dydt_tangents); }

AGRAD_INLINE void program_system::second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                                         const ode_adjoints& to) {
  f_.second(at, lambda, lambda_tangents, to);
}

AGRAD_INLINE void program_system::jacobian_by_rows(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) {
  f_.run(t, y);
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(states());
  for (Eigen::Index i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    J.row(i) = Eigen::Map<const Eigen::RowVectorXd>(f_.adjoints(unit.data()) + 1, unit.size());
    unit[i] = 0;
  }
}

AGRAD_INLINE void program_system::write_adjoints(const double* all, double* y_adjoint, double* parameter_adjoint) const {
  if (y_adjoint != nullptr) std::copy_n(all + 1, states(), y_adjoint);
  if (parameter_adjoint != nullptr) std::copy_n(all + 1 + states(), parameters(), parameter_adjoint);
}

AGRAD_INLINE bool program_system::find_entries() {
  if (has_searched_) return entries_.has_value();
  has_searched_ = true;
  entries_.reset();
  std::shared_ptr<const program> found = structure_->entries(f_.code(), states(), pattern_);
  if (found == nullptr) return false;
  entries_.emplace(std::move(found), states(), parameters() > 0, held_.size());
  entries_->set_parameters(f_.parameter_values());
  entries_->hold(held_);
  return true;
}

}  // namespace agrad
