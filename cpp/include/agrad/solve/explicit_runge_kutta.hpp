// Explicit Runge-Kutta: integrates an `ode_system` step by step and differentiates the steps themselves.
//
// The gradient is the exact one of the computed solution for the accepted step sizes: no interpolation, no tolerances of a
// backward pass. A step's stages are Y_s = y + h sum_j a_sj k_j with k_s = f(t + c_s h, Y_s). Backwards, with l the adjoint of
// the step's end, u_s = h (b_s l + sum_{r>s} a_rs w_r), w_s = (df/dy)' u_s at Y_s, the parameters get (df/dp)' u_s, and the
// step's begin has the adjoint l + sum_s w_s. Steps end on output times.
// Source: Hager (2000), Numerische Mathematik 87:247, for the adjoint of a Runge-Kutta step.
// Read next: solve/explicit_tangents.hpp, second order; solve/tableaus.hpp, the methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/interrupt.hpp>
#include <agrad/solve/ode_solver.hpp>
#include <agrad/solve/ode_system.hpp>
#include <agrad/solve/step_control.hpp>
#include <agrad/solve/step_fault.hpp>
#include <agrad/solve/step_store.hpp>
#include <agrad/solve/tableaus.hpp>

namespace agrad {

template <class Tableau>
class explicit_runge_kutta : public ode_solver {
 public:
  static constexpr int stages = Tableau::stages;
  /// Stages that the step's end depends on: without the one that is there for the next step.
  static constexpr int inner = stages - (Tableau::last_is_first ? 1 : 0);

  explicit_runge_kutta(std::string function, ode_system& system, step_options options, ode_wanted wanted)
      : function_(std::move(function)),
        system_(system),
        options_(std::move(options)),
        wanted_(wanted),
        n_(static_cast<std::size_t>(system.states())),
        m_(static_cast<std::size_t>(system.parameters())),
        sweeps_(wanted.initial_state || wanted.initial_time || m_ > 0),
        control_(Tableau::order),
        record_((1 + stages) * n_),
        next_(n_),
        error_(n_),
        scale_(static_cast<Eigen::Index>(n_)) {
    check_options(function_, options_, system.states());
  }

  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) override {
    check_size(function_, "y0", static_cast<std::size_t>(y0.size()), n_, "one for each state");
    check_initial_value_problem(function_, y0, t0, times);
    integrated_ = false;
    statistics_ = {};
    t0_ = t0, times_ = times, y0_ = y0;
    store_.start(record_.size(), n_, options_.max_memory);
    end_of_.clear();
    states_.resize(y0.size(), static_cast<Eigen::Index>(times.size()));
    std::copy_n(y0.data(), n_, state());
    control_.start();
    t_ = t0;
    slope_at(t_, state(), slope(0));
    check_finite_start();
    h_ = options_.first_step > 0 ? options_.first_step : first_step(times.back() - t0);
    for (std::size_t k = 0; k < times.size(); ++k) {
      integrate_to(times[k]);
      std::copy_n(state(), n_, states_.col(static_cast<Eigen::Index>(k)).data());
      end_of_.push_back(store_.steps());
    }
    integrated_ = true;
    return states_;
  }

