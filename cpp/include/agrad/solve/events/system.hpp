// Event system: the right-hand side within a segment.
//
// The system adds the constant rates of running infusions to the derivatives and treats the rates as parameters after the inner
// system's. The inner system is never evaluated at the ends of the segment, only at the nearest numbers inside: steps, and
// derivatives with respect to the end's time, then see a jump of f at an end from the segment's side. An event's time is exact
// only up to rounding, so a larger margin holds there. A segment without length lies at a single instant, where f is evaluated
// before the jump (at t0 after it).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

class event_system final : public ode_system {
 public:
  /// infused: the states that infusions go to, without repeats.
  event_system(ode_system& inner, std::vector<Eigen::Index> infused, bool differentiated)
      : inner_(inner),
        infused_(std::move(infused)),
        rates_(infused_.size(), 0.0),
        differentiated_(differentiated),
        m_(static_cast<std::size_t>(inner.parameters())) {}

  /// Distances from the ends of a segment within which f is not evaluated.
  struct margins {
    double begin, end;
  };
  /// Enters a segment between two times, neither before `initial`, with a rate for each infused state.
  void enter(double begin, double end, double initial, const margins& off, const std::vector<double>& rates) {
    if (begin == end)
      first_ = last_ = std::nextafter(begin, begin > initial ? -HUGE_VAL : HUGE_VAL);
    else if (std::nextafter(begin, end) == end)
      first_ = last_ = begin;  // there is no number in between
    else
      first_ = std::nextafter(begin, end), last_ = std::nextafter(end, begin);
    if (first_ + off.begin < last_ - off.end) first_ += off.begin, last_ -= off.end;
    rates_ = rates;
  }
  std::size_t rates() const { return rates_.size(); }
  std::size_t own_parameters() const { return m_; }

  Eigen::Index states() const override { return inner_.states(); }
  Eigen::Index parameters() const override {
    return inner_.parameters() + (differentiated_ ? static_cast<Eigen::Index>(rates_.size()) : 0);
  }
  void parameter_values(double* p) const override {
    inner_.parameter_values(p);
    if (differentiated_) std::copy(rates_.begin(), rates_.end(), p + m_);
  }

  void parameter_sizes(double* sizes) const override {
    inner_.parameter_sizes(sizes);
    for (std::size_t j = 0; j < rates_.size() && differentiated_; ++j) sizes[m_ + j] = rates_[j] == 0 ? 1 : std::abs(rates_[j]);
  }

  void rhs(double t, const double* y, double* dydt) override {
    inner_.rhs(inside(t), y, dydt);
    for (std::size_t j = 0; j < rates_.size(); ++j) dydt[infused_[j]] += rates_[j];
  }
  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override { inner_.jacobian(inside(t), y, J); }
  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    inner_.vjp(inside(t), y, lambda, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
    put_rate_adjoints(lambda, parameter_adjoint);
  }
  void linearize(int points, const double* t, const double* y) override {
    points_.assign(t, t + points);
    for (double& each : points_) each = inside(each);
    inner_.linearize(points, points_.data(), y);
  }
  void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    inner_.linear_vjp(k, lambda, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
    put_rate_adjoints(lambda, parameter_adjoint);
  }
  void linear_jvp(int k, const double* v, const double* w, double* to) override {
    inner_.linear_jvp(k, v, w, to);
    add_rates(w, to);
  }
  bool rhs_with(double t, const double* y, const double* p, double* dydt) override {
    if (!inner_.rhs_with(inside(t), y, p, dydt)) return false;
    if (differentiated_)
      add_rates(p, dydt);
    else
      for (std::size_t j = 0; j < rates_.size(); ++j) dydt[infused_[j]] += rates_[j];
    return true;
  }

  std::shared_ptr<const csr_pattern> known_pattern() override { return inner_.known_pattern(); }
  void use_pattern(std::shared_ptr<const csr_pattern> pattern) override { inner_.use_pattern(std::move(pattern)); }
  void jacobian_entries(double t, const double* y, double* entries) override { inner_.jacobian_entries(inside(t), y, entries); }
  void jvp(double t, const double* y, const double* v, double* to) override { inner_.jvp(inside(t), y, v, to); }

