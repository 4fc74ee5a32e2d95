// Definitions of solve/dae/reverse.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/reverse.hpp>

namespace agrad::detail {

AGRAD_INLINE dae_gradient dae_reverse_pass::compute(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  check_size(solution_.function, "adjoints", static_cast<std::size_t>(adjoints.size()),
             static_cast<std::size_t>(solution_.solution.size()), "one for each state and derivative at each time");
  dae_gradient g = zero_gradient(adjoints.cols());
  if (!adjoints.allFinite()) {
    for (Eigen::VectorXd* each : {&g.initial_state, &g.initial_slope, &g.times, &g.stops, &g.parameters})
      each->setConstant(std::numeric_limits<double>::quiet_NaN());
    g.initial_time = std::numeric_limits<double>::quiet_NaN();
    return masked(g);
  }
  const Eigen::VectorXd of_differential =
      solution_.uses_sensitivities() ? by_sensitivities(adjoints, g) : backwards(adjoints, g);
  reverse_initial_values(of_differential, g);
  return masked(g);
}

AGRAD_INLINE dae_gradient dae_reverse_pass::zero_gradient(Eigen::Index times) const {
  const auto zeros = [](Eigen::Index size) { return Eigen::VectorXd(Eigen::VectorXd::Zero(size)); };
  return {zeros(solution_.split.n()),   zeros(solution_.split.n()),          0.0, zeros(times),
          zeros(solution_.given_stops), zeros(solution_.system.parameters())};
}

AGRAD_INLINE dae_gradient dae_reverse_pass::masked(dae_gradient& g) const {
  if (!solution_.required.initial_state) g.initial_state.setZero();
  if (!solution_.required.initial_slope) g.initial_slope.setZero();
  if (!solution_.required.initial_time) g.initial_time = 0;
  if (!solution_.required.times) g.times.setZero();
  if (!solution_.required.stops) g.stops.setZero();
  return std::move(g);
}

AGRAD_INLINE Eigen::VectorXd dae_reverse_pass::jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                       dae_gradient& g) {
  const auto column = adjoints.col(static_cast<Eigen::Index>(k));
  solution_.consistency.prepare(solution_.points[k]);
  const dae_jump j =
      solution_.consistency.jump(solution_.points[k], column.head(solution_.split.n()), column.tail(solution_.split.n()));
  g.parameters += j.parameters;
  g.times[static_cast<Eigen::Index>(k)] = j.differential.dot(solution_.slope_of_differential(solution_.points[k])) + j.time;
  return j.differential;
}

AGRAD_INLINE Eigen::VectorXd dae_reverse_pass::backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  Eigen::VectorXd w = Eigen::VectorXd::Zero(solution_.split.r());
  if (solution_.is_differentiated() && !backward_ && solution_.segments.back().last > solution_.segments[0].begin.t)
    backward_ = std::make_unique<ida_backward>(solution_.function, solution_.system, solution_.options, solution_.context,
                                               solution_.split, statistics_);
  if (backward_) backward_->clear(tolerances_of(adjoints));
  for (std::size_t i = solution_.segments.size(); i-- > 0;) {
    reverse_segment(i, adjoints, w, g);
    if (i > 0) g.stops[solution_.stops[i - 1].index] += w.dot(solution_.jump_of_slope(i));
  }
  if (backward_ && solution_.system.parameters() > 0) g.parameters += backward_->parameters();
  return w;
}

AGRAD_INLINE adjoint_tolerances dae_reverse_pass::tolerances_of(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  constexpr double rounding = 1e-13;  // with less, Newton's method for the multipliers need not converge
  const dae_options& o = solution_.options;
  const Eigen::Index m = solution_.system.parameters();
  const adjoint_tolerances given{o.backward.absolute, Eigen::VectorXd::Constant(m, o.quadrature.absolute[0])};
  if (!o.in_units_of_loss) return given;
  Eigen::MatrixXd y(solution_.split.n(), adjoints.cols() + 1);
  y << solution_.segments[0].begin.y, solution_.solution.topRows(y.rows());
  Eigen::VectorXd parameters(m);
  solution_.system.parameter_values(parameters.data());
  return loss_units(y, o.backward.absolute, o.backward.relative, parameters)
      .tolerances(of_states(adjoints), given.adjoint, given.gradient, rounding);
}

