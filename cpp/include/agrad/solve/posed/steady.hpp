// Posed steady state: a steady state as a function of the state to start from and the parameters.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/steady/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// Receives the report of each steady state.
using steady_listener = std::function<void(const steady_report&)>;

/// A template, so that only its users compile the factorisations.
template <class Real = double>
class posed_steady final : public posed_solve {
 public:
  /// parameters: how many the system takes, active or not. active: which of them have derivatives; empty for all.
  posed_steady(const std::string& function, std::unique_ptr<ode_system> system, const steady_options& options,
               std::size_t parameters, steady_listener report_to = nullptr, std::vector<bool> active = {})
      : system_(std::move(system)), solver_(function, *system_, options), report_to_(std::move(report_to)) {
    solver_.set_active(std::move(active));
    const auto n = static_cast<std::size_t>(system_->states());
    of_state_ = argument_.add("initial_state", n);
    of_parameters_ = argument_.add("parameters", parameters);
    result_.add("states", n);
  }

  void solve(const double* x) override {
    system_->set_parameters(of_parameters_.in(x));
    state_ = solver_.solve(of_state_.of(x));
    if (report_to_) report_to_(report());
  }
  double end() const override { return report().integrated_time; }
  ode_statistics statistics() const override { return solver_.statistics(); }
  void read(double* y) const override { Eigen::Map<Eigen::VectorXd>(y, state_.size()) = state_; }

  void reverse(const double* y_adjoint, double* x_adjoint) override { add(solver_.reverse(adjoint(y_adjoint)), x_adjoint); }

  tangent_kind tangents() const override { return {system_->has_tangents() ? 2 : 0, true}; }
  void tangent(int width, const double* x_tangent, double* y_tangent) override {
    solver_.tangent({width, of_state_.list(x_tangent, width), of_parameters_.list(x_tangent, width)}, y_tangent);
  }
  void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) override {
    ode_directions dg;
    add(solver_.second(adjoint(y_adjoint), y_adjoint_tangent, dg), x_adjoint);
    of_state_.add(dg.initial_state, x_adjoint_tangent, width);
    of_parameters_.add(dg.parameters, x_adjoint_tangent, width);
  }

  const steady_report& report() const { return solver_.report(); }

 private:
  Eigen::VectorXd adjoint(const double* y_adjoint) const { return Eigen::Map<const Eigen::VectorXd>(y_adjoint, state_.size()); }
  void add(const ode_gradient& g, double* x_adjoint) const {
    of_state_.add(g.initial_state, x_adjoint);
    of_parameters_.add(g.parameters, x_adjoint);
  }

  std::unique_ptr<ode_system> system_;
  steady_solver<Real> solver_;
  steady_listener report_to_;
  flat_part of_state_, of_parameters_;
  Eigen::VectorXd state_;
};

}  // namespace agrad
