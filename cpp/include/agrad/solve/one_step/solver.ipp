// Definitions of solve/one_step/solver.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/solver.hpp>

namespace agrad {

AGRAD_INLINE const Eigen::MatrixXd& one_step_solver::integrate(const Eigen::VectorXd& y0, double t0,
                                                               const std::vector<double>& times) {
  check_size(function_, "y0", static_cast<std::size_t>(y0.size()), n_, "one for each state");
  check_initial_value_problem(function_, y0, t0, times);
  integrated_ = false;
  listener_ = progress_listener::current();
  t0_ = t0, times_ = times, y0_ = y0, requested_end_ = times.back();
  store_.start(record_.size(), n_, options_.max_memory);
  outputs_.clear();
  states_.resize(y0.size(), static_cast<Eigen::Index>(times.size()));
  statistics_ = {};
  control_.start();
  by_states_ = rested_ = 0;
  fault_place_.clear();
  std::copy_n(y0.data(), n_, record_.data());
  t_ = t0;
  begin(t_, record_.data());
  probe_.start(system_, options_, required_, y0, t0, constrained_.get());
  if (probe_.is_on()) begin_probe(t_, record_.data());
  if (watch_ != nullptr) begin_watch();
  h_ = options_.first_step > 0 ? options_.first_step : chosen_first_step(times.back() - t0);
  while (outputs_.size() < times_.size()) {
    if (integrate_to_next()) stop_here();
  }
  statistics_.gradient_error = probe_.relative_error();
  integrated_ = true;
  warn_of_steps();
  return states_;
}

AGRAD_INLINE bool one_step_solver::watch(detail::event_watch* events) {
  watch_ = events;
  return true;
}

AGRAD_INLINE bool one_step_solver::log_steps(detail::step_log* log) {
  logger_.attach(log);
  return true;
}

AGRAD_INLINE ode_gradient one_step_solver::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  check_integrated(adjoints);
  ode_gradient g{Eigen::VectorXd::Zero(y0_.size()), 0.0, times_gradient(adjoints), Eigen::VectorXd::Zero(system_.parameters())};
  if (!reverses_) return g;
  listener_ = progress_listener::current();
  std::optional<detail::reverse_estimate> estimate;
  const bool judges = options_.error_control == step_error_control::states && adjoints.allFinite();
  if (judges && rests()) estimate.emplace(n_, m_);
  reverse_steps(adjoints, g, estimate ? &*estimate : nullptr);
  if (judges && !estimate && grows_) {
    ode_gradient again = g;
    again.parameters.setZero();
    reverse_steps(adjoints, again, &estimate.emplace(n_, m_));
  }
  if (estimate) judge(*estimate, g);
  if (required_.initial_time) {
    true_slope_at(t0_, y0_.data(), error_.data());
    for (std::size_t i = 0; i < n_; ++i) g.initial_time -= g.initial_state[static_cast<Eigen::Index>(i)] * error_[i];
  }
  const bool is_intermediate = constrained_ != nullptr;  // parameters move the consistent state
  if (!required_.initial_state && !is_intermediate) g.initial_state.setZero();
  return g;
}

AGRAD_INLINE void one_step_solver::reverse_steps(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, ode_gradient& g,
                                                 detail::reverse_estimate* estimate) {
  std::vector<double> l(n_, 0.0);
  std::size_t outputs = outputs_.size();
  const bool is_finite = adjoints.allFinite();
  const auto adjoint = [&](std::size_t k) { return adjoints.col(static_cast<Eigen::Index>(k)).data(); };
  grows_ = false;
  for (std::size_t step = store_.steps(); step-- > 0;) {
    double* of_record = outputs_.collect(step, outputs, adjoint, n_, l.data(), of_record_);
    outputs = outputs_.before(step, outputs);
    const one_step at = place(step);
    const double* record = record_of(step);
    reversed_ = step;
    if (estimate != nullptr) {
      reverse_error(at, l.data(), estimate->of_record());
      reverse_step(at, record, estimate->of_record().data(), estimate->states(), estimate->parameters());
    }
    const double before = of_record == nullptr ? size_of(l, record) : std::numeric_limits<double>::infinity();
    reverse_step(at, record, of_record, l.data(), g.parameters.data());
    detail::drop_denormals(l);
    if (is_finite) check_finite("the adjoint", "y", step, l.data(), n_);
    if (is_finite) check_finite("the adjoint", "parameters", step, g.parameters.data(), m_);
    grows_ = grows_ || size_of(l, record) > 10 * before;
    ++statistics_.backward.steps;
    pace_.step();
    if (listener_ != nullptr) listener_->at(store_.time(step));
  }
  std::copy_n(l.data(), n_, g.initial_state.data());
}

