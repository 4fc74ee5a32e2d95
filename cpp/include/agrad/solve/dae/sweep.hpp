// DAE sweep: the gradient of a solution, segment by segment from the last to the first.
//
// Read first: solve/dae/solver.hpp, which includes this.
#pragma once

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <agrad/solve/dae/solver.hpp>

namespace agrad {

inline dae_gradient dae_solver::sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!is_integrated_) throw std::logic_error(function_ + ": sweep comes after integrate has succeeded");
  check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(solution_.size()),
             "one for each state and derivative at each time");
  dae_gradient g = zero_gradient(adjoints.cols());
  if (!adjoints.allFinite()) {
    for (Eigen::VectorXd* each : {&g.initial_state, &g.initial_slope, &g.times, &g.stops, &g.parameters})
      each->setConstant(std::numeric_limits<double>::quiet_NaN());
    g.initial_time = std::numeric_limits<double>::quiet_NaN();
    return masked(g);
  }
  const Eigen::VectorXd of_differential = uses_sensitivities() ? by_sensitivities(adjoints, g) : backwards(adjoints, g);
  take_to_initial_values(of_differential, g);
  return masked(g);
}

inline dae_gradient dae_solver::zero_gradient(Eigen::Index times) const {
  const auto zeros = [](Eigen::Index size) { return Eigen::VectorXd(Eigen::VectorXd::Zero(size)); };
  return {zeros(split_.n()), zeros(split_.n()), 0.0, zeros(times), zeros(given_stops_), zeros(system_.parameters())};
}

inline dae_gradient dae_solver::masked(dae_gradient& g) const {
  if (!wanted_.initial_state) g.initial_state.setZero();
  if (!wanted_.initial_slope) g.initial_slope.setZero();
  if (!wanted_.initial_time) g.initial_time = 0;
  if (!wanted_.times) g.times.setZero();
  if (!wanted_.stops) g.stops.setZero();
  return std::move(g);
}

/// What the adjoints of output k do there: returns those of the differential part.
inline Eigen::VectorXd dae_solver::jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  const auto column = adjoints.col(static_cast<Eigen::Index>(k));
  consistency_.prepare(points_[k]);
  const dae_jump j = consistency_.jump(points_[k], column.head(split_.n()), column.tail(split_.n()));
  g.parameters += j.parameters;
  g.times[static_cast<Eigen::Index>(k)] = j.differential.dot(slope_of_differential(points_[k])) + j.time;
  return j.differential;
}

/// Returns what arrives at t0 in the differential part.
inline Eigen::VectorXd dae_solver::backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  Eigen::VectorXd w = Eigen::VectorXd::Zero(split_.r());
  if (is_differentiated() && !backward_ && segments_.back().last > segments_[0].begin.t)
    backward_ = std::make_unique<detail::ida_backward>(function_, system_, options_, context_, split_, statistics_);
  if (backward_) backward_->clear();
  for (std::size_t i = segments_.size(); i-- > 0;) {
    back_through(i, adjoints, w, g);
    if (i > 0) g.stops[stops_[i - 1].index] += w.dot(jump_of_slope(i));
  }
  if (backward_ && system_.parameters() > 0) g.parameters += backward_->parameters();
  return w;
}

/// From the adjoint w of the differential part at the end of segment number i to that at its begin, with the outputs in it.
inline void dae_solver::back_through(std::size_t i, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, Eigen::VectorXd& w,
                                     dae_gradient& g) {
  const segment& here = segments_[i];
  enter(i);
  if (backward_) backward_->use(trajectories_[i]);
  double from = here.last;
  const auto restart = [&](const dae_state& at) {
    if (backward_ && at.t > here.begin.t && !w.isZero(0)) backward_->restart(at, w, consistency_);
    from = at.t;
  };
  const auto move_to = [&](double t) {
    if (!backward_ || t == from || w.isZero(0)) return;
    backward_->advance(t);
    w = backward_->differential();
  };
  if (!w.isZero(0)) {
    consistency_.prepare(here.end);
    restart(here.end);
  }
  for (std::size_t k = here.first_point + here.points; k-- > here.first_point;) {
    if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
    move_to(points_[k].t);
    w += jump_at(k, adjoints, g);
    restart(points_[k]);
  }
  move_to(here.begin.t);
  if (backward_) backward_->collect();
}

/// The same by products with the sensitivities at the outputs.
inline Eigen::VectorXd dae_solver::by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g) {
  const Eigen::Index of_initial = needs_initial() ? split_.r() : 0, m = system_.parameters();
  Eigen::VectorXd at_start = Eigen::VectorXd::Zero(split_.r());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const segment& here = segments_[i];
    enter(i);
    for (std::size_t k = here.first_point; k < here.first_point + here.points; ++k) {
      if (adjoints.col(static_cast<Eigen::Index>(k)).isZero(0)) continue;
      const Eigen::VectorXd w = jump_at(k, adjoints, g);
      if (!is_differentiated()) continue;
      const Eigen::VectorXd by = kept_[k].transpose() * w;
      at_start.head(of_initial) += by.head(of_initial);
      g.parameters += by.tail(m);
      for (Eigen::Index j = of_initial; j < by.size() - m; ++j)
        g.stops[stops_[static_cast<std::size_t>(j - of_initial)].index] += by[j];
    }
  }
  return at_start;
}

inline void dae_solver::take_to_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g) {
  const dae_state& initial = segments_[0].begin;
  g.initial_time -= of_differential.dot(slope_of_differential(initial));
  if (options_.initial != dae_initial::derivatives) {
    g.initial_state = split_.q() * of_differential;
  } else if (needs_initial() && !of_differential.isZero(0)) {
    enter(0);
    consistency_.to_slope(initial, of_differential, g);
  }
}

}  // namespace agrad
