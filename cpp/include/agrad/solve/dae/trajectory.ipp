// Definitions of solve/dae/trajectory.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/trajectory.hpp>

namespace agrad::detail {

AGRAD_INLINE void dae_trajectory::start(double t, const Eigen::VectorXd& y) {
  start_ = t;
  times_.assign(1, 0.0), orders_.assign(1, 0);
  states_.assign(y.data(), y.data() + y.size());
  n_ = y.size();
}

AGRAD_INLINE void dae_trajectory::append(double since_start, const double* y, int order) {
  times_.push_back(since_start);
  orders_.push_back(std::clamp(order, 1, std::min<int>(highest, static_cast<int>(times_.size()) - 1)));
  states_.insert(states_.end(), y, y + n_);
}

AGRAD_INLINE void dae_trajectory::evaluate(double since_start, Eigen::VectorXd& y, Eigen::VectorXd& yp) const {
  const auto after = std::lower_bound(times_.begin() + 1, times_.end() - 1, since_start);
  const auto last = static_cast<std::size_t>(after - times_.begin());
  const auto points = static_cast<std::size_t>(orders_[last]) + 1, first = last + 1 - points;
  y.setZero(n_), yp.setZero(n_);
  for (std::size_t j = 0; j < points; ++j) {
    const auto [weight, slope] = weights(since_start, times_.data() + first, points, j);
    const Eigen::Map<const Eigen::VectorXd> point(states_.data() + (first + j) * static_cast<std::size_t>(n_), n_);
    y += weight * point, yp += slope * point;
  }
}

AGRAD_INLINE std::array<double, 2> dae_trajectory::weights(double t, const double* times, std::size_t points, std::size_t j) {
  double value = 1, slope = 0;
  for (std::size_t l = 0; l < points; ++l) {
    if (l == j) continue;
    const double duration = times[j] - times[l], part = (t - times[l]) / duration;
    slope = slope * part + value / duration;
    value *= part;
  }
  return {value, slope};
}

}  // namespace agrad::detail
