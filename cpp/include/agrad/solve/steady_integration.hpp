// Steady integration: the way of a system through longer and longer times, where Newton's method needs a better start.
//
// The first span is the time in which the states change by their own size; each further one is ten times as long. CVODES' BDF
// goes along coarsely: only the neighbourhood of the steady state is wanted.
// Read next: solve/steady_solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <agrad/solve/cvodes_forward.hpp>
#include <agrad/solve/steady_options.hpp>

namespace agrad::detail {

/// A system at t = 0 for good, without parameters to differentiate by.
class frozen_system final : public ode_system {
 public:
  explicit frozen_system(ode_system& of) : of_(of) {}
  Eigen::Index states() const override { return of_.states(); }
  Eigen::Index parameters() const override { return 0; }
  void rhs(double, const double* y, double* dydt) override { of_.rhs(0, y, dydt); }
  void jacobian(double, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override { of_.jacobian(0, y, J); }
  void vjp(double, const double* y, const double* lambda, double* y_adjoint, double*) override {
    of_.vjp(0, y, lambda, y_adjoint, nullptr);
  }

 private:
  ode_system& of_;
};

class steady_integration {
 public:
  steady_integration(const std::string& function, ode_system& system, const Eigen::VectorXd& y0, const steady_options& options)
      : frozen_(system), y_(y0), size_(y0.cwiseAbs().maxCoeff()), solver_(function, frozen_, coarse(y0, options), {}) {
    Eigen::VectorXd slope(y0.size());
    frozen_.rhs(0, y0.data(), slope.data());
    const double speed = slope.cwiseAbs().maxCoeff();
    span_ = size_ > 0 && speed > 0 ? std::clamp(size_ / speed, 1e-20, 1e20) : 1.0;
  }

  /// Goes on; false when it cannot, or has gone far enough.
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
    return true;
  }

  /// Whether a steady state is the one that the way leads to, as far as one can see.
  bool is_near(const Eigen::VectorXd& steady) const {
    const double size = std::max(size_, y_.cwiseAbs().maxCoeff());
    return ((steady - y_).array().abs() <= 0.5 * y_.array().abs() + 0.05 * size).all();
  }

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
  double size_;  // of y0
  cvodes_forward solver_;
  double span_ = 1, time_ = 0;
  int count_ = 0;
  std::string message_;
};

}  // namespace agrad::detail
