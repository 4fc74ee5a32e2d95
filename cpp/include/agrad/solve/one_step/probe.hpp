// Step probe: a tangent in a generic direction, with an error that takes part in the choice of step sizes.
//
// A step chosen by the state's error alone may be far too long for the derivatives: where the state rests, its error is zero,
// steps grow beyond the stability of the linearised equation, and the method multiplies tangents and adjoints by its
// amplification of the fast modes. The probe v' = (df/dy) v + (df/dp) w sees these modes. The entries of v at the start and of
// w have the sizes of their states and parameters, with fixed factors that no symmetry of a problem cancels, so steps are the
// same in every run and every thread. The local errors of the probe add up to an estimate of the gradient's error.
// Read next: solve/one_step/solver.hpp, which controls steps by the probe.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <agrad/solve/one_step/control.hpp>
#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// Number i of a fixed sequence with either sign and sizes from 0.5 to 1.5. A factor near zero would hide its state, and
/// factors of equal size could cancel each other.
inline double generic_factor(std::size_t i) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15U;  // splitmix64, Steele, Lea and Flood 2014
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  const double size = 0.5 + static_cast<double>(z >> 12U) * 0x1p-52;
  return (z & 1U) == 0 ? size : -size;
}

class step_probe {
 public:
  /// Sets the tangent that the next integration starts with, instead of a new tangent. Empty: a new tangent.
  void continue_from(std::vector<double> tangent) { given_ = std::move(tangent); }

  /// Draws the direction at an initial state, or takes the given tangent, if derivatives control the steps of a solve with
  /// these options. The system gives the sizes of the parameters.
  void start(ode_system& system, const step_options& options, const ode_wanted& wanted, const Eigen::VectorXd& y0, double t0) {
    const bool has_derivatives = wanted.initial_state || wanted.initial_time || wanted.times || system.parameters() > 0;
    is_on_ = has_derivatives && options.error_control != step_error_control::states;
    is_blind_ = holds_ = false;
    faults_ = 0;
    if (!is_on_) return sum_.resize(0);
    const auto n = static_cast<std::size_t>(y0.size());
    const Eigen::VectorXd sizes = y0.cwiseAbs().cwiseMax(options.absolute_tolerance / options.relative_tolerance);
    draw_parameters(system, n);
    if (given_.size() == n) {
      now_ = std::move(given_);
    } else {
      now_.assign(n, 0.0);
      for (std::size_t i = 0; i < n && wanted.initial_state; ++i)
        now_[i] = generic_factor(i) * sizes[static_cast<Eigen::Index>(i)];
      if (wanted.initial_time) move_initial_time(system, y0, t0, sizes);
    }
    given_.clear();
    next_ = now_;
    largest_ = largest_state_ = sizes;
    share_ = 1, path_ = span_ = 0;
    sum_ = Eigen::VectorXd::Zero(y0.size());
    error_.assign(n, 0.0);
  }

  bool is_on() const { return is_on_; }
  /// Tangents of the states at the step's begin and end, tangents of the parameters, and the error of the present step.
  const double* now() const { return now_.data(); }
  double* next() { return next_.data(); }
  const double* parameters() const { return parameters_.data(); }
  double* error() { return error_.data(); }
  const std::vector<double>& tangent() const { return now_; }

  /// Looks at the state y and its slope before a step is attempted.
  ///
  /// Where the state jumps, a tangent is mostly a shift of the jump in time: c times the slope, and as large as the slope. An
  /// error of the tolerance relative to such a large tangent is an error of the shift; after the jump the error remains in full
  /// although the tangent is small again. So the error is weighed as if the state moved at its mean speed: `share_` is the part
  /// of the tangent that then remains. All sizes are relative to the largest value that each state has had.
  void look(const double* y, const double* slope, const step_options& options) {
    double across = 0, whole = 0, square = 0;
    for (Eigen::Index i = 0; i < sum_.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      largest_state_[i] = std::max(largest_state_[i], std::abs(y[at]));
      const double v = now_[at] / largest_state_[i], f = slope[at] / largest_state_[i];
      across += v * f, whole += v * v, square += f * f;
    }
    speed_ = std::sqrt(square);
    share_ = 1;
    const double mean = span_ > 0 ? path_ / span_ : speed_;
    if (!(speed_ > mean) || !(whole > 0)) return;
    const double shift = across / square, rest = std::sqrt(std::max(0.0, whole - shift * across));
    const double least = std::min(1.0, 1e-12 / options.relative_tolerance);
    share_ = std::clamp((rest + std::abs(shift) * mean) / std::sqrt(whole), least, 1.0);
  }