  ode_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override {
    check_integrated(adjoints);
    ode_gradient g{Eigen::VectorXd::Zero(y0_.size()), 0.0, times_gradient(adjoints),
                   Eigen::VectorXd::Zero(system_.parameters())};
    if (!sweeps_) return g;
    part_.resize(m_);
    std::vector<double>& l = next_;
    std::fill(l.begin(), l.end(), 0.0);
    for (std::size_t k = times_.size(); k-- > 0;) {
      for (std::size_t i = 0; i < n_; ++i) l[i] += adjoints(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
      for (std::size_t step = end_of_[k]; step-- > (k == 0 ? 0 : end_of_[k - 1]);)
        step_back(step, l.data(), g.parameters.data());
    }
    std::copy_n(l.data(), n_, g.initial_state.data());
    if (wanted_.initial_time) {
      system_.rhs(t0_, y0_.data(), error_.data());
      for (std::size_t i = 0; i < n_; ++i) g.initial_time -= l[i] * error_[i];
    }
    if (!wanted_.initial_state) g.initial_state.setZero();
    return g;
  }

  const ode_statistics& statistics() const override { return statistics_; }

 protected:
  // The record of a step: its first state, then its slopes.
  double* state() { return record_.data(); }
  double* slope(int s) { return record_.data() + (1 + static_cast<std::size_t>(s)) * n_; }
  const double* slope_of(const double* record, int s) const { return record + (1 + static_cast<std::size_t>(s)) * n_; }

  /// a_sj: rows follow each other, the first of length 1.
  static constexpr double a(int s, int j) { return Tableau::a[s * (s - 1) / 2 + j]; }

  /// Y_s of a step that has `width` numbers a state.
  template <int Width = 1>
  void stage(int s, double h, const double* record, double* y) const {
    const std::size_t count = n_ * Width;
    std::copy_n(record, count, y);
    for (int j = 0; j < s; ++j) {
      const double factor = h * a(s, j);
      if (factor == 0) continue;
      const double* k = record + (1 + static_cast<std::size_t>(j)) * count;
      for (std::size_t i = 0; i < count; ++i) y[i] += factor * k[i];
    }
  }
  static double stage_time(int s, double t, double h, double end) { return Tableau::c[s] == 1 ? end : t + Tableau::c[s] * h; }
  double end_of_step(std::size_t i) const { return i + 1 < store_.steps() ? store_.time(i + 1) : times_.back(); }

  /// The record of a step that was taken.
  const double* taken(std::size_t i) {
    return store_.record(i, [&](std::size_t step, double* record) {
      const double t = store_.time(step), h = store_.size(step), end = end_of_step(step);
      system_.rhs(t, record, record + n_);
      ++statistics_.recomputed_rhs_evaluations;
      for (int s = 1; s < inner; ++s) {
        stage(s, h, record, error_.data());
        system_.rhs(stage_time(s, t, h, end), error_.data(), record + (1 + static_cast<std::size_t>(s)) * n_);
        ++statistics_.recomputed_rhs_evaluations;
      }
      advance(record, h, again_);
      return again_.data();
    });
  }

  void check_integrated(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const {
    if (!integrated_) throw std::logic_error(function_ + ": sweep comes after integrate has succeeded");
    check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(states_.size()),
               "one for each state at each time");
  }

  std::string function_;
  ode_system& system_;
  step_options options_;
  ode_wanted wanted_;
  std::size_t n_, m_;
  bool sweeps_;
  detail::step_store store_;
  std::vector<std::size_t> end_of_;  // the number of steps up to each output time
  std::vector<double> times_;
  Eigen::VectorXd y0_;
  double t0_ = 0;

 private:
  void slope_at(double t, const double* y, double* to) {
    system_.rhs(t, y, to);
    ++statistics_.forward.rhs_evaluations;
  }

  void check_finite_start() {
    const std::string place = detail::not_finite_slope(slope(0), n_, t_);
    if (!place.empty()) fail("not_finite", place);
  }

  /// Hairer, Norsett and Wanner (1993), section II.4: from the sizes of the slope and of its change.
  double first_step(double span) {
    detail::set_scale(options_, state(), state(), scale_);
    const double d0 = detail::weighed(state(), scale_), d1 = detail::weighed(slope(0), scale_);
    const double guess = std::min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, span);
    for (std::size_t i = 0; i < n_; ++i) next_[i] = state()[i] + guess * slope(0)[i];
    slope_at(t_ + guess, next_.data(), error_.data());
    for (std::size_t i = 0; i < n_; ++i) error_[i] -= slope(0)[i];
    const double d2 = detail::weighed(error_.data(), scale_) / guess, most = std::max(d1, d2);
    if (!std::isfinite(most)) return guess;
    const double second = most <= 1e-15 ? std::max(1e-6, guess * 1e-3) : std::pow(0.01 / most, 1.0 / Tableau::order);
    return std::min(100 * guess, second);
  }

  void integrate_to(double end) {
    long steps = 0;
    while (t_ < end) {
      h_ = std::min(h_, options_.max_step);
      const double left = end - t_;
      const bool is_last = h_ >= left * (1 - 1e-10);
      const double h = is_last ? left : h_ > left / 2 ? left / 2 : h_;  // no tiny step before the end
      const double wanted = is_last ? std::max(h_, left) : h_;
      if (t_ + h == t_ || !(h > 0)) fail("step_too_short", fault_place_);
      if (++steps > options_.max_num_steps) fail("too_many_steps", "raise max_num_steps or loosen the tolerances");
      try_step(h, is_last ? end : t_ + h, h < wanted ? wanted : 0);
    }
  }

