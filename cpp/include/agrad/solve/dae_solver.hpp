// DAE solver: F(t, y, y') = 0 of index 1 from consistent initial values to output times, and adjoints of the outputs back.
//
// IDAS integrates forwards. At t0 and at each output time the differential part of y determines the rest: it is solved for, and
// adjoints of all components are turned there into adjoints of the differential part, exactly. What remains is an adjoint
// problem for that part alone (solve/ida_backward.hpp), or a product with its forward sensitivities.
// Read next: solve/dae_consistency.hpp; solve/dae_adjoint.hpp, the functions that users call.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/ida_backward.hpp>
#include <agrad/solve/ida_forward.hpp>

namespace agrad {

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class dae_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  dae_solver(std::string function, dae_system& system, dae_options options, dae_wanted wanted)
      : function_(std::move(function)),
        system_(system),
        options_(std::move(options)),
        wanted_(wanted),
        consistency_(function_, system, options_) {
    check_solver_options(function_, options_, system.states());
    context_ = sundials::make_context(function_);
    forward_.emplace(function_, system, options_, context_);
    forward_->diagnose_by(&consistency_);
  }

  dae_solver(const dae_solver&) = delete;
  dae_solver& operator=(const dae_solver&) = delete;

  /// Integrates from t0; column k of the result is y and then y' at times[k], of which the first may be t0. Throws
  /// ShapeError, DomainError, SolverError, or what the system throws.
  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                   const std::vector<double>& times) {
    check_size(function_, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(system_.states()),
               "one for each state");
    check_dae_problem(function_, y0, yp0, t0, times);
    is_integrated_ = false, backward_.reset();
    statistics_ = {};
    dae_state s{t0, y0, yp0};
    split_ = detail::dae_splitting(function_, system_, s.at(), options_.differential);
    consistency_.use(&split_);
    consistency_.initialise(s);
    consistency_.remember();
    consistency_.differentiate_algebraic(s, times.back());
    initial_ = s;
    points_.clear();
    if (times.back() > t0) start(times.back());
    for (const double t : times) points_.push_back(t > t0 ? advanced(t) : s);
    if (times.back() > t0) forward_->read_costs(statistics_);
    is_integrated_ = true;
    return put_together();
  }

  /// The gradient of a scalar whose derivative with respect to y and y' at times[k] is column k of `adjoints`.
  dae_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    if (!is_integrated_) throw std::logic_error(function_ + ": sweep comes after integrate has succeeded");
    check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(solution_.size()),
               "one for each state and derivative at each time");
    dae_gradient g = zero_gradient(adjoints.cols());
    if (!adjoints.allFinite()) {
      for (Eigen::VectorXd* each : {&g.initial_state, &g.initial_slope, &g.times, &g.parameters})
        each->setConstant(std::numeric_limits<double>::quiet_NaN());
      g.initial_time = std::numeric_limits<double>::quiet_NaN();
      return masked(g);
    }
    Eigen::VectorXd of_differential = uses_sensitivities() ? by_sensitivities(adjoints, g) : backwards(adjoints, g);
    take_to_initial_values(of_differential, g);
    return masked(g);
  }

  const ode_statistics& statistics() const { return statistics_; }

 private:
  using dae_state = detail::dae_state;
  using dae_jump = detail::dae_jump;

  bool uses_sensitivities() const { return options_.sensitivities != dae_sensitivities::adjoint; }
  bool is_differentiated() const {
    return wanted_.initial_state || wanted_.initial_slope || wanted_.initial_time || system_.parameters() > 0;
  }
  /// Whether the adjoint of the differential part at t0 is asked for.
  bool needs_initial() const {
    const bool solved_for = options_.initial == dae_initial::derivatives;
    return wanted_.initial_time || (solved_for ? wanted_.initial_slope || system_.parameters() > 0 : wanted_.initial_state);
  }

  // ---- forwards

  void start(double end) {
    std::vector<dae_state> sensitivities;
    const Eigen::Index of_initial = needs_initial() ? split_.r() : 0, m = system_.parameters();
    if (uses_sensitivities() && of_initial + m > 0) {
      consistency_.prepare(initial_);
      for (Eigen::Index c = 0; c < of_initial + m; ++c) {
        Eigen::VectorXd a = Eigen::VectorXd::Zero(split_.r()), p = Eigen::VectorXd::Zero(m);
        (c < of_initial ? a[c] : p[c - of_initial]) = 1;
        sensitivities.emplace_back();
        consistency_.tangent(initial_, a, p, sensitivities.back());
      }
    }
    kept_.clear();
    const bool keeps_steps = is_differentiated() && !uses_sensitivities();
    forward_->start(initial_, end, sensitivities, of_initial, scales(of_initial), keeps_steps ? &trajectory_ : nullptr);
  }

  // As in solve/cvodes_forward.hpp: a sensitivity to x is controlled as x dy/dx, where x has a size.
  Eigen::VectorXd scales(Eigen::Index of_initial) const {
    Eigen::VectorXd x(of_initial + system_.parameters());
    if (of_initial > 0) x.head(of_initial) = split_.q().transpose() * initial_.y;
    system_.parameter_values(x.data() + of_initial);
    return x.unaryExpr([](double v) { return v != 0 && std::abs(v) > 1e-100 && std::abs(v) < 1e100 ? std::abs(v) : 1.0; });
  }

  dae_state advanced(double t) {
    dae_state s;
    forward_->advance(t, s);
    consistency_.refine(s);
    if (system_.knows_time()) consistency_.differentiate_algebraic(s, t);
    if (uses_sensitivities() && is_differentiated()) keep_sensitivities(t);
    return s;
  }

  /// Of the differential part, at an output time.
  void keep_sensitivities(double t) {
    const Eigen::Index count = (needs_initial() ? split_.r() : 0) + system_.parameters();
    Eigen::MatrixXd of_a(split_.r(), count);
    Eigen::VectorXd s;
    for (Eigen::Index c = 0; c < count; ++c) {
      forward_->sensitivity(t, static_cast<std::size_t>(c), s);
      of_a.col(c) = split_.q().transpose() * s;
    }
    kept_.push_back(std::move(of_a));
  }

  const Eigen::MatrixXd& put_together() {
    const Eigen::Index n = split_.n();
    solution_.resize(2 * n, static_cast<Eigen::Index>(points_.size()));
    for (std::size_t k = 0; k < points_.size(); ++k) solution_.col(static_cast<Eigen::Index>(k)) << points_[k].y, points_[k].yp;
    return solution_;
  }

  // ---- backwards

  dae_gradient zero_gradient(Eigen::Index times) const {
    const auto zeros = [](Eigen::Index size) { return Eigen::VectorXd(Eigen::VectorXd::Zero(size)); };
    return {zeros(split_.n()), zeros(split_.n()), 0.0, zeros(times), zeros(system_.parameters())};
  }
  dae_gradient masked(dae_gradient& g) const {
    if (!wanted_.initial_state) g.initial_state.setZero();
    if (!wanted_.initial_slope) g.initial_slope.setZero();
    if (!wanted_.initial_time) g.initial_time = 0;
    if (!wanted_.times) g.times.setZero();
    return std::move(g);
  }

  bool is_initial(std::size_t k) const { return points_[k].t == initial_.t; }

  /// What the adjoints of output k do there: returns those of the differential part.
  Eigen::VectorXd jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
    const auto column = adjoints.col(static_cast<Eigen::Index>(k));
    consistency_.prepare(points_[k]);
    const dae_jump j = consistency_.jump(points_[k], column.head(split_.n()), column.tail(split_.n()));
    g.parameters += j.parameters;
    g.times[static_cast<Eigen::Index>(k)] = j.differential.dot(slope_of_differential(points_[k])) + j.time;
    return j.differential;
  }
  Eigen::VectorXd slope_of_differential(const dae_state& s) const { return split_.q().transpose() * s.yp; }

  /// Each output's adjoints, from the last output on; returns what arrives at t0 in the differential part.
  Eigen::VectorXd backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
    Eigen::VectorXd w = Eigen::VectorXd::Zero(split_.r());
    const bool integrates = is_differentiated();
    if (integrates && !backward_ && trajectory_is_there())
      backward_ =
          std::make_unique<detail::ida_backward>(function_, system_, options_, context_, split_, trajectory_, statistics_);
    if (backward_) backward_->clear();
    double from = points_.back().t;
    const auto move_to = [&](double t) {
      if (integrates && t < from && !w.isZero(0)) {
        backward_->advance(t);
        w = backward_->differential();
      }
      from = t;
    };
    for (std::size_t k = points_.size(); k-- > 0;) {
      if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
      move_to(points_[k].t);
      w += jump_at(k, adjoints, g);
      if (integrates && !is_initial(k) && !w.isZero(0)) backward_->restart(points_[k], w, consistency_);
    }
    move_to(initial_.t);
    if (backward_) backward_->collect();
    if (backward_ && system_.parameters() > 0) g.parameters += backward_->parameters();
    return w;
  }
  bool trajectory_is_there() const { return points_.back().t > initial_.t; }
  Eigen::VectorXd by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
    const Eigen::Index of_initial = needs_initial() ? split_.r() : 0, m = system_.parameters();
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(of_initial + m), at_start = Eigen::VectorXd::Zero(split_.r());
    std::size_t next = 0;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const bool is_zero = adjoints.col(static_cast<Eigen::Index>(k)).isZero(0);
      if (is_initial(k)) {
        if (!is_zero) at_start = jump_at(k, adjoints, g);
        continue;
      }
      const std::size_t kept = next++;
      if (is_zero) continue;
      const Eigen::VectorXd w = jump_at(k, adjoints, g);
      if (sum.size() > 0) sum += kept_[kept].transpose() * w;
    }
    g.parameters += sum.tail(m);
    if (of_initial == 0) return at_start;
    return at_start + sum.head(of_initial);
  }

  void take_to_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g) {
    g.initial_time -= of_differential.dot(slope_of_differential(initial_));
    if (options_.initial != dae_initial::derivatives) {
      g.initial_state = split_.q() * of_differential;
    } else if (needs_initial() && !of_differential.isZero(0)) {
      consistency_.to_slope(initial_, of_differential, g);
    }
  }

  std::string function_;
  dae_system& system_;
  dae_options options_;
  dae_wanted wanted_;
  detail::dae_consistency consistency_;
  detail::dae_splitting split_;
  sundials::context_handle context_;
  detail::dae_trajectory trajectory_;
  std::optional<detail::ida_forward> forward_;
  std::unique_ptr<detail::ida_backward> backward_;

  bool is_integrated_ = false;
  dae_state initial_;
  std::vector<dae_state> points_;
  std::vector<Eigen::MatrixXd> kept_;  // sensitivities of the differential part at the output times after t0
  Eigen::MatrixXd solution_;
  ode_statistics statistics_;
};

}  // namespace agrad
