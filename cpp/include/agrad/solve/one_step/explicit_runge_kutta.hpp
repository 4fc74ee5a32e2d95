// Explicit Runge-Kutta: the steps of a tableau's method and their adjoints.
//
// A step's stages are Y_s = y + h sum_j a_sj k_j with k_s = f(t + c_s h, Y_s). In the reverse pass, with l the adjoint of the
// step's end, u_s = h (b_s l + sum_{r>s} a_rs w_r), w_s = (df/dy)' u_s at Y_s, the parameters' adjoint grows by (df/dp)' u_s,
// and the adjoint of the step's start is l + sum_s w_s. A step's record is its first state and its slopes; states within the
// step are sums of these, too.
// Source: Hager (2000), Numerische Mathematik 87:247, for the adjoint of a Runge-Kutta step.
// Read next: solve/one_step/explicit_runge_kutta_second.hpp, second order; solve/one_step/tableaus.hpp, the methods;
// solve/one_step/tableau_combinations.hpp, the sums.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/one_step/solver.hpp>
#include <agrad/solve/one_step/tableau_combinations.hpp>
#include <agrad/solve/one_step/tableau_dop853.hpp>
#include <agrad/solve/one_step/tableaus.hpp>
#include <agrad/solve/one_step/undamped_mode.hpp>

namespace agrad {

template <class Tableau>
class explicit_runge_kutta : public one_step_solver {
  using combinations = detail::tableau_combinations<Tableau>;

 public:
  static constexpr int stages = Tableau::stages;
  /// Stages that the step's end depends on: all but the stage that the next step reuses.
  static constexpr int inner = combinations::inner;
  /// All stages, with the stages that only states within the step depend on.
  static constexpr int all = combinations::all;

  explicit_runge_kutta(std::string function, ode_system& system, step_options options, ode_required required)
      : one_step_solver(std::move(function), system, std::move(options), required, Tableau::order,
                        (1 + stages) * static_cast<std::size_t>(system.states()), combinations::interpolates ? 1 + all : 0) {
    refuse_mass();
  }

  /// Makes the solver give up once the system turns stiff (`integrate`, `gave_up`).
  void watch_stiffness() { watches_ = true; }
  /// Returns whether the solver gave up because of undamped modes, which its steps have excited.
  bool gave_up_to_oscillations() const { return oscillates_; }

 protected:
  static double stage_time(int s, const one_step& at) { return Tableau::c[s] == 1 ? at.end : at.t + Tableau::c[s] * at.h; }

  /// Computes Y_s of a record with `width` numbers for each state.
  template <int Width = 1>
  void stage(int s, double h, const double* record, double* y) const {
    combinations::stage(s, h, record, n_ * Width, y);
  }
  /// Computes h (b_s l + sum_{r>s} a_rs w_r), the seed of stage s from the adjoints l and w of `count` numbers each, plus the
  /// adjoint of slope s from outputs within the step.
  void seed(int s, double h, const double* l, const double* w, const double* of_record, std::size_t count, double* u) const {
    combinations::seed(s, h, l, w, count, u);
    if (of_record == nullptr) return;
    const double* of_slope = slope_of(of_record, s, count);
    for (std::size_t i = 0; i < count; ++i) u[i] += of_slope[i];
  }
  static const double* slope_of(const double* record, int s, std::size_t count) {
    return record + (1 + static_cast<std::size_t>(s)) * count;
  }
  double* slope_of(double* record, int s) const { return record + (1 + static_cast<std::size_t>(s)) * n_; }

  /// Returns the record, with the slopes that only states within the step depend on.
  const double* vectors_within(const one_step& at, const double* record) override {
    if (all == stages) return record;
    vectors_.assign(record, record + (1 + stages) * n_);
    vectors_.resize((1 + all) * n_);
    stage_.resize(n_);
    for (int s = stages; s < all; ++s) {
      stage(s, at.h, vectors_.data(), stage_.data());
      slope_within(stage_time(s, at), stage_.data(), slope_of(vectors_.data(), s));
    }
    return vectors_.data();
  }

