// Steady integration: integrates a system over longer and longer times, to see which steady state the system approaches.
//
// The first span is the time in which the states change by their own size or, if longer, the time scale of the Jacobian; each
// further span is ten times as long. CVODES' BDF integrates with coarse tolerances, because only the neighbourhood of the
// steady state is wanted; where the way chooses among steady states side by side, a second integration has the tolerances of
// the options.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <agrad/base/inline.hpp>
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
  AGRAD_INLINE void vjp(double, const double* y, const double* lambda, double* y_adjoint, double*) override;

 private:
  ode_system& of_;
  double time_;
};

class steady_integration {
 public:
  /// is_fine: whether the tolerances are those of the options, so that states do not depend on Newton's method.
  steady_integration(const std::string& function, ode_system& system, const Eigen::VectorXd& y0, const steady_options& options,
                     bool is_fine = false);

  /// Integrates over the next span. Returns false when that fails or the last span is over.
  bool advance();

  /// Returns whether the integration seems to approach a steady state: each state differs by at most a twentieth or, where the
  /// state goes to zero, by a part of its largest earlier size.
  bool is_near(const Eigen::VectorXd& steady) const;
  /// Returns whether the last span is over: a system near a state for that long stays there.
  bool is_over() const { return count_ == most_durations; }

  const Eigen::VectorXd& state() const { return y_; }
  const Eigen::VectorXd& peak() const { return peak_; }
  double time() const { return time_; }
  const ode_statistics& statistics() const { return statistics_; }
  const std::string& message() const { return message_; }

 private:
  static constexpr int most_durations = 16;

  static ode_forward_options coarse(const Eigen::VectorXd& y0, const steady_options& options);
  static ode_forward_options fine(const steady_options& options);

  frozen_system frozen_;
  Eigen::VectorXd y_;
  Eigen::VectorXd peak_;  // largest size of each state so far
  cvodes_forward solver_;
  double duration_ = 1, time_ = 0;
  int count_ = 0;
  ode_statistics statistics_;
  std::string message_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/steady/integration.ipp>
#endif