AGRAD_INLINE one_step_solver::one_step_solver(std::string function, ode_system& system, step_options options,
                                              ode_required required, int order, std::size_t record, std::size_t interpolated)
    : function_(std::move(function)),
      system_(system),
      options_(std::move(options)),
      required_(required),
      n_(static_cast<std::size_t>(system.states())),
      m_(static_cast<std::size_t>(system.parameters())),
      reverses_(required.initial_state || required.initial_time || m_ > 0),
      outputs_(interpolated),
      error_(n_),
      next_(n_),
      scale_(static_cast<Eigen::Index>(n_)),
      order_(order),
      control_(order),
      record_(record) {
  check_solver_options(function_, options_, system.states());
}

AGRAD_INLINE void one_step_solver::refuse_mass() const {
  if (options_.mass)
    throw DomainError(
        detail::sentence(function_, "mass_matrix", -1, "given", "absent for this method", "choose Rodas5P or Rodas4"));
}

AGRAD_INLINE void one_step_solver::check_finite(const char* what, const char* of, std::size_t step, const double* x,
                                                std::size_t count, std::size_t width) {
  if (detail::are_finite(x, count)) return;
  detail::throw_not_finite(function_, what, of, x, count, width, store_.time(step), static_cast<long>(step),
                           cause_of_fault(step));
}

AGRAD_INLINE std::string one_step_solver::cause_of_fault(std::size_t step) {
  const std::vector<double> ones(n_, 1.0);
  std::vector<double> of_states(n_), of_parameters(m_);
  const int points = linearize_step(place(step), record_of(step));
  bool has_derivatives = true;
  for (int k = 0; k < points; ++k) {
    system_.linear_vjp(k, ones.data(), of_states.data(), m_ > 0 ? of_parameters.data() : nullptr);
    has_derivatives =
        has_derivatives && detail::are_finite(of_states.data(), n_) && detail::are_finite(of_parameters.data(), m_);
  }
  if (!has_derivatives)
    return "the right-hand side has no finite derivative there; keep the solution away from that point, or choose between "
           "values "
           "with np.where";
  if (options_.error_control != step_error_control::states)
    return "the derivatives of the solution grow beyond all numbers; shorten the time span";
  return "steps that suit the states are too long for the derivatives, which grow from step to step; let error_control "
         "include derivatives, as it does by default";
}

AGRAD_INLINE std::string one_step_solver::held_back() const {
  if (2 * statistics_.held_by_derivatives <= statistics_.forward.steps) return {};
  return "; derivatives made " + std::to_string(statistics_.held_by_derivatives) +
         " steps shorter, and error_control='states' leaves derivatives out";
}

AGRAD_INLINE void one_step_solver::warn_of_steps() const {
  const auto steps = static_cast<double>(statistics_.forward.steps);
  if (!options_.warn || !probe_.is_on() || steps < 1000 || steps < 8 * by_states_) return;
  options_.warn(step_concern::steps,
                function_ + ": derivatives made the steps " + detail::to_text(std::round(steps / std::max(1.0, by_states_))) +
                    " times as many as the states need (" + std::to_string(statistics_.forward.steps) +
                    "); if the result does not depend on the fast modes that hold them, error_control='states' leaves "
                    "derivatives out");
}

AGRAD_INLINE double one_step_solver::size_of(const std::vector<double>& l, const double* y) const {
  if (options_.error_control != step_error_control::states) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    const double least = options_.states.absolute[static_cast<Eigen::Index>(i)] / options_.states.relative;
    const double size = l[i] * std::max(std::abs(y[i]), least);
    sum += size * size;
  }
  return std::sqrt(sum);
}

AGRAD_INLINE void one_step_solver::judge(const detail::reverse_estimate& estimate, const ode_gradient& g) {
  const double relative = estimate.relative(system_, options_, required_, y0_, g);
  statistics_.gradient_error = relative;
  const double allowed = rests() ? std::min(0.1, 100 * options_.states.relative) : 0.1;
  if (!options_.warn || relative <= allowed) return;
  char number[32];
  std::snprintf(number, sizeof number, "%.1e", relative);
  options_.warn(step_concern::gradient,
                function_ + ": the estimated relative error of the gradient is " + number +
                    ", as the steps suit the states alone; let error_control include derivatives, as it does by default");
}

AGRAD_INLINE one_step one_step_solver::place(std::size_t step) const {
  return {store_.time(step), store_.size(step), step + 1 < store_.steps() ? store_.time(step + 1) : times_.back()};
}

AGRAD_INLINE const double* one_step_solver::record_of(std::size_t i) {
  return store_.record(i, [&](std::size_t step, double* record) {
    repeat(place(step), record, next_.data());
    return next_.data();
  });
}

