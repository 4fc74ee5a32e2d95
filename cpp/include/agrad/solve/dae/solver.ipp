// Definitions of solve/dae/solver.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/solver.hpp>

namespace agrad {

AGRAD_INLINE dae_solver::dae_solver(std::string function, dae_system& system, dae_options options, dae_wanted wanted)
    : way_(std::move(function), system, std::move(options), wanted) {
  check_solver_options(way_.function, way_.options, system.states());
  way_.context = sundials::make_context(way_.function);
  forward_.emplace(way_.function, way_.system, way_.options, way_.context);
  forward_->diagnose_by(&way_.consistency);
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                                          const std::vector<double>& times, const std::vector<double>& stops) {
  check_size(way_.function, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(way_.system.states()),
             "one for each state");
  check_dae_problem(way_.function, y0, yp0, t0, times);
  is_integrated_ = false, sweep_.forget();
  statistics_ = {};
  way_.stops = detail::dae_stops(way_.function, stops, t0, times.back());
  way_.given_stops = static_cast<Eigen::Index>(stops.size());
  way_.points.clear(), way_.segments.clear(), way_.trajectories.resize(way_.stops.size() + 1);
  dae_state s{t0, y0, yp0};
  for (std::size_t i = 0; i <= way_.stops.size(); ++i) {
    begin_segment(i, i < way_.stops.size() ? way_.stops[i].time : times.back(), s);
    solve_segment(i, times, s);
  }
  is_integrated_ = true;
  return put_together();
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                                          const std::vector<double>& times) {
  return integrate(y0, yp0, t0, times, {});
}

AGRAD_INLINE dae_gradient dae_solver::sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!is_integrated_) throw std::logic_error(way_.function + ": sweep was called before integrate, but must come after it");
  return sweep_.run(adjoints);
}

AGRAD_INLINE void dae_solver::begin_segment(std::size_t i, double end, dae_state& s) {
  way_.segments.emplace_back();
  way_.segments[i].begin.t = s.t, way_.segments[i].last = end;
  way_.enter(i);
  if (i == 0) {
    way_.split = detail::dae_splitting(way_.function, way_.system, s.at(), way_.options.differential);
    way_.consistency.use(&way_.split);
    way_.consistency.initialise(s);
  } else {
    way_.consistency.restart(s);
  }
  way_.consistency.remember();
  way_.consistency.differentiate_algebraic(s, end);
  way_.segments[i].begin = s;
}

AGRAD_INLINE void dae_solver::solve_segment(std::size_t i, const std::vector<double>& times, dae_state& s) {
  detail::dae_segment& here = way_.segments[i];
  const bool is_last = i == way_.stops.size(), takes_time = here.last > here.begin.t;
  here.first_point = way_.points.size();
  start_sensitivities(i);
  if (takes_time) start(i);
  for (std::size_t k = way_.points.size(); k < times.size() && (is_last || times[k] < here.last); ++k)
    way_.points.push_back(times[k] > here.begin.t ? advanced(times[k]) : output_at_begin(i));
  here.points = way_.points.size() - here.first_point;
  if (!is_last) here.end = s = advanced(here.last);
  if (takes_time) forward_->add_costs(statistics_);
}

AGRAD_INLINE void dae_solver::start(std::size_t i) {
  const detail::dae_segment& here = way_.segments[i];
  std::vector<dae_state> tangents;
  const Eigen::Index m = way_.system.parameters(), count = here.sensitivities.cols(), of_parameters = std::max(count, m) - m;
  if (count > 0) way_.consistency.prepare(here.begin);
  for (Eigen::Index c = 0; c < count; ++c) {
    Eigen::VectorXd p = Eigen::VectorXd::Zero(m);
    if (c >= of_parameters) p[c - of_parameters] = 1;
    tangents.emplace_back();
    way_.consistency.tangent(here.begin, here.sensitivities.col(c), p, tangents.back());
  }
  const bool keeps_steps = way_.is_differentiated() && !way_.uses_sensitivities();
  forward_->start(here.begin, here.last, tangents, of_parameters, count > 0 ? scales(of_parameters) : Eigen::VectorXd(),
                  keeps_steps ? &way_.trajectories[i] : nullptr);
}

AGRAD_INLINE void dae_solver::start_sensitivities(std::size_t i) {
  if (!way_.uses_sensitivities() || !way_.is_differentiated()) return;
  const Eigen::Index r = way_.split.r(), of_initial = way_.needs_initial() ? r : 0, m = way_.system.parameters();
  Eigen::MatrixXd& to = way_.segments[i].sensitivities;
  if (i == 0) {
    way_.kept.clear();
    to.setZero(r, of_initial + m);
    to.leftCols(of_initial) = Eigen::MatrixXd::Identity(r, of_initial);
    return;
  }
  const Eigen::Index added = way_.wanted.stops ? 1 : 0, before = at_end_.cols() - m;
  to.resize(r, before + added + m);
  to.leftCols(before) = at_end_.leftCols(before), to.rightCols(m) = at_end_.rightCols(m);
  if (way_.wanted.stops) to.col(before) = way_.jump_of_slope(i);
}

AGRAD_INLINE Eigen::VectorXd dae_solver::scales(Eigen::Index of_parameters) const {
  const Eigen::Index r = way_.needs_initial() ? way_.split.r() : 0;
  Eigen::VectorXd x =
      Eigen::VectorXd::Constant(of_parameters + way_.system.parameters(), way_.segments.back().last - way_.segments[0].begin.t);
  if (r > 0) x.head(r) = way_.split.q().transpose() * way_.segments[0].begin.y;
  way_.system.parameter_values(x.data() + of_parameters);
  return x.unaryExpr([](double v) { return v != 0 && std::abs(v) > 1e-100 && std::abs(v) < 1e100 ? std::abs(v) : 1.0; });
}

AGRAD_INLINE dae_solver::dae_state dae_solver::advanced(double t) {
  dae_state s;
  forward_->advance(t, s);
  way_.consistency.refine(s);
  if (way_.system.knows_time()) way_.consistency.differentiate_algebraic(s, t);
  if (way_.uses_sensitivities() && way_.is_differentiated()) keep_sensitivities(t);
  return s;
}

AGRAD_INLINE dae_solver::dae_state dae_solver::output_at_begin(std::size_t i) {
  if (way_.uses_sensitivities() && way_.is_differentiated()) way_.kept.push_back(way_.segments[i].sensitivities);
  return way_.segments[i].begin;
}

AGRAD_INLINE void dae_solver::keep_sensitivities(double t) {
  at_end_.resize(way_.split.r(), way_.segments.back().sensitivities.cols());
  Eigen::VectorXd s;
  for (Eigen::Index c = 0; c < at_end_.cols(); ++c) {
    forward_->sensitivity(t, static_cast<std::size_t>(c), s);
    at_end_.col(c) = way_.split.q().transpose() * s;
  }
  if (t < way_.segments.back().last || way_.segments.size() > way_.stops.size()) way_.kept.push_back(at_end_);
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::put_together() {
  const Eigen::Index n = way_.split.n();
  way_.solution.resize(2 * n, static_cast<Eigen::Index>(way_.points.size()));
  for (std::size_t k = 0; k < way_.points.size(); ++k)
    way_.solution.col(static_cast<Eigen::Index>(k)) << way_.points[k].y, way_.points[k].yp;
  return way_.solution;
}

}  // namespace agrad
