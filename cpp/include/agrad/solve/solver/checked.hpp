// Checked solver: solves a problem twice, with different tolerances, and compares the gradients.
//
// States and gradients are the first solver's. Each reverse pass runs through both solvers. The solver calls `report` if the
// difference of the gradients, an estimate of the gradient's error, is larger than allowed, or if the first solver's own
// estimate is.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/solver/solver.hpp>

namespace agrad {

/// The largest of four differences, each in the Euclidean norm relative to the gradient: with respect to the initial state, the
/// initial time, the times and the parameters. `of` names the largest, or is null for the solver's own estimate
/// (`ode_statistics::gradient_error`).
struct gradient_difference {
  double relative = 0;
  const char* of = "";
};

/// Compares two gradients. Norms below that of `least` count as the norm of `least`, and differences up to `rounding` as none.
gradient_difference difference_of(const ode_gradient& g, const ode_gradient& other, const ode_gradient* least = nullptr,
                                  double rounding = 0);

class checked_solver final : public ode_solver {
 public:
  using reporter = std::function<void(const gradient_difference&)>;

  checked_solver(std::unique_ptr<ode_solver> solver, std::unique_ptr<ode_solver> other, double allowed, reporter report)
      : solver_(std::move(solver)), other_(std::move(other)), allowed_(allowed), report_(std::move(report)) {}

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  const ode_statistics& statistics() const override { return solver_->statistics(); }
  constrained_state* constrained() override { return solver_->constrained(); }

  void continue_probe(const std::vector<double>& tangent, const std::vector<bool>& changed) override {
    solver_->continue_probe(tangent, changed);
  }
  const std::vector<double>& probe() const override { return solver_->probe(); }

  /// The second solve ends where the first one ended at an event.
  bool watch(detail::event_watch* events) override {
    watch_ = events;
    return solver_->watch(events);
  }
  bool log_steps(detail::step_log* log) override { return solver_->log_steps(log); }

  bool has_tangents() const override { return solver_->has_tangents(); }
  bool has_first_tangents() const override { return solver_->has_first_tangents(); }
  bool tangents_match() const override { return solver_->tangents_match(); }
  void tangent(const ode_directions& along, double* states) override { solver_->tangent(along, states); }
  AGRAD_INLINE ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                   ode_directions& gradient_tangents) override;

 private:
  /// Returns the difference of two gradients, measured beside their parts. At an optimum a gradient is the remainder of parts
  /// that cancel. The difference is then measured by the size of the parts: the norm of a gradient whose adjoints have
  /// alternating signs.
  gradient_difference beside_parts(const ode_gradient& g, const ode_gradient& other,
                                   const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  std::unique_ptr<ode_solver> solver_, other_;
  double allowed_;
  reporter report_;
  Eigen::VectorXd y0_;
  double t0_ = 0;
  std::vector<double> times_;
  detail::event_watch* watch_ = nullptr;
  bool other_is_there_ = false;  // whether `other_` has integrated the present problem
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/checked.ipp>
#endif
