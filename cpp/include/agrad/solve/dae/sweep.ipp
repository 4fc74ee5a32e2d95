// Definitions of solve/dae/sweep.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/sweep.hpp>

namespace agrad::detail {

AGRAD_INLINE dae_gradient dae_sweep::run(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  check_size(way_.function, "adjoints", static_cast<std::size_t>(adjoints.size()),
             static_cast<std::size_t>(way_.solution.size()), "one for each state and derivative at each time");
  dae_gradient g = zero_gradient(adjoints.cols());
  if (!adjoints.allFinite()) {
    for (Eigen::VectorXd* each : {&g.initial_state, &g.initial_slope, &g.times, &g.stops, &g.parameters})
      each->setConstant(std::numeric_limits<double>::quiet_NaN());
    g.initial_time = std::numeric_limits<double>::quiet_NaN();
    return masked(g);
  }
  const Eigen::VectorXd of_differential = way_.uses_sensitivities() ? by_sensitivities(adjoints, g) : backwards(adjoints, g);
  take_to_initial_values(of_differential, g);
  return masked(g);
}

AGRAD_INLINE dae_gradient dae_sweep::zero_gradient(Eigen::Index times) const {
  const auto zeros = [](Eigen::Index size) { return Eigen::VectorXd(Eigen::VectorXd::Zero(size)); };
  return {zeros(way_.split.n()), zeros(way_.split.n()),   0.0,
          zeros(times),          zeros(way_.given_stops), zeros(way_.system.parameters())};
}

AGRAD_INLINE dae_gradient dae_sweep::masked(dae_gradient& g) const {
  if (!way_.wanted.initial_state) g.initial_state.setZero();
  if (!way_.wanted.initial_slope) g.initial_slope.setZero();
  if (!way_.wanted.initial_time) g.initial_time = 0;
  if (!way_.wanted.times) g.times.setZero();
  if (!way_.wanted.stops) g.stops.setZero();
  return std::move(g);
}

AGRAD_INLINE Eigen::VectorXd dae_sweep::jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints,
                                                dae_gradient& g) {
  const auto column = adjoints.col(static_cast<Eigen::Index>(k));
  way_.consistency.prepare(way_.points[k]);
  const dae_jump j = way_.consistency.jump(way_.points[k], column.head(way_.split.n()), column.tail(way_.split.n()));
  g.parameters += j.parameters;
  g.times[static_cast<Eigen::Index>(k)] = j.differential.dot(way_.slope_of_differential(way_.points[k])) + j.time;
  return j.differential;
}

AGRAD_INLINE Eigen::VectorXd dae_sweep::backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  Eigen::VectorXd w = Eigen::VectorXd::Zero(way_.split.r());
  if (way_.is_differentiated() && !backward_ && way_.segments.back().last > way_.segments[0].begin.t)
    backward_ = std::make_unique<ida_backward>(way_.function, way_.system, way_.options, way_.context, way_.split, statistics_);
  if (backward_) backward_->clear();
  for (std::size_t i = way_.segments.size(); i-- > 0;) {
    back_through(i, adjoints, w, g);
    if (i > 0) g.stops[way_.stops[i - 1].index] += w.dot(way_.jump_of_slope(i));
  }
  if (backward_ && way_.system.parameters() > 0) g.parameters += backward_->parameters();
  return w;
}

AGRAD_INLINE void dae_sweep::back_through(std::size_t i, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, Eigen::VectorXd& w,
                                          dae_gradient& g) {
  const dae_segment& here = way_.segments[i];
  way_.enter(i);
  if (backward_) backward_->use(way_.trajectories[i]);
  double from = here.last;
  const auto restart = [&](const dae_state& at) {
    if (backward_ && at.t > here.begin.t && !w.isZero(0)) backward_->restart(at, w, way_.consistency);
    from = at.t;
  };
  const auto move_to = [&](double t) {
    if (!backward_ || t == from || w.isZero(0)) return;
    backward_->advance(t);
    w = backward_->differential();
  };
  if (!w.isZero(0)) {
    way_.consistency.prepare(here.end);
    restart(here.end);
  }
  for (std::size_t k = here.first_point + here.points; k-- > here.first_point;) {
    if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
    move_to(way_.points[k].t);
    w += jump_at(k, adjoints, g);
    restart(way_.points[k]);
  }
  move_to(here.begin.t);
  if (backward_) backward_->collect();
}

AGRAD_INLINE Eigen::VectorXd dae_sweep::by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  const Eigen::Index of_initial = way_.needs_initial() ? way_.split.r() : 0, m = way_.system.parameters();
  Eigen::VectorXd at_start = Eigen::VectorXd::Zero(way_.split.r());
  for (std::size_t i = 0; i < way_.segments.size(); ++i) {
    const dae_segment& here = way_.segments[i];
    way_.enter(i);
    for (std::size_t k = here.first_point; k < here.first_point + here.points; ++k) {
      if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
      const Eigen::VectorXd w = jump_at(k, adjoints, g);
      if (!way_.is_differentiated()) continue;
      const Eigen::VectorXd by = way_.kept[k].transpose() * w;
      at_start.head(of_initial) += by.head(of_initial);
      g.parameters += by.tail(m);
      for (Eigen::Index j = of_initial; j < by.size() - m; ++j)
        g.stops[way_.stops[static_cast<std::size_t>(j - of_initial)].index] += by[j];
    }
  }
  return at_start;
}

AGRAD_INLINE void dae_sweep::take_to_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g) {
  const dae_state& initial = way_.segments[0].begin;
  g.initial_time -= of_differential.dot(way_.slope_of_differential(initial));
  if (way_.options.initial != dae_initial::derivatives) {
    g.initial_state = way_.split.q() * of_differential;
  } else if (way_.needs_initial() && !of_differential.isZero(0)) {
    way_.enter(0);
    way_.consistency.to_slope(initial, of_differential, g);
  }
}

}  // namespace agrad::detail
