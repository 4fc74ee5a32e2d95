// Definitions of solve/dae/solver.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/solver.hpp>
#include <agrad/solve/solver/adjoint_tolerances.hpp>

namespace agrad {

AGRAD_INLINE dae_solver::dae_solver(std::string function, dae_system& system, dae_options options, dae_required required)
    : solution_(std::move(function), system, std::move(options), required) {
  check_solver_options(solution_.function, solution_.options, system.states());
  solution_.context = sundials::make_context(solution_.function);
  forward_.emplace(solution_.function, solution_.system, solution_.options, solution_.context);
  forward_->diagnose_by(&solution_.consistency);
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                                          const std::vector<double>& times, const std::vector<double>& stops) {
  check_size(solution_.function, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(solution_.system.states()),
             "one for each state");
  check_dae_problem(solution_.function, y0, yp0, t0, times);
  is_integrated_ = false, reverse_pass_.forget();
  statistics_ = {};
  solution_.stops = detail::dae_stops(solution_.function, stops, t0, times.back());
  solution_.given_stops = static_cast<Eigen::Index>(stops.size());
  solution_.points.clear(), solution_.segments.clear(), solution_.trajectories.resize(solution_.stops.size() + 1);
  solution_.given_slope = yp0;
  dae_state s{t0, y0, yp0};
  for (std::size_t i = 0; i <= solution_.stops.size(); ++i) {
    begin_segment(i, i < solution_.stops.size() ? solution_.stops[i].time : times.back(), s);
    solve_segment(i, times, s);
  }
  is_integrated_ = true;
  return assemble();
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                                          const std::vector<double>& times) {
  return integrate(y0, yp0, t0, times, {});
}

AGRAD_INLINE dae_gradient dae_solver::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!is_integrated_)
    throw std::logic_error(solution_.function + ": reverse was called before integrate, but must come after it");
  return reverse_pass_.compute(adjoints);
}

AGRAD_INLINE void dae_solver::begin_segment(std::size_t i, double end, dae_state& s) {
  solution_.segments.emplace_back();
  solution_.segments[i].begin.t = s.t, solution_.segments[i].last = end;
  solution_.enter(i);
  const Eigen::VectorXd before = s.y;
  if (i == 0) {
    solution_.system.join();
    solution_.split = detail::dae_splitting(solution_.function, solution_.system, s.at(), solution_.options.differential);
    solution_.consistency.use(&solution_.split);
    solution_.consistency.initialise(s);
    Eigen::MatrixXd by_slope(s.y.size(), s.y.size());
    solution_.system.jacobian(s.at(), 0, 1, by_slope);
    if (solution_.system.separate(by_slope)) solution_.consistency.prepare(s);
  } else {
    solution_.consistency.restart(s);
  }
  const bool is_kept = i > 0 || solution_.options.initial == dae_initial::differential;  // whether a is as before
  if (is_kept) solution_.segments[i].correction = detail::correction_of(solution_.split, before, s.y);
  solution_.consistency.remember();
  solution_.consistency.differentiate_algebraic(s, end);
  solution_.segments[i].begin = s;
}

AGRAD_INLINE void dae_solver::solve_segment(std::size_t i, const std::vector<double>& times, dae_state& s) {
  detail::dae_segment& here = solution_.segments[i];
  const bool is_last = i == solution_.stops.size(), takes_time = here.last > here.begin.t;
  here.first_point = solution_.points.size();
  start_sensitivities(i);
  if (takes_time) start(i);
  for (std::size_t k = solution_.points.size(); k < times.size() && (is_last || times[k] < here.last); ++k)
    solution_.points.push_back(times[k] > here.begin.t ? advanced(times[k]) : output_at_begin(i));
  here.points = solution_.points.size() - here.first_point;
  if (!is_last) here.end = s = advanced(here.last);
  if (takes_time) forward_->add_costs(statistics_);
}