AGRAD_INLINE Eigen::MatrixXd dae_reverse_pass::of_states(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  const Eigen::Index n = solution_.split.n();
  Eigen::MatrixXd to = adjoints.topRows(n);
  if (adjoints.bottomRows(n).isZero(0)) return to;
  for (std::size_t i = 0; i < solution_.segments.size(); ++i) {
    const dae_segment& here = solution_.segments[i];
    solution_.enter(i);
    for (std::size_t k = here.first_point; k < here.first_point + here.points; ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      const dae_state& at = solution_.points[k];
      solution_.consistency.prepare(at);
      const dae_jump j = solution_.consistency.jump(at, Eigen::VectorXd::Zero(n), adjoints.col(column).tail(n));
      to.col(column) += solution_.split.q() * j.differential;
    }
  }
  return to;
}

AGRAD_INLINE void dae_reverse_pass::reverse_segment(std::size_t i, const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                    Eigen::VectorXd& w, dae_gradient& g) {
  const dae_segment& here = solution_.segments[i];
  solution_.enter(i);
  if (backward_) backward_->use(solution_.trajectories[i]);
  double from = here.last;
  const auto restart = [&](const dae_state& at) {
    if (backward_ && at.t > here.begin.t && !w.isZero(0)) backward_->restart(at, w, solution_.consistency);
    from = at.t;
  };
  const auto move_to = [&](double t) {
    if (!backward_ || t == from || w.isZero(0)) return;
    backward_->advance(t);
    w = backward_->differential();
  };
  if (!w.isZero(0)) {
    solution_.consistency.prepare(here.end);
    restart(here.end);
  }
  for (std::size_t k = here.first_point + here.points; k-- > here.first_point;) {
    if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
    move_to(solution_.points[k].t);
    w += jump_at(k, adjoints, g);
    restart(solution_.points[k]);
  }
  move_to(here.begin.t);
  if (solution_.system.parameters() > 0 && solution_.is_corrected(i) && !w.isZero(0))
    g.parameters += solution_.correction_by_parameters(i, w).transpose();
  if (backward_) backward_->collect();
}

AGRAD_INLINE Eigen::VectorXd dae_reverse_pass::by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                                dae_gradient& g) {
  const Eigen::Index of_initial = solution_.needs_initial() ? solution_.split.r() : 0, m = solution_.system.parameters();
  Eigen::VectorXd at_start = Eigen::VectorXd::Zero(solution_.split.r());
  for (std::size_t i = 0; i < solution_.segments.size(); ++i) {
    const dae_segment& here = solution_.segments[i];
    solution_.enter(i);
    for (std::size_t k = here.first_point; k < here.first_point + here.points; ++k) {
      if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
      const Eigen::VectorXd w = jump_at(k, adjoints, g);
      if (!solution_.is_differentiated()) continue;
      const Eigen::VectorXd by = solution_.output_sensitivities[k].transpose() * w;
      at_start.head(of_initial) += by.head(of_initial);
      g.parameters += by.tail(m);
      for (Eigen::Index j = of_initial; j < by.size() - m; ++j)
        g.stops[solution_.stops[static_cast<std::size_t>(j - of_initial)].index] += by[j];
    }
  }
  return at_start;
}

AGRAD_INLINE void dae_reverse_pass::reverse_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g) {
  dae_state initial = solution_.segments[0].begin;
  g.initial_time -= of_differential.dot(solution_.slope_of_differential(initial));
  if (solution_.options.initial != dae_initial::derivatives) {
    g.initial_state = solution_.split.q() * of_differential;
  } else if (solution_.needs_initial() && !of_differential.isZero(0)) {
    solution_.enter(0);
    initial.yp = solution_.given_slope;  // without the derivatives of b, on which dF/dp depends where Z moves with p
    solution_.consistency.to_slope(initial, of_differential, g);
  }
}

}  // namespace agrad::detail
