// Definitions of solve/one_step/probe.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/probe.hpp>
#include <agrad/solve/solver/moving_state.hpp>

namespace agrad::detail {

AGRAD_INLINE double generic_factor(std::size_t i) {
  const std::uint64_t place = i;
  std::uint64_t z = (place + 1) * 0x9e3779b97f4a7c15U;  // splitmix64, Steele, Lea and Flood 2014
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  const double size = 0.5 + static_cast<double>(z >> 12U) * 0x1p-52;
  return (z & 1U) == 0 ? size : -size;
}

AGRAD_INLINE void step_probe::start(ode_system& system, const step_options& options, const ode_required& required,
                                    const Eigen::VectorXd& y0, double t0, constrained_state* constrained) {
  const bool has_derivatives = required.initial_state || required.initial_time || required.times || system.parameters() > 0;
  is_on_ = has_derivatives && options.error_control != step_error_control::states;
  is_blind_ = holds_ = false;
  faults_ = 0;
  if (!is_on_) return sum_.resize(0);
  const auto n = static_cast<std::size_t>(y0.size());
  const Eigen::VectorXd sizes = y0.cwiseAbs().cwiseMax(options.states.absolute / options.states.relative);
  draw_parameters(system, sizes);
  if (given_.size() == n) {
    take_given(sizes);
  } else {
    now_.assign(n, 0.0);
    for (std::size_t i = 0; i < n && required.initial_state && required.state_moves; ++i)
      now_[i] = generic_factor(i) * sizes[static_cast<Eigen::Index>(i)];
    if (required.initial_time) {
      moving_state moving(system);
      moving.use(constrained);
      move_initial_time(moving.slope_at(t0, y0), sizes);
    }
  }
  if (constrained != nullptr) constrained->make_direction_consistent(t0, y0.data(), parameters_.data(), now_.data());
  given_.clear();
  next_ = now_;
  largest_ = largest_state_ = sizes;
  share_ = 1, path_ = duration_ = 0;
  sum_ = Eigen::VectorXd::Zero(y0.size());
  error_.assign(n, 0.0);
}

AGRAD_INLINE void step_probe::observe(const double* y, const double* slope, const step_options& options) {
  double across = 0, whole = 0, square = 0;
  for (Eigen::Index i = 0; i < sum_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    largest_state_[i] = std::max(largest_state_[i], std::abs(y[at]));
    const double v = now_[at] / largest_state_[i], f = slope[at] / largest_state_[i];
    across += v * f, whole += v * v, square += f * f;
  }
  speed_ = std::sqrt(square);
  share_ = 1;
  const double mean = duration_ > 0 ? path_ / duration_ : speed_;
  if (!(speed_ > mean) || !(whole > 0)) return;
  const double shift = across / square, rest = std::sqrt(std::max(0.0, whole - shift * across));
  const double least = std::min(1.0, 1e-12 / options.states.relative);
  share_ = std::clamp((rest + std::abs(shift) * mean) / std::sqrt(whole), least, 1.0);
}

AGRAD_INLINE double step_probe::weighed(const step_options& options) {
  scale_.resize(sum_.size());
  set_scale(options, now_.data(), next_.data(), scale_);
  if (share_ < 1) scale_ = options.states.absolute + share_ * (scale_ - options.states.absolute);
  return detail::weighed(error_.data(), scale_);
}

AGRAD_INLINE void step_probe::accept(double h) {
  path_ += speed_ * std::abs(h), duration_ += std::abs(h);
  for (Eigen::Index i = 0; i < sum_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    sum_[i] += error_[at];
    largest_[i] = std::max(largest_[i], share_ * std::abs(next_[at]));
  }
  now_.swap(next_);
}

AGRAD_INLINE double step_probe::relative_error() const {
  if (is_blind_ || sum_.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  return sum_.cwiseQuotient(largest_).norm() / std::sqrt(static_cast<double>(sum_.size()));
}

AGRAD_INLINE bool step_probe::tries_again() {
  if (++faults_ < most_faults) return true;
  is_on_ = false, is_blind_ = true;
  return false;
}

AGRAD_INLINE void step_probe::move_initial_time(const Eigen::VectorXd& slope, const Eigen::VectorXd& sizes) {
  const double rate = slope.cwiseQuotient(sizes).norm();
  if (!(rate > 0) || !std::isfinite(rate)) return;
  for (std::size_t i = 0; i < now_.size(); ++i)
    now_[i] -= generic_factor(now_.size()) / rate * slope[static_cast<Eigen::Index>(i)];
}

AGRAD_INLINE void step_probe::take_given(const Eigen::VectorXd& sizes) {
  now_ = std::move(given_);
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    const double size = sizes[static_cast<Eigen::Index>(i)];
    if (changed_[i] && std::abs(now_[i]) < 0.5 * size) now_[i] = generic_factor(i) * size;
  }
  changed_.clear();
}

AGRAD_INLINE void step_probe::draw_parameters(const ode_system& system, const Eigen::VectorXd& sizes) {
  parameters_.resize(static_cast<std::size_t>(system.parameters()));
  system.parameter_sizes(sizes.data(), parameters_.data());
  std::size_t next = static_cast<std::size_t>(sizes.size()) + 1;
  for (double& each : parameters_)
    if (each != 0) each *= generic_factor(next++);
}

}  // namespace agrad::detail
