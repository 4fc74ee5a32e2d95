// DAE trajectory: stores the steps of an integration by BDF and evaluates y and y' at any time in between.
//
// In the step that ended at point i with order k, IDAS' own solution is the polynomial through the points i, i - 1, ..., i - k
// (Hindmarsh and Serban, User Documentation for IDAS, section 2.1), so points and orders are enough. Times count from the
// start: at late times, a step may be smaller than the rounding of the time.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace agrad::detail {

class dae_trajectory {
 public:
  void start(double t, const Eigen::VectorXd& y) {
    start_ = t;
    times_.assign(1, 0.0), orders_.assign(1, 0);
    states_.assign(y.data(), y.data() + y.size());
    n_ = y.size();
  }

  double start() const { return start_; }

  void append(double since_start, const double* y, int order) {
    times_.push_back(since_start);
    orders_.push_back(std::clamp(order, 1, std::min<int>(highest, static_cast<int>(times_.size()) - 1)));
    states_.insert(states_.end(), y, y + n_);
  }

  /// Evaluates y and y' at a time since the start.
  void evaluate(double since_start, Eigen::VectorXd& y, Eigen::VectorXd& yp) const {
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

 private:
  static constexpr int highest = 5;

  /// Returns the Lagrange polynomial of point j and its derivative, at time t.
  static std::array<double, 2> weights(double t, const double* times, std::size_t points, std::size_t j) {
    double value = 1, slope = 0;
    for (std::size_t l = 0; l < points; ++l) {
      if (l == j) continue;
      const double span = times[j] - times[l], part = (t - times[l]) / span;
      slope = slope * part + value / span;
      value *= part;
    }
    return {value, slope};
  }

  Eigen::Index n_ = 0;
  double start_ = 0;
  std::vector<double> times_, states_;
  std::vector<int> orders_;
};

}  // namespace agrad::detail