AGRAD_INLINE bool one_step_solver::restore_linear(std::size_t step, int points) {
  const double* from = store_.linear(step);
  return from != nullptr && system_.restore_linear(points, from);
}

AGRAD_INLINE void one_step_solver::slope_at(double t, const double* y, double* to) {
  system_.rhs(t, y, to);
  ++statistics_.forward.rhs_evaluations;
}

AGRAD_INLINE void one_step_solver::true_slope_at(double t, const double* y, double* to) {
  if (constrained_ == nullptr) return slope_at(t, y, to);
  constrained_->slope(t, y, to);
  ++statistics_.forward.rhs_evaluations;
}

AGRAD_INLINE void one_step_solver::first_slope(double t, const double* y, double* to) {
  slope_at(t, y, to);
  if (statistics_.forward.steps > 0) return;
  const std::string place = detail::not_finite_slope(to, n_, t);
  if (!place.empty()) fail("not_finite", place);
}

AGRAD_INLINE double one_step_solver::weighed(const double* error, const double* first, const double* last) {
  detail::set_scale(options_, first, last, scale_);
  return detail::weighed(error, scale_);
}

AGRAD_INLINE void one_step_solver::slope_within(double t, const double* y, double* to) {
  system_.rhs(t, y, to);
  ++(integrated_ ? statistics_.recomputed_rhs_evaluations : statistics_.forward.rhs_evaluations);
}

AGRAD_INLINE void one_step_solver::check_integrated(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const {
  if (!integrated_) throw std::logic_error(function_ + ": reverse was called before integrate, but must come after it");
  check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(states_.size()),
             "one for each state at each time");
}

AGRAD_INLINE double one_step_solver::attempt_both(const one_step& at) {
  of_state_ = attempt(at, record_.data(), next_.data());
  return probe_.larger_error(of_state_, [&] { return attempt_probe(at, record_.data()); });
}

AGRAD_INLINE double one_step_solver::chosen_first_step(double duration) {
  const double* y = record_.data();
  const auto slope = [&](double t, const double* at, double* to) { true_slope_at(t, at, to); };
  return detail::first_step(t_, y, n_, duration, order_, slope, [&](const double* x) { return weighed(x, y, y); });
}

AGRAD_INLINE bool one_step_solver::integrate_to_next() {
  double h = 0;
  long steps = 0;
  for (const std::size_t known = outputs_.size(); known == outputs_.size();) {
    if (++steps > options_.max_num_steps)
      fail("too_many_steps", "raise max_num_steps or loosen the tolerances" + detail::last_step(h) + held_back());
    h_ = std::min(h_, options_.max_step);
    const double end = end_of_next(), left = end - t_;
    const bool is_last = h_ >= left * (1 - 1e-10);
    h = is_last ? left : h_ > left / 2 ? left / 2 : h_;  // no tiny step before the end
    if (logger_.is_on()) logger_.limit(limit_of(h, end));
    if (t_ + h == t_ || !(h > 0)) fail("step_too_short", fault_place_);
    if (advance({t_, h, is_last ? end : t_ + h}, std::max(h_, h))) return true;
  }
  return false;
}

AGRAD_INLINE double one_step_solver::end_of_next() const {
  const std::size_t k = outputs_.size();
  const bool passes_several = outputs_.are_interpolated() && k + 1 < times_.size() && t_ + h_ >= times_[k + 1];
  return passes_several ? times_.back() : times_[k];
}

AGRAD_INLINE void one_step_solver::write_outputs(const one_step& at) {
  const auto step = static_cast<std::size_t>(statistics_.forward.steps) - 1;
  const double* vectors = nullptr;
  for (std::size_t k = outputs_.size(); k < times_.size() && times_[k] <= at.end; ++k) {
    double* to = states_.col(static_cast<Eigen::Index>(k)).data();
    if (times_[k] == at.end) {
      outputs_.add_at_end(step);
      std::copy_n(next_.data(), n_, to);
    } else {
      const detail::step_outputs::weights w = interpolant((times_[k] - at.t) / (at.end - at.t), at.h);
      outputs_.add_within(step, w);
      if (vectors == nullptr) vectors = vectors_within(at, record_.data());
      outputs_.sum(w, vectors, n_, to);
    }
  }
}

AGRAD_INLINE void one_step_solver::stop_here() {
  const std::size_t k = outputs_.size() - (is_at_output() ? 1 : 0);
  if (!is_at_output()) {
    std::copy_n(record_.data(), n_, states_.col(static_cast<Eigen::Index>(k)).data());
    outputs_.add_at_end(static_cast<std::size_t>(statistics_.forward.steps) - 1);
  }
  times_.resize(k + 1);
  times_[k] = t_;
  states_.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(k + 1));
}