AGRAD_INLINE void dae_solver::start(std::size_t i) {
  const detail::dae_segment& here = solution_.segments[i];
  std::vector<dae_state> tangents;
  const Eigen::Index m = solution_.system.parameters(), count = here.sensitivities.cols(),
                     of_parameters = std::max(count, m) - m;
  dae_state begin = here.begin;
  if (count > 0) {
    solution_.consistency.prepare(here.begin);
    begin = solution_.consistency.beside(here.begin);
    solution_.consistency.prepare(begin);  // algebraic sensitivities must be consistent with the state that is integrated
  }
  for (Eigen::Index c = 0; c < count; ++c) {
    Eigen::VectorXd p = Eigen::VectorXd::Zero(m);
    if (c >= of_parameters) p[c - of_parameters] = 1;
    tangents.emplace_back();
    solution_.consistency.tangent(begin, here.sensitivities.col(c), p, tangents.back());
  }
  const bool stores_steps = solution_.is_differentiated() && !solution_.uses_sensitivities();
  forward_->start(begin, here.last, tangents, of_parameters, count > 0 ? scales(of_parameters) : Eigen::VectorXd(),
                  stores_steps ? &solution_.trajectories[i] : nullptr);
}

AGRAD_INLINE void dae_solver::start_sensitivities(std::size_t i) {
  if (!solution_.uses_sensitivities() || !solution_.is_differentiated()) return;
  const Eigen::Index r = solution_.split.r(), of_initial = solution_.needs_initial() ? r : 0, m = solution_.system.parameters();
  Eigen::MatrixXd& to = solution_.segments[i].sensitivities;
  if (i == 0) {
    solution_.output_sensitivities.clear();
    to.setZero(r, of_initial + m);
    to.leftCols(of_initial) = Eigen::MatrixXd::Identity(r, of_initial);
  } else {
    continue_sensitivities(i, to);
  }
  if (m > 0 && solution_.is_corrected(i))
    to.rightCols(m) += solution_.correction_by_parameters(i, Eigen::MatrixXd::Identity(r, r));
}

AGRAD_INLINE void dae_solver::continue_sensitivities(std::size_t i, Eigen::MatrixXd& to) const {
  const Eigen::Index m = solution_.system.parameters(), added = solution_.required.stops ? 1 : 0, before = at_end_.cols() - m;
  to.resize(solution_.split.r(), before + added + m);
  to.leftCols(before) = at_end_.leftCols(before), to.rightCols(m) = at_end_.rightCols(m);
  if (solution_.required.stops) to.col(before) = solution_.jump_of_slope(i);
}

AGRAD_INLINE Eigen::VectorXd dae_solver::scales(Eigen::Index of_parameters) const {
  const Eigen::Index r = solution_.needs_initial() ? solution_.split.r() : 0;
  Eigen::VectorXd x = Eigen::VectorXd::Constant(of_parameters + solution_.system.parameters(),
                                                solution_.segments.back().last - solution_.segments[0].begin.t);
  if (r > 0) x.head(r) = solution_.split.q().transpose() * solution_.segments[0].begin.y;
  solution_.system.parameter_values(x.data() + of_parameters);
  return x.unaryExpr([](double v) { return detail::size_or_one(v); });
}

AGRAD_INLINE dae_solver::dae_state dae_solver::advanced(double t) {
  dae_state s;
  forward_->advance(t, s);
  solution_.consistency.refine(s);
  if (solution_.system.knows_time()) solution_.consistency.differentiate_algebraic(s, t);
  if (solution_.uses_sensitivities() && solution_.is_differentiated()) store_sensitivities(t);
  return s;
}

AGRAD_INLINE dae_solver::dae_state dae_solver::output_at_begin(std::size_t i) {
  if (solution_.uses_sensitivities() && solution_.is_differentiated())
    solution_.output_sensitivities.push_back(solution_.segments[i].sensitivities);
  return solution_.segments[i].begin;
}

AGRAD_INLINE void dae_solver::store_sensitivities(double t) {
  at_end_.resize(solution_.split.r(), solution_.segments.back().sensitivities.cols());
  Eigen::VectorXd s;
  for (Eigen::Index c = 0; c < at_end_.cols(); ++c) {
    forward_->sensitivity(t, static_cast<std::size_t>(c), s);
    at_end_.col(c) = solution_.split.q().transpose() * s;
  }
  if (t < solution_.segments.back().last || solution_.segments.size() > solution_.stops.size())
    solution_.output_sensitivities.push_back(at_end_);
}

AGRAD_INLINE const Eigen::MatrixXd& dae_solver::assemble() {
  const Eigen::Index n = solution_.split.n();
  solution_.solution.resize(2 * n, static_cast<Eigen::Index>(solution_.points.size()));
  for (std::size_t k = 0; k < solution_.points.size(); ++k)
    solution_.solution.col(static_cast<Eigen::Index>(k)) << solution_.points[k].y, solution_.points[k].yp;
  return solution_.solution;
}

}  // namespace agrad