  // Rates are independent of the state, so the Jacobian is independent of the rates.

  bool is_autonomous() const override { return inner_.is_autonomous(); }
  bool has_jacobian_adjoint() override { return inner_.has_jacobian_adjoint(); }

  void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                        double* parameter_adjoint) override {
    inner_.jacobian_adjoint(inside(t), y, weights, y_adjoint, m_ > 0 ? parameter_adjoint : nullptr);
    if (parameter_adjoint != nullptr && differentiated_) std::fill_n(parameter_adjoint + m_, rates_.size(), 0.0);
  }
  void jacobian_tangent(const ode_point& at, double* entry_tangents) override {
    inner_.jacobian_tangent(moved_inside(at), entry_tangents);
  }
  void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                       const ode_adjoints& to) override {
    inner_.jacobian_second(moved_inside(at), weights, weight_tangents, to);
    std::fill_n(to.parameters + m_, rates_.size(), 0.0);
    std::fill_n(to.parameter_tangents + m_ * static_cast<std::size_t>(at.width),
                rates_.size() * static_cast<std::size_t>(at.width), 0.0);
  }

  bool has_tangents() const override { return inner_.has_tangents(); }
  bool has_first_tangents() const override { return inner_.has_first_tangents(); }

  void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
               double* dydt_tangents) override {
    inner_.tangent(width, inside(t), y, y_tangents, parameter_tangents, dydt_tangents);
    add_rate_tangents(width, parameter_tangents, dydt_tangents);
  }
  bool has_time_tangents() const override { return inner_.has_time_tangents(); }
  void moving_tangent(const ode_point& at, const double* t_tangents, double* dydt_tangents) override {
    inner_.moving_tangent(moved_inside(at), t_tangents, dydt_tangents);
    add_rate_tangents(at.width, at.parameter_tangents, dydt_tangents);
  }

  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    inner_.second(moved_inside(at), lambda, lambda_tangents, to);
    const auto w = static_cast<std::size_t>(at.width);
    for (std::size_t j = 0; j < rates_.size(); ++j) {
      const auto state = static_cast<std::size_t>(infused_[j]);
      to.parameters[m_ + j] = lambda[state];
      std::copy_n(lambda_tangents + state * w, w, to.parameter_tangents + (m_ + j) * w);
    }
  }

 private:
  /// Adds rates among the parameters, or tangents of the rates, to the derivatives.
  void add_rates(const double* p, double* dydt) const {
    if (!differentiated_) return;
    for (std::size_t j = 0; j < rates_.size(); ++j) dydt[infused_[j]] += p[m_ + j];
  }
  void add_rate_tangents(int width, const double* parameter_tangents, double* dydt_tangents) const {
    const auto w = static_cast<std::size_t>(width);
    for (std::size_t j = 0; j < rates_.size(); ++j)
      for (std::size_t k = 0; k < w; ++k)
        dydt_tangents[static_cast<std::size_t>(infused_[j]) * w + k] += parameter_tangents[(m_ + j) * w + k];
  }
  void put_rate_adjoints(const double* lambda, double* parameter_adjoint) const {
    if (parameter_adjoint == nullptr || !differentiated_) return;
    for (std::size_t j = 0; j < rates_.size(); ++j) parameter_adjoint[m_ + j] = lambda[infused_[j]];
  }
  double inside(double t) const { return std::clamp(t, first_, last_); }
  ode_point moved_inside(ode_point at) const {
    at.t = inside(at.t);
    return at;
  }

  ode_system& inner_;
  std::vector<Eigen::Index> infused_;
  std::vector<double> rates_, points_;  // points_: times of a linearisation
  bool differentiated_;
  std::size_t m_;
  double first_ = 0, last_ = 0;
};

}  // namespace agrad::detail