  /// One step of size h. A size that was `wanted` but cut short comes back after a success.
  void try_step(double h, double end, double wanted) {
    for (int s = 1; s < stages; ++s) {
      stage(s, h, state(), next_.data());
      slope_at(stage_time(s, t_, h, end), next_.data(), slope(s));
    }
    if (!Tableau::last_is_first) advance(state(), h, next_);  // else the last stage is the end already
    const double error = error_of(h);
    if (!(error <= 1)) {
      ++statistics_.forward.error_test_failures;
      fault_place_ = std::isfinite(error) ? "" : detail::not_finite_in(record_, n_, t_, next_);
      h_ = h * control_.after_rejected(error);
      return;
    }
    const double factor = control_.after_accepted(error);
    if (sweeps_) store_.add(t_, h, record_.data());
    if (++statistics_.forward.steps % 64 == 0) poll_interrupt();
    h_ = wanted > 0 ? std::max(h * std::min(factor, 1.0), wanted) : h * factor;
    t_ = end;
    std::copy_n(next_.data(), n_, state());
    if (Tableau::last_is_first)
      std::copy_n(slope(stages - 1), n_, slope(0));
    else
      slope_at(t_, state(), slope(0));
  }

  void advance(const double* record, double h, std::vector<double>& y) const {
    y.assign(record, record + n_);
    for (int s = 0; s < inner; ++s) {
      const double factor = h * Tableau::b[s];
      if (factor == 0) continue;
      const double* k = slope_of(record, s);
      for (std::size_t i = 0; i < n_; ++i) y[i] += factor * k[i];
    }
  }

  /// The step's error, 1 being what is allowed.
  double error_of(double h) {
    detail::set_scale(options_, state(), next_.data(), scale_);
    const double error = h * weighed_sum(Tableau::e);
    if constexpr (Tableau::order == 8) {  // of order 5, made smaller where that of order 3 is larger
      const double coarse = h * weighed_sum(Tableau::e3);
      return error == 0 ? 0 : error * error / std::sqrt(error * error + 0.01 * coarse * coarse);
    }
    return error;
  }
  double weighed_sum(const double (&e)[stages]) {
    std::fill(error_.begin(), error_.end(), 0.0);
    for (int s = 0; s < stages; ++s) {
      if (e[s] == 0) continue;
      for (std::size_t i = 0; i < n_; ++i) error_[i] += e[s] * slope(s)[i];
    }
    return detail::weighed(error_.data(), scale_);
  }

  [[noreturn]] AGRAD_COLD void fail(const std::string& code, const std::string& advice) {
    detail::throw_stopped(function_, code, t_, statistics_.forward.steps, advice, detail::largest(error_, scale_));
  }

  // ---- backwards

  Eigen::VectorXd times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(adjoints.cols());
    if (!wanted_.times) return gradient;
    Eigen::VectorXd slope(y0_.size());
    for (Eigen::Index k = 0; k < adjoints.cols(); ++k) {
      if (adjoints.col(k).isZero(0)) continue;
      system_.rhs(times_[static_cast<std::size_t>(k)], states_.col(k).data(), slope.data());
      gradient[k] = adjoints.col(k).dot(slope);
    }
    return gradient;
  }

  /// From the adjoint l of a step's end to that of its begin; parameters get their part.
  void step_back(std::size_t step, double* l, double* parameters) {
    const double t = store_.time(step), h = store_.size(step), end = end_of_step(step);
    const double* record = taken(step);
    back_.resize(inner * n_);
    seed_.resize(n_);
    stage_.resize(n_);
    for (int s = inner; s-- > 0;) {
      for (std::size_t i = 0; i < n_; ++i) seed_[i] = h * Tableau::b[s] * l[i];
      for (int r = s + 1; r < inner; ++r) {
        const double factor = h * a(r, s);
        if (factor == 0) continue;
        for (std::size_t i = 0; i < n_; ++i) seed_[i] += factor * back_[static_cast<std::size_t>(r) * n_ + i];
      }
      double* w = back_.data() + static_cast<std::size_t>(s) * n_;
      stage(s, h, record, stage_.data());
      system_.vjp(stage_time(s, t, h, end), stage_.data(), seed_.data(), w, m_ > 0 ? part_.data() : nullptr);
      ++statistics_.backward.rhs_evaluations;
      for (std::size_t j = 0; j < m_; ++j) parameters[j] += part_[j];
    }
    for (int s = 0; s < inner; ++s)
      for (std::size_t i = 0; i < n_; ++i) l[i] += back_[static_cast<std::size_t>(s) * n_ + i];
    if (++statistics_.backward.steps % 64 == 0) poll_interrupt();
  }

  detail::step_control control_;
  ode_statistics statistics_;
  Eigen::MatrixXd states_;
  std::vector<double> record_, next_, error_, again_, part_, back_, seed_, stage_;
  Eigen::VectorXd scale_;
  std::string fault_place_;
  double t_ = 0, h_ = 0;
  bool integrated_ = false;
};

}  // namespace agrad