  /// The size of the error relative to the tolerances.
  double weighed(const step_options& options) {
    scale_.resize(sum_.size());
    set_scale(options, now_.data(), next_.data(), scale_);
    if (share_ < 1) scale_ = options.absolute_tolerance + share_ * (scale_ - options.absolute_tolerance);
    return detail::weighed(error_.data(), scale_);
  }
  const Eigen::VectorXd& scale() const { return scale_; }

  /// The larger error of a step: of the state, or of the probe, which attempt() propagates through the step if the state's
  /// error allows the step.
  template <class Attempt>
  double larger_error(double of_state, const Attempt& attempt) {
    holds_ = false;
    if (!is_on_ || !(of_state <= 1)) return of_state;
    const double own = attempt();
    if (!std::isfinite(own)) return asks_again() ? own : of_state;
    holds_ = own > of_state;
    return std::max(of_state, own);
  }
  /// Whether the probe's error was the larger error of the step attempted last.
  bool holds() const { return holds_; }

  /// Adds an accepted step of size h.
  void accept(double h) {
    path_ += speed_ * std::abs(h), span_ += std::abs(h);
    for (Eigen::Index i = 0; i < sum_.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      sum_[i] += error_[at];
      largest_[i] = std::max(largest_[i], share_ * std::abs(next_[at]));
    }
    now_.swap(next_);
  }

  /// The root mean square of the states' accumulated local errors, each relative to the largest tangent of its state; nan if
  /// there was no probe or the probe was lost.
  double relative_error() const {
    if (is_blind_ || sum_.size() == 0) return std::numeric_limits<double>::quiet_NaN();
    return sum_.cwiseQuotient(largest_).norm() / std::sqrt(static_cast<double>(sum_.size()));
  }

 private:
  /// Whether a tangent that is not finite makes the step shorter. After `most_faults` of them, as at the square root of zero,
  /// the solve continues without the probe; the reverse pass then checks whether the gradient is finite.
  bool asks_again() {
    if (++faults_ < most_faults) return true;
    is_on_ = false, is_blind_ = true;
    return false;
  }

  /// A later initial time moves the initial state backwards along the slope.
  void move_initial_time(ode_system& system, const Eigen::VectorXd& y0, double t0, const Eigen::VectorXd& sizes) {
    Eigen::VectorXd slope(y0.size());
    system.rhs(t0, y0.data(), slope.data());
    const double rate = slope.cwiseQuotient(sizes).norm();
    if (!(rate > 0) || !std::isfinite(rate)) return;
    for (std::size_t i = 0; i < now_.size(); ++i)
      now_[i] -= generic_factor(now_.size()) / rate * slope[static_cast<Eigen::Index>(i)];
  }

  void draw_parameters(const ode_system& system, std::size_t n) {
    parameters_.resize(static_cast<std::size_t>(system.parameters()));
    system.parameter_sizes(parameters_.data());
    std::size_t next = n + 1;
    for (double& each : parameters_)
      if (each != 0) each *= generic_factor(next++);
  }

  static constexpr int most_faults = 12;

  std::vector<double> now_, next_, parameters_, error_, given_;
  Eigen::VectorXd sum_, largest_, scale_;  // of each state: the sum of its local errors, its largest tangent, its tolerance
  Eigen::VectorXd largest_state_;
  double share_ = 1, speed_ = 0, path_ = 0, span_ = 0;  // the state has moved by `path_`, in its units, in the time `span_`
  bool is_on_ = false, is_blind_ = false, holds_ = false;
  int faults_ = 0;
};

}  // namespace agrad::detail
