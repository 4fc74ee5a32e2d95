// Step control: the size of an error relative to the tolerances, and the size of the next step.
//
// An error is the root mean square of the states' errors divided by their tolerances, as in Hairer, Norsett and Wanner (1993),
// section II.4. Step sizes follow the last two errors (a PI controller, Gustafsson 1991), which keeps the sizes from
// oscillating.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include <agrad/solve/one_step/options.hpp>

namespace agrad::detail {

/// Sets each state's scale: the error that the tolerances allow.
inline void set_scale(const step_options& options, const double* y, const double* next, Eigen::VectorXd& scale) {
  for (Eigen::Index i = 0; i < scale.size(); ++i)
    scale[i] = options.states.absolute[i] + options.states.relative * std::max(std::abs(y[i]), std::abs(next[i]));
}

/// Returns the root mean square of the errors divided by the scale.
inline double weighed(const double* error, const Eigen::VectorXd& scale) {
  double sum = 0;
  for (Eigen::Index i = 0; i < scale.size(); ++i) sum += (error[i] / scale[i]) * (error[i] / scale[i]);
  return std::sqrt(sum / static_cast<double>(scale.size()));
}

class step_control {
 public:
  explicit step_control(int order) : last_(0.04 / order * 2), first_(0.7 / order) {}

  void start() { before_ = 1e-4, rejected_ = false, is_first_ = true; }

  /// Returns the factor of the next step's size after an accepted step with that error, where 1 is the allowed error.
  double after_accepted(double error) {
    const double proposed = safety * power(std::max(error, 1e-10), -first_) * power(before_, last_);
    const double factor = std::clamp(proposed, smallest, rejected_ ? 1.0 : largest);
    before_ = std::max(error, 1e-4);
    rejected_ = is_first_ = false;
    return factor;
  }
  double after_rejected(double error) {
    rejected_ = true;
    if (!std::isfinite(error)) return 0.25;
    return std::max(is_first_ ? smallest_first : smallest, safety * power(error, -first_));
  }

 private:
  /// Computes in float, which is faster; two of its seven digits suffice for a step size.
  static double power(double x, double exponent) { return std::pow(static_cast<float>(x), static_cast<float>(exponent)); }

  static constexpr double safety = 0.9, smallest = 0.2, largest = 10;
  static constexpr double smallest_first = 0.01;  // a first step is a guess, which a fast mode may prove wrong by many orders
  double last_, first_;
  double before_ = 1e-4;
  bool rejected_ = false, is_first_ = true;
};

}  // namespace agrad::detail
