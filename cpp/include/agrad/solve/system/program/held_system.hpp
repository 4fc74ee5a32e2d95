// Held system: a recorded right-hand side whose comparisons are held.
//
// A step that is attempted across a threshold evaluates the held branch beyond it, and so does, by the error of its stages, a
// step up to the threshold. The branch may have no value there: maximum(y, 0)**1.5 below zero. Where kinks are held, the
// right-hand side itself then gives the value and the derivatives of that point, whose branch is the other one; at a jump, the
// branch has no value.
// Read first: solve/system/jumps/held_code.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

class held_system : public program_system {
 public:
  /// f: the right-hand side that `held` is made of.
  held_system(const held_code& held, std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
              std::shared_ptr<program_structure> structure)
      : program_system(held.f, n, differentiated, std::move(structure), held.entries.size()) {
    if (has_kinks(held)) plain_ = std::make_unique<program_system>(std::move(f), n, differentiated);
  }

  void set_parameters(const double* p) override {
    program_system::set_parameters(p);
    if (plain_ != nullptr) plain_->set_parameters(p);
  }

  void rhs(double t, const double* y, double* dydt) override {
    program_system::rhs(t, y, dydt);
    if (lacks(dydt, states())) plain_->rhs(t, y, dydt);
  }
  bool rhs_with(double t, const double* y, const double* p, double* dydt) override {
    program_system::rhs_with(t, y, p, dydt);
    return !lacks(dydt, states()) || plain_->rhs_with(t, y, p, dydt);
  }
  void jvp(double t, const double* y, const double* v, double* to) override {
    program_system::jvp(t, y, v, to);
    if (lacks(to, states())) plain_->jvp(t, y, v, to);
  }
  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    program_system::vjp(t, y, lambda, y_adjoint, parameter_adjoint);
    if (lacks(y_adjoint, parameter_adjoint)) plain_->vjp(t, y, lambda, y_adjoint, parameter_adjoint);
  }

  void use_pattern(std::shared_ptr<const csr_pattern> pattern) override {
    if (plain_ != nullptr) plain_->use_pattern(pattern);  // branches have the pattern of the choice between them
    program_system::use_pattern(std::move(pattern));
  }
  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override {
    program_system::jacobian(t, y, J);
    if (plain_ != nullptr && !J.allFinite()) plain_->jacobian(t, y, J);
  }
  void jacobian_entries(double t, const double* y, double* entries) override {
    program_system::jacobian_entries(t, y, entries);
    if (lacks(entries, this->entries())) plain_->jacobian_entries(t, y, entries);
  }
  void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                        double* parameter_adjoint) override {
    program_system::jacobian_adjoint(t, y, weights, y_adjoint, parameter_adjoint);
    if (lacks(y_adjoint, parameter_adjoint) && plain_->has_jacobian_adjoint())
      plain_->jacobian_adjoint(t, y, weights, y_adjoint, parameter_adjoint);
  }
  void jacobian_tangent(const ode_point& at, double* entry_tangents) override {
    program_system::jacobian_tangent(at, entry_tangents);
    if (lacks(entry_tangents, entries() * at.width) && plain_->has_jacobian_adjoint())
      plain_->jacobian_tangent(at, entry_tangents);
  }
  void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                       const ode_adjoints& to) override {
    program_system::jacobian_second(at, weights, weight_tangents, to);
    if (lacks(to, at.width) && plain_->has_jacobian_adjoint()) plain_->jacobian_second(at, weights, weight_tangents, to);
  }

  void linearize(int points, const double* t, const double* y) override {
    program_system::linearize(points, t, y);
    points_ = points, t_ = t, y_ = y;
  }
  void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    program_system::linear_vjp(k, lambda, y_adjoint, parameter_adjoint);
    if (!lacks(y_adjoint, parameter_adjoint)) return;
    plain_->linearize(points_, t_, y_);
    plain_->linear_vjp(k, lambda, y_adjoint, parameter_adjoint);
  }
  void linear_jvp(int k, const double* v, const double* w, double* to) override {
    program_system::linear_jvp(k, v, w, to);
    if (!lacks(to, states())) return;
    plain_->linearize(points_, t_, y_);
    plain_->linear_jvp(k, v, w, to);
  }

  /// Keeps nothing where the right-hand side itself may have to answer, which needs the points.
  std::size_t linear_size() const override { return plain_ == nullptr ? program_system::linear_size() : 0; }

  void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
               double* dydt_tangents) override {
    program_system::tangent(width, t, y, y_tangents, parameter_tangents, dydt_tangents);
    if (lacks(dydt_tangents, states() * width)) plain_->tangent(width, t, y, y_tangents, parameter_tangents, dydt_tangents);
  }
  void moving_tangent(const ode_point& at, double* dydt_tangents) override {
    program_system::moving_tangent(at, dydt_tangents);
    if (lacks(dydt_tangents, states() * at.width)) plain_->moving_tangent(at, dydt_tangents);
  }
  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    program_system::second(at, lambda, lambda_tangents, to);
    if (lacks(to, at.width)) plain_->second(at, lambda, lambda_tangents, to);
  }

 private:
  /// Returns whether a number is not finite that the right-hand side itself may have.
  bool lacks(const double* numbers, Eigen::Index count) const {
    const auto is_finite = [](double x) { return std::isfinite(x); };
    return plain_ != nullptr && numbers != nullptr && !std::all_of(numbers, numbers + count, is_finite);
  }
  bool lacks(const double* y_adjoint, const double* parameter_adjoint) const {
    return lacks(y_adjoint, states()) || lacks(parameter_adjoint, parameters());
  }
  bool lacks(const ode_adjoints& of, int width) const {
    return lacks(of.y_tangents, states() * width) || lacks(of.parameter_tangents, parameters() * width);
  }
  /// Returns the number of stored entries of the Jacobian.
  Eigen::Index entries() const {
    return pattern_ != nullptr ? static_cast<Eigen::Index>(pattern_->size()) : states() * states();
  }

  std::unique_ptr<program_system> plain_;  // null without kinks
  int points_ = 0;                         // of the last linearization
  const double *t_ = nullptr, *y_ = nullptr;
};

}  // namespace agrad
