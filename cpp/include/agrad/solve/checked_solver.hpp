// Checked solver: two solvers of one problem, the second one with other tolerances, whose gradients are compared.
//
// States and gradients are those of the first one. Each sweep runs through both, and where their gradients differ by more than
// is allowed, `report` is called with how much that is: an estimate of the gradient's error, which no method gives by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/ode_solver.hpp>

namespace agrad {

/// What a check of a gradient found: the largest of the differences, each in the Euclidean norm relative to the gradient, of the
/// gradients with respect to the initial state, the initial time, the times and the parameters; and of which of them that is.
struct gradient_difference {
  double relative = 0;
  const char* of = "";
};

inline gradient_difference difference_of(const ode_gradient& g, const ode_gradient& other) {
  gradient_difference found;
  const auto compare = [&](const Eigen::Ref<const Eigen::VectorXd>& a, const Eigen::Ref<const Eigen::VectorXd>& b,
                           const char* of) {
    const double difference = (a - b).norm(), relative = difference == 0 ? 0 : difference / std::max(a.norm(), b.norm());
    if (relative > found.relative || std::isnan(relative)) found = {relative, of};
  };
  compare(g.initial_state, other.initial_state, "the initial state");
  compare(Eigen::VectorXd::Constant(1, g.initial_time), Eigen::VectorXd::Constant(1, other.initial_time), "the initial time");
  compare(g.times, other.times, "the times");
  compare(g.parameters, other.parameters, "the parameters");
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
    const gradient_difference found = difference_of(g, other_->sweep(adjoints));
    if (!(found.relative <= allowed_)) report_(found);
    return g;
  }

  const ode_statistics& statistics() const override { return solver_->statistics(); }

  bool has_tangents() const override { return solver_->has_tangents(); }
  void tangent(const ode_directions& along, double* states) override { solver_->tangent(along, states); }
  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& gradient_tangents) override {
    return solver_->second(adjoints, tangents, gradient_tangents);
  }

 private:
  std::unique_ptr<ode_solver> solver_, other_;
  double allowed_;
  reporter report_;
  Eigen::VectorXd y0_;
  double t0_ = 0;
  std::vector<double> times_;
  bool other_is_there_ = false;  // whether it has integrated the same problem
};

}  // namespace agrad