AGRAD_INLINE bool one_step_solver::advance(const one_step& whole, double proposed) {
  one_step at = whole;
  double error = attempt_both(at);
  if (!(error <= 1)) {
    ++statistics_.forward.error_test_failures;
    fault_place_ = std::isfinite(error) ? std::string() : place_of_fault(at, record_.data());
    if (fault_place_.empty() && !std::isfinite(error))
      fault_place_ = detail::not_finite_tangent(probe_.is_on() ? probe_.next() : nullptr, n_, at.t);
    if (logger_.is_on()) logger_.reject(at.t, error_, scale_, std::isfinite(error));
    h_ = at.h * control_.after_rejected(error);
    return false;
  }
  if (watch_ != nullptr && sees_event(at)) {
    at = up_to_event(at);
    error = attempt_both(at);
  }
  if (logger_.is_on()) log_step(at, error);
  const double factor = control_.after_accepted(error);
  if (reverses_) {
    store_.add(at.t, at.h, record_.data());
    if (probe_.is_on())
      if (double* to = store_.add_linear(system_.linear_size())) system_.keep_linear(to);
  }
  ++statistics_.forward.steps;
  pace_.step();
  if (probe_.holds()) ++statistics_.held_by_derivatives;
  const double filled = std::pow(of_state_, 1.0 / order_);  // of the step that the state's error allows
  by_states_ += probe_.holds() ? std::min(1.0, filled) : 1;
  if (4 * filled * proposed < at.h) rested_ += at.h;
  if (probe_.is_on()) probe_.accept(at.h);
  h_ = factor >= 1 ? std::max(at.h * factor, proposed) : at.h * factor;
  t_ = at.end;
  if (listener_ != nullptr) listener_->at(t_);
  write_outputs(at);
  const bool is_enough = (gives_up(at, record_.data(), next_.data()) && !is_at_output()) || has_ended_at_event();
  std::copy_n(next_.data(), n_, record_.data());
  begin(t_, record_.data());
  if (probe_.is_on()) begin_probe(t_, record_.data());
  return is_enough;
}

AGRAD_INLINE detail::step_limit one_step_solver::limit_of(double h, double end) const {
  if (h < h_ * (1 - 1e-9)) return end == times_.back() ? logger_.at_end() : detail::step_limit::output;
  return h_ >= options_.max_step ? detail::step_limit::largest : detail::step_limit::error;
}

AGRAD_INLINE void one_step_solver::log_step(const one_step& at, double error) {
  const detail::logged_vectors of{record_.data(), next_.data(), probe_.holds() ? probe_.error() : error_.data()};
  const Eigen::VectorXd& scale = probe_.holds() ? probe_.scale() : scale_;
  logger_.accept({at.t, at.end - at.t, error}, of, scale, options_.states.absolute, order_);
  ode_system* of_damping = constrained_ == nullptr ? &system_ : nullptr;
  logger_.finish(of_damping, at.end, next_.data(), has_ended_at_event(), probe_.holds());
}

AGRAD_INLINE void one_step_solver::begin_watch() {
  slope_.resize(n_);
  true_slope_at(t_, record_.data(), slope_.data());
  watch_->begin(t_, record_.data(), slope_.data());
}

AGRAD_INLINE bool one_step_solver::sees_event(const one_step& at) {
  const double* slope = end_slope(record_.data());
  if (slope == nullptr) {
    true_slope_at(at.end, next_.data(), slope_.data());
    slope = slope_.data();
  }
  return watch_->sees(at.end, next_.data(), slope);
}

AGRAD_INLINE one_step one_step_solver::up_to_event(const one_step& at) {
  const auto state_at = [&](double h) {
    attempt(part_of(at, h), record_.data(), next_.data());
    return next_.data();
  };
  return part_of(at, watch_->locate(at.end - at.t, state_at));
}

AGRAD_INLINE Eigen::VectorXd one_step_solver::times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(adjoints.cols());
  if (!required_.times) return gradient;
  Eigen::VectorXd slope(y0_.size());
  for (Eigen::Index k = 0; k < adjoints.cols(); ++k) {
    if (adjoints.col(k).isZero(0)) continue;
    true_slope_at(times_[static_cast<std::size_t>(k)], states_.col(k).data(), slope.data());
    gradient[k] = adjoints.col(k).dot(slope);
  }
  return gradient;
}

AGRAD_INLINE void one_step_solver::fail(const std::string& code, const std::string& advice) {
  detail::throw_stopped(function_, code, t_, statistics_.forward.steps, advice, detail::largest(error_, scale_));
}

}  // namespace agrad
