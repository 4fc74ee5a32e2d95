// Steady integration: integrates a system over longer and longer times, to see which steady state the system approaches.
//
// The first span is the time in which the states change by their own size or, if longer, the time scale of the Jacobian; each
// further span is ten times as long. CVODES' BDF integrates with coarse tolerances, because only the neighbourhood of the
// steady state is wanted.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/steady/options.hpp>

namespace agrad::detail {

/// A system with time held fixed, and without parameters to differentiate by.
class frozen_system final : public ode_system {
 public:
  frozen_system(ode_system& of, double time) : of_(of), time_(time) {}
  Eigen::Index states() const override { return of_.states(); }
  Eigen::Index parameters() const override { return 0; }
  void rhs(double, const double* y, double* dydt) override { of_.rhs(time_, y, dydt); }
  void jacobian(double, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override { of_.jacobian(time_, y, J); }
  void vjp(double, const double* y, const double* lambda, double* y_adjoint, double*) override {
    of_.vjp(time_, y, lambda, y_adjoint, nullptr);
  }

 private:
  ode_system& of_;
  double time_;
};

class steady_integration {
 public:
  steady_integration(const std::string& function, ode_system& system, const Eigen::VectorXd& y0, const steady_options& options)
      : frozen_(system, options.time.value_or(0)),
        y_(y0),
        peak_(y0.cwiseAbs()),
        solver_(function, frozen_, coarse(y0, options), {}) {
    Eigen::VectorXd slope(y0.size());
    frozen_.rhs(0, y0.data(), slope.data());
    Eigen::MatrixXd J(y0.size(), y0.size());
    frozen_.jacobian(0, y0.data(), J);
    const double speed = slope.cwiseAbs().maxCoeff(), rate = J.cwiseAbs().rowwise().sum().maxCoeff();
    const double longest = std::max(speed > 0 ? peak_.maxCoeff() / speed : 0, std::isfinite(rate) && rate > 0 ? 1 / rate : 0);
    span_ = longest > 0 ? std::clamp(longest, 1e-20, 1e20) : 1.0;
  }

  /// Integrates over the next span. Returns false when that fails or the last span is over.
  bool advance() {
    if (count_++ == most_spans) {
      message_ = "integration led to no steady state";
      return false;
    }
    try {
      y_ = solver_.integrate(y_, 0, {span_});
    } catch (const SolverError& error) {
      time_ += error.t;
      message_ = "integration stopped (" + error.code + "): " + error.advice;
      return false;
    }
    time_ += span_;
    span_ *= 10;
    peak_ = peak_.cwiseMax(y_.cwiseAbs());
    return true;
  }

  /// Returns whether the integration seems to approach a steady state: each state differs by at most a twentieth or, where the
  /// state goes to zero, by a part of its largest earlier size.
  bool is_near(const Eigen::VectorXd& steady) const {
    const Eigen::ArrayXd size = steady.array().abs().max(y_.array().abs());
    return ((steady - y_).array().abs() <= 0.05 * size + 1e-4 * peak_.array() + 1e-6 * peak_.maxCoeff()).all();
  }
  /// Returns whether the last span is over: a system near a state for that long stays there.
  bool is_over() const { return count_ == most_spans; }

  const Eigen::VectorXd& state() const { return y_; }
  double time() const { return time_; }
  const std::string& message() const { return message_; }

 private:
  static constexpr int most_spans = 16;

  static ode_forward_options coarse(const Eigen::VectorXd& y0, const steady_options& options) {
    ode_forward_options o;
    o.relative_tolerance = std::max(1e-6, options.relative_tolerance);
    o.absolute_tolerance = options.absolute_tolerance.cwiseMax(1e-9 * y0.cwiseAbs().maxCoeff());
    o.max_num_steps = 100000;
    return o;
  }

  frozen_system frozen_;
  Eigen::VectorXd y_;
  Eigen::VectorXd peak_;  // largest size of each state so far
  cvodes_forward solver_;
  double span_ = 1, time_ = 0;
  int count_ = 0;
  std::string message_;
};

}  // namespace agrad::detail
