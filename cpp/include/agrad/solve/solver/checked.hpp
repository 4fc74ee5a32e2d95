// Checked solver: two solvers of one problem, the second one with other tolerances, whose gradients are compared.
//
// States and gradients are those of the first one. Each sweep runs through both, and where their gradients differ by more than
// is allowed, `report` is called with how much that is: an estimate of the gradient's error, which no method gives by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/solver/solver.hpp>

namespace agrad {

/// What a check of a gradient found: the largest of the differences, each in the Euclidean norm relative to the gradient, of the
/// gradients with respect to the initial state, the initial time, the times and the parameters; and of which of them that is, null
/// for the error that the solver itself estimates (`ode_statistics::gradient_error`).
struct gradient_difference {
  double relative = 0;
  const char* of = "";
};

/// Gradients whose norm is less than that of `least` are measured by that, and differences up to `rounding` are none.
inline gradient_difference difference_of(const ode_gradient& g, const ode_gradient& other, const ode_gradient* least = nullptr,
                                         double rounding = 0) {
  gradient_difference found;
  const auto compare = [&](const auto& part, const char* of) {
    const Eigen::VectorXd a = part(g), b = part(other);
    const double difference = (a - b).norm(), size = std::max(a.norm(), b.norm());
    if (difference <= rounding) return;
    const double relative = difference / (least != nullptr ? std::max(size, Eigen::VectorXd(part(*least)).norm()) : size);
    if (relative > found.relative || std::isnan(relative)) found = {relative, of};
  };
  compare([](const ode_gradient& of) { return of.initial_state; }, "the initial state");
  compare([](const ode_gradient& of) { return Eigen::VectorXd::Constant(1, of.initial_time).eval(); }, "the initial time");
  compare([](const ode_gradient& of) { return of.times; }, "the times");
  compare([](const ode_gradient& of) { return of.parameters; }, "the parameters");
  return found;
}

class checked_solver final : public ode_solver {
 public:
  using reporter = std::function<void(const gradient_difference&)>;

  checked_solver(std::unique_ptr<ode_solver> solver, std::unique_ptr<ode_solver> other, double allowed, reporter report)
      : solver_(std::move(solver)), other_(std::move(other)), allowed_(allowed), report_(std::move(report)) {}

  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) override {
    y0_ = y0, t0_ = t0, times_ = times;
    other_is_there_ = false;
    return solver_->integrate(y0, t0, times);
  }

  ode_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override {
    ode_gradient g = solver_->sweep(adjoints);
    if (!std::exchange(other_is_there_, true)) other_->integrate(y0_, t0_, times_);
    const ode_gradient other = other_->sweep(adjoints);
    if (!(difference_of(g, other).relative <= allowed_)) {
      const gradient_difference found = beside_parts(g, other, adjoints);
      if (!(found.relative <= allowed_)) return report_(found), g;
    }
    const double estimate = solver_->statistics().gradient_error;  // of the probe, where there is one
    if (estimate > allowed_) report_({estimate, nullptr});
    return g;
  }

  const ode_statistics& statistics() const override { return solver_->statistics(); }

  void continue_probe(const std::vector<double>& tangent) override { solver_->continue_probe(tangent); }
  const std::vector<double>& probe() const override { return solver_->probe(); }

  bool log_steps(detail::step_log* log) override { return solver_->log_steps(log); }

  bool has_tangents() const override { return solver_->has_tangents(); }
  bool has_first_tangents() const override { return solver_->has_first_tangents(); }
  bool tangents_match() const override { return solver_->tangents_match(); }
  void tangent(const ode_directions& along, double* states) override { solver_->tangent(along, states); }
  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& gradient_tangents) override {
    return solver_->second(adjoints, tangents, gradient_tangents);
  }

 private:
  /// At an optimum a gradient is what is left of parts that cancel. Their size is that of a gradient whose adjoints have signs that
  /// alternate, by which the difference is measured then.
  gradient_difference beside_parts(const ode_gradient& g, const ode_gradient& other,
                                   const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
    Eigen::MatrixXd scattered = adjoints;
    for (Eigen::Index k = 0; k < scattered.cols(); ++k)
      for (Eigen::Index i = 0; i < scattered.rows(); ++i)
        if ((i + k) % 2 == 1) scattered(i, k) = -scattered(i, k);
    const ode_gradient parts = solver_->sweep(scattered);
    return difference_of(g, other, &parts, rounding * adjoints.norm());
  }

  std::unique_ptr<ode_solver> solver_, other_;
  double allowed_;
  reporter report_;
  Eigen::VectorXd y0_;
  double t0_ = 0;
  std::vector<double> times_;
  bool other_is_there_ = false;  // whether it has integrated the same problem
};

}  // namespace agrad
