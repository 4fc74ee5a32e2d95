// Event system: the right-hand side within a segment.
//
// The system adds the constant rates of running infusions to the derivatives (with a mass matrix M, M times the rates, so that
// a short infusion is a dose) and treats the rates as parameters after the inner system's. The inner system is never evaluated
// at the ends of the segment, only at the nearest numbers inside: steps, and derivatives with respect to the end's time, then
// see a jump of f at an end from the segment's side. An event's time is exact only up to rounding, so a larger margin holds
// there. A segment without length lies at a single instant, where f is evaluated before the jump (at t0 after it).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/mass_matrix.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

class event_system final : public ode_system {
 public:
  /// infused: the states that infusions go to, without repeats.
  event_system(ode_system& inner, std::vector<Eigen::Index> infused, bool differentiated);

  /// Distances from the ends of a segment within which f is not evaluated.
  struct margins {
    double begin, end;
  };
  /// The infusions that run into a state: the sum of their rates, and of the reciprocals of their durations.
  struct infusion {
    double rate = 0, per_duration = 0;
  };
  /// Enters a segment between two times, neither before `initial`; `into` has what runs into each infused state.
  void enter(double begin, double end, double initial, const margins& off, const std::vector<infusion>& into);
  /// Sets the mass matrix; without a call it is the identity.
  void use(const mass_matrix& mass);
  std::size_t rates() const { return rates_.size(); }
  std::size_t own_parameters() const { return m_; }

  Eigen::Index states() const override { return inner_.states(); }
  AGRAD_INLINE Eigen::Index parameters() const override;
  AGRAD_INLINE void parameter_values(double* p) const override;

  /// Writes the sizes of the parameters and rates. A rate is at least of the size that changes its state over the infusion, so
  /// that a rate of zero has a size, too; where no infusion runs, the size is 0.
  AGRAD_INLINE void parameter_sizes(const double* of_states, double* sizes) const override;

  AGRAD_INLINE void rhs(double t, const double* y, double* dydt) override;
  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override { inner_.jacobian(inside(t), y, J); }
  AGRAD_INLINE void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override;
  AGRAD_INLINE void linearize(int points, const double* t, const double* y) override;
  AGRAD_INLINE void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) override;
  AGRAD_INLINE void linear_jvp(int k, const double* v, const double* w, double* to) override;
  std::size_t linear_size() const override { return inner_.linear_size(); }
  void keep_linear(double* to) const override { inner_.keep_linear(to); }
  bool restore_linear(int points, const double* from) override { return inner_.restore_linear(points, from); }
  AGRAD_INLINE bool rhs_with(double t, const double* y, const double* p, double* dydt) override;

  std::shared_ptr<const csr_pattern> known_pattern() override { return inner_.known_pattern(); }
  void use_pattern(std::shared_ptr<const csr_pattern> pattern) override { inner_.use_pattern(std::move(pattern)); }
  void jacobian_entries(double t, const double* y, double* entries) override { inner_.jacobian_entries(inside(t), y, entries); }
  void jvp(double t, const double* y, const double* v, double* to) override { inner_.jvp(inside(t), y, v, to); }

  // Rates are independent of the state, so the Jacobian is independent of the rates.

  bool is_autonomous() const override { return inner_.is_autonomous(); }
  bool has_jacobian_adjoint() override { return inner_.has_jacobian_adjoint(); }

  AGRAD_INLINE void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                     double* parameter_adjoint) override;
  AGRAD_INLINE void jacobian_tangent(const ode_point& at, double* entry_tangents) override;
  AGRAD_INLINE void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                    const ode_adjoints& to) override;

  bool has_tangents() const override { return inner_.has_tangents(); }
  bool has_first_tangents() const override { return inner_.has_first_tangents(); }

  AGRAD_INLINE void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
                            double* dydt_tangents) override;
  bool has_time_tangents() const override { return inner_.has_time_tangents(); }
  AGRAD_INLINE void moving_tangent(const ode_point& at, double* dydt_tangents) override;

  AGRAD_INLINE void second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                           const ode_adjoints& to) override;

 private:
  /// Adds x times the change of the derivatives by rate j, for numbers with `width` directions.
  void add_rate(std::size_t j, const double* x, std::size_t width, double* dydt) const {
    for (const auto& [state, factor] : columns_[j])
      for (std::size_t k = 0; k < width; ++k) dydt[state * width + k] += factor * x[k];
  }
  /// Returns the adjoint of rate j in a direction.
  double rate_adjoint(std::size_t j, const double* lambda, std::size_t width = 1, std::size_t k = 0) const {
    double sum = 0;
    for (const auto& [state, factor] : columns_[j]) sum += factor * lambda[state * width + k];
    return sum;
  }

  /// Adds rates among the parameters, or tangents of the rates, to the derivatives.
  void add_rates(const double* p, double* dydt) const;
  void add_rate_tangents(int width, const double* parameter_tangents, double* dydt_tangents) const;
  void write_rate_adjoints(const double* lambda, double* parameter_adjoint) const;
  double inside(double t) const { return std::clamp(t, first_, last_); }
  ode_point moved_inside(ode_point at) const;

  ode_system& inner_;
  std::vector<Eigen::Index> infused_;
  std::vector<std::vector<std::pair<std::size_t, double>>> columns_;  // of the mass matrix, for each infused state
  std::vector<double> rates_, per_duration_, points_;                 // points_: times of a linearisation
  bool differentiated_;
  std::size_t m_;
  double first_ = 0, last_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/system.ipp>
#endif