 private:
  void begin(double t, double* record) override {
    if (statistics_.forward.steps == 0) stiff_ = calm_ = undamped_ = still_ = wait_ = 0, oscillates_ = false;
    if (Tableau::last_is_first && statistics_.forward.steps > 0)
      std::copy_n(slope_of(record, stages - 1), n_, slope_of(record, 0));
    else
      first_slope(t, record, slope_of(record, 0));
  }

  const double* end_slope(const double* record) const override {
    return Tableau::last_is_first ? slope_of(record, stages - 1, n_) : nullptr;
  }

  double attempt(const one_step& at, double* record, double* next) override {
    for (int s = 1; s < stages; ++s) {
      stage(s, at.h, record, next);
      slope_at(stage_time(s, at), next, slope_of(record, s));
    }
    if (!Tableau::last_is_first) combinations::advance(at.h, record, n_, next);  // else the last stage is already the end
    return error_of(at.h, record, error_.data(), [&] { return this->weighed(error_.data(), record, next); });
  }

  /// Computes the error of a step with these slopes. Writes the error to `to`, where measure() measures its size.
  template <class Measure>
  double error_of(double h, const double* record, double* to, const Measure& measure) const {
    double coarse = 0;
    if constexpr (Tableau::order == 8) coarse = (sum<typename combinations::coarse_error>(h, record, to), measure());
    sum<typename combinations::error>(h, record, to);
    const double error = measure();
    if constexpr (Tableau::order == 8)  // the error of order 5, reduced where the error of order 3 is larger
      return error == 0 ? 0 : error * error / std::sqrt(error * error + 0.01 * coarse * coarse);
    return error;
  }
  template <class Weights>
  void sum(double h, const double* record, double* to) const {
    combinations::template sum<Weights>(record, n_, to);
    for (std::size_t i = 0; i < n_; ++i) to[i] *= h;
  }

  // ---- the probe, with a record like a step's

  /// The first stage with a new slope in each step.
  static constexpr int first_new = Tableau::last_is_first ? 1 : 0;

  void begin_probe(double t, const double* record) override {
    probe_record_.resize((1 + stages) * n_);
    if (!Tableau::last_is_first) return;
    if (statistics_.forward.steps > 0)
      std::copy_n(slope_of(probe_record_.data(), stages - 1), n_, slope_of(probe_record_.data(), 0));
    else
      system_.along(t, record, probe_.now(), probe_.parameters(), slope_of(probe_record_.data(), 0));
  }

  double attempt_probe(const one_step& at, const double* record) override {
    probe_.observe(record, slope_of(record, 0, n_), options_);
    double* tangents = probe_record_.data();
    std::copy_n(probe_.now(), n_, tangents);
    linearize_stages<first_new>(at, record);
    for (int s = first_new; s < stages; ++s) {
      stage(s, at.h, tangents, probe_.next());
      system_.linear_jvp(s - first_new, probe_.next(), probe_.parameters(), slope_of(tangents, s));
    }
    if (!Tableau::last_is_first) combinations::advance(at.h, tangents, n_, probe_.next());
    return error_of(at.h, tangents, probe_.error(), [&] { return this->probe_.weighed(this->options_); });
  }

  int linearize_step(const one_step& at, const double* record) override { return linearize_stages<0>(at, record), inner; }

  /// Linearises f at the `inner` stages from stage `First` on.
  template <int First>
  void linearize_stages(const one_step& at, const double* record) {
    stage_.resize(inner * n_);
    for (int k = 0; k < inner; ++k) {
      stage_times_[static_cast<std::size_t>(k)] = stage_time(First + k, at);
      stage(First + k, at.h, record, stage_.data() + static_cast<std::size_t>(k) * n_);
    }
    system_.linearize(inner, stage_times_.data(), stage_.data());
  }

