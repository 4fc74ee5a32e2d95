// Shift check: finds adjoints of autonomous systems that an integration backwards has lost, at the cost of a few slopes.
//
// No output of y' = f(y) changes if t0 and all output times move together. So the adjoint l of the initial state and the
// adjoints w of the outputs satisfy l . f(y0) = sum of w_k . f(y_k). Where the two sides differ, as after the jumps of a
// relaxation oscillator, the gradient is compared with that at tighter tolerances; near a steady state both sides are errors of
// the states, and differ although the gradient is right.
// Read next: solve/solver/checked.hpp, the comparison.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/checked.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// The parts of a shift check that do not depend on the system.
struct shift_check {
  /// Makes a solver with the options of the solve, or with tighter tolerances.
  std::function<std::unique_ptr<ode_solver>(const std::string&, ode_system&, ode_required, bool is_tighter)> make;
  double relative_tolerance = 0;       // the largest of the states', the adjoint's and the quadrature's
  Eigen::VectorXd absolute_tolerance;  // of the states, one for all or one for each
  /// Called with the difference of the gradients, where it is more than allowed, and what is allowed.
  std::function<void(const std::string&, const gradient_difference&, double)> report;
  /// Whether gradients have been compared; from then on nothing is checked.
  std::shared_ptr<std::atomic<bool>> is_done = std::make_shared<std::atomic<bool>>(false);
};

class shift_checked_solver final : public ode_solver {
 public:
  AGRAD_INLINE shift_checked_solver(std::string function, ode_system& system, ode_required required, shift_check check);

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;
  AGRAD_INLINE std::vector<ode_gradient> reverse_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) override;

  const ode_statistics& statistics() const override { return solver_->statistics(); }
  bool watch(detail::event_watch* events) override {
    watch_ = events;
    return solver_->watch(events);
  }
  bool log_steps(detail::step_log* log) override { return solver_->log_steps(log); }
  bool has_first_tangents() const override { return solver_->has_first_tangents(); }
  bool tangents_match() const override { return solver_->tangents_match(); }
  void tangent(const ode_directions& along, double* states) override { solver_->tangent(along, states); }

 private:
  /// Checks a gradient, and drops what is not wanted.
  void finish(ode_gradient& g, const Eigen::Ref<const Eigen::MatrixXd>& adjoints);
  /// Returns the relative difference up to which gradients count as equal: a thousand times the tolerance, at least 1e-3 and at
  /// most 0.1.
  double allowed() const;
  /// Returns the difference of the two sides relative to their parts, or to the parts at the states' mean speed where that is
  /// larger; zero where the check does not apply.
  double lost(const ode_gradient& g, const Eigen::Ref<const Eigen::MatrixXd>& adjoints);
  /// Returns whether an output differs from the initial state by more than errors can.
  bool moves() const;
  /// Compares the gradient with that at tighter tolerances.
  AGRAD_COLD void compare(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, double found);

  std::string function_;
  ode_system& system_;
  ode_required required_, wanted_;  // of the solver, which includes the initial state; of the caller
  shift_check check_;
  std::unique_ptr<ode_solver> solver_;
  const Eigen::MatrixXd* states_ = nullptr;
  Eigen::VectorXd y0_, slope_;
  double t0_ = 0;
  std::vector<double> times_;
  detail::event_watch* watch_ = nullptr;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/shift_check.ipp>
#endif