  /// Returns whether the system is stiff. A system is stiff if its fastest mode, not its error, limits the step size: when 15
  /// steps lie at the border of stability, without 6 steps in a row in between that do not. The last two stages are at the same
  /// time, so the difference of their slopes divided by the difference of their states estimates the largest eigenvalue (Hairer
  /// and Wanner 1996, section IV.2).
  bool gives_up(const one_step& at, const double* record, const double* next) override {
    if (!watches_ || !Tableau::last_is_first) return false;
    const bool is_stiff = lies_at_border(at.h, record, next, scale()) ||
                          (probe_.holds() && lies_at_border(at.h, probe_record_.data(), probe_.now(), probe_.scale()));
    if (is_stiff) {
      calm_ = 0;
      if (has_undamped_mode(at, record, next)) ++undamped_;
      if (++stiff_ < 15) return false;
      oscillates_ = undamped_ > 0;
      return true;
    }
    if (++calm_ == 6) stiff_ = 0;
    return is_limited_by_oscillations(at, record, next);
  }

  /// Returns whether undamped modes limit 20 steps, without 6 looks in a row in between that found none. These are more steps
  /// than for damped modes, because the solution itself may move in undamped modes.
  bool is_limited_by_oscillations(const one_step& at, const double* record, const double* next) {
    if (wait_ > 0) return --wait_, false;
    if (!has_undamped_mode(at, record, next)) return false;
    still_ = 0;
    return oscillates_ = ++undamped_ >= 20;
  }

  /// Returns whether an undamped mode limits the step, of the probe or of the states.
  bool has_undamped_mode(const one_step& at, const double* record, const double* next) {
    const auto of_states = [&](const double* v, double reach, double* to) {
      for (std::size_t i = 0; i < n_; ++i) stage_[i] = next[i] + reach * v[i];
      slope_at(at.end, stage_.data(), to);
      for (std::size_t i = 0; i < n_; ++i) to[i] = (to[i] - slope_of(record, stages - 1, n_)[i]) / reach;
    };
    const auto of_probe = [&](const double* v, double, double* to) {
      part_.assign(m_, 0.0);
      system_.along(at.end, next, v, part_.data(), to);
    };
    return probe_.holds() ? oscillates(at.h, probe_record_.data(), probe_.now(), probe_.scale(), of_probe)
                          : oscillates(at.h, record, next, scale(), of_states);
  }

  /// Returns whether a step of states or tangents is as long as its error allows for an undamped mode that has grown from
  /// errors. product(v, reach, to): computes J v at the step's end, by a difference along v times reach.
  template <class Product>
  bool oscillates(double h, const double* record, const double* next, const Eigen::VectorXd& scale, const Product& product) {
    mode_.resize(3 * n_);
    double *d = mode_.data(), *jd = d + n_, *jjd = jd + n_;
    stage_.resize(n_);
    stage(stages - 2, h, record, stage_.data());
    double slopes = 0, states = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      d[i] = next[i] - stage_[i], jd[i] = slope_of(record, stages - 1, n_)[i] - slope_of(record, stages - 2, n_)[i];
      const double weight = 1 / scale[static_cast<Eigen::Index>(i)];
      slopes += weight * jd[i] * weight * jd[i], states += weight * d[i] * weight * d[i];
    }
    const double border = detail::oscillation_border(options_.states.relative);
    if (!(states > 0) || !(h * std::sqrt(slopes / states) > 0.4 * border)) return false;
    product(jd, std::sqrt(states / slopes), jjd);
    const bool found = h * detail::undamped_frequency(d, jd, jjd, scale) > border;
    if (found) return true;
    wait_ = 3;
    if (++still_ == 6) undamped_ = 0, still_ = 0;
    return false;
  }

  /// Returns whether a step of states or tangents is as long as stability allows. States are divided by their scales: otherwise
  /// the slow drift of large states would hide a fast mode of a small state.
  bool lies_at_border(double h, const double* record, const double* next, const Eigen::VectorXd& scale) {
    stage_.resize(n_);
    stage(stages - 2, h, record, stage_.data());
    double slopes = 0, states = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double weight = 1 / scale[static_cast<Eigen::Index>(i)];
      const double k = weight * (slope_of(record, stages - 1, n_)[i] - slope_of(record, stages - 2, n_)[i]);
      const double y = weight * (next[i] - stage_[i]);
      slopes += k * k, states += y * y;
    }
    return states > 0 && h * std::sqrt(slopes / states) > 0.9 * Tableau::real_stability;
  }

  void repeat(const one_step& at, double* record, double* next) override {
    for (int s = 0; s < (all > stages ? stages : inner); ++s) {  // extra stages use all slopes before them
      stage(s, at.h, record, next);
      system_.rhs(s == 0 ? at.t : stage_time(s, at), next, slope_of(record, s));
      ++statistics_.recomputed_rhs_evaluations;
    }
    combinations::advance(at.h, record, n_, next);
  }

  std::string place_of_fault(const one_step& at, const double* record) override {
    for (int s = 1; s < stages; ++s) {
      const std::string place = detail::not_finite_slope(slope_of(record, s, n_), n_, stage_time(s, at));
      if (!place.empty()) return place;
    }
    return {};
  }

  detail::step_outputs::weights interpolant(double part, double h) const override {
    if constexpr (combinations::interpolates) return combinations::interpolant(part, h);
    return {};
  }

  void reverse_step(const one_step& at, const double* record, double* of_record, double* l, double* parameters) override {
    stage_adjoints_.resize(all * n_);
    seed_.resize(n_);
    part_.resize(m_);
    if (of_record != nullptr) reverse_slopes(at, record, of_record, l, parameters);
    const bool is_kept = reversed() >= first_new && restore_linear(reversed(), inner);
    if (!is_kept) linearize_stages<0>(at, record);
    for (int s = inner; s-- > 0;) {
      seed(s, at.h, l, stage_adjoints_.data(), of_record, n_, seed_.data());
      system_.linear_vjp(is_kept ? kept_point(s) : s, seed_.data(), of_stage(s), m_ > 0 ? part_.data() : nullptr);
      add_part(parameters);
    }
    for (int s = 0; s < inner; ++s)
      for (std::size_t i = 0; i < n_; ++i) l[i] += of_stage(s)[i];
    if (of_record == nullptr) return;
    for (std::size_t i = 0; i < n_; ++i) l[i] += of_record[i];
  }

  void reverse_error(const one_step& at, const double* l, std::vector<double>& of_record) const override {
    of_record.assign((1 + all) * n_, 0.0);
    for (int s = 0; s < stages; ++s)
      for (std::size_t i = 0; i < n_; ++i) slope_of(of_record.data(), s)[i] = at.h * combinations::error::at(s) * l[i];
  }

  /// Propagates the adjoints of the slope at the end, and of the slopes that only states within the step use, to the slopes
  /// before.
  void reverse_slopes(const one_step& at, const double* record, double* of_record, double* l, double* parameters) {
    const double* vectors = vectors_within(at, record);
    stage_.resize(n_);
    for (int s = all; s-- > inner;) {
      std::copy_n(slope_of(of_record, s, n_), n_, seed_.data());
      stage(s, at.h, vectors, stage_.data());
      system_.vjp(stage_time(s, at), stage_.data(), seed_.data(), of_stage(s), m_ > 0 ? part_.data() : nullptr);
      add_part(parameters);
      if (s >= stages) combinations::spread(s, at.h, of_stage(s), n_, of_record);
      for (std::size_t i = 0; s < stages && i < n_; ++i) l[i] += of_stage(s)[i];
    }
  }

  /// Returns the point of stage s among those that the probe linearised at: the first stage is the last of the step before.
  int kept_point(int s) {
    if (s >= first_new) return s - first_new;
    restore_linear(reversed() - 1, inner);
    return inner - 1;
  }

  /// Returns the adjoint of stage s.
  double* of_stage(int s) { return stage_adjoints_.data() + static_cast<std::size_t>(s) * n_; }
  /// Adds a stage's part of the parameters' adjoint.
  void add_part(double* parameters) {
    ++statistics_.backward.rhs_evaluations;
    for (std::size_t j = 0; j < m_; ++j) parameters[j] += part_[j];
  }

  std::array<double, std::size_t{inner}> stage_times_{};
  std::vector<double> part_, stage_adjoints_, seed_, stage_, vectors_, probe_record_, mode_;
  bool watches_ = false;
  int stiff_ = 0, calm_ = 0;                 // counts of stiff steps, and of other steps since the last stiff step
  int undamped_ = 0, still_ = 0, wait_ = 0;  // the same of steps that undamped modes limit; steps until the next look
  bool oscillates_ = false;
};

}  // namespace agrad
